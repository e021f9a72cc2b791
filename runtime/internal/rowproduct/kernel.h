// What all kernels share: how rows become integers, in which order panels and rows are taken, and what becomes of the
// sums. A kernel is a C file that includes this after it has defined
//
//   NAME           what it is called, for the symbol row_NAME
//   TARGET         the attribute of a function that may use its instructions
//   EACH_TILE(f)   f(n) for every number of rows that add_up takes at once, from 1 to tile_rows
//   wide_from      from so many rows on, it takes two panels at once
//   signed_rows    whether packed rows are signed; else 128 is added to each value, which the matrix's offsets take away
//   packed_bytes   a function: bytes of the packed form of some rows of so many values
//   pack           a function: brings row r of a tile of so many rows, as integers, into that form. The values of a
//                  step lie together for all rows of the tile: rows apart, whose length is a power of two, would take
//                  each other's place in the cache
//   add_up         a function: adds the products of a tile and of panels into sums, which begin anywhere
#include "rowproduct.h"

#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math") // else bounds of values stay jumps where registers have no masks
#endif

enum { rows_at_once = 64 }; // as many as are packed before panels are read

// to_integers rounds a row to integers from -128 to 127 and returns their scale, by which the largest is 127:
// QuantizeLinear of ONNX with a zero point of 0. A value that is not a number makes the scale one too, so that it
// shows in the result.
INLINE float to_integers(const float *x, size_t n, int8_t *q) {
	uint32_t peak = 0; // bits of absolute values grow with them, and those of what is no number lie above all others
	for (size_t i = 0; i < n; i++) {
		uint32_t bits;
		memcpy(&bits, x + i, sizeof bits);
		bits &= 0x7fffffff;
		peak = bits > peak ? bits : peak;
	}
	float largest;
	memcpy(&largest, &peak, sizeof largest);
	const float scale = largest * (1.0f / 127);
	const float magic = 0x1.8p23f; // added to a small float, it leaves the nearest integer, ties to even, in its bits
	for (size_t i = 0; i < n; i++) {
		float v = x[i] / scale;
		v = v > -128 ? v : -128; // also where a row of zeros is divided by zero
		v = v < 127 ? v : 127;
		v += magic;
		int32_t bits, zero;
		memcpy(&bits, &v, sizeof bits);
		memcpy(&zero, &magic, sizeof zero);
		q[i] = (int8_t)(bits - zero);
	}
	return scale;
}

// tile computes a tile of rows of one or two panels, from a column on.
INLINE void tile(const int rows, const int panels, const row_matrix *m, const void *packed, const float *scale,
                 size_t column, const int8_t *fetch, float *y) {
	int32_t sums[tile_rows][2 * panel_columns] __attribute__((aligned(64)));
	const size_t steps = m->in / panel_depth;
	add_up(rows, panels, steps, m->panels + column / panel_columns * steps * panel_bytes, packed, fetch, sums);
	const size_t left = m->out - column;
	const size_t columns = left < (size_t)panels * panel_columns ? left : (size_t)panels * panel_columns;
	for (int r = 0; r < rows; r++) {
		float *to = y + r * m->out + column;
		for (size_t c = 0; c < columns; c++) {
			const int32_t sum = signed_rows ? sums[r][c] : sums[r][c] + m->offset[column + c];
			to[c] = (float)sum * scale[r] * m->scales[column + c];
		}
	}
}

INLINE void tile_of(size_t rows, const int panels, const row_matrix *m, const void *packed, const float *scale,
                    size_t column, const int8_t *fetch, float *y) {
	switch (rows) {
#define TILE(n) case n: tile(n, panels, m, packed, scale, column, fetch, y); break;
	EACH_TILE(TILE)
	}
}

// share returns how many rows each tile but the last has: about as many as any other, because those of few cost more
// for a row.
static size_t share(size_t rows) {
	const size_t tiles = (rows + tile_rows - 1) / tile_rows;
	return (rows + tiles - 1) / tiles;
}

static size_t at_most(size_t n, size_t most) { return n < most ? n : most; }

TARGET static void multiply_some(const row_matrix *m, const char *packed, const float *scale, size_t rows, float *y) {
	// What is fetched in advance where a panel comes from memory. One row with AVX2 takes 9.2 ms with 512 bytes, 4.0 with
	// these 8 KB and 5.9 with 12 KB (84 MB of matrices, Xeon of Sapphire Rapids).
	enum { ahead = 128 * panel_bytes };
	const size_t each = share(rows), bytes = packed_bytes(m->in, each);
	for (size_t column = 0; column < m->out;) { // a panel comes from memory once, for all rows
		const int wide = rows >= wide_from && m->out - column > panel_columns;
		const size_t columns = wide ? 2 * panel_columns : panel_columns;
		const int8_t *fetch = m->panels + column * m->in + ahead, *next = m->panels + (column + columns) * m->in;
		for (size_t r = 0; r < rows; r += each) {
			const size_t n = at_most(rows - r, each);
			const char *rows_of_tile = packed + r / each * bytes;
			if (wide)
				tile_of(n, 2, m, rows_of_tile, scale + r, column, fetch, y + r * m->out);
			else
				tile_of(n, 1, m, rows_of_tile, scale + r, column, fetch, y + r * m->out);
			fetch = next; // while the other rows use what is in the cache
		}
		column += columns;
	}
}

TARGET static void multiply(const row_matrix *m, const float *x, size_t rows, float *y, void *scratch) {
	float scale[rows_at_once];
	int8_t *integers = scratch;
	char *packed = (char *)scratch + (m->in + 63) / 64 * 64;
	for (size_t from = 0; from < rows; from += rows_at_once) {
		const size_t n = at_most(rows - from, rows_at_once), each = share(n);
		for (size_t r = 0; r < n; r++) {
			const size_t tile = r / each, first = tile * each;
			scale[r] = to_integers(x + (from + r) * m->in, m->in, integers);
			pack(integers, m->in, packed + tile * packed_bytes(m->in, each), r - first, at_most(n - first, each));
		}
		multiply_some(m, packed, scale, n, y + from * m->out);
	}
}

// scratch returns what one row as integers and all packed tiles take.
static size_t scratch(const row_matrix *m, size_t rows) {
	const size_t some = at_most(rows, rows_at_once), each = share(some);
	return (m->in + 63) / 64 * 64 + (some + each - 1) / each * packed_bytes(m->in, each);
}

#define JOINED(a, b) a##b
#define SYMBOL(name) JOINED(row_, name)
#define TEXT(name) #name
#define QUOTED(name) TEXT(name)

const row_kernel SYMBOL(NAME) = {QUOTED(NAME), runs_here, scratch, multiply};
