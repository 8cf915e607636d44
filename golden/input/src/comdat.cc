// Two units, PART 1 and 2, that share an inline function.
extern int sink;

inline int shared(int x)
{
	sink += x;
	return x * 3;
}

#define NAME(part) NAME_OF(part)
#define NAME_OF(part) user_##part

int NAME(PART)(int x)
{
	return shared(x) + PART;
}
