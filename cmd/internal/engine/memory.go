package engine

import (
	"cmp"
	"fmt"
	"log/slog"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/synth"
)

// weigh returns the memory in bytes that a neural engine needs, and an error if that exceeds the limit.
func weigh(engine synth.Engine, r Runtime, workers int, limit int64, log *slog.Logger) (int64, error) {
	e, ok := engine.(synth.Neural)
	if !ok {
		return 0, nil
	}
	needed := e.Memory()
	log.Info("engine", "library", r.Library, "onnxruntime", r.Release, "kernel", kernelOf(e),
		"precision", e.Precision(), "threads", e.Threads(),
		"weights_mb", MB(needed.Weights), "prompts_mb", MB(needed.Prompts), "stream_mb", MB(needed.Stream),
		"workers", workers, "cache_mb", MB(needed.Cache), "total_mb", MB(needed.Total(workers)), "limit_mb", MB(limit))
	return needed.Total(workers), checkMemory(needed, workers, limit, log)
}

// Register lets the workers and the counts of a neural engine be seen.
func (s *Speaker) Register(m *metrics.Registry) {
	m.RegisterWorkers(s.Capacity)
	if e, ok := s.engine.(synth.Neural); ok {
		info := metrics.EngineInfo{Kernel: kernelOf(e), Precision: e.Precision(), Library: s.release}
		m.RegisterEngine(info, func() metrics.EngineCounts { return metrics.EngineCounts(e.Counters()) })
	}
}

func kernelOf(e synth.Neural) string { return cmp.Or(e.Kernel(), "none") }

// WarnOfSpool warns when a full spool and the engine need more than limit. A limit of 0 means none. All are bytes.
func (s *Speaker) WarnOfSpool(spool, limit int64, log *slog.Logger) {
	if limit == 0 || s.memory+spool <= limit {
		return
	}
	log.Warn("with a full spool this process needs more memory than its cgroup grants, and would be killed; "+
		"use a smaller --spool or grant more memory",
		"engine_mb", MB(s.memory), "spool_mb", MB(spool), "limit_mb", MB(limit))
}

// checkMemory refuses what will be more than the limit, and warns of what may be; 0 means that there is no limit.
func checkMemory(needed synth.Memory, workers int, limit int64, log *slog.Logger) error {
	total := needed.Total(workers)
	switch {
	case limit == 0 || total <= limit:
		return nil
	case total-needed.Cache > limit:
		return fmt.Errorf("the model needs %d MB (weights %d, voices %d, %s of %d each), more than the %d MB that the cgroup of this process grants; "+
			"use fewer --workers, or grant more memory", MB(total-needed.Cache), MB(needed.Weights), MB(needed.Prompts),
			launch.Plural(workers, "stream"), MB(needed.Stream), MB(limit))
	}
	log.Warn("with a full prefill cache this process needs more memory than its cgroup grants, and would be killed; "+
		"use a smaller --prefill-cache-mb or grant more memory", "needs_mb", MB(total), "limit_mb", MB(limit))
	return nil
}

// MB rounds bytes up to whole megabytes.
func MB(bytes int64) int64 { return (bytes + 999_999) / 1_000_000 }
