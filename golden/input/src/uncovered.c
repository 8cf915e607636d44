/* A small program with a large function that has no rules: uncovered.s. */
extern int grind(int n);

int main(int argc, char **argv)
{
	return grind(argc) + (argv == 0);
}
