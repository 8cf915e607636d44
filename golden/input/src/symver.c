/* Versioned symbols, aliases, a weak one, and one chosen at load time. */
volatile int sink;

int get_v1(void) { return sink + 1; }
int get_v2(void) { return sink + 2; }
__asm__(".symver get_v1,get@FIX_1.0");
__asm__(".symver get_v2,get@@FIX_2.0");

int first_name(void) { return sink + 3; }
int second_name(void) __attribute__((alias("first_name")));
int weak_name(void) __attribute__((weak, alias("first_name")));

static int fast(void) { return sink + 4; }
static int slow(void) { return sink + 5; }
static int (*choose(void))(void) { return sink ? fast : slow; }
int chosen(void) __attribute__((ifunc("choose")));

int calls_chosen(void) { return chosen(); }
