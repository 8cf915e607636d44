// Parameters that gcc removes from a function, which only callers know: DW_OP_GNU_parameter_ref.
#include <stdio.h>

struct box {
    int width, height;
    const char *name;
};

static int *volatile nowhere;

__attribute__((noinline)) static int area(struct box *box, int unused, int scale, const char *label)
{
    int size = box->width * box->height;
    puts(box->name); // changes registers, so that the caller keeps what it needs in others
    *nowhere = size; // the crash
    return size + scale;
}

__attribute__((noinline)) static int measure(struct box *box, int times)
{
    int all = 0;
    for (int i = 0; i < times; i++)
        all += area(box, i * 7, times, "label");
    return all + 1;
}

int main(int argc, char **argv)
{
    struct box box = {3 + argc, 4, argv[0]};
    printf("%d\n", measure(&box, argc + 1));
    return 0;
}
