// Times libsframe on a section of version 3: BenchmarkLibsframe compiles it.
//
//   libsframe SECTION PCS ANSWERS
//
// PCS are int64s, relative to the section's start. Three numbers are printed,
// the least seconds of several runs: to decode and to read every row, to look up
// all addresses, and to encode what was read. For each address ANSWERS gets the
// row's start and the CFA's offset, as int32s.
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// The few functions that are called, as of libsframe.so.3.
typedef struct decoder decoder;
typedef struct encoder encoder;
typedef struct {
	uint32_t start;
	unsigned char rest[60]; // at least what the library has
} row;

decoder *sframe_decode(const char *, size_t, int *);
void sframe_decoder_free(decoder **);
uint32_t sframe_decoder_get_num_fidx(const decoder *);
int sframe_decoder_get_funcdesc_v3(const decoder *, unsigned, uint32_t *, uint32_t *, int64_t *, unsigned char *, unsigned char *, uint8_t *);
int sframe_decoder_get_fre(const decoder *, unsigned, unsigned, row *);
int sframe_find_fre(const decoder *, int64_t, row *);
int32_t sframe_fre_get_cfa_offset(const decoder *, const row *, uint32_t, int *);
encoder *sframe_encode(uint8_t, uint8_t, uint8_t, int8_t, int8_t, int *);
void sframe_encoder_free(encoder **);
int sframe_encoder_add_funcdesc_v3(encoder *, int64_t, uint32_t, unsigned char, unsigned char, uint8_t, uint32_t);
int sframe_encoder_add_fre(encoder *, unsigned, row *);
char *sframe_encoder_write(encoder *, size_t *, bool, int *);

enum { runs = 15, amd64 = 3, sorted_pcrel = 5 };

static void fail(const char *what)
{
	fprintf(stderr, "libsframe: %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double least(double a, double b) { return a && a < b ? a : b; }

static void *content(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) || (long)(*size = ftell(f)) < 0)
		fail(path);
	rewind(f);
	void *data = malloc(*size);
	if (!data || fread(data, 1, *size, f) != *size)
		fail(path);
	fclose(f);
	return data;
}

// Reads all rows, into rows where that is not NULL, and returns their number.
static size_t read_rows(const decoder *d, row *rows)
{
	size_t n = 0;
	for (uint32_t i = 0; i < sframe_decoder_get_num_fidx(d); i++) {
		uint32_t count, size;
		int64_t start;
		unsigned char info, info2, rep;
		if (sframe_decoder_get_funcdesc_v3(d, i, &count, &size, &start, &info, &info2, &rep))
			fail("FDE");
		for (uint32_t k = 0; k < count; k++, n++) {
			row one;
			int err = 0;
			if (sframe_decoder_get_fre(d, i, k, rows ? &rows[n] : &one))
				fail("row");
			sframe_fre_get_cfa_offset(d, rows ? &rows[n] : &one, info2 & 31, &err);
			if (err)
				fail("CFA");
		}
	}
	return n;
}

static void encode(const decoder *d, row *rows)
{
	int err = 0;
	encoder *e = sframe_encode(3, sorted_pcrel, amd64, 0, -8, &err);
	if (!e)
		fail("sframe_encode");
	for (uint32_t i = 0; i < sframe_decoder_get_num_fidx(d); i++) {
		uint32_t count, size;
		int64_t start;
		unsigned char info, info2, rep;
		sframe_decoder_get_funcdesc_v3(d, i, &count, &size, &start, &info, &info2, &rep);
		if (sframe_encoder_add_funcdesc_v3(e, start, size, info, info2, rep, count))
			fail("sframe_encoder_add_funcdesc_v3");
		for (uint32_t k = 0; k < count; k++)
			if (sframe_encoder_add_fre(e, i, rows++))
				fail("sframe_encoder_add_fre");
	}
	size_t size;
	if (!sframe_encoder_write(e, &size, true, &err))
		fail("sframe_encoder_write");
	sframe_encoder_free(&e);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		fail("three arguments");
	size_t size, bytes;
	char *section = content(argv[1], &size);
	int64_t *pcs = content(argv[2], &bytes);
	size_t n = bytes / sizeof *pcs, rows = 0;
	int32_t(*answers)[2] = calloc(n, sizeof *answers);
	double decoding = 0, finding = 0, encoding = 0;
	int err = 0;
	decoder *d;

	for (int r = 0; r < runs; r++) {
		double t = now();
		if (!(d = sframe_decode(section, size, &err)))
			fail("sframe_decode");
		rows = read_rows(d, NULL);
		decoding = least(decoding, now() - t);
		sframe_decoder_free(&d);
	}
	d = sframe_decode(section, size, &err);
	for (int r = 0; r < runs; r++) {
		double t = now();
		for (size_t i = 0; i < n; i++) {
			row one;
			if (sframe_find_fre(d, pcs[i], &one))
				fail("sframe_find_fre");
			answers[i][0] = one.start;
			answers[i][1] = sframe_fre_get_cfa_offset(d, &one, 0, &err);
		}
		finding = least(finding, now() - t);
	}
	row *all = calloc(rows, sizeof *all);
	read_rows(d, all);
	for (int r = 0; r < runs; r++) {
		double t = now();
		encode(d, all);
		encoding = least(encoding, now() - t);
	}
	FILE *out = fopen(argv[3], "wb");
	if (!out || fwrite(answers, sizeof *answers, n, out) != n || fclose(out))
		fail(argv[3]);
	printf("%.9f %.9f %.9f\n", decoding, finding, encoding);
}
