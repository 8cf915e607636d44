/* A crash in a process with a second thread, for cores by QEMU: what is in the
 * registers and on the stack is the same each time. */
#include <pthread.h>
#include <unistd.h>

static volatile double sum = 1.5;
static volatile int ready;

static void *other(void *p)
{
	ready = 1;
	for (;;)
		pause();
	return p;
}

__attribute__((noinline)) static int inner(int *p, int n)
{
	sum += n;
	*p = n;
	return *p + 1;
}

__attribute__((noinline)) static int outer(int *p, int n)
{
	return inner(p, n * 3) + 2;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 131072);
	pthread_create(&thread, &attr, other, 0);
	while (!ready)
		;
	usleep(200000);
	return outer((int *)0x18, argc);
}
