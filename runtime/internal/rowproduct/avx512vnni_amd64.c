// AVX-512 with VNNI: Cascade Lake, Ice Lake, Zen 4 and later.
#define NAME avx512vnni
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define EACH_TILE UP_TO_8

#include "rowproduct.h"

#include <immintrin.h>

typedef __m512i sum_t;
enum { registers = 1, tile_rows = 8, signed_rows = 0 };

// One row is as fast as memory. Zen 5 reads one panel after another faster than two at once (84 MB in 1.8 and 2.6 ms); Intel was tuned for two.
#define wide_from ((size_t)(__builtin_cpu_is("amd") ? 2 : 1))

#define ZERO _mm512_setzero_si512
#define LOAD _mm512_loadu_si512
#define BROADCAST _mm512_set1_epi32
#define PRODUCT _mm512_dpbusd_epi32
#define STORE _mm512_storeu_si512

static int runs_here(void) {
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}

#include "vnni.h"

#include "kernel.h"
