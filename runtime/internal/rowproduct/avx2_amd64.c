// AVX2 without VNNI: Haswell, Broadwell, Zen to Zen 3.
#define NAME avx2
#define TARGET __attribute__((target("avx2")))
#define EACH_TILE UP_TO_12

#include "rowproduct.h"

#include <immintrin.h>

typedef __m256i sum_t;
enum { registers = 2, tile_rows = 12, wide_from = 1 << 30, signed_rows = 1 };

// Sixteen registers hold the sums of six rows and a panel, or of twelve rows and half of it: widened weights then serve more rows.
#define together(rows, all) ((rows) > 6 ? 1 : (all))

#define FORGET() __asm__("" ::: "memory")
#define ZERO _mm256_setzero_si256
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define BROADCAST(p) _mm256_broadcastd_epi32(_mm_loadu_si32(p))
#define SHIFT_LEFT _mm256_slli_epi16
#define SHIFT_RIGHT _mm256_srai_epi16
#define PAIRS _mm256_madd_epi16
#define ADD _mm256_add_epi32
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2");
}

#include "pairs.h"

#include "kernel.h"
