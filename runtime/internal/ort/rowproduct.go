package ort

/*
#cgo CFLAGS: -O3 -I${SRCDIR}/../rowproduct
#include "operator.h"
*/
import "C"

import (
	"fmt"
	"runtime/debug"
	"sync"

	runtime "github.com/yalue/onnxruntime_go"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/rowproduct"
)

// kernels guards which kernel the operator RowProduct gets, and that sessions get it one at a time.
var kernels struct {
	sync.Mutex
	used rowproduct.Kernel
}

// UseKernel selects the kernel of integer products by name, for sessions that are opened later. The empty name
// selects the fastest that this processor can run, which is also the default. An error says what there is.
func UseKernel(name string) error {
	k, err := rowproduct.Find(name)
	if err != nil {
		return err
	}
	kernels.Lock()
	defer kernels.Unlock()
	useLocked(k)
	return nil
}

func useLocked(k rowproduct.Kernel) {
	kernels.used = k
	C.row_product_use((*C.row_kernel)(k.Pointer()))
}

// Kernels returns the names of the kernels that this processor can run, the fastest first.
func Kernels() []string {
	var names []string
	for _, k := range rowproduct.Kernels() {
		names = append(names, k.Name())
	}
	return names
}

// Kernel returns the name of the kernel that sessions get.
func Kernel() string { return ChosenKernel().Name() }

// ChosenKernel returns the kernel that sessions get, for products outside of graphs.
func ChosenKernel() rowproduct.Kernel {
	kernels.Lock()
	defer kernels.Unlock()
	return kernelLocked()
}

func kernelLocked() rowproduct.Kernel {
	if kernels.used == (rowproduct.Kernel{}) {
		best, _ := rowproduct.Find("") // there is always one
		useLocked(best)
	}
	return kernels.used
}

// register lets a session with these options use the operator RowProduct.
func register(o *runtime.SessionOptions) error {
	kernels.Lock()
	defer kernels.Unlock()
	kernelLocked()
	// ONNX Runtime opens a library of operators by its path. The empty one is the program itself (dlopen), which has
	// the function that is called in such a library.
	if err := o.RegisterCustomOpsLibrary(""); err != nil {
		return fmt.Errorf("ONNX Runtime does not take the operator RowProduct: %w", err)
	}
	return nil
}

// RegisterCustomOps is what ONNX Runtime calls in a library of operators, by this name.
//
//export RegisterCustomOps
func RegisterCustomOps(options *C.OrtSessionOptions, base *C.ort_api_base) *C.OrtStatus {
	return C.row_product_register(options, base)
}

// fuse lets one operator of our own do each product of rows by integers in a graph, and tells the options about it.
// It returns the number of products.
func fuse(file []byte, options *runtime.SessionOptions) (fused []byte, products int, err error) {
	fused, products, err = graph.FuseRows(file)
	if err != nil || products == 0 {
		return file, 0, err
	}
	if err := register(options); err != nil {
		return nil, 0, err
	}
	// the file, if nobody else needs it: with the library's copies this is when most memory is in use
	debug.FreeOSMemory()
	return fused, products, nil
}
