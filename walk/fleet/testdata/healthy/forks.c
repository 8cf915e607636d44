// A server with children, of which some have threads and some have called clone themselves.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int listener;

static void *serve(void *arg) {
	accept(listener, 0, 0);
	return arg;
}

static int cloned(void *arg) {
	serve(arg);
	return 0;
}

int main(int argc, char **argv) {
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr address = {AF_UNIX, ""};
	bind(listener, &address, 2);
	listen(listener, 5);
	const char *how = argc > 1 ? argv[1] : "fork";
	int pid = 0;
	if (!strcmp(how, "clone")) {
		char *stack = malloc(65536);
		pid = clone(cloned, stack + 65536, SIGCHLD, 0);
	} else if (!strcmp(how, "vfork")) {
		pid = vfork();
		if (pid == 0)
			execl("/bin/sleep", "sleep", "1000", (char *)0);
	} else {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pthread_t t;
			pthread_create(&t, 0, serve, 0);
			serve(0);
		}
	}
	waitpid(pid, 0, 0);
	return 0;
}
