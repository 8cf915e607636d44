/* A program with hot and cold parts, for the comparison of every line and inline with other tools: a JSON reader, a
   hash table and a small machine. Not a fixture of its own. Any C11 compiler. */
#ifndef PROGRAM_H
#define PROGRAM_H
#include <stddef.h>
#include <stdint.h>

#define COLD __attribute__((cold, noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum kind { NUL, BOOLEAN, NUMBER, STRING, LIST, OBJECT };

struct value {
	enum kind kind;
	union {
		int truth;
		double number;
		struct { char *bytes; size_t n; } string;
		struct { struct value **items; size_t n, room; } list;
		struct table *object;
	};
};

struct slot { char *key; uint32_t hash; struct value *value; };
struct table { struct slot *slots; size_t n, room; };

COLD void report(const char *where, int code, const char *text, ...);
COLD __attribute__((noreturn)) void die(const char *where, int code);
extern volatile int reported;

void *need(size_t n);
struct value *parse(const char *text, size_t n);
void release(struct value *v);
struct value *get(const struct table *t, const char *key);
void put(struct table *t, const char *key, struct value *v);
double evaluate(const struct value *program, const struct table *names);
uint32_t checksum(const void *data, size_t n);

/* Inlined across the two units, with a cold end. */
static inline uint32_t hash_of(const char *s)
{
	uint32_t h = 2166136261u;
	if (unlikely(s == NULL))
		die(__func__, 1);
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static inline double number_of(const struct value *v)
{
	if (unlikely(v == NULL || v->kind != NUMBER)) {
		report(__func__, v ? (int)v->kind : -1, "a number is needed");
		reported += 2;
		return 0;
	}
	return v->number;
}
#endif
