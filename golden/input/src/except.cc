// Personality routine and language-specific data: augmentations P and L.
struct Guard {
	~Guard();
};
extern void may_throw(int);

int catches(int a)
{
	Guard g;
	try {
		may_throw(a);
	} catch (int v) {
		return v;
	}
	return a;
}

void passes(int a)
{
	Guard g;
	may_throw(a + 1);
}
