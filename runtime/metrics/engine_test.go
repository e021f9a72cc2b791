package metrics

import (
	"strings"
	"testing"
)

func TestTheEngineIsReadWhenItIsScraped(t *testing.T) {
	m := New()
	if body, _ := scrape(t, m, ""); strings.Contains(body, "tts_prefill_cache_") ||
		strings.Contains(body, "tts_batch_size") {
		t.Error("metrics of an engine are shown without one")
	}
	var e EngineCounts
	m.RegisterEngine(EngineInfo{Kernel: "avx2", Precision: "int8", Library: "1.30.0"}, func() EngineCounts { return e })
	for _, step := range []struct {
		name string
		e    EngineCounts
		want []string
	}{
		{"at the start all of them are there", EngineCounts{}, []string{
			`tts_engine_info{kernel="avx2",onnxruntime="1.30.0",precision="int8"} 1`,
			"tts_prefill_cache_hits_total 0", "tts_prefill_cache_misses_total 0", "tts_prefill_prefix_hits_total 0", "tts_prefill_prefix_tokens_total 0", "tts_prefill_cache_bytes 0", "tts_broken_outputs_total 0",
			`tts_batch_size_bucket{le="1"} 0`, "tts_batch_size_sum 0", "tts_batch_size_count 0",
		}},
		{"later they have counted", EngineCounts{CacheHits: 3, CacheMisses: 2, Prefixes: 1, PrefixTokens: 15, CacheBytes: 1 << 20, Broken: 1, Batches: map[int]uint64{1: 5, 2: 4, 3: 2, 16: 1, 17: 1}}, []string{
			"tts_prefill_cache_hits_total 3", "tts_prefill_cache_misses_total 2", "tts_prefill_prefix_hits_total 1", "tts_prefill_prefix_tokens_total 15", "tts_prefill_cache_bytes 1.048576e+06", "tts_broken_outputs_total 1",
			`tts_batch_size_bucket{le="1"} 5`, `tts_batch_size_bucket{le="2"} 9`, `tts_batch_size_bucket{le="4"} 11`, `tts_batch_size_bucket{le="8"} 11`,
			`tts_batch_size_bucket{le="16"} 12`, `tts_batch_size_bucket{le="+Inf"} 13`, "tts_batch_size_sum 52", "tts_batch_size_count 13",
		}},
	} {
		e = step.e
		body, _ := scrape(t, m, "")
		for _, want := range step.want {
			if !strings.Contains(body, "\n"+want+"\n") {
				t.Errorf("%s: the scrape lacks %q", step.name, want)
			}
		}
	}
}
