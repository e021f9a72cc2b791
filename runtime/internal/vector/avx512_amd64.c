// 512 bits: Skylake servers and later, Zen 4 and later.
#define NAME avx512
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))
#define LANE_BYTES 64
#define DENSE_ROWS 6

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512bw");
}

#include "functions.h"
