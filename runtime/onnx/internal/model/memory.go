package model

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// pages returns n zeros from the system and what gives them back. A page takes memory only once it is written to,
// which an allocation of Go does not promise, and the collector does not count it.
func pages(n int) (values []float32, free func() error, err error) {
	if n == 0 {
		return nil, func() error { return nil }, nil
	}
	memory, err := syscall.Mmap(-1, 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("%d MB of memory: %w", 4*n>>20, err)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[0])), n), func() error { return syscall.Munmap(memory) }, nil
}

// pageBytes returns how many bytes n values take in pages of their own.
func pageBytes(n int) int64 {
	page := os.Getpagesize()
	return int64((4*n + page - 1) / page * page)
}
