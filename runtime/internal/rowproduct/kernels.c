#include "rowproduct.h"

const row_kernel *const row_kernels[] = {
#if defined(__x86_64__) && defined(__GNUC__)
	&row_avx512vnni, &row_avxvnni, &row_avx512, &row_avx2, &row_avx512vnni_256,
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__)
	&row_i8mm, &row_dotprod,
#endif
	&row_plain, NULL,
};
