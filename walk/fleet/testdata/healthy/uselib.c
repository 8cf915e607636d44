#include <pthread.h>
extern void Waits(void);

static void *thread(void *p) {
	Waits();
	return p;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, 0, thread, 0);
	Waits();
	return 0;
}
