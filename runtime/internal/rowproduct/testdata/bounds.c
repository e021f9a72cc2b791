// Multiplies with every kernel that this processor can run, in buffers of exactly the needed sizes, and compares with plain C bit by bit.
// Built with sanitizers it ends at the first byte that is read or written outside of a buffer: hack/sanitize-kernels.sh.
#include "../rowproduct.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Around every edge of steps, panels, pairs of panels, tiles, and rows that are packed together.
static const size_t depths[] = {4, 8, 12, 68, 132};
static const size_t widths[] = {1, 7, 15, 16, 17, 31, 32, 33, 47, 48, 49};
static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 63, 64, 65};
enum { max_rows = 65 };

#define LENGTH(array) (sizeof(array) / sizeof *(array))

// A buffer begins where its values may begin and no better than that.
typedef struct {
	char *memory, *values;
} buffer;

static void out_of_memory(void) {
	fprintf(stderr, "out of memory\n");
	exit(1);
}

static buffer new_buffer(size_t bytes, size_t alignment) {
	buffer b = {.memory = malloc(alignment + bytes)};
	if (b.memory == NULL)
		out_of_memory();
	b.values = b.memory + alignment;
	return b;
}

static uint32_t drawn(void) {
	static uint64_t state = 1;
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

// The rows are of different size; one consists of zeros, one has what is no number.
static float value(size_t row, size_t i) {
	if (row % 7 == 1)
		return 0;
	if (row % 7 == 5 && i == 3)
		return row % 2 ? NAN : INFINITY;
	return ldexpf((float)drawn() / (1u << 30) - 1, (int)(row % 7) * 20 - 60);
}

static void multiply(const row_kernel *k, const row_matrix *m, const float *x, size_t rows, float *y) {
	void *scratch = malloc(k->scratch(m, rows));
	if (scratch == NULL)
		out_of_memory();
	k->multiply(m, x, rows, y, scratch);
	free(scratch);
}

// same compares the first rows of x times m with what they should be.
static int same(const row_kernel *k, const row_matrix *m, const float *x, size_t rows, const float *want) {
	const size_t results = rows * m->out * sizeof(float);
	buffer exact = new_buffer(rows * m->in * sizeof(float), sizeof(float)), y = new_buffer(results, sizeof(float));
	memcpy(exact.values, x, rows * m->in * sizeof(float));
	multiply(k, m, (float *)exact.values, rows, (float *)y.values);
	const int equal = memcmp(y.values, want, results) == 0;
	if (!equal)
		fprintf(stderr, "%s: [%zu, %zu] x [%zu, %zu] differs from plain C\n", k->name, rows, m->in, m->in, m->out);
	free(exact.memory), free(y.memory);
	return equal;
}

// test_matrix multiplies rows by a matrix with all kernels.
static int test_matrix(const row_matrix *m) {
	buffer x = new_buffer(max_rows * m->in * sizeof(float), sizeof(float));
	buffer want = new_buffer(max_rows * m->out * sizeof(float), sizeof(float));
	for (size_t i = 0; i < max_rows * m->in; i++)
		((float *)x.values)[i] = value(i / m->in, i % m->in);
	multiply(&row_plain, m, (float *)x.values, max_rows, (float *)want.values);
	int equal = 1;
	for (const row_kernel *const *k = row_kernels; *k != NULL; k++)
		for (size_t i = 0; i < LENGTH(counts) && (*k)->runs_here(); i++)
			equal &= same(*k, m, (float *)x.values, counts[i], (float *)want.values);
	free(x.memory), free(want.memory);
	return equal;
}

static int test_size(size_t in, size_t out) {
	const size_t panels = (out + panel_columns - 1) / panel_columns;
	buffer integers = new_buffer(panels * panel_columns * in, 1);
	buffer offset = new_buffer(out * sizeof(int32_t), sizeof(int32_t)), scales = new_buffer(out * sizeof(float), sizeof(float));
	memset(integers.values, 0, panels * panel_columns * in);
	for (size_t c = 0; c < out; c++) {
		int32_t sum = 0;
		for (size_t i = 0; i < in; i++) {
			const size_t step = (c / panel_columns * (in / panel_depth) + i / panel_depth) * panel_bytes;
			const int8_t v = (int8_t)((int)(drawn() % 256) - 128);
			integers.values[step + c % panel_columns * panel_depth + i % panel_depth] = (char)v;
			sum += v;
		}
		((int32_t *)offset.values)[c] = -128 * sum;
		((float *)scales.values)[c] = (float)(1 + c);
	}
	const row_matrix m = {in, out, (int8_t *)integers.values, (int32_t *)offset.values, (float *)scales.values};
	const int equal = test_matrix(&m);
	free(integers.memory), free(offset.memory), free(scales.memory);
	return equal;
}

// expected says which kernels were tested, and whether those are what SWAR_EXPECT_KERNELS names.
static int expected(void) {
	char ran[200] = "";
	for (const row_kernel *const *k = row_kernels; *k != NULL; k++) {
		if ((*k)->runs_here())
			snprintf(ran + strlen(ran), sizeof ran - strlen(ran), "%s%s", *ran ? " " : "", (*k)->name);
		else
			printf("NOT TESTED: %s, whose instructions this processor lacks\n", (*k)->name);
	}
	printf("tested: %s\n", ran);
	const char *want = getenv("SWAR_EXPECT_KERNELS");
	if (want == NULL || *want == '\0' || strcmp(want, ran) == 0)
		return 1;
	fprintf(stderr, "SWAR_EXPECT_KERNELS wants %s\n", want);
	return 0;
}

int main(void) {
	int equal = 1;
	for (size_t d = 0; d < LENGTH(depths); d++)
		for (size_t w = 0; w < LENGTH(widths); w++)
			equal &= test_size(depths[d], widths[w]);
	return expected() && equal ? 0 : 1;
}
