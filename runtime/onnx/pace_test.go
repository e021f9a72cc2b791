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
			p.count(tt.frames, start)
		}
		got := p.urgency(start.Add(tt.since), true, false, &leastLimits)
		if got.class != tt.want || got.buffered != tt.buffered {
			t.Errorf("%s: class %d with %s left, want %d with %s", tt.name, got.class, got.buffered, tt.want,
				tt.buffered)
		}
	}
}

func TestWhoHasNoPatienceLeftIsOverdueWhenItIsStarving(t *testing.T) {
	const ms = time.Millisecond
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name     string
		frames   int
		buffered time.Duration
		want     class
	}{
		{"a new stream", 0, 0, silent},
		{"the listener hears a gap", 1, -ms, overdue},
		{"little is left", 1, 300*ms - 1, overdue},
		{"enough is left", 1, 300 * ms, playing},
		{"much is left", 1, time.Second + 1, ahead},
	} {
		p := pace{first: now.Add(tt.buffered - speech.FrameDuration), frames: tt.frames}
		if got := p.urgency(now, true, true, &leastLimits).class; got != tt.want {
			t.Errorf("%s: class %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestLimitsFollowFromWhatRunsTake(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name             string
		times            runTimes
		streams, runners int
		want             limits
	}{
		{"nothing was measured", runTimes{}, 8, 1, leastLimits},
		{"a fast processor", runTimes{5 * ms, 12 * ms, 22 * ms}, 8, 2, leastLimits},
		{"as slow as the least limits allow", runTimes{8 * ms, 25 * ms, 25 * ms}, 8, 1, leastLimits},
		{"a slow processor", runTimes{40 * ms, 100 * ms, 120 * ms}, 8, 1, limits{640 * ms, 1000 * ms, 10 * ms, 2720 * ms}},
		{"two of them", runTimes{40 * ms, 100 * ms, 120 * ms}, 8, 2, limits{640 * ms, 1000 * ms, 10 * ms, 1360 * ms}},
		{"more streams than are stepped together", runTimes{40 * ms, 100 * ms, 120 * ms}, 9, 1, limits{640 * ms, 1000 * ms, 10 * ms, 3760 * ms}},
		{"one too slow for any", runTimes{400 * ms, time.Second, time.Second}, 1, 1, limits{1000 * ms, 1000 * ms, 100 * ms, 10 * time.Second}},
	} {
		if got := tt.times.limits(tt.streams, tt.runners); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestTheFirstFrameStartsTheClock(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var p pace
	p.count(1, start)
	p.count(4, start.Add(time.Second))
	if got, want := p.urgency(start.Add(time.Second), true, false, &leastLimits).buffered,
		5*speech.FrameDuration-time.Second; got != want {
		t.Errorf("%s left, want %s", got, want)
	}
}

func TestWhatIsNotPressingComesAfterTheStepsOfOthers(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for frames, want := range map[int]bool{0: false, 1: false, 2: true, 4: true, 13: true} {
		var p pace
		if frames > 0 {
			p.count(frames, now)
		}
		if got := p.urgency(now, false, false, &leastLimits).alone; got != want {
			t.Errorf("%d frames ahead, a decode comes after the steps of others: %v, want %v", frames, got, want)
		}
		if p.urgency(now, true, false, &leastLimits).alone {
			t.Errorf("%d frames ahead, a step comes after the steps of others", frames)
		}
	}
}

func TestTheMoreUrgentComesFirst(t *testing.T) {
	pressing, scarce := leastLimits.pressing, leastLimits.scarce
	order := []urgency{ // the most urgent first
		{overdue, false, -2 * time.Second, 4},
		{overdue, false, -time.Second, 3},
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
