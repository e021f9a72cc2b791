// What all kernels share: in which order rows, panels and taps are taken, and what becomes of the sums. A kernel is a C
// file that includes this after it has defined
//
//   NAME         what it is called, for the symbol convolve_NAME
//   TARGET       the attribute of a function that may use its instructions
//   EACH_TILE(f) f(n) for every number of rows that add_up takes at once, from 1 to tile_rows
//   word_rows    how many of those it takes at most where they are words
//   wide         how many panels it takes at once
//   add_up       a function: adds a tap of a tile, in floats, to what the taps before it gave
//
// The sum of a tap is one of integers, and exact in any order. It becomes a float, is multiplied by the scale of its row
// of input, and is added to what earlier taps gave; the last step is the scale of the column. No product and sum are
// contracted to one operation, which the mode of ISO C in convolve.go and the pragma ask for.
#include "convolve.h"

#include <string.h>

enum { rows_at_once = 48, columns_at_once = wide * panel_columns };

INLINE void tile_of(size_t rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	switch (rows) {
#define TILE(n) case n: add_up(n, panels, t, x, scale, sums); break;
	EACH_TILE(TILE)
	}
}

// share returns how many rows each tile but the last has: about as many as any other, because those of few cost more
// for a row.
static size_t share(size_t rows, size_t most) {
	const size_t tiles = (rows + most - 1) / most;
	return (rows + tiles - 1) / tiles;
}

static size_t at_most(size_t n, size_t most) { return n < most ? n : most; }

// some computes a block of rows of one or more panels. Weights come from memory once for the block, and the sums of it
// stay in the nearest cache.
INLINE void some(const int panels, const convolve_weights *w, size_t column, const uint8_t *x, const float *scale, size_t rows,
                 size_t dilation, float *y) {
	float sums[rows_at_once * columns_at_once] __attribute__((aligned(64)));
	memset(sums, 0, rows * columns_at_once * sizeof *sums);
	const size_t each = share(rows, w->sums[0] == add_words ? word_rows : tile_rows), steps = w->in / panel_depth, panel = column / panel_columns;
	for (size_t tap = 0; tap < w->taps; tap++) {
		const size_t at = panel * w->taps + tap;
		const int8_t *b = w->panels + at * steps * panel_bytes;
		const int last = tap + 1 == w->taps; // the next panels follow those that lie between
		const size_t next = last ? (wide - 1) * w->taps + 1 : 1;
		tap_of_panels t = {
			.in = w->in, .taps = w->taps, .b = b, .offsets = w->offsets + at * panel_columns, .how = w->sums[at],
			.fetch = last && w->out - column <= 2 * columns_at_once ? b : b + next * steps * panel_bytes,
		};
		for (size_t r = 0; r < rows; r += each) {
			const size_t first = r + tap * dilation;
			tile_of(at_most(rows - r, each), panels, &t, x + first * w->in, scale + first, sums + r * columns_at_once);
			t.fetch = b; // while the other rows use what is in the cache
		}
	}
	const size_t columns = at_most(w->out - column, (size_t)panels * panel_columns);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c++)
			y[r * w->out + column + c] = sums[r * columns_at_once + c] * w->scales[column + c];
}

TARGET static void multiply(const convolve_weights *w, const uint8_t *x, const float *scale, size_t rows, size_t dilation, float *y) {
	if (rows == 0)
		return;
	const size_t each = share(rows, rows_at_once);
	for (size_t r = 0; r < rows; r += each) {
		const size_t n = at_most(rows - r, each);
		size_t column = 0;
		for (; wide > 1 && w->out - column > panel_columns && column < w->out; column += columns_at_once)
			some(wide, w, column, x + r * w->in, scale + r, n, dilation, y + r * w->out);
		for (; column < w->out; column += panel_columns)
			some(1, w, column, x + r * w->in, scale + r, n, dilation, y + r * w->out);
	}
}

#define JOINED(a, b) a##b
#define SYMBOL(name) JOINED(convolve_, name)
#define TEXT(name) #name
#define QUOTED(name) TEXT(name)

const convolve_kernel SYMBOL(NAME) = {QUOTED(NAME), runs_here, multiply};
