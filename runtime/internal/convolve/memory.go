package convolve

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// panelsFor returns room for the panels of w, outside of the heap: the collector would let garbage grow as large as
// all weights.
func panelsFor(w *Weights, n int) []int8 {
	memory, err := unix.Mmap(-1, 0, max(n, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return make([]int8, n) // there may be room in the heap
	}
	runtime.AddCleanup(w, func(memory []byte) { _ = unix.Munmap(memory) }, memory)
	return unsafe.Slice((*int8)(unsafe.Pointer(&memory[0])), n)
}
