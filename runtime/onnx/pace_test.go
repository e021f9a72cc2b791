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
		got := p.urgency(start.Add(tt.since), true)
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
	if got, want := p.urgency(start.Add(time.Second), true).buffered, 5*speech.FrameDuration-time.Second; got != want {
		t.Errorf("%s left, want %s", got, want)
	}
}

func TestWhatIsNotPressingComesAfterTheStepsOfOthers(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for frames, want := range map[int]bool{0: false, 1: false, 2: true, 4: true, 13: true} {
		var p pace
		if frames > 0 {
			p.sounded(frames, now)
		}
		if got := p.urgency(now, false).alone; got != want {
			t.Errorf("%d frames ahead, a decode comes after the steps of others: %v, want %v", frames, got, want)
		}
		if p.urgency(now, true).alone {
			t.Errorf("%d frames ahead, a step comes after the steps of others", frames)
		}
	}
}

func TestTheMoreUrgentComesFirst(t *testing.T) {
	order := []urgency{ // the most urgent first
		{silent, false, 0, 3},
		{silent, false, 0, 9},
		{starving, false, -time.Second, 8},
		{starving, false, 0, 1},
		{starving, false, 0, 2},
		{starving, false, scarce - 1, 0},
		{starving, true, pressing, 0},
		{playing, false, scarce, 0},
		{playing, false, ample, 0},
		{playing, true, scarce, 0},
		{ahead, false, ample + 1, 0},
		{ahead, false, time.Hour, 0},
		{ahead, true, ample + 1, 0},
	}
	for i := range order {
		for j := range order {
			if got, want := order[i].compare(order[j]), min(max(i-j, -1), 1); got != want {
				t.Errorf("%+v to %+v: %d, want %d", order[i], order[j], got, want)
			}
		}
	}
}
