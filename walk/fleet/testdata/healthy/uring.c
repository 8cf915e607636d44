// io_uring with workers of the kernel, and a thread that polls.
#include <liburing.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
	struct io_uring ring;
	int p[2];
	char b[16];
	if (io_uring_queue_init(8, &ring, 0) < 0 || pipe(p))
		pause(); // the system forbids it
	for (int i = 0; i < 3; i++) {
		struct io_uring_sqe *e = io_uring_get_sqe(&ring);
		io_uring_prep_read(e, p[0], b, sizeof b, 0);
		io_uring_sqe_set_flags(e, IOSQE_ASYNC);
	}
	io_uring_submit(&ring);
	struct io_uring_cqe *c;
	while (io_uring_wait_cqe(&ring, &c) < 0)
		; // a debugger has interrupted it
	return 0;
}
