package onnx

import "github.com/swar-tts/swar/runtime/internal/ort"

// LoadLibrary loads the library at path, as [New] does, and returns its release, such as 1.30.0. A process keeps the
// first one that it has loaded.
func LoadLibrary(path string) (release string, err error) {
	if err := ort.Load(path); err != nil {
		return "", err
	}
	return ort.Loaded(), nil
}

// UseKernel selects the instructions for int8 products, for models that are loaded later. It takes one of [Kernels],
// or the empty name for the fastest. All give the same results. An error says what there is.
func UseKernel(name string) error { return ort.UseKernel(name) }

// Kernel returns the name of the kernel that models in int8 multiply by.
func Kernel() string { return ort.Kernel() }

// Kernels returns the names of the kernels that this processor can run, the fastest first.
func Kernels() []string { return ort.Kernels() }

// CheckIntegers multiplies the largest integers with the present kernel and compares the results with integer
// arithmetic. [New] does it for models in int8. The library must be loaded.
func CheckIntegers() error { return ort.CheckIntegers() }
