// Sums in registers of 512 bits, which are a panel wide.
#include <immintrin.h>

typedef __m512i sum_t;
enum { registers = 1 };

#define LOAD _mm512_loadu_si512
#define ADD_TO(p, sum, scale) \
	_mm512_storeu_ps(p, _mm512_add_ps(_mm512_loadu_ps(p), _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(scale))))
