// Threads of OpenMP at a barrier that one of them does not reach.
#include <unistd.h>

int main(void) {
	int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
	{
		sum++;
#pragma omp single
		pause();
	}
	return sum;
}
