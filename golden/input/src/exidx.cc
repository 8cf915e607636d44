// C++ with what makes entries of .ARM.exidx differ.
extern "C" { int ext(const void *, ...); double extd(double, double); void *alloca(unsigned); }
struct Guard { int *p; Guard(int *q); ~Guard(); };
struct E { int code; };
int leaf(int a) { return a * 3; }
int plain(int a) { return ext(&a) + a; }
int guarded(int a) { Guard g(&a); return ext(&a); }
int catches(int a) { try { Guard g(&a); return ext(&a); } catch (E &e) { return e.code; } catch (...) { return 7; } }
int rethrows(int a) { try { return ext(&a); } catch (int v) { if (v) throw; return v; } }
void throws(int a) { if (a > 3) throw E{a}; }
int spec(int a) noexcept { Guard g(&a); return ext(&a); }
double fp(double a, double b, int n) { double r = a, q = b, s = 1, t = 2, u = 3; Guard g(&n);
  for (int i = 0; i < n; i++) { r += extd(r, q); q += extd(s, t); s *= u; t -= extd(u, a); u += t; } return r + q + s + t + u; }
int vla(int n) { char *b = (char *)__builtin_alloca(n + 1); Guard g(&n); ext(b, n); return b[n / 2] + ext(b); }
int big(int n) { char b[70000]; Guard g(&n); ext(b); return b[n]; }
int middle(int n) { char b[1500]; Guard g(&n); ext(b); return b[n]; }
int va(int n, ...) { __builtin_va_list ap; int s = 0; Guard g(&s); __builtin_va_start(ap, n);
  while (n--) s += __builtin_va_arg(ap, int); __builtin_va_end(ap); return s + ext(&s); }
long press(long a, long b, long c, long d, long e, long f) { Guard x((int *)&a); long g = ext(&a), h = ext(&b), i = ext(&c), j = ext(&d), k = ext(&e), l = ext(&f);
  ext(0, g, h, i, j); return a*g + b*h + c*i + d*j + e*k + f*l + ext(0, a, b, c, d, e, f, g, h, i, j, k, l); }
int early(int *p, int n) { if (!p) return -1; if (n > 7) { Guard g(p); int r = 0; for (int i = 0; i < n; i++) r += ext(p, i) * p[i]; return r; } return p[0]; }
__attribute__((noreturn)) void dies(int a) { throw a; }
int tail(int a) { if (a) dies(a); return plain(a + 1); }
