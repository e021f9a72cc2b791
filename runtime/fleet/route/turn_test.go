package route_test

import (
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// TestATurnGoesOnInFrontOfTheQueue, however full that is, and is never refused because everybody is busy.
func TestATurnGoesOnInFrontOfTheQueue(t *testing.T) {
	full := route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true, Seen: 99}
	f := newFleet(t, route.Config{QueueLen: 1}, 0)
	check(t, f.arrive(route.Request{}), "waits")
	check(t, f.arrive(route.Request{}), "refused: "+speech.ErrBusy.Error())
	check(t, f.arrive(route.Request{StartedAt: f.now}), "waits") // 3
	check(t, f.arrive(route.Request{StartedAt: f.now.Add(-time.Second)}), "waits")
	if got := f.Waiting(); len(got) != 3 || !got[1].Before(f.now.Add(-30*time.Second)) || got[2] != f.now {
		t.Fatalf("they wait since %v, want the turns to be older than anybody who begins", got)
	}
	check(t, outcome(f.say(0, route.State{Workers: 8, Ready: 8, Busy: 7, Warm: true})), "sent to pod0")
	for range 2 * route.MaxAttempts { // others are faster
		f.say(0, full)
		check(t, outcome(f.Refused(f.now, 4)), "waits")
		check(t, outcome(f.say(0, route.State{Workers: 8, Ready: 8, Busy: 7, Warm: true, Seen: 99})), "sent to pod0")
	}
	f.say(0, full)
	f.Ended(f.now, 4)
	check(t, outcome(f.Granted(f.now, "pod0", 7, "")), "sent to pod0")
	if c := f.Counts(); c.Refused != 1 || c.Failed != 0 || c.Granted != 1 {
		t.Errorf("counted as %+v", c)
	}
	if got := f.Waiting(); len(got) != 1 || got[0] != f.now {
		t.Errorf("they wait since %v, want the one that has not begun", got)
	}
}

func TestATurnWaitsWhereNoPodIsInUse(t *testing.T) {
	f := newFleet(t, route.Config{QueueLen: -1})
	check(t, f.arrive(route.Request{}), "refused: "+speech.ErrWarming.Error())
	check(t, f.arrive(route.Request{StartedAt: f.now}), "waits")
	f.all = append(f.all, route.Endpoint{Address: "pod0"})
	f.List(f.now, f.all)
	f.Connect(f.now, "pod0", true)
	check(t, outcome(f.say(0, route.State{Workers: 8, Ready: 8, Warm: true})), "sent to pod0")
}
