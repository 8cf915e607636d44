/* An entry point without libc. */
extern int nested_inlines(int, int);

__attribute__((noreturn)) void _start(void)
{
	nested_inlines(3, 4);
	for (;;)
		;
}
