// Sums in registers of 256 bits, which are half a panel wide.
#include <immintrin.h>

typedef __m256i sum_t;
enum { registers = 2 };

#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define ADD_TO(p, sum, scale) \
	_mm256_storeu_ps(p, _mm256_add_ps(_mm256_loadu_ps(p), _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(scale))))
