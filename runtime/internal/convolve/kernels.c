#include "convolve.h"

const convolve_kernel *const convolve_kernels[] = {
#if defined(__x86_64__) && defined(__GNUC__)
	&convolve_avx512vnni, &convolve_avxvnni, &convolve_avx512, &convolve_avx2, &convolve_avx512vnni_256,
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__)
	&convolve_i8mm, &convolve_dotprod,
#endif
	&convolve_plain, NULL,
};
