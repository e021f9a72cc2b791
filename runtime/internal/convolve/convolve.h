// Convolutions of rows of bytes with 8-bit weights, and of rows of words with 16-bit weights. See convolve.go.
#ifndef SWAR_CONVOLVE_H
#define SWAR_CONVOLVE_H

#include <stddef.h>
#include <stdint.h>

enum {
	panel_columns = 16,                        // side by side in a panel
	panel_depth = 4,                           // channels of a column one behind the other
	panel_bytes = panel_columns * panel_depth, // a step of a panel
	group_steps = 4,
	group_channels = group_steps * panel_depth, // rows of input are so many channels long, or a multiple of it
	max_in = 32768,                             // channels: 255 * 128 * 32768 and the offset, at most the half of it, are below 2^31
};

// How the products of a tap and a panel may be added up in 16 bits, of which the bytes of a row make use up to 255.
enum {
	add_in_32 = 0,      // not at all
	add_pairs = 1,      // the products of two neighbours
	add_group = 2,      // those of two neighbours in each step of a group
	add_words = 3,      // rows and weights are words, and products are added in 32 bits
};

// INLINE stands before what a kernel consists of: all of it becomes one function, so that numbers of rows and panels are constants there
// and sums stay in registers. TARGET is the kernel's attribute for functions that use its instructions.
#define INLINE static inline __attribute__((always_inline)) TARGET

#define UP_TO_1(f) f(1)
#define UP_TO_4(f) f(1) f(2) f(3) f(4)
#define UP_TO_6(f) UP_TO_4(f) f(5) f(6)
#define UP_TO_8(f) UP_TO_6(f) f(7) f(8)
#define UP_TO_12(f) UP_TO_8(f) f(9) f(10) f(11) f(12)

// convolve_weights are integers [out][taps][in]. They lie in panels of 16 columns, [panels][taps][in/4][16][4], padded with zeros to
// whole panels; in is a multiple of group_channels, at most max_in. sums says how products may be added up, [panels][taps]. offsets
// holds -128 times the sum of each column of a tap, [panels][taps][16], and scales what each column is multiplied with, [out].
//
// Where they are words, in counts bytes and not channels, a step holds two words of a column in place of four bytes, offsets are 0, and
// whoever packed them has seen to it that no sum leaves 32 bits.
typedef struct convolve_weights {
	size_t in, out, taps;
	const int8_t *panels;
	const uint8_t *sums;
	const int32_t *offsets;
	const float *scales;
} convolve_weights;

// convolve_kernel is convolutions by one set of instructions. All kernels give the same bits.
typedef struct convolve_kernel {
	const char *name;
	int (*runs_here)(void); // on this processor

	// multiply writes y [rows][out]. Row r of it follows from the rows r, r + dilation, ... of x, [..][in], whose bytes are integers
	// plus 128, or words, and of scale, a factor of each row of x.
	void (*multiply)(const convolve_weights *w, const uint8_t *x, const float *scale, size_t rows, size_t dilation, float *y);
} convolve_kernel;

// convolve_kernels lists what this program was built with, the fastest first and plain C last. It ends with NULL.
extern const convolve_kernel *const convolve_kernels[];

extern const convolve_kernel convolve_avx512vnni, convolve_avx512vnni_256, convolve_avxvnni, convolve_avx512, convolve_avx2, convolve_i8mm,
	convolve_dotprod, convolve_plain;

#endif
