package synth

// Neural is an engine that runs a model whose size matters.
type Neural interface {
	Engine

	Memory() Memory     // the engine's budget
	Threads() int       // that run the model
	Precision() string  // of its large matrices: fp32 or int8
	Kernel() string     // the instructions that multiply its integers; empty for a model in floats
	Counters() Counters // safe for concurrent use
}

// Memory is how many bytes an engine takes. What a stream may take counts in full, though memory is only taken for
// what is spoken.
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
