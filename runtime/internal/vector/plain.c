// What runs everywhere: on arm64, NEON is part of it.
#define NAME plain
#define TARGET
#define LANE_BYTES 16
#define DENSE_ROWS 1

static int runs_here(void) { return 1; }

#include "functions.h"
