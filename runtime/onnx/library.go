package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/swar-tts/swar/runtime/internal/ort"
)

// FindLibrary returns the path of the ONNX Runtime library to give to [Config.Library].
//
// A path that is given explicitly is the answer; it must be a file. Otherwise the library is looked for beside the
// running program (and in lib/ there), in .cache/onnxruntime of the folder above it and of the working folder, where
// `make onnxruntime` puts it, and in the usual folders of the system. The first one found is taken; whether it is new
// enough shows when it is loaded.
func FindLibrary(explicit string) (string, error) {
	if explicit != "" {
		info, err := os.Stat(explicit)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("there is no ONNX Runtime library at %s: name the file libonnxruntime.so, or fetch it with `make onnxruntime`", explicit)
		case err != nil:
			return "", fmt.Errorf("ONNX Runtime library: %w", err)
		case info.IsDir():
			return "", fmt.Errorf("%s is a folder: name the file of the ONNX Runtime library in it", explicit)
		}
		return explicit, nil
	}
	for _, path := range libraryPaths() {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", errors.New("no ONNX Runtime library found: fetch it with `make onnxruntime`, or name the file in SWAR_ONNXRUNTIME")
}

// libraryPaths lists where a library may lie, the best place first.
func libraryPaths() []string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	pinned, plain := "libonnxruntime-"+ort.Version+"-"+arch+".so", "libonnxruntime.so"
	var paths []string
	if program, err := os.Executable(); err == nil {
		beside := filepath.Dir(program)
		for _, dir := range []string{filepath.Join(beside, "lib"), beside} {
			paths = append(paths, filepath.Join(dir, pinned), filepath.Join(dir, plain))
		}
		// A program in bin/ finds what was fetched for its repository, from whatever folder it is called.
		paths = append(paths, filepath.Join(beside, "..", ".cache", "onnxruntime", pinned))
	}
	if working, err := os.Getwd(); err == nil {
		paths = append(paths, filepath.Join(working, ".cache", "onnxruntime", pinned))
	}
	for _, dir := range []string{"/usr/local/lib", "/usr/lib",
		"/usr/lib/" + map[string]string{"x64": "x86_64", "arm64": "aarch64"}[arch] + "-linux-gnu"} {
		paths = append(paths, filepath.Join(dir, plain), filepath.Join(dir, plain+".1"))
	}
	return paths
}
