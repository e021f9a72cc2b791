package onnx

import (
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
)

func TestTheFirstWorkerWarmsEveryShape(t *testing.T) {
	e := engineOf(t, bundle.Int8, 1)
	first := newTestWorker(t, e).(*worker)
	cache := first.sequence.(*model.Stream).Cache()
	for n := 1; n <= model.MaxBatch; n++ {
		if !cache.Warmed(n) {
			t.Errorf("no run of %d streams was made", n)
		}
	}
	decodes := func(w *worker, want ...int) {
		t.Helper()
		for _, frames := range want {
			if !w.decoder.(*model.Decoder).Warmed(frames) {
				t.Errorf("no decode of %d frames was made", frames)
			}
		}
	}
	decodes(first, 1, 2, 3, 4)
	decodes(newTestWorker(t, e).(*worker), 1, 4)
	if c := e.Counters(); len(c.Batches) != 0 || c.CacheMisses != 0 || c.CacheBytes != 0 {
		t.Errorf("warming up counts as speech: %+v", c)
	}
	if _, assigned, locked := e.model.(native).InUse(); assigned+locked > 0 {
		t.Errorf("%d slots are assigned and %d locked after warming up", assigned, locked)
	}
}
