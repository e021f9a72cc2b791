package main

import (
	"cmp"
	"fmt"
	"log/slog"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/onnx"
)

// neural tells how many bytes a neural engine needs, refuses it where they cannot be had, and lets its counts be seen.
// Other engines need nothing that is worth telling.
func (s *site) neural(m *metrics.Registry) (int64, error) {
	e, ok := s.local.engine.(*onnx.Engine)
	if !ok {
		return 0, nil
	}
	needed, limit, workers := e.Memory(), launch.FindMemory(), s.options.workers
	s.log.Info("engine", "library", s.options.engine.found, "onnxruntime", s.options.engine.release, "kernel", cmp.Or(e.Kernel(), "none"),
		"precision", e.Precision(), "threads", e.Threads(),
		"weights_mb", mega(needed.Weights), "prompts_mb", mega(needed.Prompts), "stream_mb", mega(needed.Stream), "workers", workers,
		"cache_mb", mega(needed.Cache), "total_mb", mega(needed.Total(workers)), "limit_mb", mega(limit))
	if err := checkMemory(needed, workers, limit, s.log); err != nil {
		return 0, err
	}
	info := metrics.EngineInfo{Kernel: cmp.Or(e.Kernel(), "none"), Precision: e.Precision(), Library: s.options.engine.release}
	m.RegisterEngine(info, func() metrics.EngineCounts { return metrics.EngineCounts(e.Counters()) })
	return needed.Total(workers), nil
}

// warnOfSpool warns where a full spool, beside what the engine needs, will be more than the limit; 0 means that there
// is no limit.
func warnOfSpool(needed, spool, limit int64, log *slog.Logger) {
	if limit == 0 || needed+spool <= limit {
		return
	}
	log.Warn("with a full spool this process needs more memory than its cgroup grants, and would be killed; "+
		"use a smaller --spool or grant more memory",
		"engine_mb", mega(needed), "spool_mb", mega(spool), "limit_mb", mega(limit))
}

// checkMemory refuses what will be more than the limit, and warns of what may be; 0 means that there is no limit.
func checkMemory(needed onnx.Memory, workers int, limit int64, log *slog.Logger) error {
	total := needed.Total(workers)
	switch {
	case limit == 0 || total <= limit:
		return nil
	case total-needed.Cache > limit:
		return fmt.Errorf("the model needs %d MB (weights %d, voices %d, %s of %d each), more than the %d MB that the cgroup of this process grants; "+
			"use fewer --workers, or grant more memory", mega(total-needed.Cache), mega(needed.Weights), mega(needed.Prompts),
			launch.Plural(workers, "stream"), mega(needed.Stream), mega(limit))
	}
	log.Warn("with a full prefill cache this process needs more memory than its cgroup grants, and would be killed; "+
		"use a smaller --prefill-cache-mb or grant more memory", "needs_mb", mega(total), "limit_mb", mega(limit))
	return nil
}

// mega rounds bytes up to whole megabytes.
func mega(bytes int64) int64 { return (bytes + 999_999) / 1_000_000 }
