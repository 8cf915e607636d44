/* Functions for PE files: with frames, a frame's register, tail calls, cold code. */
static volatile int sink;
int _fltused;

__declspec(noinline) int callee(int *p, int n)
{
	for (int i = 0; i < n; i++)
		sink += p[i];
	return sink;
}

__declspec(dllexport) int exported(int n)
{
	int room[64];
	for (int i = 0; i < 64; i++)
		room[i] = n + i;
	return callee(room, 64) + 1;
}

__declspec(dllexport) int variable(int n)
{
	int *room = __builtin_alloca(n * 4 + 16);
	for (int i = 0; i < n; i++)
		room[i] = i;
	int r = callee(room, n);
	return r < 0 ? -callee(room, 1) : r;
}

__declspec(dllexport) int tail(int n)
{
	if (n > 3)
		return exported(n - 1);
	int few[4] = {n};
	return callee(few, 4) ^ exported(n);
}

int start(void)
{
	return tail(7) + variable(9);
}
