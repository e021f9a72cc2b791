// arm64 with products of matrices of bytes (smmla): Neoverse V1 (Graviton3), N2, and later. One instruction multiplies two rows by two
// columns, eight values deep, so rows are packed in pairs; the one that is left over has zeros beside it.
#if defined(__linux__) && defined(__GNUC__)

#define NAME i8mm
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod+i8mm")))
#define EACH_TILE UP_TO_4

#include "rowproduct.h"

#include <arm_neon.h>
#include <string.h>
#include <sys/auxv.h>

enum { tile_rows = 4, wide_from = 1 << 30, signed_rows = 1 };
_Static_assert(tile_rows % 2 == 0, "rows are packed in pairs");

static int runs_here(void) {
	const unsigned long dot_product = 1ul << 20, matrices = 1ul << 13; // HWCAP_ASIMDDP, which the compiler may use too, and HWCAP2_I8MM
	return (getauxval(AT_HWCAP) & dot_product) != 0 && (getauxval(AT_HWCAP2) & matrices) != 0;
}

static size_t padded(size_t in) { return (in + 7) / 8 * 8; }

static size_t packed_bytes(size_t in, size_t rows) { return padded(in) * ((rows + 1) / 2 * 2); }

// pack writes eight values of a row beside eight of its neighbour, and pairs of rows one behind the other. Zeros stand where a row has fewer than
// eight values left, and where the last has no neighbour.
TARGET static void pack(const int8_t *q, size_t in, void *packed, size_t r, size_t rows) {
	const size_t pairs = (rows + 1) / 2, deep = padded(in);
	const int alone = r % 2 == 0 && r + 1 == rows;
	int8_t *to = (int8_t *)packed + r / 2 * 16 + r % 2 * 8;
	for (size_t i = 0; i < deep; i += 8, to += 16 * pairs) {
		memcpy(to, q + i, 4);
		if (i + 4 < in)
			memcpy(to + 4, q + i + 4, 4);
		else
			memset(to + 4, 0, 4);
		if (alone)
			memset(to + 8, 0, 8);
	}
}

INLINE void add_up(const int rows, const int panels, size_t steps, const int8_t *b, const void *packed,
                   const int8_t *fetch, int32_t sums[][2 * panel_columns]) {
	(void)panels; // one
	const int8_t *a = packed;
	const int pairs = (rows + 1) / 2;
	int32x4_t sum[tile_rows / 2][8]; // of two rows and two columns each
	for (int r = 0; r < pairs; r++)
		for (int c = 0; c < 8; c++)
			sum[r][c] = vdupq_n_s32(0);
	for (size_t k = 0; k < steps; k += 2) {
		int8x16_t values[tile_rows / 2];
		for (int r = 0; r < pairs; r++)
			values[r] = vld1q_s8(a + (k / 2 * pairs + r) * 16);
		__builtin_prefetch(fetch + 64 * k);
		__builtin_prefetch(fetch + 64 * k + 64);
		for (int c = 0; c < 4; c++) { // four columns of four values, and four more values of them
			const int32x4_t low = vreinterpretq_s32_s8(vld1q_s8(b + 64 * k + 16 * c));
			const int32x4_t high = k + 1 < steps ? vreinterpretq_s32_s8(vld1q_s8(b + 64 * k + 64 + 16 * c)) : vdupq_n_s32(0);
			const int8x16_t left = vreinterpretq_s8_s32(vzip1q_s32(low, high)), right = vreinterpretq_s8_s32(vzip2q_s32(low, high));
			for (int r = 0; r < pairs; r++) {
				sum[r][2 * c] = vmmlaq_s32(sum[r][2 * c], values[r], left);
				sum[r][2 * c + 1] = vmmlaq_s32(sum[r][2 * c + 1], values[r], right);
			}
		}
	}
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < 8; c++)
			vst1_s32(sums[r] + 2 * c, r % 2 ? vget_high_s32(sum[r / 2][c]) : vget_low_s32(sum[r / 2][c]));
}

#include "kernel.h"

#endif
