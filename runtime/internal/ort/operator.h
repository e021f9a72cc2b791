#ifndef SWAR_OPERATOR_H
#define SWAR_OPERATOR_H

#include "ortapi.h"
#include "rowproduct.h"

// row_product_use chooses the kernel of the sessions that are opened from now on.
void row_product_use(const row_kernel *kernel);

// row_product_register adds the operator RowProduct to the options of a session. No two threads may call it at once.
OrtStatus *row_product_register(OrtSessionOptions *options, const ort_api_base *base);

#endif
