/* Pointers that need relocations: of the kinds that Android packs. */
extern int outside(int);
static int one(int a) { return outside(a) + 1; }
static int two(int a) { return outside(a) * 2; }
int three(int a);
int (*const table[])(int) = {one, two, three, outside, one, two, three, outside, one, two, three};
const char *const names[] = {"one", "two", "three", "outside"};
int three(int a) { return table[a % 3](a) + names[a % 4][0]; }
