package codec

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// pages is memory from the system, which the collector does not count: it lets garbage grow as large as what it knows
// to be in use.
type pages struct {
	held [][]byte
	err  error // the first refusal
}

// take returns n zeros, from the heap where the system has refused memory.
func take[T int8 | byte | int16 | float32](p *pages, n int) []T {
	if n == 0 {
		return nil
	}
	var one T
	memory, err := syscall.Mmap(-1, 0, n*int(unsafe.Sizeof(one)), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		if p.err == nil {
			p.err = fmt.Errorf("%d values of memory: %w", n, err)
		}
		return make([]T, n)
	}
	p.held = append(p.held, memory)
	return unsafe.Slice((*T)(unsafe.Pointer(&memory[0])), n)
}

// size is how much is held.
func (p *pages) size() int64 {
	n := int64(0)
	for _, memory := range p.held {
		n += int64(len(memory))
	}
	return n
}

// free gives all of it back.
func (p *pages) free() error {
	var err error
	for _, memory := range p.held {
		err = errors.Join(err, syscall.Munmap(memory))
	}
	p.held = nil
	return err
}
