// Rows and weights of words on arm64, for which the kernels of bytes have nothing better than processors without them: products
// are added in 32 bits, four at a time.
#include "tap.h"

#include <arm_neon.h>
#include <string.h>

INLINE void add_up_words(const int rows, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	const int8_t *b = t->b;
	int32x4_t sum[tile_rows][4];
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 4; c++)
			sum[r][c] = vdupq_n_s32(0);
	for (size_t i = 0; i < t->in; i += panel_depth, b += panel_bytes) {
		int16_t weights[2 * panel_columns];
		memcpy(weights, b, sizeof weights);
		const int16x8x2_t left = vld2q_s16(weights), right = vld2q_s16(weights + panel_columns);
		__builtin_prefetch(t->fetch + i * panel_columns);
		for (int r = 0; r < rows; r++) {
			int16_t two[2];
			memcpy(two, x + r * t->in + i, sizeof two);
			for (int j = 0; j < 2; j++) {
				sum[r][0] = vmlal_n_s16(sum[r][0], vget_low_s16(left.val[j]), two[j]);
				sum[r][1] = vmlal_n_s16(sum[r][1], vget_high_s16(left.val[j]), two[j]);
				sum[r][2] = vmlal_n_s16(sum[r][2], vget_low_s16(right.val[j]), two[j]);
				sum[r][3] = vmlal_n_s16(sum[r][3], vget_high_s16(right.val[j]), two[j]);
			}
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 4; c++) {
			float *to = sums + r * panel_columns + 4 * c;
			vst1q_f32(to, vaddq_f32(vld1q_f32(to), vmulq_n_f32(vcvtq_f32_s32(sum[r][c]), scale[r])));
		}
}
