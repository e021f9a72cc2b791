// AVX2 without VNNI: Haswell, Broadwell, Zen to Zen 3.
#define NAME avx2
#define TARGET __attribute__((target("avx2")))
#define EACH_TILE UP_TO_8

#include "bits256.h"
#include "convolve.h"

enum { tile_rows = 8, wide = 1, word_rows = 5 }; // 8 of 16 registers hold sums and 4 the weights of a group; with words 10 and 2

#define FORGET() __asm__("" ::: "memory")
#define BROADCAST(p) _mm256_broadcastd_epi32(_mm_loadu_si32(p))
#define ZERO _mm256_setzero_si256
#define ONES() _mm256_set1_epi16(1)
#define SHIFT_LEFT _mm256_slli_epi16
#define SHIFT_RIGHT _mm256_srai_epi16
#define SHIFT_RIGHT_ZERO _mm256_srli_epi16
#define PAIRS_OF_BYTES _mm256_maddubs_epi16
#define PAIRS _mm256_madd_epi16
// Written in assembly, because GCC loads values early and then has too few registers.
#define ADD_WORDS(sum, two, weights)                                                                           \
	do {                                                                                                   \
		sum_t values, products;                                                                        \
		__asm__("vpbroadcastd %4, %2\n\tvpmaddwd %5, %2, %3\n\tvpmaddwd %6, %2, %2\n\t"                  \
		        "vpaddd %3, %0, %0\n\tvpaddd %2, %1, %1"                                               \
		        : "+x"((sum)[0]), "+x"((sum)[1]), "=&x"(values), "=&x"(products)                       \
		        : "m"(*(const char(*)[4])(two)), "x"((weights)[0]), "x"((weights)[1]));                  \
	} while (0)
#define ADD_16 _mm256_add_epi16
#define ADD _mm256_add_epi32

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2");
}

#include "pairs.h"

#include "kernel.h"
