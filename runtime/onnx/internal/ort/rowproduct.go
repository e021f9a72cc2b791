package ort

/*
#cgo CFLAGS: -O3
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include "rowproduct.h"

static const void *api_base(const char *library) {
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	if (handle == NULL)
		return NULL;
	const void *(*base)(void) = (const void *(*)(void))dlsym(handle, "OrtGetApiBase");
	return base == NULL ? NULL : base();
}
*/
import "C"

import (
	"errors"
	"reflect"
	"runtime/debug"
	"unsafe"

	runtime "github.com/yalue/onnxruntime_go"

	"github.com/swar-tts/swar/runtime/onnx/internal/graph"
)

// fuses reports whether sessions have the operator RowProduct. It is set once, when the library is loaded.
var fuses bool

// OwnProducts reports whether sessions have the operator RowProduct. The library must be loaded.
func OwnProducts() bool { return fuses }

// loadRowProduct makes the operator known, where the processor has what it needs. Without it graphs run as they are.
func loadRowProduct(library string) {
	if C.row_product_fits() == 0 {
		return
	}
	path := C.CString(library)
	defer C.free(unsafe.Pointer(path))
	if base := C.api_base(path); base != nil {
		fuses = C.row_product_load(base) != 0
	}
}

// fuse lets the products of rows by integers in a graph of ours be done by one operator each, and tells the options about it.
func fuse(file []byte, options *runtime.SessionOptions) ([]byte, error) {
	if !fuses {
		return file, nil
	}
	fused, products, err := graph.FuseRows(file)
	if err != nil || products == 0 {
		return file, err
	}
	// The options of the C interface are the one field of these, and there is no other way to them.
	o := reflect.ValueOf(options).Elem()
	if o.NumField() != 1 || o.Field(0).Kind() != reflect.Pointer {
		return file, nil
	}
	if C.row_product_register(o.Field(0).UnsafePointer()) == 0 {
		return nil, errors.New("ONNX Runtime refuses the operator RowProduct")
	}
	debug.FreeOSMemory() // the file, if nobody else needs it: with the library's copies this is when most memory is in use
	return fused, nil
}
