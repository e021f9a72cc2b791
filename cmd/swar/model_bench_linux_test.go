package main_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/models/hub/hubtest"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

// TestPullOfTheReleasedSize measures the pull of a model of the sizes of the released ones, 219 MB of 16 bits, from a
// hub on this machine, on one processor: `make bench-pull`.
func TestPullOfTheReleasedSize(t *testing.T) {
	if os.Getenv("SWAR_BENCH_PULL") == "" {
		t.Skip("make bench-pull measures this")
	}
	s, h := hubShell(t, "GOMAXPROCS=1")
	dir := t.TempDir()
	if err := convert.Full().Publish(dir, "hf://saryps-labs/pocket-tts-hindi"); err != nil {
		t.Fatal(err)
	}
	repository := &hubtest.Repository{Commit: publishedCommit, Licence: "cc-by-4.0",
		Large: []string{convert.PublishedWeights}, Files: make(map[string][]byte)}
	for _, name := range []string{convert.PublishedConfig, convert.PublishedWeights, convert.PublishedTokenizer} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		repository.Files[name] = content
	}
	h.Publish("saryps-labs/pocket-tts-hindi", repository)
	s.write("raj.wav", wavOf(24000, 10*24000, 9000))
	runtime.GC()

	one := []string{"model", "pull", "saryps-hindi@main", "--voice", "anjura=raj.wav"}
	for _, what := range []string{"all of it", "once more"} {
		cmd := s.command(one...)
		var said strings.Builder
		cmd.Stderr = &said
		began := time.Now()
		err := cmd.Run()
		took := time.Since(began)
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		t.Logf("%s: %.1f s, %.1f s of processors, at most %d MB; weights of %d MB", what, took.Seconds(),
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), usage.Maxrss/1000,
			len(repository.Files[convert.PublishedWeights])/1e6)
		if what == "all of it" {
			t.Log(said.String())
		}
	}
	measure := func(what string, args ...string) {
		cmd, began := s.command(args...), time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		t.Logf("%s: %.1f s, at most %d MB", what, time.Since(began).Seconds(), usage.Maxrss/1000)
	}
	measure("one more voice, of 10 s", "voice", "add", "asha=raj.wav", "--model", "saryps-hindi", "--consent", "agreed")
	s.ok("model", "rm", "saryps-hindi")
	measure("the conversion alone", "bundle", "convert", "--config", dir+"/config.yaml", "--from",
		dir+"/model.safetensors",
		"--tokenizer", dir+"/tokenizer.model", "--voice", "anjura=raj.wav", "-o", "b", "--precision", "int8")
}
