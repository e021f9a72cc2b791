// The loop of x86 processors without VNNI: bytes become 16 bits, pairs of products are added in 32 bits (pmaddwd), so
// that no sum is cut off. Multiplying bytes directly (pmaddubsw) adds pairs in 16 bits, which -128 to 127 do not fit.
// The four values of a column in a step are taken as the pairs (0, 2) and (1, 3), because those come out of bytes by
// shifts. The kernel defines the type sum_t; registers, how many of those make a panel; together(rows, all), how many
// of all registers of weights are gone through at once; and the instructions. FORGET keeps the compiler from holding
// on to values of rows where there are too few registers for that.
#include "rowproduct.h"

#include <string.h>

static size_t packed_bytes(size_t in, size_t rows) { return 2 * in * rows; }

TARGET static void pack(const int8_t *q, size_t in, void *packed, size_t r, size_t rows) {
	int16_t *to = (int16_t *)packed + 4 * r;
	for (size_t i = 0; i < in; i += 4, to += 4 * rows) {
		to[0] = q[i], to[1] = q[i + 2];
		to[2] = q[i + 1], to[3] = q[i + 3];
	}
}

INLINE void add_up(const int rows, const int panels, size_t steps, const int8_t *b, const void *packed,
                   const int8_t *fetch, int32_t sums[][2 * panel_columns]) {
	const int16_t *a = packed;
	const int all = panels * registers, group = together(rows, all);
	for (int from = 0; from < all; from += group) {
		sum_t sum[tile_rows][2 * registers];
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < group; c++)
				sum[r][c] = ZERO();
		for (size_t k = 0; k < steps; k++) {
			for (int p = 0; p < panels; p++)
				_mm_prefetch((const char *)fetch + (p * steps + k) * panel_bytes, _MM_HINT_T0);
			for (int c = 0; c < group; c++) {
				const int8_t *panel = b + (from + c) / registers * steps * panel_bytes;
				const sum_t bytes = LOAD(panel + k * panel_bytes + (from + c) % registers * sizeof(sum_t));
				const sum_t odd = SHIFT_RIGHT(bytes, 8), even = SHIFT_RIGHT(SHIFT_LEFT(bytes, 8), 8);
				FORGET();
				for (int r = 0; r < rows; r++) {
					const int16_t *values = a + (k * rows + r) * 4;
					const sum_t two = ADD(PAIRS(even, BROADCAST(values)), PAIRS(odd, BROADCAST(values + 2)));
					sum[r][c] = ADD(sum[r][c], two);
				}
			}
		}
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < group; c++)
				STORE((char *)sums[r] + (from + c) * sizeof(sum_t), sum[r][c]);
	}
}
