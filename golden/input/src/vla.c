/* Arrays of variable length, bit-fields, computed goto, switches: blocks within blocks, and code without a line of its own. */
extern volatile int sink;

struct bits {
	unsigned low : 3, : 2, mid : 7;
	signed top : 20;
	_Bool flag : 1;
};

static unsigned pack(struct bits b)
{
	b.mid += b.low;
	b.top = -b.top;
	return b.flag ? b.mid : (unsigned)b.top;
}

int sum_of(int n, int m)
{
	int grid[n][m + 1];
	for (int i = 0; i < n; i++) {
		int row[i + 1];
		for (int j = 0; j <= m; j++) {
			row[j % (i + 1)] = sink + j;
			grid[i][j] = row[j % (i + 1)];
		}
	}
	return grid[n - 1][m];
}

int interpret(const unsigned char *code)
{
	static void *const table[] = {&&stop, &&add, &&twice, &&jump};
	int acc = 0;
	goto *table[*code++ & 3];
add:
	acc += *code++;
	goto *table[*code++ & 3];
twice:
	acc *= 2;
	goto *table[*code++ & 3];
jump:
	code += *code;
	goto *table[*code++ & 3];
stop:
	return acc;
}

unsigned choose(struct bits b, int k)
{
	switch (k) {
	case 0 ... 3:
		return pack(b);
	case 7:
		b.low = k;
		/* fall through */
	case 9:
		return pack(b) + 1;
	case 11: case 12: case 13: case 15: case 16:
		return sink;
	}
	for (;;) {
		if (k++ > 100)
			goto out;
		sink = k;
	}
out:
	return ({ int last = sink; last * k; });
}
