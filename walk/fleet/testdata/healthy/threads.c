// Threads that wait in five ways.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t locked = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;

__attribute__((noinline)) static int how(int way) {
	switch (way) {
	case 0:
		pthread_mutex_lock(&locked);
		break;
	case 1:
		pthread_mutex_lock(&mutex);
		pthread_cond_wait(&cond, &mutex);
		break;
	case 2:
		pthread_barrier_wait(&barrier);
		break;
	case 3:
		sem_wait(&sem);
		break;
	default:
		sleep(1000);
	}
	return way + 1;
}

__attribute__((noinline)) static int deeper(int way, int n) {
	volatile char room[64 + 16 * n];
	room[0] = n ? deeper(way, n - 1) : how(way);
	return room[0] + 1;
}

static void *run(void *arg) {
	deeper((int)(long)arg, 5);
	return 0;
}

int main(void) {
	pthread_t t = 0;
	pthread_barrier_init(&barrier, 0, 2);
	pthread_mutex_lock(&locked);
	for (long way = 0; way < 5; way++)
		pthread_create(&t, 0, run, (void *)way);
	pthread_join(t, 0);
	return 0;
}
