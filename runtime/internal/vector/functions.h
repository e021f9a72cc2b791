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
#elif defined(__GNUC__)
// Else a choice of two values stays a jump where registers have no masks, and each bound of an exponential becomes a way of its own through
// what follows: quotients by e^88 that nobody needs cost more than all else.
#pragma GCC optimize("no-trapping-math,no-thread-jumps")
#endif

#include <math.h>
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

// halves of an exponential: e to the power of x is a polynomial of rest, times power.
typedef struct {
	float rest, power;
} halves;

// halve takes whole powers of two away from x, between -87 and 88, in two parts.
INLINE halves halve(float x) {
	const float magic = 0x1.8p23f;
	x = x < -87 ? -87 : x; // what is no number stays that
	x = x > 88 ? 88 : x;
	const float shifted = x * 0x1.715476p0f + magic, n = shifted - magic;
	uint32_t bits;
	memcpy(&bits, &shifted, sizeof bits);
	bits = (bits + 127) << 23; // the last bits of magic are 0
	halves h = {x - n * 0.693359375f, 0};
	h.rest = h.rest + n * 2.12194440e-4f;
	memcpy(&h.power, &bits, sizeof h.power);
	return h;
}

// joined is the exponential of which the halves are (Cephes, S. Moshier).
INLINE float joined(halves h) {
	const float r = h.rest;
	float p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	return (p * (r * r) + r + 1) * h.power;
}

// exponential is e to the power of x, to about 2e-7 of it, and between e^-87 and e^88.
INLINE float exponential(float x) { return joined(halve(x)); }

// to_words is to_bytes with integers up to range, which are words. What is behind them stays as it is.
INLINE float to_words(int16_t *restrict q, const float *restrict v, size_t columns, float range) {
	uint32_t peak = 0;
	for (size_t c = 0; c < columns; c++) {
		uint32_t bits;
		memcpy(&bits, v + c, sizeof bits);
		bits &= 0x7fffffff;
		peak = bits > peak ? bits : peak;
	}
	float largest;
	memcpy(&largest, &peak, sizeof largest);
	const int nothing = largest < 1e-30f;
	const float inverse = nothing ? 0 : range / largest;
	const float magic = 0x1.8p23f;
	for (size_t c = 0; c < columns; c++) {
		const float scaled = v[c] * inverse + magic;
		uint32_t bits;
		memcpy(&bits, &scaled, sizeof bits);
		q[c] = (int16_t)(uint16_t)bits; // the last two bytes of magic are 0
	}
	return nothing ? 0 : largest / range;
}

TARGET static void round_words(int16_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, float range) {
	for (size_t r = 0; r < rows; r++, x += columns, q += stride)
		scale[r] = to_words(q, x, columns, range);
}

// elu takes two passes, because a processor finds more to do at once in two short chains of operations than in a long one.
TARGET static void elu(float *restrict y, const float *restrict x, size_t columns, const float *restrict bias) {
	float rest[max_byte_columns], power[max_byte_columns];
	for (size_t c = 0; c < columns; c++) {
		const float v = x[c] + bias[c];
		const halves h = halve(v > 0 ? 0 : v);
		y[c] = v, rest[c] = h.rest, power[c] = h.power;
	}
	for (size_t c = 0; c < columns; c++) {
		const float v = y[c], below = joined((halves){rest[c], power[c]}) - 1;
		y[c] = v > 0 ? v : below;
	}
}

TARGET static void elu_words(int16_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, const float *bias,
                             float range) {
	float row[max_byte_columns];
	for (size_t r = 0; r < rows; r++, x += columns, q += stride) {
		elu(row, x, columns, bias);
		scale[r] = to_words(q, row, columns, range);
	}
}

enum { parts = 16 }; // in which values are added, whatever a register holds, so that all sets add in one order

INLINE float sum_of(float sums[parts]) {
	for (int half = parts / 2; half > 0; half /= 2)
		for (int p = 0; p < half; p++)
			sums[p] += sums[half + p];
	return sums[0];
}

// norm takes the mean of a row away, brings it to a variance of one, and is affine after that.
TARGET static void norm(float *restrict y, const float *restrict x, size_t rows, size_t columns, const float *restrict weight,
                        const float *restrict bias, float epsilon) {
	for (size_t r = 0; r < rows; r++, x += columns, y += columns) {
		float sums[parts] = {0}, squares[parts] = {0};
		const size_t whole = columns / parts * parts;
		for (size_t c = 0; c < whole; c += parts)
			for (int p = 0; p < parts; p++)
				sums[p] += x[c + p];
		for (size_t c = whole; c < columns; c++)
			sums[c - whole] += x[c];
		const float mean = sum_of(sums) / (float)columns;
		for (size_t c = 0; c < whole; c += parts)
			for (int p = 0; p < parts; p++)
				squares[p] += (x[c + p] - mean) * (x[c + p] - mean);
		for (size_t c = whole; c < columns; c++)
			squares[c - whole] += (x[c] - mean) * (x[c] - mean);
		const float factor = 1 / sqrtf(sum_of(squares) / (float)columns + epsilon);
		for (size_t c = 0; c < columns; c++)
			y[c] = (x[c] - mean) * factor * weight[c] + bias[c];
	}
}

// gelu is x times the part of a normal distribution below x, by the error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26).
TARGET static void gelu(float *restrict y, const float *restrict x, size_t n) {
	for (size_t i = 0; i < n; i++) {
		const float v = x[i], z = (v < 0 ? -v : v) * 0x1.6a09e6p-1f, t = 1 / (1 + 0.3275911f * z);
		float p = 1.061405429f;
		p = p * t + -1.453152027f;
		p = p * t + 1.421413741f;
		p = p * t + -0.284496736f;
		p = p * t + 0.254829592f;
		const float above = p * t * exponential(-(z * z)) * 0.5f;
		y[i] = v * (v < 0 ? above : 1 - above);
	}
}

// gelu_tanh is the approximation of gelu that models of today are trained with.
TARGET static void gelu_tanh(float *restrict y, const float *restrict x, size_t n) {
	for (size_t i = 0; i < n; i++) {
		const float v = x[i], u = v * (0x1.988454p-1f + 0x1.24461cp-5f * (v * v)); // sqrt(2/pi), and times 0.044715
		y[i] = v / (1 + exponential(-2 * u));
	}
}

// rotate turns the first half of each head against its second half.
TARGET static void rotate(float *restrict y, const float *restrict x, size_t heads, size_t half, const float *restrict cosines,
                          const float *restrict sines) {
	for (size_t h = 0; h < heads; h++, x += 2 * half, y += 2 * half)
		for (size_t i = 0; i < half; i++) {
			const float first = x[i], second = x[half + i];
			y[i] = first * cosines[i] - second * sines[i];
			y[half + i] = first * sines[i] + second * cosines[i];
		}
}

// mix writes rows of x times a row of a, plus z times that of b.
TARGET static void mix(float *restrict y, const float *restrict x, const float *restrict z, size_t rows, size_t columns,
                       const float *restrict a, const float *restrict b) {
	for (size_t r = 0; r < rows; r++, y += columns, a += columns, b += columns)
		for (size_t c = 0; c < columns; c++)
			y[c] = a[c] * x[c] + b[c] * z[c];
}

// linear adds in 16 sums whatever a register holds, so that all sets add in one order.
TARGET static void linear(float *y, const float *x, size_t in, size_t out, const int8_t *weights, const float *scales, const float *bias) {
	for (size_t o = 0; o < out; o++, weights += in) {
		float sums[parts] = {0};
		size_t i = 0;
		for (; i + parts <= in; i += parts)
			for (int p = 0; p < parts; p++)
				sums[p] += (float)weights[i + p] * x[i + p];
		for (int p = 0; i < in; i++, p++)
			sums[p] += (float)weights[i] * x[i];
		y[o] = sum_of(sums) * scales[o] + bias[o];
	}
}

enum { dense_columns = 32 };

typedef float lanes __attribute__((vector_size(LANE_BYTES)));
enum { dense_lanes = dense_columns * sizeof(float) / LANE_BYTES, attend_registers = 2 };

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

INLINE lanes load(const float *x) {
	lanes v;
	memcpy(&v, x, sizeof v);
	return v;
}

INLINE void store(float *y, lanes v) { memcpy(y, &v, sizeof v); }

// weigh adds rows of values, each times its weight of every query, to what y holds: from the first row of values on, so that the order of a
// sum does not depend on how queries or columns are grouped.
INLINE void weigh(const int queries, const int registers, float *y, const float *weights, size_t apart, const float *values, size_t count,
                  size_t width) {
	enum { each = LANE_BYTES / sizeof(float) };
	lanes sums[attend_queries][attend_registers], v[attend_registers];
	for (int r = 0; r < queries; r++)
		for (int l = 0; l < registers; l++)
			sums[r][l] = load(y + r * width + l * each);
	for (size_t j = 0; j < count; j++, values += width) {
		for (int l = 0; l < registers; l++)
			v[l] = load(values + l * each);
		for (int r = 0; r < queries; r++)
			for (int l = 0; l < registers; l++)
				sums[r][l] += weights[r * apart + j] * v[l];
	}
	for (int r = 0; r < queries; r++)
		for (int l = 0; l < registers; l++)
			store(y + r * width + l * each, sums[r][l]);
}

// weigh_head is weigh for all columns of a head.
INLINE void weigh_head(const int queries, float *y, const float *weights, size_t apart, const float *values, size_t count, size_t width,
                       size_t head) {
	enum { each = LANE_BYTES / sizeof(float), wide = attend_registers * each };
	size_t d = 0;
	for (; d + wide <= head; d += wide)
		weigh(queries, attend_registers, y + d, weights, apart, values + d, count, width);
	for (; d + each <= head; d += each)
		weigh(queries, 1, y + d, weights, apart, values + d, count, width);
	for (; d < head; d++)
		for (int r = 0; r < queries; r++)
			for (size_t j = 0; j < count; j++)
				y[r * width + d] += weights[r * apart + j] * values[j * width + d];
}

// scores writes the products of some queries and some keys, which lie side by side.
INLINE void scores(const int queries, float *s, size_t apart, const float *q, size_t step, const float *keys, size_t capacity, size_t head) {
	enum { each = LANE_BYTES / sizeof(float) };
	lanes sums[attend_queries][attend_registers], k[attend_registers];
	for (int r = 0; r < queries; r++)
		for (int l = 0; l < attend_registers; l++)
			sums[r][l] = (lanes){0};
	for (size_t d = 0; d < head; d++, keys += capacity) {
		for (int l = 0; l < attend_registers; l++)
			k[l] = load(keys + l * each);
		for (int r = 0; r < queries; r++)
			for (int l = 0; l < attend_registers; l++)
				sums[r][l] += q[r * step + d] * k[l];
	}
	for (int r = 0; r < queries; r++)
		for (int l = 0; l < attend_registers; l++)
			store(s + r * apart + l * each, sums[r][l]);
}

INLINE float largest(const float *s, size_t count) {
	float most[parts];
	for (int p = 0; p < parts; p++)
		most[p] = s[0];
	const size_t whole = count / parts * parts;
	for (size_t j = 0; j < whole; j += parts)
		for (int p = 0; p < parts; p++)
			most[p] = s[j + p] > most[p] ? s[j + p] : most[p];
	for (size_t j = whole; j < count; j++)
		most[0] = s[j] > most[0] ? s[j] : most[0];
	for (int p = 1; p < parts; p++)
		most[0] = most[p] > most[0] ? most[p] : most[0];
	return most[0];
}

// soften makes weights of scores and returns what the sum of all that they weigh is to be multiplied with.
INLINE float soften(float *s, size_t count) {
	const float most = largest(s, count);
	for (size_t j = 0; j < count; j++)
		s[j] = exponential(s[j] - most);
	float sums[parts] = {0};
	const size_t whole = count / parts * parts;
	for (size_t j = 0; j < whole; j += parts)
		for (int p = 0; p < parts; p++)
			sums[p] += s[j + p];
	for (size_t j = whole; j < count; j++)
		sums[j - whole] += s[j];
	return 1 / sum_of(sums);
}

static size_t first_seen(size_t at, size_t window) { return at < window ? 0 : at + 1 - window; }

// attend_some lets some queries look, of which the first is at a position. Positions that only some of them see are weighed one query at
// a time, in front of those that all see and behind them.
INLINE void attend_some(const int queries, float *y, const float *q, size_t step, const float *keys, const float *values, size_t capacity,
                        size_t at, size_t window, size_t width, size_t head, float *s) {
	enum { wide = attend_registers * LANE_BYTES / sizeof(float) };
	const size_t apart = window + attend_queries + attend_padding, first = first_seen(at, window), end = at + queries;
	const size_t all = first_seen(end - 1, window); // see from here to at
	for (size_t j = 0; j < end - first; j += wide)
		scores(queries, s + j, apart, q, step, keys + first + j, capacity, head);
	float factors[attend_queries];
	for (int r = 0; r < queries; r++) {
		const size_t from = first_seen(at + r, window);
		factors[r] = soften(s + r * apart + from - first, at + r + 1 - from);
		memset(y + r * width, 0, head * sizeof *y);
		if (queries > 1)
			weigh_head(1, y + r * width, s + r * apart + from - first, apart, values + from * width, all - from, width, head);
	}
	weigh_head(queries, y, s + all - first, apart, values + all * width, at + 1 - all, width, head);
	for (int r = 0; r < queries; r++) {
		if (queries > 1)
			weigh_head(1, y + r * width, s + r * apart + at + 1 - first, apart, values + (at + 1) * width, r, width, head);
		for (size_t d = 0; d < head; d++)
			y[r * width + d] *= factors[r];
	}
}

// attend lets queries look at the keys of a window of positions up to their own, the first of which is given; each query lies step floats
// behind the one before. keys are [heads][head][capacity], values [capacity][heads][head], and scratch as the header says. Sums begin with
// the first key that is seen, so that they are the same wherever it lies.
TARGET static void attend(float *y, const float *q, size_t queries, size_t step, const float *keys, const float *values, size_t capacity,
                          size_t at, size_t window, size_t heads, size_t head, float *s) {
	const size_t width = heads * head;
	for (size_t h = 0; h < heads; h++, q += head, y += head, keys += head * capacity, values += head) {
		size_t r = 0;
		if (window >= attend_queries)
			for (; r + attend_queries <= queries; r += attend_queries)
				attend_some(attend_queries, y + r * width, q + r * step, step, keys, values, capacity, at + r, window, width, head, s);
		for (; r < queries; r++)
			attend_some(1, y + r * width, q + r * step, step, keys, values, capacity, at + r, window, width, head, s);
	}
}

#define JOINED(a, b) a##b
#define SYMBOL(name) JOINED(vector_, name)
#define TEXT(name) #name
#define QUOTED(name) TEXT(name)

const vector_functions SYMBOL(NAME) = {QUOTED(NAME), runs_here, snake, leaky, sum, dense, round_bytes, snake_bytes, leaky_bytes,
	round_words, elu_words, norm, gelu, gelu_tanh, rotate, attend, mix, linear};
