package ort

import runtime "github.com/yalue/onnxruntime_go"

// Loaded returns the release of the library that is loaded, "" before [Load].
func Loaded() string {
	loading.Lock()
	defer loading.Unlock()
	if loaded == "" {
		return ""
	}
	return runtime.GetVersion()
}
