// arm64 with products of matrices of bytes (smmla): Neoverse V1 (Graviton3), N2, and later. One instruction multiplies two rows by two
// columns, eight values deep. A row that is left over is multiplied twice.
#if defined(__linux__) && defined(__GNUC__)

#define NAME i8mm
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod+i8mm")))
#define EACH_TILE UP_TO_4

#include "tap.h"

#include <arm_neon.h>
#include <sys/auxv.h>

enum { tile_rows = 4, word_rows = tile_rows, wide = 1 };
_Static_assert(tile_rows % 2 == 0, "rows are taken in pairs");

static int runs_here(void) {
	const unsigned long dot_product = 1ul << 20, matrices = 1ul << 13; // HWCAP_ASIMDDP, which the compiler may use too, and HWCAP2_I8MM
	return (getauxval(AT_HWCAP) & dot_product) != 0 && (getauxval(AT_HWCAP2) & matrices) != 0;
}

#include "words_arm64.h"

// Bytes of rows become signed, so that sums need no offset.
INLINE void add_up_bytes(const int rows, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	const int8_t *b = t->b;
	const int pairs = (rows + 1) / 2;
	int32x4_t sum[tile_rows / 2][8]; // of two rows and two columns each
	for (int r = 0; r < pairs; r++)
		for (int c = 0; c < 8; c++)
			sum[r][c] = vdupq_n_s32(0);
	for (size_t i = 0; i < t->in; i += 2 * panel_depth, b += 2 * panel_bytes) {
		int8x16_t values[tile_rows / 2];
		__builtin_prefetch(t->fetch + i * panel_columns);
		__builtin_prefetch(t->fetch + i * panel_columns + panel_bytes);
		for (int r = 0; r < pairs; r++) {
			const uint8_t *first = x + 2 * r * t->in + i, *second = 2 * r + 1 < rows ? first + t->in : first;
			values[r] = vreinterpretq_s8_u8(veorq_u8(vcombine_u8(vld1_u8(first), vld1_u8(second)), vdupq_n_u8(128)));
		}
		for (int c = 0; c < 4; c++) { // four columns of four values, and four more values of them
			const int32x4_t low = vreinterpretq_s32_s8(vld1q_s8(b + 16 * c));
			const int32x4_t high = vreinterpretq_s32_s8(vld1q_s8(b + panel_bytes + 16 * c));
			const int8x16_t left = vreinterpretq_s8_s32(vzip1q_s32(low, high)), right = vreinterpretq_s8_s32(vzip2q_s32(low, high));
			for (int r = 0; r < pairs; r++) {
				sum[r][2 * c] = vmmlaq_s32(sum[r][2 * c], values[r], left);
				sum[r][2 * c + 1] = vmmlaq_s32(sum[r][2 * c + 1], values[r], right);
			}
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 4; c++) {
			const int32x4_t left = sum[r / 2][2 * c], right = sum[r / 2][2 * c + 1];
			const int32x4_t four = r % 2 ? vcombine_s32(vget_high_s32(left), vget_high_s32(right))
			                             : vcombine_s32(vget_low_s32(left), vget_low_s32(right));
			float *to = sums + r * panel_columns + 4 * c;
			vst1q_f32(to, vaddq_f32(vld1q_f32(to), vmulq_n_f32(vcvtq_f32_s32(four), scale[r])));
		}
}

INLINE void add_up(const int rows, const int panels, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	(void)panels; // one
	if (t->how == add_words)
		add_up_words(rows, t, x, scale, sums);
	else
		add_up_bytes(rows, t, x, scale, sums);
}

#include "kernel.h"

#endif
