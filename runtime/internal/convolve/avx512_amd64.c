// AVX-512 without VNNI: Skylake for servers.
#define NAME avx512
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define EACH_TILE UP_TO_12

#include "bits512.h"
#include "convolve.h"

enum { tile_rows = 12, wide = 1, word_rows = 12 };

#define FORGET()
#define BROADCAST(p) _mm512_broadcastd_epi32(_mm_loadu_si32(p))
#define ZERO _mm512_setzero_si512
#define ONES() _mm512_set1_epi16(1)
#define SHIFT_LEFT _mm512_slli_epi16
#define SHIFT_RIGHT _mm512_srai_epi16
#define SHIFT_RIGHT_ZERO _mm512_srli_epi16
#define PAIRS_OF_BYTES _mm512_maddubs_epi16
#define PAIRS _mm512_madd_epi16
#define ADD_WORDS(sum, two, weights)                                                                                    \
	do {                                                                                                            \
		sum_t products;                                                                                         \
		__asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"                                                      \
		        : "+v"((sum)[0]), "=&v"(products) : "v"(BROADCAST(two)), "v"((weights)[0]));                    \
	} while (0)
#define ADD_16 _mm512_add_epi16
#define ADD _mm512_add_epi32

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

#include "pairs.h"

#include "kernel.h"
