#include <stddef.h>
#include <stdint.h>

// row_product_fits says whether this processor has what row_product needs.
int row_product_fits(void);

// row_product multiplies rows [rows][in] by a matrix of integers [in][out] and writes y [rows][out].
//
// Each row becomes bytes by a scale of its own, as QuantizeLinear does it: zero at 128, the largest value at 127 from there. The matrix lies
// in panels of 16 columns, [panels][in/4][16][4], padded with zeros. zero holds what -128 times a column adds up to, scales what a column
// is multiplied with. scratch is [rows][in] bytes; in is a multiple of 4. It may be called by many threads at once.
void row_product(const float *x, size_t rows, size_t in, size_t out, const int8_t *matrix, const int32_t *zero, const float *scales, float *y,
                 uint8_t *scratch);

// row_product_load makes the operator RowProduct of the domain swar; base is what OrtGetApiBase returns. row_product_register adds it to the
// options of a session. Both return 0 where ONNX Runtime refuses.
int row_product_load(const void *base);
int row_product_register(void *options);
