// arm64 with the dot product of bytes (sdot): Neoverse N1 (Graviton2), Cortex-A76, and later.
#if defined(__linux__) && defined(__GNUC__)

#define NAME dotprod
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#define EACH_TILE UP_TO_6

#include "tap.h"

#include <arm_neon.h>
#include <string.h>
#include <sys/auxv.h>

enum { tile_rows = 6, word_rows = tile_rows, wide = 1 }; // 24 of 32 registers hold sums

static int runs_here(void) {
	const unsigned long dot_product = 1ul << 20; // HWCAP_ASIMDDP
	return (getauxval(AT_HWCAP) & dot_product) != 0;
}

#include "words_arm64.h"

// Bytes of rows become signed, so that sums need no offset.
INLINE void add_up_bytes(const int rows, const tap_of_panels *t, const uint8_t *x, const float *scale, float *sums) {
	const int8_t *b = t->b;
	int32x4_t sum[tile_rows][4];
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 4; c++)
			sum[r][c] = vdupq_n_s32(0);
	for (size_t i = 0; i < t->in; i += panel_depth, b += panel_bytes) {
		int8x16_t v[4];
		for (int c = 0; c < 4; c++)
			v[c] = vld1q_s8(b + 16 * c);
		__builtin_prefetch(t->fetch + i * panel_columns);
		for (int r = 0; r < rows; r++) {
			uint32_t four;
			memcpy(&four, x + r * t->in + i, sizeof four);
			const uint8x16_t bytes = vreinterpretq_u8_u32(vdupq_n_u32(four));
			const int8x16_t values = vreinterpretq_s8_u8(veorq_u8(bytes, vdupq_n_u8(128)));
			for (int c = 0; c < 4; c++)
				sum[r][c] = vdotq_s32(sum[r][c], v[c], values);
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 4; c++) {
			float *to = sums + r * panel_columns + 4 * c;
			vst1q_f32(to, vaddq_f32(vld1q_f32(to), vmulq_n_f32(vcvtq_f32_s32(sum[r][c]), scale[r])));
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
