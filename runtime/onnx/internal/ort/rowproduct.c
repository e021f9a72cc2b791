#include "rowproduct.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <math.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define TILE static inline __attribute__((always_inline, target("avx512f,avx512bw,avx512vl,avx512vnni")))

enum {
	lanes = 16, // columns of a panel
	panel = 64, // bytes of a panel for four values of a row
	most = 8,   // rows that are computed at once: two panels of sums and what they need fill the registers
	ahead = 8,  // fours that are fetched in advance
};

int row_product_fits(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}

static inline __mmask16 rest(size_t n) { return n >= lanes ? 0xffff : (__mmask16)((1u << n) - 1); }

// quantise makes bytes of a row and returns its scale. A value that is not a number makes the scale one too, so that it shows in the result.
WIDE static float quantise(const float *x, size_t n, uint8_t *bytes) {
	__m512 peak = _mm512_setzero_ps();
	__mmask16 strange = 0;
	for (size_t i = 0; i < n; i += lanes) {
		__m512 v = _mm512_maskz_loadu_ps(rest(n - i), x + i);
		strange |= _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
		peak = _mm512_max_ps(peak, _mm512_abs_ps(v));
	}
	const float scale = strange ? NAN : _mm512_reduce_max_ps(peak) * (1.0f / 127);
	const __m512 by = _mm512_set1_ps(scale), low = _mm512_set1_ps(-128), high = _mm512_set1_ps(127);
	const __m512i zero = _mm512_set1_epi32(128);
	for (size_t i = 0; i < n; i += lanes) {
		__mmask16 m = rest(n - i);
		__m512 v = _mm512_div_ps(_mm512_maskz_loadu_ps(m, x + i), by);
		v = _mm512_min_ps(_mm512_max_ps(v, low), high);
		_mm_mask_storeu_epi8(bytes + i, m, _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(v), zero)));
	}
	return scale;
}

typedef struct {
	size_t in, out;
	const int8_t *matrix;
	const int32_t *zero;
	const float *scales;
} weights;

// tile computes some rows of some panels. The numbers are constants where it is used, so that all sums stay in registers.
TILE void tile(const int rows, const int panels, const weights *w, const uint8_t *bytes, const float *scale, size_t column, float *y) {
	__m512i sum[most][2];
	const size_t steps = w->in / 4;
	const int8_t *b = w->matrix + column / lanes * steps * panel;
	for (int p = 0; p < panels; p++)
		for (int r = 0; r < rows; r++)
			sum[r][p] = _mm512_maskz_loadu_epi32(rest(w->out - column - p * lanes), w->zero + column + p * lanes);
	for (size_t k = 0; k < steps; k++) {
		__m512i v[2];
		for (int p = 0; p < panels; p++) {
			v[p] = _mm512_loadu_si512(b + (p * steps + k) * panel);
			_mm_prefetch((const char *)b + (p * steps + k + ahead) * panel, _MM_HINT_T0);
		}
		for (int r = 0; r < rows; r++) {
			int32_t four;
			__builtin_memcpy(&four, bytes + r * w->in + 4 * k, 4);
			const __m512i a = _mm512_set1_epi32(four);
			for (int p = 0; p < panels; p++)
				sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], a, v[p]);
		}
	}
	for (int p = 0; p < panels; p++) {
		const size_t at = column + p * lanes;
		const __mmask16 m = rest(w->out - at);
		const __m512 of_column = _mm512_maskz_loadu_ps(m, w->scales + at);
		for (int r = 0; r < rows; r++) {
			__m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(sum[r][p]), _mm512_set1_ps(scale[r]));
			_mm512_mask_storeu_ps(y + r * w->out + at, m, _mm512_mul_ps(v, of_column));
		}
	}
}

// rows_of computes up to eight rows of one or two panels.
TILE void rows_of(size_t rows, const int panels, const weights *w, const uint8_t *bytes, const float *scale, size_t column, float *y) {
	switch (rows) {
	case 1: tile(1, panels, w, bytes, scale, column, y); break;
	case 2: tile(2, panels, w, bytes, scale, column, y); break;
	case 3: tile(3, panels, w, bytes, scale, column, y); break;
	case 4: tile(4, panels, w, bytes, scale, column, y); break;
	case 5: tile(5, panels, w, bytes, scale, column, y); break;
	case 6: tile(6, panels, w, bytes, scale, column, y); break;
	case 7: tile(7, panels, w, bytes, scale, column, y); break;
	default: tile(8, panels, w, bytes, scale, column, y); break;
	}
}

WIDE static void product(const weights *w, size_t rows, const uint8_t *bytes, const float *scale, float *y) {
	for (size_t column = 0; column < w->out;) { // a panel comes from memory once, for all rows
		// Few rows wait for memory, which is read fastest in one stream; many rows share what was loaded.
		const int two = rows > 3 && w->out - column > lanes;
		for (size_t r = 0; r < rows; r += most) {
			const size_t n = rows - r < most ? rows - r : most;
			if (two)
				rows_of(n, 2, w, bytes + r * w->in, scale + r, column, y + r * w->out);
			else
				rows_of(n, 1, w, bytes + r * w->in, scale + r, column, y + r * w->out);
		}
		column += two ? 2 * lanes : lanes;
	}
}

void row_product(const float *x, size_t rows, size_t in, size_t out, const int8_t *matrix, const int32_t *zero, const float *scales, float *y,
                 uint8_t *scratch) {
	enum { some = 64 };
	const weights w = {in, out, matrix, zero, scales};
	float scale[some];
	for (size_t from = 0; from < rows; from += some) {
		const size_t n = rows - from < some ? rows - from : some;
		for (size_t r = 0; r < n; r++)
			scale[r] = quantise(x + (from + r) * in, in, scratch + (from + r) * in);
		product(&w, n, scratch + from * in, scale, y + from * out);
	}
}

#else

int row_product_fits(void) { return 0; }

void row_product(const float *x, size_t rows, size_t in, size_t out, const int8_t *matrix, const int32_t *zero, const float *scales, float *y,
                 uint8_t *scratch) {
	(void)x, (void)rows, (void)in, (void)out, (void)matrix, (void)zero, (void)scales, (void)y, (void)scratch;
}

#endif
