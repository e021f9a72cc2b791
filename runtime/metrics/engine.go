package metrics

import "github.com/prometheus/client_golang/prometheus"

// EngineCounts has the counters of a neural engine since it was loaded, and the present memory of its prefill cache.
type EngineCounts struct {
	CacheHits    uint64
	CacheMisses  uint64
	Prefixes     uint64 // of the misses, those whose text began as another one that was in the cache
	PrefixTokens uint64 // tokens that those did not have to read
	CacheBytes   int64
	Broken       uint64         // outputs that held a value that is no number, each the end of an utterance
	Batches      map[int]uint64 // runs of the language model by the number of streams that they took a step for
}

// EngineInfo is what a neural engine runs with, which does not change.
type EngineInfo struct {
	Kernel    string // the instructions that multiply integers, none for a model in floats
	Precision string // of the model
	Library   string // release of ONNX Runtime
}

// RegisterEngine adds the metrics of a neural engine, which are read whenever they are scraped.
func (r *Registry) RegisterEngine(info EngineInfo, read func() EngineCounts) {
	running := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tts_engine_info", Help: "What the engine runs with; always 1.",
		ConstLabels: prometheus.Labels{"kernel": info.Kernel, "precision": info.Precision, "onnxruntime": info.Library},
	})
	running.Set(1)
	r.prometheus.MustRegister(
		running,
		counter("tts_prefill_cache_hits_total", "Prefills found in the cache.", read,
			func(e EngineCounts) float64 { return float64(e.CacheHits) }),
		counter("tts_prefill_cache_misses_total", "Prefills that had to be computed.", read,
			func(e EngineCounts) float64 { return float64(e.CacheMisses) }),
		counter("tts_prefill_prefix_hits_total", "Prefills whose text began like another one of the cache.", read,
			func(e EngineCounts) float64 { return float64(e.Prefixes) }),
		counter("tts_prefill_prefix_tokens_total", "Tokens that those prefills took from the cache.", read,
			func(e EngineCounts) float64 { return float64(e.PrefixTokens) }),
		gauge("tts_prefill_cache_bytes", "Memory of the prefill cache.", read,
			func(e EngineCounts) float64 { return float64(e.CacheBytes) }),
		counter("tts_broken_outputs_total", "Outputs of the model that were not numbers; each ended its utterance.",
			read,
			func(e EngineCounts) float64 { return float64(e.Broken) }),
		batchSizes{
			prometheus.NewDesc("tts_batch_size", "Streams that one run of the language model took a step for.", nil,
				nil), read,
		},
	)
}

// batchSizes shows counts by size as a histogram, so that its mean is sum by count as everywhere.
type batchSizes struct {
	desc *prometheus.Desc
	read func() EngineCounts
}

// Describe implements [prometheus.Collector].
func (b batchSizes) Describe(to chan<- *prometheus.Desc) { to <- b.desc }

// Collect implements [prometheus.Collector].
func (b batchSizes) Collect(to chan<- prometheus.Metric) {
	counts := b.read().Batches
	buckets := map[float64]uint64{1: 0, 2: 0, 4: 0, 8: 0, 16: 0}
	var count, sum uint64
	for size, n := range counts {
		count, sum = count+n, sum+uint64(size)*n
		for limit := range buckets {
			if float64(size) <= limit {
				buckets[limit] += n
			}
		}
	}
	to <- prometheus.MustNewConstHistogram(b.desc, count, float64(sum), buckets)
}
