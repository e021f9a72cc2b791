package onnx

import (
	"maps"

	"github.com/swar-tts/swar/runtime/synth"
)

var _ synth.Neural = (*Engine)(nil)

// Memory implements [synth.Neural].
func (e *Engine) Memory() synth.Memory { return e.memory }

// Threads implements [synth.Neural].
func (e *Engine) Threads() int { return e.threads }

// Counters implements [synth.Neural].
func (e *Engine) Counters() synth.Counters {
	p := e.prefills
	return synth.Counters{
		CacheHits: p.hits.Load(), CacheMisses: p.misses.Load(),
		Prefixes: p.prefixes.Load(), PrefixTokens: p.prefixed.Load(),
		CacheBytes: p.cache.Bytes(), Broken: e.broken.Load(), Batches: maps.Collect(e.scheduler.counts()),
	}
}

// Precision implements [synth.Neural]: [bundle.FP32] or [bundle.Int8].
func (e *Engine) Precision() string { return e.manifest.Precision }

// Kernel implements [synth.Neural]: see [UseKernel]; "onnxruntime" for integers in a public layout.
func (e *Engine) Kernel() string { return e.kernel }
