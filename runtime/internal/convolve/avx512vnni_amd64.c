// AVX-512 with VNNI: Cascade Lake, Ice Lake, Zen 4 and later.
#define NAME avx512vnni
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define EACH_TILE UP_TO_12

#include "bits512.h"
#include "convolve.h"

enum { tile_rows = 12, word_rows = tile_rows, wide = 2 }; // 24 of 32 registers hold sums

#define BROADCAST _mm512_set1_epi32
#define INSTRUCTION(name, sum, values, weights) __asm__(name " %2, %1, %0" : "+v"(sum) : "v"(values), "v"(weights))

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}

#include "vnni.h"

#include "kernel.h"
