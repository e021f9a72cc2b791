// The instructions of AVX-VNNI in the encoding of AVX-512: the same loop as avxvnni, for processors that have only this one. No processor
// is fastest with it; it is there so that the loop can be tested on more machines.
#define NAME avx512vnni_256
#define TARGET __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vnni")))
#define EACH_TILE UP_TO_6

#include "bits256.h"
#include "convolve.h"

enum { tile_rows = 6, word_rows = tile_rows, wide = 1 };

#define BROADCAST _mm256_set1_epi32
#define INSTRUCTION(name, sum, values, weights) __asm__("%{evex%} " name " %2, %1, %0" : "+v"(sum) : "v"(values), "v"(weights))

static int runs_here(void) { return convolve_avx512vnni.runs_here(); }

#include "vnni.h"

#include "kernel.h"
