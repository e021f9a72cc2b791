// The loop of processors that multiply bytes and add four products in one instruction (VNNI). Rows are unsigned. The
// kernel defines LOAD, BROADCAST, STORE, PRODUCT (the instruction), the type sum_t and how many of those make a
// panel.
#include "rowproduct.h"

#include <string.h>

static size_t packed_bytes(size_t in, size_t rows) { return in * rows; }

TARGET static void pack(const int8_t *q, size_t in, void *packed, size_t r, size_t rows) {
	uint8_t *to = (uint8_t *)packed + 4 * r;
	for (size_t i = 0; i < in; i += 4, to += 4 * rows)
		for (size_t j = 0; j < 4; j++)
			to[j] = (uint8_t)(q[i + j] + 128);
}

INLINE void add_up(const int rows, const int panels, size_t steps, const int8_t *b, const void *packed,
                   const int8_t *fetch, int32_t sums[][2 * panel_columns]) {
	const uint8_t *a = packed;
	sum_t sum[tile_rows][2 * registers];
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < panels * registers; c++)
			sum[r][c] = ZERO();
	for (size_t k = 0; k < steps; k++) {
		sum_t v[2 * registers];
		for (int p = 0; p < panels; p++) {
			for (int c = 0; c < registers; c++)
				v[p * registers + c] = LOAD(b + (p * steps + k) * 64 + c * sizeof(sum_t));
			_mm_prefetch((const char *)fetch + (p * steps + k) * 64, _MM_HINT_T0);
		}
		for (int r = 0; r < rows; r++) {
			int32_t four;
			memcpy(&four, a + (k * rows + r) * 4, sizeof four);
			const sum_t values = BROADCAST(four);
			for (int c = 0; c < panels * registers; c++)
				sum[r][c] = PRODUCT(sum[r][c], values, v[c]);
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < panels * registers; c++)
			STORE((char *)sums[r] + c * sizeof(sum_t), sum[r][c]);
}
