// The functions, which the compiler makes for the instructions that the file around this allows. That file defines
//
//   NAME      what the set of instructions is called, for the symbol vector_NAME
//   TARGET    the attribute of a function that may use its instructions
//   LANE_BYTES what a register holds
//   DENSE_ROWS how many rows of 32 sums fit its registers
//   runs_here a function: whether this processor has them
//
// Each value is computed alone, by the same operations in the same order, and a product and a sum are never contracted
// to one operation, which the mode of ISO C in vector.go and the pragma ask for: so the bits do not depend on how many
// values a register holds.
#include "vector.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#include <string.h>

#define INLINE static inline __attribute__((always_inline)) TARGET

// sin_squared is the square of the sine, to about 1e-7 for arguments up to some thousands. Multiples of pi are taken
// away in three parts (Cody and Waite, 1980); what is left lies between -pi/2 and pi/2, where a polynomial in odd
// powers serves.
INLINE float sin_squared(float x) {
	const float magic = 0x1.8p23f; // added to a small float, it leaves the nearest integer
	const float turns = (x * 0x1.45f306p-2f + magic) - magic;
	float r = x - turns * 3.140625f;
	r = r - turns * 0x1.fb4p-11f;
	r = r - turns * 0x1.4442d2p-24f;
	const float s = r * r;
	float p = -2.3889859e-8f;
	p = p * s + 2.7525562e-6f;
	p = p * s + -1.9840874e-4f;
	p = p * s + 8.3333310e-3f;
	p = p * s + -1.6666667e-1f;
	const float sine = r + r * s * p;
	return sine * sine;
}

TARGET static void snake(float *restrict y, const float *restrict x, size_t rows, size_t columns, const float *restrict a,
                         const float *restrict b, const float *restrict frequency, const float *restrict height) {
	for (size_t r = 0; r < rows; r++, x += columns, y += columns)
		for (size_t c = 0; c < columns; c++) {
			const float v = x[c] * a[c] + b[c];
			y[c] = v + height[c] * sin_squared(frequency[c] * v);
		}
}

TARGET static void leaky(float *restrict y, const float *restrict x, size_t rows, size_t columns, const float *restrict a,
                         const float *restrict b, float slope) {
	for (size_t r = 0; r < rows; r++, x += columns, y += columns)
		for (size_t c = 0; c < columns; c++) {
			const float v = x[c] * a[c] + b[c];
			y[c] = v < 0 ? v * slope : v;
		}
}

TARGET static void sum(float *restrict y, const float *restrict x, const float *restrict z, size_t rows, size_t columns,
                       const float *restrict bias, float scale) {
	for (size_t r = 0; r < rows; r++, x += columns, z += columns, y += columns)
		for (size_t c = 0; c < columns; c++)
			y[c] = (x[c] + z[c] + bias[c]) * scale;
}

// to_bytes writes a row as integers from -127 to 127, plus 128, and returns their scale, by which the largest is 127. The
// bytes behind them, up to stride, stand for 0. A value that is not a number makes the scale one too, and bytes whatever
// they may be; a row of nearly nothing is one of zeros.
INLINE float to_bytes(uint8_t *restrict q, const float *restrict v, size_t columns, size_t stride) {
	uint32_t peak = 0; // bits of absolute values grow with them, and those of what is no number lie above all others
	for (size_t c = 0; c < columns; c++) {
		uint32_t bits;
		memcpy(&bits, v + c, sizeof bits);
		bits &= 0x7fffffff;
		peak = bits > peak ? bits : peak;
	}
	float largest;
	memcpy(&largest, &peak, sizeof largest);
	const int nothing = largest < 1e-30f;
	const float inverse = nothing ? 0 : 127 / largest;
	const float magic = 0x1.8p23f; // added to a small float, it leaves the nearest integer, ties to even, in its bits
	for (size_t c = 0; c < columns; c++) {
		const float scaled = v[c] * inverse + magic;
		uint32_t bits;
		memcpy(&bits, &scaled, sizeof bits);
		q[c] = (uint8_t)(bits + 128); // the last byte of magic is 0
	}
	memset(q + columns, 128, stride - columns);
	return nothing ? 0 : largest * (1.0f / 127);
}

TARGET static void round_bytes(uint8_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride) {
	for (size_t r = 0; r < rows; r++, x += columns, q += stride)
		scale[r] = to_bytes(q, x, columns, stride);
}

TARGET static void snake_bytes(uint8_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, const float *a,
                               const float *b, const float *frequency, const float *height) {
	float row[max_byte_columns];
	for (size_t r = 0; r < rows; r++, x += columns, q += stride) {
		snake(row, x, 1, columns, a, b, frequency, height);
		scale[r] = to_bytes(q, row, columns, stride);
	}
}

TARGET static void leaky_bytes(uint8_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, const float *a,
                               const float *b, float slope) {
	float row[max_byte_columns];
	for (size_t r = 0; r < rows; r++, x += columns, q += stride) {
		leaky(row, x, 1, columns, a, b, slope);
		scale[r] = to_bytes(q, row, columns, stride);
	}
}

// linear adds in 16 sums whatever a register holds, so that all sets add in one order.
TARGET static void linear(float *y, const float *x, size_t in, size_t out, const int8_t *weights, const float *scales, const float *bias) {
	enum { parts = 16 };
	for (size_t o = 0; o < out; o++, weights += in) {
		float sums[parts] = {0};
		size_t i = 0;
		for (; i + parts <= in; i += parts)
			for (int p = 0; p < parts; p++)
				sums[p] += (float)weights[i + p] * x[i + p];
		for (int p = 0; i < in; i++, p++)
			sums[p] += (float)weights[i] * x[i];
		for (int half = parts / 2; half > 0; half /= 2)
			for (int p = 0; p < half; p++)
				sums[p] += sums[half + p];
		y[o] = sums[0] * scales[o] + bias[o];
	}
}

enum { dense_columns = 32 };

typedef float lanes __attribute__((vector_size(LANE_BYTES)));
enum { dense_lanes = dense_columns * sizeof(float) / LANE_BYTES };

// dense_tile computes some rows of up to 32 columns, whose sums stay in registers.
INLINE void dense_tile(const int rows, const size_t columns, float *y, const float *x, size_t in, size_t step, size_t out,
                       const float *weights, const float *bias) {
	float some[dense_columns] = {0}; // through which a part of 32 columns comes and goes, so that sums need no address
	memcpy(some, bias, columns * sizeof(float));
	lanes sums[DENSE_ROWS][dense_lanes];
	for (int r = 0; r < rows; r++)
		for (int l = 0; l < dense_lanes; l++)
			memcpy(&sums[r][l], some + l * LANE_BYTES / sizeof(float), LANE_BYTES);
	for (size_t i = 0; i < in; i++) {
		lanes w[dense_lanes];
		memcpy(w, weights + i * dense_columns, sizeof w);
		for (int r = 0; r < rows; r++) {
			const float v = x[r * step + i];
			for (int l = 0; l < dense_lanes; l++)
				sums[r][l] += v * w[l];
		}
	}
	for (int r = 0; r < rows; r++) {
		for (int l = 0; l < dense_lanes; l++)
			memcpy(some + l * LANE_BYTES / sizeof(float), &sums[r][l], LANE_BYTES);
		memcpy(y + r * out, some, columns * sizeof(float));
	}
}

// dense multiplies rows, each step floats behind the one before, by weights that lie in panels of 32 columns,
// [panels][in][32].
TARGET static void dense(float *y, const float *x, size_t rows, size_t in, size_t step, size_t out, const float *weights,
                         const float *bias) {
	for (size_t column = 0; column < out; column += dense_columns, weights += in * dense_columns) {
		const size_t columns = out - column < dense_columns ? out - column : dense_columns;
		size_t r = 0;
		for (; r + DENSE_ROWS <= rows; r += DENSE_ROWS)
			dense_tile(DENSE_ROWS, columns, y + r * out + column, x + r * step, in, step, out, weights, bias + column);
		for (; r < rows; r++)
			dense_tile(1, columns, y + r * out + column, x + r * step, in, step, out, weights, bias + column);
	}
}

#define JOINED(a, b) a##b
#define SYMBOL(name) JOINED(vector_, name)
#define TEXT(name) #name
#define QUOTED(name) TEXT(name)

const vector_functions SYMBOL(NAME) = {QUOTED(NAME), runs_here, snake, leaky, sum, dense, round_bytes, snake_bytes, leaky_bytes, linear};
