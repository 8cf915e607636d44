/* clang -O2 gives some of this code line 0. */
extern volatile int sink;
extern int get(int);

int merged(int a, int b)
{
	int r;
	if (a)
		r = get(a) + b;
	else
		r = get(b) + a;
	for (int i = 0; i < 4; i++) {
		if (r & 1)
			sink = r;
		else
			sink = r + i;
	}
	return r;
}

int selects(int *p, int n)
{
	int best = 0;
	for (int i = 0; i < n; i++) {
		int v = p[i];
		best = v > best ? v : best;
		if (best > 100)
			return get(best);
	}
	return get(best);
}
