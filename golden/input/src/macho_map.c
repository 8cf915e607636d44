// The object of a program without a dSYM: a function that no other file names, and one that nothing calls.
int library_sum(int n);
static __attribute__((noinline)) int local(int n) { return n * 5 + library_sum(n); }
__attribute__((noinline)) int map_unused(int n) { return n * 7; }
int main(int argc, char **argv) { return local(argc) - 1; }
