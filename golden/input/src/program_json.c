#include "program.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile int reported;

void report(const char *where, int code, const char *text, ...)
{
	va_list args;
	va_start(args, text);
	fprintf(stderr, "%s: %d: ", where, code);
	vfprintf(stderr, text, args);
	fputc('\n', stderr);
	va_end(args);
	reported++;
}

void die(const char *where, int code)
{
	report(where, code, "end");
	exit(code);
}

void *need(size_t n)
{
	void *p = calloc(1, n);
	if (unlikely(!p)) {
		reported = (int)n;
		die(__func__, 3);
	}
	return p;
}

/* --- the table ------------------------------------------------------------ */

static struct slot *find(const struct table *t, const char *key, uint32_t h)
{
	if (unlikely(t->room == 0))
		return NULL;
	for (size_t i = h & (t->room - 1), tried = 0;; i = (i + 1) & (t->room - 1)) {
		struct slot *s = &t->slots[i];
		if (!s->key || (s->hash == h && strcmp(s->key, key) == 0))
			return s;
		if (unlikely(++tried > t->room)) {
			report(__func__, (int)t->n, "table of %zu is full, no place for %s", t->room, key);
			die(__func__, 4);
		}
	}
}

static void grow(struct table *t)
{
	struct table larger = {.room = t->room ? t->room * 2 : 8};
	if (unlikely(larger.room < t->room)) {
		report(__func__, 1, "%zu slots overflow", t->room);
		die(__func__, 5);
	}
	larger.slots = need(larger.room * sizeof *larger.slots);
	for (size_t i = 0; i < t->room; i++) {
		if (t->slots[i].key) {
			*find(&larger, t->slots[i].key, t->slots[i].hash) = t->slots[i];
			larger.n++;
		}
	}
	if (unlikely(larger.n != t->n)) {
		report(__func__, 2, "%zu of %zu moved", larger.n, t->n);
		for (size_t i = 0; i < t->room; i++)
			reported += t->slots[i].key != NULL;
	}
	free(t->slots);
	*t = larger;
}

void put(struct table *t, const char *key, struct value *v)
{
	uint32_t h = hash_of(key);
	if (t->n * 4 >= t->room * 3)
		grow(t);
	struct slot *s = find(t, key, h);
	if (unlikely(s == NULL)) {
		report(__func__, 1, "no slot for %s", key);
		return;
	}
	if (unlikely(s->key != NULL)) {
		report(__func__, 2, "%s is there twice", key);
		release(s->value);
	} else {
		size_t n = strlen(key) + 1;
		s->key = memcpy(need(n), key, n);
		s->hash = h;
		t->n++;
	}
	s->value = v;
}

struct value *get(const struct table *t, const char *key)
{
	struct slot *s = find(t, key, hash_of(key));
	return s && s->key ? s->value : NULL;
}

/* --- the reader ----------------------------------------------------------- */

struct reader { const char *at, *end; int depth; char *text; size_t n, room; };

static COLD struct value *bad(struct reader *r, int code, const char *what)
{
	report("parse", code, "%s, %zu bytes from the end, depth %d", what, (size_t)(r->end - r->at), r->depth);
	r->at = r->end;
	return NULL;
}

static inline void skip(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
}

static inline int eat(struct reader *r, char c)
{
	skip(r);
	if (r->at == r->end || *r->at != c)
		return 0;
	r->at++;
	return 1;
}

static inline void keep(struct reader *r, int c)
{
	if (unlikely(r->n + 1 >= r->room)) {
		r->room = r->room ? r->room * 2 : 32;
		char *larger = realloc(r->text, r->room);
		if (unlikely(!larger)) {
			free(r->text);
			die(__func__, 6);
		}
		r->text = larger;
	}
	r->text[r->n++] = (char)c;
	r->text[r->n] = 0;
}

static inline void keep_code(struct reader *r, unsigned code)
{
	if (likely(code < 0x80)) {
		keep(r, (int)code);
	} else if (code < 0x800) {
		keep(r, (int)(0xc0 | code >> 6));
		keep(r, (int)(0x80 | (code & 63)));
	} else {
		keep(r, (int)(0xe0 | code >> 12));
		keep(r, (int)(0x80 | (code >> 6 & 63)));
		keep(r, (int)(0x80 | (code & 63)));
	}
}

static int escape(struct reader *r)
{
	if (unlikely(r->at == r->end))
		return 0;
	unsigned code = 0;
	switch (*r->at++) {
	case 'n': keep(r, '\n'); return 1;
	case 't': keep(r, '\t'); return 1;
	case 'r': keep(r, '\r'); return 1;
	case 'b': keep(r, '\b'); return 1;
	case 'f': keep(r, '\f'); return 1;
	case '"': case '\\': case '/': keep(r, r->at[-1]); return 1;
	case 'u':
		for (int i = 0; i < 4; i++) {
			if (unlikely(r->at == r->end))
				return 0;
			int c = *r->at++;
			int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
			if (unlikely(digit < 0)) {
				report(__func__, c, "no hexadecimal digit");
				return 0;
			}
			code = code << 4 | (unsigned)digit;
		}
		keep_code(r, code);
		return 1;
	}
	report(__func__, r->at[-1], "unknown escape");
	return 0;
}

static int text_of(struct reader *r)
{
	r->n = 0;
	keep_code(r, ' ');
	r->n = 0;
	while (r->at < r->end) {
		int c = *r->at++;
		if (c == '"')
			return 1;
		if (unlikely((unsigned char)c < ' ')) {
			bad(r, c, "control character");
			return 0;
		}
		if (c == '\\') {
			if (unlikely(!escape(r))) {
				bad(r, 2, "escape");
				return 0;
			}
			continue;
		}
		keep(r, c);
	}
	bad(r, 3, "text without end");
	return 0;
}

static struct value *any(struct reader *r);

static struct value *made(enum kind kind)
{
	struct value *v = need(sizeof *v);
	v->kind = kind;
	return v;
}

static struct value *word(struct reader *r, const char *w, enum kind kind, int truth)
{
	size_t n = strlen(w);
	if (unlikely((size_t)(r->end - r->at) < n || memcmp(r->at, w, n)))
		return bad(r, 4, w);
	r->at += n;
	struct value *v = made(kind);
	if (kind == BOOLEAN)
		v->truth = truth;
	return v;
}

static struct value *list(struct reader *r)
{
	struct value *v = made(LIST);
	if (eat(r, ']'))
		return v;
	do {
		struct value *item = any(r);
		if (unlikely(!item)) {
			release(v);
			return NULL;
		}
		if (v->list.n == v->list.room) {
			v->list.room = v->list.room * 2 + 4;
			void *larger = realloc(v->list.items, v->list.room * sizeof *v->list.items);
			if (unlikely(!larger)) {
				report(__func__, (int)v->list.room, "no memory");
				die(__func__, 7);
			}
			v->list.items = larger;
		}
		v->list.items[v->list.n++] = item;
	} while (eat(r, ','));
	if (unlikely(!eat(r, ']'))) {
		release(v);
		return bad(r, 5, "list without end");
	}
	return v;
}

static struct value *object(struct reader *r)
{
	struct value *v = made(OBJECT);
	v->object = need(sizeof *v->object);
	if (eat(r, '}'))
		return v;
	do {
		if (unlikely(!eat(r, '"'))) {
			release(v);
			return bad(r, 6, "key");
		}
		if (unlikely(!text_of(r))) {
			release(v);
			return NULL;
		}
		char key[r->n + 1];
		memcpy(key, r->text, r->n + 1);
		if (unlikely(!eat(r, ':'))) {
			release(v);
			return bad(r, 7, key);
		}
		struct value *item = any(r);
		if (unlikely(!item)) {
			report(__func__, 8, "no value for %s", key);
			release(v);
			return NULL;
		}
		put(v->object, key, item);
	} while (eat(r, ','));
	if (unlikely(!eat(r, '}'))) {
		release(v);
		return bad(r, 9, "object without end");
	}
	return v;
}

static struct value *number(struct reader *r)
{
	double sum = 0, scale = 1, sign = 1;
	const char *from = r->at;
	if (*r->at == '-') {
		sign = -1;
		r->at++;
	}
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		sum = sum * 10 + (*r->at++ - '0');
	if (r->at < r->end && *r->at == '.')
		for (r->at++; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
			sum += (*r->at - '0') * (scale /= 10);
	if (unlikely(r->at == from))
		return bad(r, *from, "number");
	if (unlikely(!isfinite(sum))) {
		report(__func__, 1, "%.*s is too large", (int)(r->at - from), from);
		sum = reported;
	}
	struct value *v = made(NUMBER);
	v->number = sign * sum;
	return v;
}

static struct value *any(struct reader *r)
{
	struct value *v = NULL;
	skip(r);
	if (unlikely(r->at == r->end))
		return bad(r, 1, "end");
	if (unlikely(++r->depth > 100)) {
		bad(r, 2, "depth");
		r->depth--;
		return NULL;
	}
	switch (*r->at) {
	case '{': r->at++; v = object(r); break;
	case '[': r->at++; v = list(r); break;
	case 't': v = word(r, "true", BOOLEAN, 1); break;
	case 'f': v = word(r, "false", BOOLEAN, 0); break;
	case 'n': v = word(r, "null", NUL, 0); break;
	case '"':
		r->at++;
		if (likely(text_of(r))) {
			v = made(STRING);
			v->string.n = r->n;
			v->string.bytes = memcpy(need(r->n + 1), r->text, r->n + 1);
		}
		break;
	default: v = number(r);
	}
	r->depth--;
	return v;
}

struct value *parse(const char *text, size_t n)
{
	struct reader r = {.at = text, .end = text + n};
	struct value *v = any(&r);
	skip(&r);
	if (unlikely(v && r.at != r.end)) {
		release(v);
		v = bad(&r, 8, "more text");
	}
	free(r.text);
	return v;
}

void release(struct value *v)
{
	if (unlikely(!v))
		return;
	switch (v->kind) {
	case STRING:
		free(v->string.bytes);
		break;
	case LIST:
		for (size_t i = 0; i < v->list.n; i++)
			release(v->list.items[i]);
		free(v->list.items);
		break;
	case OBJECT:
		for (size_t i = 0; i < v->object->room; i++) {
			if (v->object->slots[i].key) {
				free(v->object->slots[i].key);
				release(v->object->slots[i].value);
			}
		}
		free(v->object->slots);
		free(v->object);
		break;
	case NUL: case BOOLEAN: case NUMBER:
		break;
	}
	free(v);
}
