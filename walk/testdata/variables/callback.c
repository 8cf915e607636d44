// A program that a library's function calls back and that aborts there, with frames of libraries and of a signal's
// handler between its own.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

struct entry { char *key; unsigned hash; long value; struct entry *next; };
struct table { struct entry **buckets; size_t size, used; int (*compare)(const void *, const void *); };
struct job { struct table *table; int id; double weight; pthread_mutex_t *lock; };

static struct table *current;
static int comparisons;

static unsigned hash_of(const char *s) {
  unsigned h = 5381;
  for (const char *p = s; *p; p++) h = h * 33 ^ (unsigned char)*p;
  return h;
}

static void put(struct table *t, const char *key, long value) {
  unsigned h = hash_of(key);
  struct entry **bucket = &t->buckets[h % t->size], *e = malloc(sizeof *e);
  *e = (struct entry){strdup(key), h, value, *bucket};
  *bucket = e;
  t->used++;
}

static void handler(int sig, siginfo_t *info, void *context) {
  struct table *seen = current;
  int number = sig, code = info->si_code;
  size_t left = seen->used;
  fprintf(stderr, "%d %d %zu\n", number, code, left);
  if (left > 2) abort();
}

static int compare(const void *a, const void *b) {
  const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
  int order = strcmp(x->key, y->key);
  if (++comparisons == 4) raise(SIGUSR1);
  return order ? order : (x->value > y->value) - (x->value < y->value);
}

__attribute__((noinline)) static long sum(struct table *t, long weight) {
  struct entry *all[8];
  size_t n = 0;
  for (size_t i = 0; i < t->size; i++)
    for (struct entry *e = t->buckets[i]; e; e = e->next) all[n++] = e;
  current = t;
  qsort(all, n, sizeof all[0], t->compare);
  long total = 0;
  for (size_t i = 0; i < n; i++) total += all[i]->value * weight;
  return total;
}

static void *run(void *argument) {
  struct job *job = argument;
  static const char *const words[] = {"pear", "apple", "plum", "fig", "quince"};
  pthread_mutex_lock(job->lock);
  for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) put(job->table, words[i], (long)i - 2);
  long result = sum(job->table, (long)(job->weight * 2));
  pthread_mutex_unlock(job->lock);
  return (void *)result;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR1, &action, NULL);
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  struct entry *buckets[3] = {0};
  struct table table = {buckets, 3, 0, compare};
  struct job job = {&table, 7, 1.5, &lock};
  pthread_t thread;
  pthread_create(&thread, NULL, run, &job);
  void *result = NULL;
  pthread_join(thread, &result);
  return (int)(long)result;
}
