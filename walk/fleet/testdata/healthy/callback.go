// C calls Go on a thread of its own, by qsort; Go waits.
package main

/*
#include <pthread.h>
#include <stdlib.h>
extern void goCallback(int);
static int compare(const void *a, const void *b) { goCallback(*(const int *)a); return 0; }
static void *thread(void *p) { int v[3] = {3, 2, 1}; qsort(v, 3, sizeof *v, compare); return p; }
static void run(void) { pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0); }
*/
import "C"

import "time"

//export goCallback
func goCallback(x C.int) { inner(int(x)) }

//go:noinline
func inner(x int) { time.Sleep(time.Hour) }

func main() { C.run() }
