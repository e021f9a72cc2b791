package ort

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void map_large(size_t bytes) {
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, (int)bytes);
#endif
}
static void trim(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
*/
import "C"

// mapLarge makes the C library take large blocks straight from the system, to which they go back when they are freed.
// By itself it stops doing so after the first ones were freed, and what loading a model leaves behind stays resident:
// 45 MB at full size.
//
// Weights are larger than this size, what a run needs in passing is kept by ONNX Runtime itself.
func mapLarge() {
	const large = 1 << 20
	C.map_large(large)
}

// Trim returns free memory of the C library to the system. Loading sessions leaves 6 MB of it at full size.
func Trim() { C.trim() }
