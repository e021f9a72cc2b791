// Functions over rows of floats. See vector.go.
#ifndef SWAR_VECTOR_H
#define SWAR_VECTOR_H

#include <stddef.h>
#include <stdint.h>

enum {
	max_byte_columns = 2048, // of rows that become bytes or words
	attend_padding = 64,     // floats behind the keys that may be read
	attend_queries = 4,      // that look at once
};

// vector_functions are those of one set of instructions. All sets give the same bits.
typedef struct vector_functions {
	const char *name;
	int (*runs_here)(void); // on this processor

	void (*snake)(float *y, const float *x, size_t rows, size_t columns, const float *a, const float *b, const float *frequency,
	              const float *height);
	void (*leaky)(float *y, const float *x, size_t rows, size_t columns, const float *a, const float *b, float slope);
	void (*sum)(float *y, const float *x, const float *z, size_t rows, size_t columns, const float *bias, float scale);
	void (*dense)(float *y, const float *x, size_t rows, size_t in, size_t step, size_t out, const float *weights, const float *bias);

	void (*round_bytes)(uint8_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride);
	void (*snake_bytes)(uint8_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, const float *a, const float *b,
	                    const float *frequency, const float *height);
	void (*leaky_bytes)(uint8_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, const float *a, const float *b,
	                    float slope);
	void (*round_words)(int16_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, float range);
	void (*elu_words)(int16_t *q, float *scale, const float *x, size_t rows, size_t columns, size_t stride, const float *bias, float range);
	void (*norm)(float *y, const float *x, size_t rows, size_t columns, const float *weight, const float *bias, float epsilon);
	void (*gelu)(float *y, const float *x, size_t n);
	void (*gelu_tanh)(float *y, const float *x, size_t n);
	void (*rotate)(float *y, const float *x, size_t heads, size_t half, const float *cosines, const float *sines);
	// scratch is attend_queries times the window, attend_queries and attend_padding
	void (*attend)(float *y, const float *q, size_t queries, size_t step, const float *keys, const float *values, size_t capacity, size_t at,
	               size_t window, size_t heads, size_t head, float *scratch);
	void (*mix)(float *y, const float *x, const float *z, size_t rows, size_t columns, const float *a, const float *b);
	void (*linear)(float *y, const float *x, size_t in, size_t out, const int8_t *weights, const float *scales, const float *bias);
} vector_functions;

// vector_all lists what this program was built with, the fastest first and plain C last. It ends with NULL.
extern const vector_functions *const vector_all[];

extern const vector_functions vector_avx512, vector_avx2, vector_plain;

#endif
