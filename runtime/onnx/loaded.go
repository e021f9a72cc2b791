package onnx

import "github.com/swar-tts/swar/runtime/onnx/internal/ort"

// LoadLibrary loads the library at path, as [New] does, and returns its release, such as 1.30.0. A process keeps the first one that it
// has loaded.
func LoadLibrary(path string) (release string, err error) {
	if err := ort.Load(path); err != nil {
		return "", err
	}
	return ort.Loaded(), nil
}

// OwnProducts reports whether models in int8 multiply with an operator of this package's own, which the processor must have AVX-512 VNNI for.
// It is faster than those of ONNX Runtime, with the same results. The library must be loaded.
func OwnProducts() bool { return ort.OwnProducts() }
