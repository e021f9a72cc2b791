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
