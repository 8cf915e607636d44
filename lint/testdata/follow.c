// Functions whose stack pointer is hard to follow: variable arrays, alloca, aligned
// frames, switches, calls that do not return with arguments on the stack, longjmp.
// Without headers: compilers for other CPUs have none.
typedef __builtin_va_list va_list;
typedef long jmp_buf[64]; // as long as that of any CPU's libc
int puts(const char *);
int vprintf(const char *, va_list);
void *memset(void *, int, unsigned long);
__attribute__((noreturn)) void exit(int);
__attribute__((returns_twice)) int _setjmp(jmp_buf);
__attribute__((noreturn)) void longjmp(jmp_buf, int);
typedef long v4 __attribute__((vector_size(64)));
void use(void*, long);
__attribute__((noreturn)) void die(const char *f, ...);
void use(void *p, long n) { memset(p, n, n); }
void die(const char *f, ...) { va_list a; __builtin_va_start(a, f); vprintf(f, a); __builtin_va_end(a); exit(1); }
int vla(int n) { char b[n]; use(b, n); if (n > 7) { char *c = __builtin_alloca(n * 2); use(c, n); } return b[n-1]; }
long realign(int n) { _Alignas(64) char b[100]; v4 x = {n}; use(b, n); use(&x, 3); return b[3] + x[0]; }
long realignvla(int n) { _Alignas(64) char b[100]; char c[n]; use(b, n); use(c, n); return b[3] + c[1]; }
int sw(int n, char *p) { switch (n) { case 0: return p[1]; case 1: use(p, 2); break; case 2: die("x %d %d %d %d %d %d %d %d", n, 1, 2, 3, 4, 5, 6, 7); case 3: n = puts("a"); break; case 4: return puts("b"); case 5: n *= 3; break; case 6: use(p, 1); return 7; case 7: n = sw(n - 1, p); } return n + sw(n + 9, p + 1); }
jmp_buf jb;
int jump(int n) { if (_setjmp(jb)) return 1; use(&n, 4); if (n > 3) longjmp(jb, 1); return n; }
long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) { return a*b+c*d+e*f+g*h+i*j; }
long callmany(int n) { long r = 0; for (int i = 0; i < n; i++) r += many(i, n, r, 4, 5, 6, r, 8, 9, i); if (r == 99) die("%d %d %d %d %d %d %d %d %d", n, n, 1, 2, 3, 4, 5, 6, 7); return r; }
int big(int n) { char b[70000]; use(b, n); return b[n]; }
int main(int c, char **v) { return vla(c) + realign(c) + sw(c, v[0]) + jump(c) + callmany(c) + big(c) + realignvla(c); }
