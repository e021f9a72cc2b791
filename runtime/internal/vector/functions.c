#include "vector.h"

const vector_functions *const vector_all[] = {
#if defined(__x86_64__) && defined(__GNUC__)
	&vector_avx512, &vector_avx2,
#endif
	&vector_plain, NULL,
};
