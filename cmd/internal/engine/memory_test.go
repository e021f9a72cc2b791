package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/synth"
)

func TestMemoryIsWeighedAgainstTheLimit(t *testing.T) {
	// with two workers 160 MB, and 224 MB with the cache
	m := synth.Memory{Weights: 100e6, Prompts: 10e6, Stream: 25e6, Cache: 64e6}
	for name, tt := range map[string]struct {
		limit   int64
		refused bool
		warned  bool
	}{
		"no limit":                     {0, false, false},
		"all of it fits exactly":       {224e6, false, false},
		"a byte of the cache does not": {224e6 - 1, false, true},
		"all but the cache fits":       {160e6, false, true},
		"a byte of that does not":      {160e6 - 1, true, false},
		"next to nothing":              {1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			err := checkMemory(m, 2, tt.limit, slog.New(slog.NewTextHandler(&log, nil)))
			if (err != nil) != tt.refused || strings.Contains(log.String(), "level=WARN") != tt.warned {
				t.Errorf("error %v, log %q", err, log.String())
			}
			if tt.refused && !strings.Contains(err.Error(),
				"the model needs 160 MB (weights 100, voices 10, 2 streams of 25 each), more than the ") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestTheSpoolIsWeighedAgainstTheLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		limit int64
		want  bool
	}{
		"no limit": {0, false}, "a byte more than it needs": {301, false}, "just what it needs": {300, false},
		"a byte less": {299, true},
	} {
		var log bytes.Buffer
		(&Speaker{memory: 100}).WarnOfSpool(200, tt.limit, slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Contains(log.String(), "level=WARN"); got != tt.want {
			t.Errorf("%s: warned %v, want %v: %s", name, got, tt.want, log.String())
		}
	}
}
