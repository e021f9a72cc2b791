package onnx

import (
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestUrgencyFollowsThePolicy(t *testing.T) {
	const ms = time.Millisecond
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name     string
		frames   int
		since    time.Duration // the first frame
		want     class
		buffered time.Duration
	}{
		{"nothing has sounded", 0, 0, silent, 0},
		{"nothing has sounded for an hour", 0, time.Hour, silent, 0},
		{"the first frame is there", 1, 0, starving, 80 * ms},
		{"just under 0.3 s is left", 5, 101 * ms, starving, 299 * ms},
		{"0.3 s is left", 5, 100 * ms, playing, 300 * ms},
		{"a second is left", 13, 40 * ms, playing, 1000 * ms},
		{"just over a second is left", 13, 39 * ms, ahead, 1001 * ms},
		{"the listener hears a gap", 1, time.Second, starving, -920 * ms},
	}
	for _, tt := range tests {
		var p pace
		if tt.frames > 0 {
			p.sounded(tt.frames, start)
		}
		got := p.urgency(start.Add(tt.since))
		if got.class != tt.want || got.buffered != tt.buffered {
			t.Errorf("%s: class %d with %s left, want %d with %s", tt.name, got.class, got.buffered, tt.want, tt.buffered)
		}
	}
}

func TestTheFirstFrameStartsTheClock(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var p pace
	p.sounded(1, start)
	p.sounded(4, start.Add(time.Second))
	if got, want := p.urgency(start.Add(time.Second)).buffered, 5*speech.FrameDuration-time.Second; got != want {
		t.Errorf("%s left, want %s", got, want)
	}
}

func TestTheMoreUrgentComesFirst(t *testing.T) {
	order := []urgency{ // the most urgent first
		{silent, 0, 3},
		{silent, 0, 9},
		{starving, -time.Second, 8},
		{starving, 0, 1},
		{starving, 0, 2},
		{playing, scarce, 0},
		{playing, ample, 0},
		{ahead, ample + 1, 0},
		{ahead, time.Hour, 0},
	}
	for i := range order {
		for j := range order {
			if got, want := order[i].compare(order[j]), min(max(i-j, -1), 1); got != want {
				t.Errorf("%+v to %+v: %d, want %d", order[i], order[j], got, want)
			}
		}
	}
}
