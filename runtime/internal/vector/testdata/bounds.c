// Rounds rows to bytes with every set of instructions that this processor has, in buffers of exactly the needed sizes, and compares with
// plain C. Built with sanitizers it ends at the first byte outside of a buffer: hack/sanitize-kernels.sh.
#include "../vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t columns[] = {1, 7, 15, 16, 17, 31, 33, 65, 514, 2048};
enum { rows = 3, beyond = 5 };

static float *drawn(size_t n) {
	static uint32_t state = 1;
	float *v = malloc(n * sizeof *v);
	for (size_t i = 0; v != NULL && i < n; i++) {
		state = state * 1664525u + 1013904223u;
		v[i] = (float)(state >> 8) / (1 << 23) - 1;
	}
	return v;
}

// write computes everything into q and the floats behind scale.
static void write(const vector_functions *f, size_t n, const float *x, const float *a, const int8_t *weights, uint8_t *q, float *scale) {
	const size_t bytes = rows * (n + beyond);
	f->round_bytes(q, scale, x, rows, n, n + beyond);
	f->snake_bytes(q + bytes, scale + rows, x, rows, n, n + beyond, a, a, a, a);
	f->leaky_bytes(q + 2 * bytes, scale + 2 * rows, x, rows, n, n + beyond, a, a, .2f);
	f->linear(scale + 3 * rows, x, n, rows, weights, x, x);
}

static int test(size_t n) {
	const size_t bytes = 3 * rows * (n + beyond), floats = 4 * rows;
	float *x = drawn(rows * n), *a = drawn(n), *scale = drawn(floats), *want_scale = drawn(floats);
	uint8_t *q = malloc(bytes), *want = malloc(bytes);
	int8_t *weights = malloc(rows * n);
	if (!x || !a || !scale || !want_scale || !q || !want || !weights)
		exit(1);
	for (size_t i = 0; i < rows * n; i++)
		weights[i] = (int8_t)(i * 37);
	write(&vector_plain, n, x, a, weights, want, want_scale);
	int equal = 1;
	for (const vector_functions *const *f = vector_all; *f != NULL; f++) {
		if (!(*f)->runs_here()) {
			printf("NOT TESTED: %s\n", (*f)->name);
			continue;
		}
		write(*f, n, x, a, weights, q, scale);
		if (memcmp(q, want, bytes) != 0 || memcmp(scale, want_scale, floats * sizeof *scale) != 0) {
			fprintf(stderr, "%s: %zu columns: differs from plain C\n", (*f)->name, n);
			equal = 0;
		}
	}
	free(x), free(a), free(scale), free(want_scale), free(q), free(want), free(weights);
	return equal;
}

int main(void) {
	int equal = 1;
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		equal &= test(columns[i]);
	return equal ? 0 : 1;
}
