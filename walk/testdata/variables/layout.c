// A program that crashes with values whose layout is unusual: bit fields, unions, packed structures, flexible arrays.
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define KEEP(x) __asm__ volatile("" : : "r"(&(x)) : "memory")

enum color { RED, GREEN = 5, BLUE = -7 };
enum flags { READ = 1, WRITE = 2, EXEC = 4, ALL = 7 };
typedef int (*operation)(int, int);

struct fields {
  unsigned a : 3;
  int b : 5;
  unsigned long long c : 33;
  signed char d : 2;
  _Bool e : 1;
  enum flags f : 3;
  unsigned : 0;
  int g : 17;
  short h;
};
struct __attribute__((packed)) packed {
  char tag;
  uint32_t word;
  struct { uint16_t low : 4, middle : 9, high : 3; } __attribute__((packed)) bits;
  double number;
};
union any {
  int i;
  float f;
  struct { char first, second; };
  unsigned char raw[16];
  union any *next;
};
struct flexible {
  size_t count;
  struct { short x, y; } items[];
};
struct wide_open {
  int kind;
  union { long n; const char *text; operation apply; };
  struct { int depth; struct { char deep[3]; } inner; };
} ;
struct list { struct list *next; const char *name; int zero[0]; };
struct aligned { char c; int x __attribute__((aligned(32))); };

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static const operation table[3] = {add, sub, NULL};

__attribute__((noinline)) static int crash(struct fields f, struct packed *p, union any u, const struct flexible *flexible) {
  static struct list static_list = {NULL, "static\n\"quoted\"\x01", {}};
  static unsigned calls = 3;
  struct fields *pf = &f;
  enum color color = BLUE;
  enum flags mode = READ | EXEC, odd = (enum flags)24;
  int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int (*row)[3] = matrix + 1;
  char text[12] = "caf\xc3\xa9\0tail";
  wchar_t wide[4] = L"w\u20ac";
  __CHAR16_TYPE__ sixteen[4] = u"u\u20ac";
  const volatile char *const volatile pointer = text;
  _Atomic int atomic = 12;
  volatile int *volatile null = NULL;
  calls += pf->a;
  KEEP(f); KEEP(u); KEEP(color); KEEP(mode); KEEP(odd); KEEP(matrix); KEEP(row); KEEP(text); KEEP(wide); KEEP(sixteen); KEEP(pointer); KEEP(atomic); KEEP(static_list);
  *null = p->word + calls + flexible->count;
  return table[calls & 1](matrix[1][2], row[0][1]);
}

__attribute__((noinline)) static int middle(const char *name, int count) {
  struct fields f = {5, -9, 0x1234567ffull, -2, 1, WRITE | EXEC, -65535, -2};
  struct packed p = {'p', 0xdeadbeef, {3, 300, 5}, 2.75};
  union any u = {.raw = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  struct flexible *flexible = malloc(sizeof *flexible + count * sizeof flexible->items[0]);
  struct wide_open open[2] = {{1, {.n = -1}, {2, {"abc"}}}, {2, {.apply = sub}, {3, {{1, 2, 3}}}}};
  struct list head = {NULL, name, {}}, second = {&head, "second", {}};
  struct aligned aligned = {'a', 99};
  operation op = table[count & 1];
  int total = 0;
  flexible->count = count;
  for (int i = 0; i < count; i++) {
    short square = i * i;
    flexible->items[i].x = i;
    flexible->items[i].y = -square;
    total = op(total, square);
  }
  head.next = &second; // a circle
  KEEP(f); KEEP(p); KEEP(u); KEEP(open); KEEP(head); KEEP(second); KEEP(aligned);
  int r = crash(f, &p, u, flexible);
  KEEP(aligned);
  return r + total + op(1, 2);
}

int main(int argc, char **argv) {
  size_t length = strlen(argv[0]);
  int sum = 0;
  for (int round = 0; round < 3; round++) {
    int part = middle(argc > 1 ? argv[1] : "none", 3 + round);
    sum += part * (int)length;
  }
  return sum;
}
