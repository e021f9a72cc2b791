// Plain C: the reference of all other kernels, and what runs where there is no other.
#define NAME plain
#define TARGET
#define EACH_TILE UP_TO_1

#include "rowproduct.h"

#include <string.h>

enum { tile_rows = 1, wide_from = 1 << 30, signed_rows = 1 };

static int runs_here(void) { return 1; }

static size_t packed_bytes(size_t in, size_t rows) { return in * rows; }

static void pack(const int8_t *q, size_t in, void *packed, size_t r, size_t rows) {
	(void)r, (void)rows; // a tile is one row
	memcpy(packed, q, in);
}

INLINE void add_up(const int rows, const int panels, size_t steps, const int8_t *b, const void *packed,
                   const int8_t *fetch, int32_t sums[][2 * panel_columns]) {
	(void)rows, (void)panels, (void)fetch; // one of each
	const int8_t *a = packed;
	memset(sums[0], 0, sizeof sums[0]);
	for (size_t k = 0; k < steps; k++, a += 4, b += 64)
		for (int c = 0; c < 16; c++)
			for (int i = 0; i < 4; i++)
				sums[0][c] += (int32_t)a[i] * b[4 * c + i];
}

#include "kernel.h"
