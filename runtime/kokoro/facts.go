package kokoro

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/synth"
)

var _ synth.Neural = (*Engine)(nil)

// Memory implements [synth.Neural].
func (e *Engine) Memory() synth.Memory { return e.memory }

// Threads implements [synth.Neural]: a worker computes on the thread of whoever calls it.
func (e *Engine) Threads() int { return e.threads }

// Precision implements [synth.Neural]: the vocoder, which does nearly all of the work, is in integers.
func (e *Engine) Precision() string { return "int8" }

// Kernel implements [synth.Neural].
func (e *Engine) Kernel() string { return ort.Kernel() }

// Counters implements [synth.Neural].
func (e *Engine) Counters() synth.Counters {
	return synth.Counters{CacheHits: e.hits.Load(), CacheMisses: e.misses.Load(), CacheBytes: e.cache.Bytes(),
		Broken: e.broken.Load()}
}

// Reader is a bundle that tells what would be spoken, without the library that speaking needs.
type Reader struct{ Engine }

// OpenReader reads the manifest of a bundle.
func OpenReader(dir string) (*Reader, error) {
	m, err := bundle.Open(dir)
	return &Reader{Engine{manifest: m}}, err
}

// NewWorker implements [synth.Engine] with an error.
func (*Reader) NewWorker(context.Context) (synth.Worker, error) {
	return nil, errors.New("kokoro: the bundle was opened to be read, not to speak")
}
