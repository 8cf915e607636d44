/* The frame is realigned: the CFA is an expression over a saved register. */
extern void use(void *);

int realigned(int a)
{
	char buf[a + 1];
	__attribute__((aligned(64))) char big[128];
	use(buf);
	use(big);
	return big[0] + buf[0];
}

int main(void)
{
	__attribute__((aligned(32))) int v[8] = {0};
	use(v);
	return v[1];
}
