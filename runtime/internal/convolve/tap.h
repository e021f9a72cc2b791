// What add_up of a kernel takes.
#ifndef SWAR_CONVOLVE_TAP_H
#define SWAR_CONVOLVE_TAP_H

#include "convolve.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

// tap_of_panels are the weights of one tap and of panels side by side, each taps * in / 4 steps behind the one before.
typedef struct {
	size_t in, taps;
	const int8_t *b;
	const int32_t *offsets;
	int how;             // sums of the first panel
	const int8_t *fetch; // what is fetched meanwhile, laid out as b
} tap_of_panels;

#endif
