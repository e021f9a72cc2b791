// AVX-VNNI, which has no AVX-512: Alder Lake and later, Sierra Forest, Zen 5 too.
#define NAME avxvnni
#define TARGET __attribute__((target("avx2,avxvnni")))
#define EACH_TILE UP_TO_6

#include "bits256.h"
#include "convolve.h"

#include <cpuid.h>

enum { tile_rows = 6, word_rows = tile_rows, wide = 1 }; // 12 of 16 registers hold sums

#define BROADCAST _mm256_set1_epi32
#define INSTRUCTION(name, sum, values, weights) __asm__("%{vex%} " name " %2, %1, %0" : "+x"(sum) : "x"(values), "x"(weights))

static int runs_here(void) {
	unsigned a, b, c, d;
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
}

#include "vnni.h"

#include "kernel.h"
