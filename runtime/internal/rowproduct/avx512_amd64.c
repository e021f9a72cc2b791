// AVX-512 without VNNI: Skylake for servers.
#define NAME avx512
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define EACH_TILE UP_TO_8

#include "rowproduct.h"

#include <immintrin.h>

typedef __m512i sum_t;
enum { registers = 1, tile_rows = 8, wide_from = 4, signed_rows = 1 };

#define together(rows, all) (all)

#define FORGET()
#define ZERO _mm512_setzero_si512
#define LOAD _mm512_loadu_si512
#define BROADCAST(p) _mm512_broadcastd_epi32(_mm_loadu_si32(p))
#define SHIFT_LEFT _mm512_slli_epi16
#define SHIFT_RIGHT _mm512_srai_epi16
#define PAIRS _mm512_madd_epi16
#define ADD _mm512_add_epi32
#define STORE _mm512_storeu_si512

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

#include "pairs.h"

#include "kernel.h"
