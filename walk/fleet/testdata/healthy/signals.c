// A handler on a stack of its own is interrupted by a handler on the same one, in code that was interrupted while it
// computed, in a leaf function and in a system call.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/time.h>

static volatile int depth, ready;

static void wait_here(int sig) {
	(void)sig;
	for (;;)
		pause();
}

static void again(int sig) {
	(void)sig;
	raise(SIGUSR2);
	depth++;
}

__attribute__((noinline)) static int leaf(int n) {
	while (n)
		n ^= 2;
	return n;
}

static void *computes(void *arg) {
	(void)arg;
	ready = 1;
	return (void *)(long)leaf(1);
}

int main(void) {
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction on = {.sa_handler = again, .sa_flags = SA_ONSTACK}, in = {.sa_handler = wait_here, .sa_flags = SA_ONSTACK};
	sigaltstack(&stack, 0);
	sigaction(SIGUSR1, &on, 0);
	sigaction(SIGUSR2, &in, 0);
	pthread_t t;
	pthread_create(&t, 0, computes, 0);
	while (!ready)
		usleep(1000);
	usleep(20000);
	pthread_kill(t, SIGUSR1);
	struct sigaction alarms = {.sa_handler = again};
	sigaction(SIGALRM, &alarms, 0);
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	setitimer(ITIMER_REAL, &soon, 0);
	for (;;)
		pause();
}
