/* Frames of 32-bit x86: calling conventions, saved registers, rooms of any size and alignment, with a frame pointer only where it has to be. */
#define APART __attribute__((noinline))

extern volatile int weather;
void keep(const void *);

APART int product(int a, int b) { return a * b + weather; }

/* Keeps values over calls: in ebx, esi and edi. */
APART int crowded(int a, int b, int c)
{
	int ab = product(a, b), bc = product(b, c), ca = product(c, a);
	return product(ab, bc) - product(bc, ca) * product(ca, ab) + a + b + c;
}

APART int __attribute__((stdcall)) pops_four(int a, int b, int c, int d) { return crowded(a, b, c) / (d | 1); }
APART int __attribute__((stdcall)) pops_one(short a) { return product(a, a); }
APART int __attribute__((fastcall)) in_registers(int a, int b, int c, int d) { return pops_four(d, c, b, a) - a; }

struct point { int x, y; };
APART int __attribute__((thiscall)) on_object(struct point *p, int by) { return in_registers(p->x, p->y, by, 1) + p->x; }
APART struct point returned(int v) { return (struct point){v, product(v, 2)}; }

APART int on_vectors(int v)
{
	__attribute__((aligned(32))) int rows[24];
	keep(rows);
	return rows[v & 15] ^ product(v, 3);
}

APART int as_long_as(int n)
{
	char *text = __builtin_alloca(n * 2);
	keep(text);
	return product(text[0], n);
}

APART int pages(int n)
{
	char room[3 * 4096];
	keep(room);
	return room[n];
}

APART int all_of(int n, ...)
{
	__builtin_va_list list;
	__builtin_va_start(list, n);
	int all = 0;
	for (; n > 0; n--)
		all ^= __builtin_va_arg(list, int);
	__builtin_va_end(list);
	return all;
}

APART void ends(int v)
{
	weather = v;
	__builtin_trap();
}

APART int goes_on(int v)
{
	if (v == 77)
		ends(v);
	return product(v + 1, v);
}

int work(int n)
{
	struct point p = returned(n);
	return on_object(&p, pops_one(3)) + on_vectors(n) + as_long_as(n) + pages(n) + all_of(2, n, 5) + goes_on(n);
}
