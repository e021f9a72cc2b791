// The loop of processors that multiply bytes and add four products in one instruction (VNNI). The kernel defines LOAD,
// BROADCAST, PRODUCT (the instruction), ADD_TO, the type sum_t and how many of those make a panel.
//
// PRODUCT is written in assembly, because GCC 12 copies each sum twice around the intrinsic of it.
#include "tap.h"

#include <string.h>

INLINE void add_up(const int rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	const size_t apart = t->taps * t->in * panel_columns;
	const int8_t *b = t->b, *fetch = t->fetch;
	sum_t sum[tile_rows][wide * registers];
	for (int c = 0; c < panels * registers; c++) {
		const int p = c / registers;
		const sum_t offsets = LOAD((const char *)(t->offsets + p * t->taps * panel_columns) + c % registers * sizeof(sum_t));
		for (int r = 0; r < rows; r++)
			sum[r][c] = offsets;
	}
	for (size_t i = 0; i < t->in; i += panel_depth, b += panel_bytes, fetch += panel_bytes) {
		sum_t v[wide * registers];
		for (int p = 0; p < panels; p++)
			_mm_prefetch((const char *)fetch + p * apart, _MM_HINT_T0);
		for (int c = 0; c < panels * registers; c++)
			v[c] = LOAD(b + c / registers * apart + c % registers * sizeof(sum_t));
		for (int r = 0; r < rows; r++) {
			int32_t four;
			memcpy(&four, x + r * t->in + i, sizeof four);
			const sum_t values = BROADCAST(four);
			for (int c = 0; c < panels * registers; c++)
				PRODUCT(sum[r][c], values, v[c]);
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < panels * registers; c++)
			ADD_TO(sums + r * wide * panel_columns + c * sizeof(sum_t) / sizeof(float), sum[r][c], scale[r]);
}
