// Rows of floats times a matrix of 8-bit integers. See rowproduct.go.
#ifndef SWAR_ROWPRODUCT_H
#define SWAR_ROWPRODUCT_H

#include <stddef.h>
#include <stdint.h>

enum {
	panel_columns = 16,                          // side by side in a panel
	panel_depth = 4,                             // values of a column one behind the other
	panel_bytes = panel_columns * panel_depth, // a step of a panel: four rows of the matrix
	max_in = 65536,                            // rows of a matrix: 255 * 128 * 65536, the largest sum of a kernel, is below 2^31
};

// INLINE stands before what a kernel consists of: all of it becomes one function, so that numbers of rows and panels are constants there
// and sums stay in registers. TARGET is the kernel's attribute for functions that use its instructions.
#define INLINE static inline __attribute__((always_inline)) TARGET

#define UP_TO_1(f) f(1)
#define UP_TO_4(f) f(1) f(2) f(3) f(4)
#define UP_TO_6(f) UP_TO_4(f) f(5) f(6)
#define UP_TO_8(f) UP_TO_6(f) f(7) f(8)
#define UP_TO_12(f) UP_TO_8(f) f(9) f(10) f(11) f(12)

// row_matrix is a matrix of integers [in][out]. It lies in panels of 16 columns, [panels][in/4][16][4], padded with zeros to whole panels;
// in is a multiple of 4, at most max_in. offset holds -128 times the sum of each column, [out], scales what each column is multiplied with,
// [out].
typedef struct row_matrix {
	size_t in, out;
	const int8_t *panels;
	const int32_t *offset;
	const float *scales;
} row_matrix;

// row_kernel is row products by one set of instructions. All kernels give the same bits.
typedef struct row_kernel {
	const char *name;
	int (*runs_here)(void);                                 // on this processor
	size_t (*scratch)(const row_matrix *m, size_t rows); // bytes that multiply needs

	// multiply writes y [rows][out] of x [rows][in]. Many threads may call it at once, each with its own scratch.
	void (*multiply)(const row_matrix *m, const float *x, size_t rows, float *y, void *scratch);
} row_kernel;

// row_kernels lists what this program was built with, the fastest first and plain C last. It ends with NULL.
extern const row_kernel *const row_kernels[];

extern const row_kernel row_avx512vnni, row_avx512vnni_256, row_avxvnni, row_avx512, row_avx2, row_i8mm, row_dotprod, row_plain;

#endif
