// 256 bits: Haswell and later, Zen and later.
#define NAME avx2
#define TARGET __attribute__((target("avx2")))
#define LANE_BYTES 32
#define DENSE_ROWS 3

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2");
}

#include "functions.h"
