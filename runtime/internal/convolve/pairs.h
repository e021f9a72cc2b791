// The loop of x86 processors without VNNI. An instruction multiplies bytes of a row by weights and adds the products of two
// neighbours in 16 bits (pmaddubsw), which cuts them off beyond: two weights of 127 are too much. Weights that were trained
// are small, though, so that mostly all products of a group, two of each step, fit 16 bits together; what was packed says
// so, for every byte that a row may have. Else each step is widened to 32 bits by itself, and where not even two
// products fit, bytes are widened before they are multiplied.
//
// Words need none of that. The kernel defines the type sum_t, registers (how many of those make a panel) and the instructions; ADD_WORDS adds
// the products of two words and a step of weights to the sums of a row. FORGET keeps the compiler from holding on to values of rows where
// there are too few registers for that.
#include "tap.h"

#include <string.h>

// step multiplies one step of a row by weights and adds in 16 bits.
INLINE sum_t step(const uint8_t *x, sum_t weights) { return PAIRS_OF_BYTES(BROADCAST(x), weights); }

// group adds the products of four steps, which begin at x, to sum.
INLINE sum_t group(const int how, sum_t sum, const uint8_t *x, const sum_t *v) {
	if (how == add_group) {
		const sum_t first = ADD_16(step(x, v[0]), step(x + 4, v[1])), last = ADD_16(step(x + 8, v[2]), step(x + 12, v[3]));
		return ADD(sum, PAIRS(ADD_16(first, last), ONES()));
	}
	for (int k = 0; k < group_steps; k++) {
		if (how == add_pairs) {
			sum = ADD(sum, PAIRS(step(x + 4 * k, v[k]), ONES()));
			continue;
		}
		const sum_t values = BROADCAST(x + 4 * k);
		sum = ADD(sum, PAIRS(SHIFT_RIGHT_ZERO(values, 8), SHIFT_RIGHT(v[k], 8)));
		sum = ADD(sum, PAIRS(SHIFT_RIGHT_ZERO(SHIFT_LEFT(values, 8), 8), SHIFT_RIGHT(SHIFT_LEFT(v[k], 8), 8)));
	}
	return sum;
}

INLINE void add_up_how(const int how, const int rows, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	for (int c = 0; c < registers; c++) {
		const int8_t *b = t->b + c * sizeof(sum_t);
		sum_t sum[tile_rows];
		for (int r = 0; r < rows; r++)
			sum[r] = LOAD((const char *)t->offsets + c * sizeof(sum_t));
		for (size_t i = 0; i < t->in; i += group_channels, b += group_steps * panel_bytes) {
			sum_t v[group_steps];
			for (int k = 0; k < group_steps; k++) {
				v[k] = LOAD(b + k * panel_bytes);
				if (c == 0)
					_mm_prefetch((const char *)t->fetch + i * panel_columns + k * panel_bytes, _MM_HINT_T0);
			}
			FORGET();
			for (int r = 0; r < rows; r++)
				sum[r] = group(how, sum[r], x + r * t->in + i, v);
		}
		for (int r = 0; r < rows; r++)
			ADD_TO(sums + r * wide * panel_columns + c * sizeof(sum_t) / sizeof(float), sum[r], scale[r]);
	}
}

// add_up_words adds products of words, whole panels of few rows, so that a value of a row serves more than one product.
INLINE void add_up_words(const int rows, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	sum_t sum[word_rows][registers];
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < registers; c++)
			sum[r][c] = ZERO();
	const int8_t *b = t->b, *fetch = t->fetch;
	for (size_t i = 0; i < t->in; i += panel_depth, b += panel_bytes, fetch += panel_bytes) {
		sum_t v[registers];
		for (int c = 0; c < registers; c++)
			v[c] = LOAD(b + c * sizeof(sum_t));
		_mm_prefetch((const char *)fetch, _MM_HINT_T0);
		for (int r = 0; r < rows; r++)
			ADD_WORDS(sum[r], x + r * t->in + i, v);
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < registers; c++)
			ADD_TO(sums + r * wide * panel_columns + c * sizeof(sum_t) / sizeof(float), sum[r][c], scale[r]);
}

INLINE void add_up(const int rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	(void)panels; // one
	switch (t->how) {
	case add_words: add_up_words(rows < word_rows ? rows : word_rows, t, x, scale, sums); break; // never more
	case add_group: add_up_how(add_group, rows, t, x, scale, sums); break;
	case add_pairs: add_up_how(add_pairs, rows, t, x, scale, sums); break;
	default: add_up_how(add_in_32, rows, t, x, scale, sums);
	}
}
