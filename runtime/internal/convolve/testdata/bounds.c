// Convolves with every kernel that this processor can run, in buffers of exactly the needed sizes, and compares with plain C bit by bit.
// Built with sanitizers it ends at the first byte that is read or written outside of a buffer: hack/sanitize-kernels.sh.
#include "../convolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Around every edge of groups, panels, pairs of panels, tiles, and blocks of rows.
static const size_t channels[] = {16, 32, 48, 144};
static const size_t widths[] = {1, 7, 15, 16, 17, 31, 32, 33, 47, 48, 49};
static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 25, 47, 48, 49, 70};
static const size_t taps[] = {1, 2, 3, 11}, dilations[] = {1, 5};
enum { max_rows = 70 };

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void *new(size_t bytes) {
	void *memory = malloc(bytes);
	if (memory == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return memory;
}

static uint32_t drawn(void) {
	static uint64_t state = 1;
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

// same compares the first rows that follow from x with what they should be.
static int same(const convolve_kernel *k, const convolve_weights *w, const uint8_t *x, const float *scale, size_t rows, size_t dilation,
                const float *want) {
	const size_t needed = rows + (w->taps - 1) * dilation, results = rows * w->out * sizeof(float);
	uint8_t *exact = new(needed * w->in + 1); // values begin where they may begin and no better than that
	float *scales = new(needed * sizeof(float)), *y = new(results);
	memcpy(exact + 1, x, needed * w->in);
	memcpy(scales, scale, needed * sizeof(float));
	k->multiply(w, exact + 1, scales, rows, dilation, y);
	const int equal = memcmp(y, want, results) == 0;
	if (!equal)
		fprintf(stderr, "%s: %zu rows, %zu of %zu channels, %zu taps by %zu, sums %d: differs from plain C\n", k->name, rows, w->out, w->in,
		        w->taps, dilation, w->sums[0]);
	free(exact), free(scales), free(y);
	return equal;
}

static int test_weights(const convolve_weights *w, size_t dilation) {
	const size_t needed = max_rows + (w->taps - 1) * dilation;
	uint8_t *x = new(needed * w->in);
	float *scale = new(needed * sizeof(float)), *want = new(max_rows * w->out * sizeof(float));
	for (size_t i = 0; i < needed * w->in; i++)
		x[i] = i / w->in % 5 == 1 ? 255 : (uint8_t)drawn();
	for (size_t i = 0; i < needed; i++)
		scale[i] = i % 7 == 3 ? 0 : (float)drawn() / (1u << 30);
	convolve_plain.multiply(w, x, scale, max_rows, dilation, want);
	int equal = 1;
	for (const convolve_kernel *const *k = convolve_kernels; *k != NULL; k++)
		for (size_t i = 0; i < LENGTH(counts) && (*k)->runs_here(); i++)
			equal &= same(*k, w, x, scale, counts[i], dilation, want);
	free(x), free(scale), free(want);
	return equal;
}

// test_size has weights that fit how products are to be added up. Words have half as many channels.
static int test_size(size_t in, size_t out, size_t taps, size_t dilation, int how) {
	static const int reach[] = {128, 65, 17};
	const size_t panels = (out + panel_columns - 1) / panel_columns, steps = in / panel_depth;
	int8_t *integers = new(panels * taps * panel_columns * in);
	uint8_t *sums = new(panels * taps);
	int32_t *offsets = new(panels * taps * panel_columns * sizeof(int32_t));
	float *scales = new(out * sizeof(float));
	memset(integers, 0, panels * taps * panel_columns * in);
	memset(offsets, 0, panels * taps * panel_columns * sizeof(int32_t));
	memset(sums, how, panels * taps);
	for (size_t o = 0; o < out; o++) {
		scales[o] = (float)(1 + o);
		for (size_t t = 0; t < taps; t++)
			for (size_t i = 0; i < in; i++) {
				const size_t at = o / panel_columns * taps + t;
				int8_t *to = integers + (at * steps + i / panel_depth) * panel_bytes + o % panel_columns * panel_depth + i % panel_depth;
				if (how == add_words) {
					const int16_t v = (int16_t)((int)(drawn() % 1001) - 500); // times 2^15 and 72 channels, below 2^31
					if (i % 2 == 0)
						memcpy(to, &v, sizeof v);
					continue;
				}
				*to = (int8_t)((int)(drawn() % (2 * reach[how] - 1)) - reach[how] + 1);
				offsets[at * panel_columns + o % panel_columns] -= 128 * *to;
			}
	}
	const convolve_weights w = {in, out, taps, integers, sums, offsets, scales};
	const int equal = test_weights(&w, dilation);
	free(integers), free(sums), free(offsets), free(scales);
	return equal;
}

// expected says which kernels were tested, and whether those are what SWAR_EXPECT_KERNELS names.
static int expected(void) {
	char ran[200] = "";
	for (const convolve_kernel *const *k = convolve_kernels; *k != NULL; k++) {
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
	size_t sizes = 0;
	for (size_t w = 0; w < LENGTH(widths); w++)
		for (size_t c = 0; c < LENGTH(channels); c++, sizes++)
			for (int how = add_in_32; how <= add_words; how++)
				equal &= test_size(channels[c], widths[w], taps[sizes % LENGTH(taps)], dilations[sizes / LENGTH(taps) % LENGTH(dilations)], how);
	return expected() && equal ? 0 : 1;
}
