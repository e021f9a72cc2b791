// Plain C: the reference of all other kernels, and what runs where there is no other.
#define NAME plain
#define TARGET
#define EACH_TILE UP_TO_1

#include "tap.h"

#include <string.h>

enum { tile_rows = 1, word_rows = tile_rows, wide = 1 };

static int runs_here(void) { return 1; }

static int32_t bytes(const uint8_t *x, const int8_t *b) {
	int32_t sum = 0;
	for (int j = 0; j < panel_depth; j++)
		sum += (int32_t)x[j] * b[j];
	return sum;
}

static int32_t words(const void *x, const void *b) {
	int16_t of_row[2], weights[2];
	memcpy(of_row, x, sizeof of_row);
	memcpy(weights, b, sizeof weights);
	return (int32_t)of_row[0] * weights[0] + (int32_t)of_row[1] * weights[1];
}

INLINE void add_up(const int rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	(void)rows, (void)panels; // one of each
	int32_t sum[panel_columns];
	memcpy(sum, t->offsets, sizeof sum);
	const int8_t *b = t->b;
	for (size_t i = 0; i < t->in; i += panel_depth, b += panel_bytes)
		for (int c = 0; c < panel_columns; c++)
			sum[c] += t->how == add_words ? words(x + i, b + panel_depth * c) : bytes(x + i, b + panel_depth * c);
	for (int c = 0; c < panel_columns; c++)
		sums[c] += (float)sum[c] * *scale;
}

#include "kernel.h"
