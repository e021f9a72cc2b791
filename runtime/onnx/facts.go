package onnx

import "maps"

// Memory is how many bytes an engine takes. Keys and values count in full, though memory is only taken for what is spoken.
type Memory struct {
	Weights int64 // graphs and what the host reads of the weights; the runtime keeps some of it in another form
	Prompts int64 // all voices
	Stream  int64 // one worker
	Cache   int64 // at most, of the prefill cache
}

// Total returns the bytes of an engine with so many workers.
func (m Memory) Total(workers int) int64 {
	return m.Weights + m.Prompts + m.Cache + int64(workers)*m.Stream
}

// Memory returns the engine's budget.
func (e *Engine) Memory() Memory { return e.memory }

// Threads returns how many threads run the model.
func (e *Engine) Threads() int { return e.threads }

// Counters is what an engine has counted since it was loaded.
type Counters struct {
	CacheHits    uint64
	CacheMisses  uint64
	Prefixes     uint64         // of the misses, those whose text began as another one that was in the cache
	PrefixTokens uint64         // tokens that those did not have to read
	CacheBytes   int64          // held now
	Broken       uint64         // outputs that held a value that is no number, each the end of an utterance
	Batches      map[int]uint64 // runs of the language model's step by the number of streams that they stepped
}

// Counters returns the present counts. It is safe for concurrent use.
func (e *Engine) Counters() Counters {
	p := e.prefills
	return Counters{
		CacheHits: p.hits.Load(), CacheMisses: p.misses.Load(),
		Prefixes: p.prefixes.Load(), PrefixTokens: p.prefixed.Load(),
		CacheBytes: p.cache.Bytes(), Broken: e.broken.Load(), Batches: maps.Collect(e.scheduler.counts()),
	}
}

// Precision returns what the large matrices of the model are: [bundle.FP32] or [bundle.Int8].
func (e *Engine) Precision() string { return e.manifest.Precision }

// Kernel returns the instructions that multiply the integers of the model, see [UseKernel]; "onnxruntime" for integers in a public layout, and
// nothing for a model in floats.
func (e *Engine) Kernel() string { return e.kernel }
