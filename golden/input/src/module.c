/* A kernel module's sections, in the order that gcc and "ld -r" give them. */
#define IN(name) __attribute__((noinline, section(name)))

struct module { char name[56]; int (*init)(void); void (*exit)(void); };

int state, table[64];
extern void printk(const char *, ...);

static inline int mix(int a, int b) { return a * 31 + (b ^ state); }

int lookup(int key)
{
	int slot = mix(key, 7) & 63;

	return table[slot] == key ? slot : mix(slot, key);
}

IN(".text.unlikely") int slow(int key)
{
	printk("slow %d", key);
	return mix(key, key);
}

IN(".static_call.text") int trampoline(int key)
{
	return lookup(key) + 1;
}

IN(".init.text") int init_module(void)
{
	for (int i = 0; i < 64; i++)
		table[i] = mix(i, i);
	return lookup(3) < 0 ? slow(3) : 0;
}

IN(".exit.text") void cleanup_module(void)
{
	printk("%d", lookup(state));
}

struct module this_module __attribute__((section(".gnu.linkonce.this_module"))) = { "fixture", init_module, cleanup_module };

/* What objtool adds, for the kernel's own unwinder. */
asm(".pushsection .orc_unwind, \"a\"; .zero 12; .popsection\n"
    ".pushsection .orc_unwind_ip, \"a\"; .long lookup - ., slow - .; .popsection");
