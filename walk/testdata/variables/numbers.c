// A program that crashes with numbers of all sizes, in optimized code, thread-local and on a stack of unknown size.
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#define KEEP(x) __asm__ volatile("" : : "r"(&(x)) : "memory")

typedef float vec4 __attribute__((vector_size(16)));
typedef int vec8i __attribute__((vector_size(32)));
typedef struct { double re, im; } pair;
typedef struct { long a, b, c; } triple;

static __thread int depth = 4;
static __thread struct { char name[8]; double level; } local = {"thread", 0.5};
double shared_total = 8.25;

__attribute__((noinline)) static double crash(double complex z, float _Complex fz, long double ld, __int128 big, unsigned __int128 ubig, vec4 v, pair p, triple t, float f, _Bool yes) {
  static double history[3] = {1, 2};
  volatile int *volatile null = NULL;
  long double _Complex ldz = ld + 2.0L * I;
  double tiny = 5e-324, inf = 1.0 / (t.a - t.a + 0.0), nan = inf - inf, minus = -0.0;
  __float128 quad = 1.5;
  vec8i eight = {1, -2, 3, -4, 5, -6, 7, -8};
  vec4 doubled = v + v;
  signed char small = (signed char)t.b;
  unsigned short medium = (unsigned short)(t.c * 3);
  unsigned long long top = ~0ull - t.a;
  long long low = -__LONG_LONG_MAX__ - 1;
  depth += yes;
  local.level += f;
  history[2] = creal(z);
  KEEP(ldz); KEEP(tiny); KEEP(nan); KEEP(minus); KEEP(quad); KEEP(eight); KEEP(doubled); KEEP(local); KEEP(history); KEEP(low); KEEP(small); KEEP(medium);
  *null = (int)(cimag(z) + crealf(fz) + (double)ld + (double)big + (double)ubig + p.re + depth + top);
  return p.im + ld;
}

__attribute__((noinline)) static double arrays(int n, int m, const double *in) {
  double rows[n][m];
  struct { int head; } variable[n];
  char *room = __builtin_alloca(n * 8);
  int counts[m];
  double sum = ({ double x = 0; for (int i = 0; i < n; i++) x += in[i]; x; });
  for (int i = 0; i < n; i++) {
    variable[i].head = i * 10;
    for (int k = 0; k < m; k++) rows[i][k] = i + k / 10.0;
  }
  for (int k = 0; k < m; k++) counts[k] = k - m;
  memset(room, 'r', n * 8);
  room[n * 8 - 1] = 0;
  __int128 big = (__int128)n << 100 | 5;
  unsigned __int128 ubig = ~(unsigned __int128)0 - m;
  pair p = {sum, -sum};
  triple t = {n, -m, 30000};
  vec4 v = {1.5f, -2.5f, sum, 4};
  long double ld = 1.1L * n;
  KEEP(rows); KEEP(variable); KEEP(counts); KEEP(room);
  double r = crash(sum + 3.0 * I, 1.0f - 2.0f * I, ld, big, ubig, v, p, t, 0.1f, n > 1);
  KEEP(rows);
  return r + rows[n - 1][m - 1] + (double)big + p.im;
}

static inline double twice(double x, int unused) {
  double y = x * 2;
  int constant = 17;
  return y + constant;
}

__attribute__((noinline)) static double recurse(int level, double x) {
  double here = twice(x, level);
  int even = level % 2 == 0, squared = level * level;
  if (level > 0) {
    double below = recurse(level - 1, here);
    KEEP(even);
    return below + squared;
  }
  const double in[4] = {0.5, 1.5, here, x};
  return arrays(4, 3, in);
}

int main(int argc, char **argv) {
  double result = recurse(2 + (argc > 3), argc);
  shared_total += result;
  return (int)shared_total;
}
