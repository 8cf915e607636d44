// A JIT compiler: it writes three functions into memory of its own, says in a jitdump file and in a perf map what they
// are, and runs them. The innermost one crashes or, with the argument wait, calls pause.
//
//   jitcode FOLDER [wait]
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef unsigned char byte;

// Each function is a caller: push %rbx; sub $64, %rsp; movabs $callee, %rax; call *%rax; add $64, %rsp; pop %rbx; ret.
enum { size = 23, callee = 7, call = 15 };
static const byte caller[size] = {0x53, 0x48, 0x83, 0xec, 64, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 64, 0x5b, 0xc3};

// Call frame information of such a function, 24 bytes after its start, and an empty .eh_frame_hdr.
static const byte frame[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	32, 0, 0, 0, 28, 0, 0, 0, 0xc8, 0xff, 0xff, 0xff, size, 0, 0, 0, 0,
	0x41, 0x0e, 16, 0x83, 2, 0x44, 0x0e, 80, 0x50, 0x0e, 16, 0x41, 0x0e, 8, 0, 0, 0, 0, 0, 0,
	1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};
enum { header = 20 };

static int dump, map;

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static byte record[512];
static size_t used;

static void put(const void *p, size_t n) { memcpy(record + used, p, n), used += n; }
static void put4(uint32_t v) { put(&v, 4); }
static void put8(uint64_t v) { put(&v, 8); }

static void begin(uint32_t kind) { used = 0, put4(kind), put4(0), put8(now()); }

static void end(void) {
	uint32_t n = used;
	memcpy(record + 4, &n, 4);
	if (write(dump, record, used) != (ssize_t)used) _exit(3);
}

static void lines(byte *at, uint32_t first, uint32_t inner) {
	begin(2), put8((uintptr_t)at), put8(2);
	put8((uintptr_t)at), put4(first), put4(0), put("prog.lang", 10);
	put8((uintptr_t)at + call), put4(inner), put4(0), put("\xff", 2); // the same file
	end();
}

static void load(byte *at, uint64_t index, const char *name) {
	begin(4), put8(sizeof frame), put8(header), put8(0), put(frame, sizeof frame), end();
	begin(0), put4(getpid()), put4(getpid()), put8((uintptr_t)at), put8((uintptr_t)at), put8(size), put8(index);
	put(name, strlen(name) + 1), put(at, size), end();
	dprintf(map, "%lx %x %s\n", (long)at, size, name);
}

static void move(byte *from, byte *to, uint64_t index, const char *name) {
	memcpy(to, from, size);
	begin(1), put4(getpid()), put4(getpid()), put8((uintptr_t)to), put8((uintptr_t)from), put8((uintptr_t)to), put8(size), put8(index), end();
	memset(from, 0xcc, size);
	dprintf(map, "%lx %x %s\n", (long)to, size, name);
}

static void make(byte *at, void *target) {
	memcpy(at, caller, size);
	memcpy(at + callee, &target, 8);
}

static void (*inner)(void);

__attribute__((noinline)) void back(void) {
	inner();
	__asm__ volatile("" ::: "memory"); // not a jump
}

__attribute__((noinline)) void rest(void) {
	puts("ready"), fflush(stdout);
	pause();
	__asm__ volatile("");
}

static int create(const char *folder, const char *format) {
	char name[64], path[512];
	snprintf(name, sizeof name, format, getpid());
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
}

int main(int argc, char **argv) {
	const char *folder = argc > 1 ? argv[1] : ".";
	dump = create(folder, "jit-%d.dump"), map = create(folder, "perf-%d.map");
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0); // by which tools find it
	put4(0x4a695444), put4(1), put4(40), put4(EM_X86_64), put4(0), put4(getpid()), put8(now()), put8(0);
	if (write(dump, record, used) != 40) return 3;

	byte *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	byte *a = code, *b = code + 64, *c = code + 128, *d = code + 192;
	make(c, 0), lines(c, 1, 2), load(c, 1, "stale"), make(c, 0);
	make(a, c), lines(a, 10, 12), load(a, 2, "outer");
	make(b, back), lines(b, 20, 22), load(b, 3, "middle");
	move(b, c, 3, "middle");
	make(d, argc > 2 ? (void *)rest : 0), lines(d, 30, 33), load(d, 4, "inner"); // calls 0: the crash
	inner = (void (*)(void))d;
	((void (*)(void))a)();
	return 0;
}
