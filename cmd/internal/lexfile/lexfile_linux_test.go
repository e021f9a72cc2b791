package lexfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/swar-tts/swar/runtime/lexicon"
)

// TestAPipeIsRefused: nobody writes into it, so that to open it would wait for ever.
func TestAPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
}

// TestSaveKeepsWhatWasThere where there is no room for more, and leaves nothing beside it.
func TestSaveKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	few := []lexicon.Entry{{Word: "Zepto", Spoken: "ज़ेप्टो"}}
	if err := Save(path, lexicon.CSV, few); err != nil {
		t.Fatal(err)
	}
	many := []lexicon.Entry{{Word: "Ola", Spoken: strings.Repeat("ओ", 5000)}}
	var before, limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit = syscall.Rlimit{Cur: 4096, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	err := Save(path, lexicon.CSV, many)
	if back := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); back != nil {
		t.Fatal(back)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a file that must not grow: %v", err)
	}
	if f, err := Read(path); err != nil || len(f.Entries) != 1 || f.Entries[0] != few[0] {
		t.Errorf("what was there is %v, %v", f, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%d files are left, %v", len(all), err)
	}
}
