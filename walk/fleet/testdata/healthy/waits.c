// A server that waits in the way of its argument.
#define _GNU_SOURCE
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "";
	uint64_t n;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, 0);
	for (;;) // a debugger interrupts some of these system calls
		if (!strcmp(how, "epoll")) {
			struct epoll_event e;
			epoll_wait(epoll_create1(0), &e, 1, -1);
		} else if (!strcmp(how, "poll")) {
			struct pollfd p = {.fd = eventfd(0, 0), .events = POLLIN};
			poll(&p, 1, -1);
		} else if (!strcmp(how, "select")) {
			fd_set fds;
			FD_ZERO(&fds);
			FD_SET(eventfd(0, 0), &fds);
			select(10, &fds, 0, 0, 0);
		} else if (!strcmp(how, "signalfd")) {
			struct signalfd_siginfo info;
			read(signalfd(-1, &set, 0), &info, sizeof info);
		} else if (!strcmp(how, "sigwait")) {
			int sig;
			sigwait(&set, &sig);
		} else if (!strcmp(how, "inotify")) {
			int fd = inotify_init();
			inotify_add_watch(fd, "/", IN_DELETE_SELF);
			char b[512];
			read(fd, b, sizeof b);
		} else {
			struct itimerspec never = {.it_value = {.tv_sec = 1000}};
			int fd = timerfd_create(CLOCK_MONOTONIC, 0);
			timerfd_settime(fd, 0, &never, 0);
			read(fd, &n, sizeof n);
		}
}
