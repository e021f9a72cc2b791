package ort

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	runtime "github.com/yalue/onnxruntime_go"
)

// Version is the release of ONNX Runtime that the engine is tested with; hack/onnxruntime.sh fetches it. It is also
// the oldest that has what this program asks for.
const Version = "1.30.0"

const fetch = "fetch it with `make onnxruntime`"

var (
	loading sync.Mutex
	loaded  string // path of the library, once it is loaded
)

// Load loads the library at path. The process keeps it until it ends: loading the same path again does nothing,
// another path is an error. After an error another path may be tried. It is safe for concurrent use.
func Load(path string) error {
	loading.Lock()
	defer loading.Unlock()
	switch {
	case path == "":
		return errors.New("no path to the ONNX Runtime library: " + fetch)
	case loaded == path:
		return nil
	case loaded != "":
		return fmt.Errorf("ONNX Runtime is loaded from %s already", loaded)
	}
	if err := inspect(path); err != nil {
		return err
	}
	mapLarge()
	if err := disableTelemetry(); err != nil {
		return err
	}
	runtime.SetSharedLibraryPath(path)
	err := runtime.InitializeEnvironment(runtime.WithLogLevelError())
	switch {
	case err == nil:
		loaded = path
		return nil
	case strings.Contains(err.Error(),
		"API base"): // the library does not have the version of the interface that we ask for
		return fmt.Errorf("the ONNX Runtime at %s is older than %s, which is needed: %s", path, Version, fetch)
	default:
		return fmt.Errorf("ONNX Runtime at %s cannot be loaded: %w", path, err)
	}
}

// disableTelemetry stops the library from sending its maker what runs on this machine, and from keeping an identifier
// of the machine and logs for that, as it does from release 1.30 on. The library reads the variable once, when it
// begins.
func disableTelemetry() error { return os.Setenv("ORT_DISABLE_TELEMETRY", "1") }

// inspect says what is wrong with a file that cannot be ONNX Runtime, in words that the system's loader does not find.
func inspect(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no ONNX Runtime library at %s: %s", path, fetch)
	case err != nil:
		return fmt.Errorf("ONNX Runtime library: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file: name the ONNX Runtime library itself", path)
	case goruntime.GOOS != "linux":
		return nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is not a library, or not a whole one (%w): %s", path, err, fetch)
	}
	defer func() { _ = f.Close() }() // it was only read
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if want, ok := machines[goruntime.GOARCH]; ok && f.Machine != want {
		return fmt.Errorf("%s is made for %s, this machine is %s: %s", path, f.Machine, want, fetch)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil || !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "OrtGetApiBase" }) {
		return fmt.Errorf("%s is a library, but not ONNX Runtime: %s", path, fetch)
	}
	return nil
}

// AtLeast returns an error if the loaded library is older than the given release, such as 1.30.0.
func AtLeast(release string) error {
	if loaded := runtime.GetVersion(); older(loaded, release) {
		return fmt.Errorf("ONNX Runtime %s is too old, the model needs %s: fetch it with `make onnxruntime`", loaded,
			release)
	}
	return nil
}

// older compares releases number by number. What is no number counts as 0.
func older(a, b string) bool {
	parts := func(release string) (n [3]int) {
		for i, part := range strings.SplitN(release, ".", len(n)) {
			n[i], _ = strconv.Atoi(part)
		}
		return n
	}
	x, y := parts(a), parts(b)
	return slices.Compare(x[:], y[:]) < 0
}
