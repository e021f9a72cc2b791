package onnx

import (
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/synth"
)

// suite returns what [synthtest.Run] asks for: engines that share the model of e, which is loaded and warm once, and
// nothing else. Each ends with its test and before e.
func suite(t *testing.T, e *Engine) func(t *testing.T) synth.Engine {
	t.Helper()
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) synth.Engine {
		again := &Engine{
			dir: e.dir, manifest: e.manifest, tokenizer: e.tokenizer, text: e.text, model: e.model, threads: e.threads,
			kernel:  e.kernel,
			workers: e.workers, memory: e.memory, warm: e.warm,
			prefills: newPrefills(defaultCacheBytes), scheduler: newScheduler(e.threads, time.Now),
		}
		again.voices.Store(e.voices.Load())
		t.Cleanup(func() {
			again.scheduler.close()
			again.prefills.cache.Clear()
		})
		return again
	}
}
