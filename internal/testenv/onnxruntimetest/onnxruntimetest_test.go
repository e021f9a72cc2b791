package onnxruntimetest

import "testing"

func TestFile(t *testing.T) {
	const pins = "# What is pinned.\nonnxruntime==1.2.3 --hash=sha256:00\n"
	for arch, want := range map[string]string{
		"amd64": ".cache/onnxruntime/libonnxruntime-1.2.3-x64.so",
		"arm64": ".cache/onnxruntime/libonnxruntime-1.2.3-arm64.so",
	} {
		if got := file(pins, arch).Path; got != want {
			t.Errorf("%s: %s, want %s", arch, got, want)
		}
	}
}
