// The loop of processors that multiply bytes and add four products in one instruction, or words and two products (VNNI). The
// kernel defines LOAD, BROADCAST, ADD_TO, INSTRUCTION, the type sum_t and how many of those make a panel.
//
// INSTRUCTION is written in assembly, because GCC 12 copies each sum twice around the intrinsic of it.
#include "tap.h"

#include <string.h>

INLINE void add_up_of(const int words, const int rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale,
                      float *sums) {
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
			for (int c = 0; c < panels * registers; c++) {
				if (words)
					INSTRUCTION("vpdpwssd", sum[r][c], values, v[c]);
				else
					INSTRUCTION("vpdpbusd", sum[r][c], values, v[c]);
			}
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < panels * registers; c++)
			ADD_TO(sums + r * wide * panel_columns + c * sizeof(sum_t) / sizeof(float), sum[r][c], scale[r]);
}

INLINE void add_up(const int rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	if (t->how == add_words)
		add_up_of(1, rows, panels, t, x, scale, sums);
	else
		add_up_of(0, rows, panels, t, x, scale, sums);
}
