int library_more(int n);
inline int half(int n) { return n / 2 + 1; }
inline __attribute__((noinline)) int shared(int n) {
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += half(sum) ^ i;
	return sum;
}
