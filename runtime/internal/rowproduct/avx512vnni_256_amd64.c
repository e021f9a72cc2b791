// The instructions of AVX-VNNI in the encoding of AVX-512: the same loop as avxvnni, for processors that have only this one. No processor
// is fastest with it; it is there so that the loop can be tested on more machines.
#define NAME avx512vnni_256
#define TARGET __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vnni")))
#define EACH_TILE UP_TO_6

#include "rowproduct.h"

#include <immintrin.h>

typedef __m256i sum_t;
enum { registers = 2, tile_rows = 6, wide_from = 1 << 30, signed_rows = 0 };

#define ZERO _mm256_setzero_si256
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define BROADCAST _mm256_set1_epi32
#define PRODUCT _mm256_dpbusd_epi32
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)

static int runs_here(void) { return row_avx512vnni.runs_here(); }

#include "vnni.h"

#include "kernel.h"
