package onnx

import (
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

func TestTheFirstWorkerWarmsEveryShape(t *testing.T) {
	e := engineOf(t, bundle.Int8, 1)
	first := newTestWorker(t, e).(*worker)
	b := first.sequence.(*stream).bank
	for n := 1; n <= maxBatch; n++ {
		if _, ok := b.views[[2]int{0, n}]; !ok {
			t.Errorf("no run of %d streams was made", n)
		}
	}
	decodes := func(w *worker, want ...int) {
		t.Helper()
		for _, frames := range want {
			if _, ok := w.decoder.(*codecStream).groups[frames]; !ok {
				t.Errorf("no decode of %d frames was made", frames)
			}
		}
	}
	decodes(first, 1, 2, 3, 4)
	decodes(newTestWorker(t, e).(*worker), 1, 4)
	if c := e.Counters(); len(c.Batches) != 0 || c.CacheMisses != 0 || c.CacheBytes != 0 {
		t.Errorf("warming up counts as speech: %+v", c)
	}
	for i, slot := range b.slots {
		if slot.holder != nil || slot.busy {
			t.Errorf("slot %d is still in use", i)
		}
	}
}
