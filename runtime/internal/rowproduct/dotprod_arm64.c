// arm64 with the dot product of bytes (sdot): Neoverse N1 (Graviton2), Cortex-A76, and later.
#if defined(__linux__) && defined(__GNUC__)

#define NAME dotprod
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#define EACH_TILE UP_TO_6

#include "rowproduct.h"

#include <arm_neon.h>
#include <string.h>
#include <sys/auxv.h>

enum { tile_rows = 6, wide_from = 1 << 30, signed_rows = 1 };

static int runs_here(void) {
	const unsigned long dot_product = 1ul << 20; // HWCAP_ASIMDDP
	return (getauxval(AT_HWCAP) & dot_product) != 0;
}

static size_t packed_bytes(size_t in, size_t rows) { return in * rows; }

TARGET static void pack(const int8_t *q, size_t in, void *packed, size_t r, size_t rows) {
	for (size_t i = 0; i < in; i += 4)
		memcpy((int8_t *)packed + i * rows + 4 * r, q + i, 4);
}

INLINE void add_up(const int rows, const int panels, size_t steps, const int8_t *b, const void *packed,
                   const int8_t *fetch, int32_t sums[][2 * panel_columns]) {
	(void)panels; // one
	const int8_t *a = packed;
	int32x4_t sum[tile_rows][4];
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 4; c++)
			sum[r][c] = vdupq_n_s32(0);
	for (size_t k = 0; k < steps; k++) {
		int8x16_t v[4];
		for (int c = 0; c < 4; c++)
			v[c] = vld1q_s8(b + 64 * k + 16 * c);
		__builtin_prefetch(fetch + 64 * k);
		for (int r = 0; r < rows; r++) {
			int32_t four;
			memcpy(&four, a + (k * rows + r) * 4, sizeof four);
			const int8x16_t values = vreinterpretq_s8_s32(vdupq_n_s32(four));
			for (int c = 0; c < 4; c++)
				sum[r][c] = vdotq_s32(sum[r][c], v[c], values);
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 4; c++)
			vst1q_s32(sums[r] + 4 * c, sum[r][c]);
}

#include "kernel.h"

#endif
