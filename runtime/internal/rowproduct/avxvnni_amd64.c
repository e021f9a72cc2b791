// AVX-VNNI, which has no AVX-512: Alder Lake and later, Sierra Forest, Zen 5 too.
#define NAME avxvnni
#define TARGET __attribute__((target("avx2,avxvnni")))
#define EACH_TILE UP_TO_6

#include "rowproduct.h"

#include <cpuid.h>
#include <immintrin.h>

typedef __m256i sum_t;
enum { registers = 2, tile_rows = 6, wide_from = 1 << 30, signed_rows = 0 };

#define ZERO _mm256_setzero_si256
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define BROADCAST _mm256_set1_epi32
#define PRODUCT _mm256_dpbusd_avx_epi32
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)

static int runs_here(void) {
	unsigned a, b, c, d;
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
}

#include "vnni.h"

#include "kernel.h"
