#include "program.h"
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf stopped;

static COLD void stop(int code)
{
	report(__func__, code, "the program is stopped");
	longjmp(stopped, code);
}

static inline const struct value *item(const struct value *v, size_t i)
{
	if (unlikely(!v || v->kind != LIST || i >= v->list.n)) {
		report(__func__, (int)i, "no such item");
		stop(1);
	}
	return v->list.items[i];
}

static inline int is(const struct value *v, const char *word)
{
	return v->kind == STRING && strcmp(v->string.bytes, word) == 0;
}

struct machine { double stack[64]; int top; uint64_t steps; };

static inline void push(struct machine *m, double v)
{
	if (unlikely(m->top == 64)) {
		report(__func__, m->top, "overflow by %f", v);
		for (int i = 0; i < m->top; i++)
			reported ^= (int)m->stack[i];
		stop(2);
	}
	m->stack[m->top++] = v;
}

static inline double pop(struct machine *m)
{
	if (unlikely(m->top == 0)) {
		report(__func__, 0, "underflow after %" PRIu64 " steps", m->steps);
		stop(3);
	}
	return m->stack[--m->top];
}

static __attribute__((noinline)) double step(struct machine *m, const struct value *op, const struct table *names)
{
	m->steps++;
	if (op->kind == NUMBER) {
		push(m, number_of(op));
	} else if (is(op, "+")) {
		double b = pop(m);
		push(m, pop(m) + b);
	} else if (is(op, "*")) {
		double b = pop(m);
		push(m, pop(m) * b);
	} else if (is(op, "/")) {
		double b = pop(m);
		if (unlikely(b == 0)) {
			report(__func__, (int)m->steps, "division by 0");
			b = reported ? reported : 1;
		}
		push(m, pop(m) / b);
	} else if (is(op, "dup")) {
		double a = pop(m);
		push(m, a);
		push(m, a);
	} else if (likely(op->kind == STRING)) {
		push(m, number_of(get(names, op->string.bytes)));
	} else {
		report(__func__, (int)op->kind, "no operation");
		stop(4);
	}
	return m->top ? m->stack[m->top - 1] : 0;
}

double evaluate(const struct value *program, const struct table *names)
{
	struct machine m = {.top = 0};
	int code = setjmp(stopped);
	if (unlikely(code != 0)) {
		report(__func__, code, "stopped");
		return -code;
	}
	for (size_t i = 0; i < program->list.n; i++)
		step(&m, item(program, i), names);
	if (unlikely(m.top != 1))
		report(__func__, m.top, "values left");
	return m.top ? pop(&m) : 0;
}

static uint32_t table[256];

static __attribute__((constructor)) void fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[i] = c;
	}
}

uint32_t checksum(const void *data, size_t n)
{
	uint32_t c = ~0u;
	const unsigned char *p = data;
	if (unlikely(!p)) {
		report(__func__, (int)n, "no data");
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		c = table[(c ^ p[i]) & 255] ^ c >> 8;
	return ~c;
}

static int by_size(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = strlen(x), m = strlen(y);
	return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

static size_t sorted_keys(const struct table *t, char **out, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < t->room; i++) {
		if (!t->slots[i].key)
			continue;
		if (unlikely(n == room)) {
			report(__func__, (int)room, "more than %zu keys", t->n);
			break;
		}
		out[n++] = t->slots[i].key;
	}
	qsort(out, n, sizeof *out, by_size);
	return n;
}

static COLD void on_signal(int sig)
{
	report(__func__, sig, "signal");
	_Exit(sig);
}

static const char input[] =
	"{\"x\": 12.5, \"half\": 0.5, \"list\": [1, -2, true, null, \"a\\u00e9\\n\"], \"deep\": {\"er\": {\"est\": [[[]]]}},\n"
	" \"program\": [\"x\", \"half\", \"*\", \"dup\", 3, \"+\", \"/\"]}";

int main(int argc, char **argv)
{
	char *keys[16];
	double sum = 0;
	int rounds = argc > 1 ? atoi(argv[1]) : 2000;
	signal(SIGSEGV, on_signal);
	for (int i = 0; i < rounds; i++) {
		struct value *v = parse(input, sizeof input - 1);
		if (unlikely(!v || v->kind != OBJECT))
			die(__func__, 8);
		const struct value *program = get(v->object, "program");
		if (unlikely(!program)) {
			report(__func__, i, "no program");
			release(v);
			continue;
		}
		sum += evaluate(program, v->object);
		size_t n = sorted_keys(v->object, keys, 16);
		for (size_t k = 0; k < n; k++)
			sum += checksum(keys[k], strlen(keys[k])) % 7;
		release(v);
	}
	printf("%f %d\n", sum, reported);
	return reported != 0;
}
