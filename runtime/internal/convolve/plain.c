// Plain C: the reference of all other kernels, and what runs where there is no other.
#define NAME plain
#define TARGET
#define EACH_TILE UP_TO_1

#include "tap.h"

#include <string.h>

enum { tile_rows = 1, wide = 1 };

static int runs_here(void) { return 1; }

INLINE void add_up(const int rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	(void)rows, (void)panels; // one of each
	int32_t sum[panel_columns];
	memcpy(sum, t->offsets, sizeof sum);
	const int8_t *b = t->b;
	for (size_t i = 0; i < t->in; i += panel_depth, b += panel_bytes)
		for (int c = 0; c < panel_columns; c++)
			for (int j = 0; j < panel_depth; j++)
				sum[c] += (int32_t)x[i + j] * b[panel_depth * c + j];
	for (int c = 0; c < panel_columns; c++)
		sums[c] += (float)sum[c] * *scale;
}

#include "kernel.h"
