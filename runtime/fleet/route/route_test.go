package route_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// fleet is a router that knows pods, and says in which words it has decided.
type fleet struct {
	*route.Router
	t        testing.TB
	now      time.Time
	all      []route.Endpoint
	sequence uint64
	id       route.ID
}

// newFleet returns a router of pods with so many free slots each: pod0, pod1 and so on.
func newFleet(t testing.TB, cfg route.Config, free ...int) *fleet {
	f := &fleet{Router: route.New(cfg), t: t, now: noon}
	for i := range free {
		f.all = append(f.all, route.Endpoint{Address: fmt.Sprint("pod", i)})
	}
	f.List(f.now, f.all)
	for i, n := range free {
		f.Connect(f.now, f.all[i].Address, true)
		f.say(i, route.State{Workers: 8, Ready: 8, Busy: 8 - n, Warm: true})
	}
	return f
}

// say has pod i tell of itself.
func (f *fleet) say(i int, s route.State) []route.Effect {
	f.sequence++
	s.Sequence = f.sequence
	if s.Epoch == 0 {
		s.Epoch = 1
	}
	return f.State(f.now, f.all[i].Address, s)
}

// arrive brings a request, and says what became of it at once.
func (f *fleet) arrive(q route.Request) string {
	f.id++
	return outcome(f.Arrive(f.now, f.id, q))
}

func outcome(effects []route.Effect) string {
	said := ""
	for _, effect := range effects {
		switch e := effect.(type) {
		case route.Send:
			said = "sent to " + e.Pod
		case route.Refuse:
			said = "refused: " + e.Err.Error()
		case route.Wait:
			said = "waits"
		case route.Decline:
			said = fmt.Sprintf("declined %d of %s", e.Grant, e.Pod)
		}
	}
	return said
}

func check(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhoMayWait(t *testing.T) {
	for name, c := range map[string]struct {
		cfg      route.Config
		arrivals int
		want     string // what becomes of the last one
	}{
		"the seventh of eight":        {route.Config{}, 7, "waits"},
		"the eighth":                  {route.Config{}, 8, "waits"},
		"the ninth":                   {route.Config{}, 9, "refused: " + speech.ErrBusy.Error()},
		"one of one":                  {route.Config{QueueLen: 1}, 1, "waits"},
		"two of one":                  {route.Config{QueueLen: 1}, 2, "refused: " + speech.ErrBusy.Error()},
		"one where nobody is allowed": {route.Config{QueueLen: -1}, 1, "refused: " + speech.ErrBusy.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, c.cfg, 0)
			got := ""
			for range c.arrivals {
				got = f.arrive(route.Request{})
			}
			check(t, got, c.want)
		})
	}
}

func TestHowOftenIsTried(t *testing.T) {
	gone := errors.New("gone")
	f := newFleet(t, route.Config{}, 1, 1, 1, 1)
	sends := 1
	f.arrive(route.Request{})
	var last []route.Effect
	for last = f.AttemptFailed(f.now, 1, gone); outcome(last) != "refused: gone"; last = f.AttemptFailed(f.now,
		1, gone) {
		if sends++; sends > route.MaxAttempts {
			t.Fatalf("sent %d times", sends)
		}
	}
	if sends != 3 {
		t.Errorf("sent %d times, want 3", sends)
	}
	if c := f.Counts(); c.Failed != 1 || c.Attempts != 3 {
		t.Errorf("counted as %+v, want one that failed after 3 attempts", c)
	}
}

func TestWhoIsAsked(t *testing.T) {
	warm := route.State{Workers: 8, Ready: 8, Warm: true}
	change := func(do func(*route.State)) route.State {
		s := warm
		do(&s)
		return s
	}
	for name, c := range map[string]struct {
		prepare func(f *fleet)
		want    string
	}{
		"a pod that is ready": {func(f *fleet) { f.say(0, warm) }, "sent to pod0"},
		"not one that drains": {
			func(f *fleet) { f.say(0, change(func(s *route.State) { s.Draining = true })) },
			"refused: " + speech.ErrWarming.Error(),
		},
		"not one that is cordoned": {
			func(f *fleet) { f.say(0, change(func(s *route.State) { s.Cordoned = true })) },
			"refused: " + speech.ErrWarming.Error(),
		},
		"not one that warms up": {
			func(f *fleet) { f.say(0, change(func(s *route.State) { s.Warm = false })) },
			"refused: " + speech.ErrWarming.Error(),
		},
		"one of whose workers all but one are gone": {
			func(f *fleet) { f.say(0, change(func(s *route.State) { s.Ready = 1 })) }, "sent to pod0",
		},
		"none of whose workers is there": {
			func(f *fleet) { f.say(0, change(func(s *route.State) { s.Ready = 0 })) }, "waits",
		},
		"one that goes away, where there is no other": {
			func(f *fleet) { f.List(f.now, []route.Endpoint{{Address: "pod0", Terminating: true}}) }, "sent to pod0",
		},
		"not one that goes away and drains": {
			func(f *fleet) {
				f.List(f.now, []route.Endpoint{{Address: "pod0", Terminating: true}})
				f.say(0, change(func(s *route.State) { s.Draining = true }))
			},
			"refused: " + speech.ErrWarming.Error(),
		},
		"not one that is gone": {func(f *fleet) { f.List(f.now, nil) }, "refused: " + speech.ErrWarming.Error()},
		"not one whose link is lost": {
			func(f *fleet) { f.Disconnect(f.now, "pod0") }, "refused: " + speech.ErrWarming.Error(),
		},
		"not one with another model": {
			func(f *fleet) { f.Connect(f.now, "pod0", false); f.say(0, warm) }, "refused: " + speech.ErrWarming.Error(),
		},
		"one that was silent for nearly 3 s": {
			func(f *fleet) { f.now = f.now.Add(3*time.Second - 1) }, "sent to pod0",
		},
		"one that was silent for 3 s, where there is no other": {
			func(f *fleet) { f.now = f.now.Add(3 * time.Second) }, "sent to pod0",
		},
		"nobody, where a silent one has not answered the last request": {
			func(f *fleet) { f.now = f.now.Add(3 * time.Second); f.arrive(route.Request{}) }, "waits",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 8)
			c.prepare(f)
			check(t, f.arrive(route.Request{}), c.want)
		})
	}
}

// TestTerminatingPodsComeLast: they are asked only while no other pod is usable, free or not.
func TestTerminatingPodsComeLast(t *testing.T) {
	f := newFleet(t, route.Config{}, 8, 1)
	all := func(terminating ...bool) (all []route.Endpoint) {
		for i, is := range terminating {
			all = append(all, route.Endpoint{Address: fmt.Sprint("pod", i), Terminating: is})
		}
		return all
	}
	f.List(f.now, all(true, false))
	check(t, f.arrive(route.Request{}), "sent to pod1")
	check(t, f.arrive(route.Request{}), "waits")
	if got := f.Avoided(f.now); !slices.Equal(got, []string{"pod0"}) {
		t.Errorf("%v are avoided, want pod0", got)
	}
	f.Disconnect(f.now, "pod1")
	if got := f.Avoided(f.now); len(got) > 0 {
		t.Errorf("%v are avoided without another pod", got)
	}
	check(t, f.arrive(route.Request{}), "sent to pod0")
	f.List(f.now, all(true, true))
	check(t, f.arrive(route.Request{}), "sent to pod0")
}

func TestSilentPodsComeLast(t *testing.T) {
	f := newFleet(t, route.Config{}, 8, 8, 8)
	f.now = f.now.Add(3 * time.Second)
	f.say(1, route.State{Workers: 8, Ready: 8, Busy: 6, Warm: true})
	for i := range 2 {
		check(t, f.arrive(route.Request{Affinity: uint64(i)}), "sent to pod1")
	}
	if got := f.arrive(route.Request{}); got != "sent to pod0" {
		t.Errorf("got %q, want a silent one when nobody else has a slot", got)
	}
}

func TestOwnZoneComesFirst(t *testing.T) {
	for name, c := range map[string]struct {
		zone string
		near int // free slots there
		want []string
	}{
		"a pod in the own zone":               {"a", 1, []string{"sent to pod0"}},
		"another where the own ones are full": {"a", 0, []string{"sent to pod1", "sent to pod2"}},
		"any where the own zone is not known": {"", 8, []string{"sent to pod0", "sent to pod1", "sent to pod2"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]bool{}
			for i := range 50 {
				f := newFleet(t, route.Config{Zone: c.zone}, c.near, 8, 8)
				f.List(f.now, []route.Endpoint{{Address: "pod0", Zone: "a"}, {Address: "pod1", Zone: "b"},
					{Address: "pod2"}})
				got[f.arrive(route.Request{Affinity: uint64(i)})] = true
			}
			if len(got) != len(c.want) || slices.ContainsFunc(c.want, func(w string) bool { return !got[w] }) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSameTextMeetsSamePod(t *testing.T) {
	choice := func(cfg route.Config) []string {
		f := newFleet(t, cfg, 8, 8, 8, 8)
		var all []string
		for i := range uint64(6) {
			all = append(all, f.arrive(route.Request{Affinity: i % 2}))
		}
		return all
	}
	got := choice(route.Config{})
	if got[0] != got[2] || got[2] != got[4] || got[1] != got[3] || got[3] != got[5] {
		t.Errorf("texts went to %v", got)
	}
	if other := choice(route.Config{}); !slices.Equal(got, other) {
		t.Errorf("another router sends them to %v, not to %v", other, got)
	}
	if got := slices.Compact(slices.Sorted(slices.Values(choice(route.Config{AtRandom: true,
		Seed: 3})))); len(got) < 2 {
		t.Errorf("at random all went to %v", got)
	}
}

// failUntilEjected has pod 0 fail until it is left alone, and returns how often that was.
func (f *fleet) failUntilEjected() (failures int) {
	f.t.Helper()
	for before := f.Counts().Ejected; f.Counts().Ejected == before; failures++ {
		if failures > 20 {
			f.t.Fatal("it is never left alone")
		}
		f.say(0, route.State{Workers: 8, Ready: 8, Warm: true})
		f.say(1, route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true})
		if got := f.arrive(route.Request{}); got != "sent to pod0" {
			f.t.Fatalf("after %d failures: %s", failures, got)
		}
		f.AttemptFailed(f.now, f.id, speech.ErrWorkerGone)
		f.Leave(f.id)
	}
	return failures
}

func (f *fleet) isEjected(i int) bool { return f.View(f.now)[i].Ejected }

func TestPodsThatFailAreLeftAlone(t *testing.T) {
	f := newFleet(t, route.Config{}, 8, 0)
	for _, want := range []time.Duration{
		10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute,
		5 * time.Minute,
	} {
		if got := f.failUntilEjected(); got != 3 {
			t.Fatalf("left alone after %d failures, want 3", got)
		}
		f.now = f.now.Add(want - 1)
		if !f.isEjected(0) {
			t.Fatalf("not left alone just before %v", want)
		}
		f.now = f.now.Add(1)
		if f.isEjected(0) {
			t.Fatalf("left alone after %v", want)
		}
	}
	f.say(0, route.State{Workers: 8, Ready: 8, Warm: true})
	f.arrive(route.Request{})
	f.Answered(f.now, f.id)
	f.failUntilEjected()
	if f.now = f.now.Add(10 * time.Second); f.isEjected(0) {
		t.Error("a frame has not made up for what was before it")
	}
}

func TestOneDeathIsOneEjection(t *testing.T) {
	f := newFleet(t, route.Config{}, 8, 0)
	for range 8 {
		f.arrive(route.Request{})
	}
	for id := range f.id {
		f.AttemptFailed(f.now, id+1, speech.ErrWorkerGone)
	}
	if got := f.Counts().Ejected; got != 1 {
		t.Errorf("left alone %d times for what failed at once, want 1", got)
	}
	if f.now = f.now.Add(10 * time.Second); f.isEjected(0) {
		t.Error("it is left alone for more than 10 s")
	}
}

func TestNeverMoreThanHalfAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		draining []int // of four pods
		want     int64
	}{
		"four in use":  {nil, 2},
		"three in use": {[]int{3}, 1},
		"two in use":   {[]int{2, 3}, 1},
		"one in use":   {[]int{1, 2, 3}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 8, 8, 8, 8)
			for _, i := range c.draining {
				f.say(i, route.State{Workers: 8, Ready: 8, Warm: true, Draining: true})
			}
			for range 30 {
				f.arrive(route.Request{Affinity: uint64(f.id)})
				for range route.MaxAttempts {
					f.AttemptFailed(f.now, f.id, speech.ErrWorkerGone)
				}
				f.Leave(f.id)
			}
			if got := f.Counts().Ejected; got != c.want {
				t.Errorf("%d are left alone, want %d", got, c.want)
			}
		})
	}
}

func TestSlotKeptForASession(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		state route.State
		want  string
	}{
		"just before it ends":          {50*time.Millisecond - 1, route.State{Warm: true}, "sent to pod0"},
		"as it ends":                   {50 * time.Millisecond, route.State{Warm: true}, "waits"},
		"where the pod drains":         {0, route.State{Warm: true, Draining: true}, "refused: " + speech.ErrWarming.Error()},
		"where the pod takes no more":  {0, route.State{Warm: true, Cordoned: true}, "refused: " + speech.ErrWarming.Error()},
		"where the pod was warm never": {0, route.State{}, "refused: " + speech.ErrWarming.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 0)
			f.Granted(f.now, "pod0", 7, "s")
			f.say(0, c.state)
			f.now = f.now.Add(c.after)
			if got := f.arrive(route.Request{Session: "other"}); got == "sent to pod0" {
				t.Fatal("another session has got it")
			}
			if c.want == "waits" { // behind the other
				f.Leave(f.id)
			}
			check(t, f.arrive(route.Request{Session: "s"}), c.want)
		})
	}
}

func TestGrants(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(f *fleet)
		want    string
	}{
		"for who waits":              {func(*fleet) {}, "sent to pod0"},
		"where nobody waits":         {func(f *fleet) { f.Leave(1) }, "declined 7 of pod0"},
		"of a pod with other voices": {func(f *fleet) { f.Connect(f.now, "pod0", false) }, "declined 7 of pod0"},
		"of a pod that drains since": {
			func(f *fleet) { f.say(0, route.State{Warm: true, Draining: true}) }, "declined 7 of pod0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 0, 0)
			check(t, f.arrive(route.Request{}), "waits")
			c.prepare(f)
			check(t, outcome(f.Granted(f.now, "pod0", 7, "")), c.want)
		})
	}
}

func TestWhoWasFailedIsTriedThereOnceMoreWhenItsWaitIsOver(t *testing.T) {
	slot := route.State{Workers: 8, Ready: 8, Busy: 7, Warm: true, Seen: 9}
	full := route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true, Seen: 9}
	for name, c := range map[string]struct {
		prepare func(f *fleet)
		want    string
	}{
		"by a pod that has a slot":        {func(f *fleet) { f.say(0, slot) }, "sent to pod0"},
		"not by one that has none":        {func(f *fleet) { f.say(0, full) }, "refused: worker gone"},
		"just before it is silent":        {func(f *fleet) { f.say(0, slot); f.now = f.now.Add(3*time.Second - 1) }, "sent to pod0"},
		"not by one that is silent":       {func(f *fleet) { f.say(0, slot); f.now = f.now.Add(3 * time.Second) }, "refused: worker gone"},
		"not by one that is out of reach": {func(f *fleet) { f.Disconnect(f.now, "pod0") }, "refused: worker gone"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 1, 0, 0)
			check(t, f.arrive(route.Request{}), "sent to pod0")
			check(t, outcome(f.AttemptFailed(f.now, 1, speech.ErrWorkerGone)), "waits")
			c.prepare(f)
			check(t, outcome(f.Expire(f.now, 1)), c.want)
		})
	}
	t.Run("three times in all", func(t *testing.T) {
		f := newFleet(t, route.Config{}, 1, 0)
		check(t, f.arrive(route.Request{}), "sent to pod0")
		for range route.MaxAttempts - 1 {
			check(t, outcome(f.AttemptFailed(f.now, 1, speech.ErrWorkerGone)), "waits")
			f.say(0, slot)
			check(t, outcome(f.Expire(f.now, 1)), "sent to pod0")
		}
		check(t, outcome(f.AttemptFailed(f.now, 1, speech.ErrWorkerGone)), "refused: worker gone")
	})
}

func TestWhoWasFailedByAPodIsNotInTheWayOfOthers(t *testing.T) {
	f := newFleet(t, route.Config{}, 1)
	f.arrive(route.Request{})
	f.say(0, route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true, Seen: 1})
	check(t, outcome(f.AttemptFailed(f.now, 1, speech.ErrWorkerGone)), "waits")
	check(t, f.arrive(route.Request{}), "waits")
	check(t, outcome(f.say(0, route.State{Workers: 8, Ready: 8, Busy: 7, Warm: true, Seen: 1})), "sent to pod0")
	if f.Queued() != 1 {
		t.Errorf("%d wait, want the one that the pod has failed", f.Queued())
	}
}

func TestWhoComesBackWaitsInTurn(t *testing.T) {
	f := newFleet(t, route.Config{}, 2)
	f.arrive(route.Request{})
	f.now = f.now.Add(time.Second)
	f.arrive(route.Request{})
	f.say(0, route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true, Seen: 2})
	for _, id := range []route.ID{1, 2} {
		f.Refused(f.now, id)
	}
	if got, want := f.Waiting(), []time.Time{noon, noon.Add(time.Second)}; !slices.Equal(got, want) {
		t.Errorf("they wait since %v, want %v", got, want)
	}
}

// TestWhoComesBackToAFullQueue: two have seen the slot that another router took. They keep their turn, and the youngest
// of those who wait are refused.
func TestWhoComesBackToAFullQueue(t *testing.T) {
	for name, c := range map[string]struct {
		waiting int // when they come back
		refused []route.ID
	}{
		"room for both":   {6, nil},
		"room for one":    {7, []route.ID{9}},
		"room for nobody": {8, []route.ID{9, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 2)
			for range 2 + c.waiting {
				f.arrive(route.Request{})
				f.now = f.now.Add(time.Millisecond)
			}
			f.say(0, route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true, Seen: 2})
			var refused []route.ID
			for _, id := range []route.ID{2, 1} { // in the order in which pods answer
				for _, effect := range f.Refused(f.now, id) {
					if e, ok := effect.(route.Refuse); ok {
						refused = append(refused, e.ID)
						if !errors.Is(e.Err, speech.ErrBusy) {
							t.Errorf("%d is refused with %v, want busy", e.ID, e.Err)
						}
					}
				}
			}
			slices.Sort(refused)
			if !slices.Equal(refused, c.refused) {
				t.Errorf("%v are refused, want %v", refused, c.refused)
			}
			since := f.Waiting()
			if len(since) != 8 || !since[0].Equal(noon) || !since[7].Equal(noon.Add(7*time.Millisecond)) {
				t.Errorf("they wait since %v, want the eight who came first", since)
			}
			if got := f.Counts().Refused; got != int64(len(c.refused)) {
				t.Errorf("%d are counted as refused, want %d", got, len(c.refused))
			}
		})
	}
}

// TestTheYoungestMayBeWhoComesBack: it had a slot in view while those before it still waited for others.
func TestTheYoungestMayBeWhoComesBack(t *testing.T) {
	f := newFleet(t, route.Config{QueueLen: 1}, 1, 0)
	f.arrive(route.Request{})
	f.now = f.now.Add(time.Millisecond)
	check(t, f.arrive(route.Request{}), "waits")
	f.now = f.now.Add(time.Millisecond)
	f.say(1, route.State{Workers: 8, Ready: 8, Busy: 7, Warm: true}) // the second is sent
	check(t, f.arrive(route.Request{}), "waits")
	f.say(0, route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true, Seen: 9})
	f.say(1, route.State{Workers: 8, Ready: 8, Busy: 8, Warm: true, Seen: 9})
	f.Refused(f.now, 1) // which takes the place of the third
	check(t, outcome(f.Refused(f.now, 2)), "refused: "+speech.ErrBusy.Error())
}

func TestStates(t *testing.T) {
	free := func(n int) route.State { return route.State{Workers: 8, Ready: 8, Busy: 8 - n, Warm: true} }
	numbered := func(epoch, sequence uint64, n int) route.State {
		s := free(n)
		s.Epoch, s.Sequence = epoch, sequence
		return s
	}
	for name, c := range map[string]struct {
		tell func(f *fleet)
		want int // free slots in view
	}{
		"the newest counts":             {func(f *fleet) { f.State(f.now, "pod0", numbered(1, 5, 3)) }, 3},
		"the same number does not":      {func(f *fleet) { f.State(f.now, "pod0", numbered(1, 4, 3)) }, 8},
		"an older one does not":         {func(f *fleet) { f.State(f.now, "pod0", numbered(1, 3, 3)) }, 8},
		"one of a new process does":     {func(f *fleet) { f.State(f.now, "pod0", numbered(2, 1, 3)) }, 3},
		"at an utterance's end it does": {func(f *fleet) { f.EndState(f.now, "pod0", numbered(1, 5, 3)) }, 3},
		"of a process that is over it does not": {func(f *fleet) {
			f.State(f.now, "pod0", numbered(2, 1, 3))
			f.EndState(f.now, "pod0", numbered(1, 5, 7))
		}, 3},
		"without a link it does not": {func(f *fleet) {
			f.Disconnect(f.now, "pod0")
			f.State(f.now, "pod0", numbered(1, 5, 3))
			f.EndState(f.now, "pod0", numbered(1, 6, 3))
		}, 0},
		"of a pod that is not listed it does not": {func(f *fleet) { f.State(f.now, "pod9", numbered(1, 5, 3)) }, 8},
		"what was sent since lowers it":           {func(f *fleet) { f.arrive(route.Request{}) }, 7},
		"what it has seen does not, twice": {func(f *fleet) {
			f.arrive(route.Request{})
			s := numbered(1, 5, 7)
			s.Seen = 1
			f.State(f.now, "pod0", s)
		}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 8)
			f.State(f.now, "pod0", numbered(1, 4, 8))
			c.tell(f)
			if got := f.View(f.now)[0].Free; got != c.want {
				t.Errorf("%d free in view, want %d", got, c.want)
			}
		})
	}
}

func TestNumbersGoOnWhereAPodIsListedAnew(t *testing.T) {
	f := newFleet(t, route.Config{}, 8)
	f.arrive(route.Request{})
	f.Ended(f.now, f.id)
	f.List(f.now, nil)
	f.List(f.now, f.all)
	f.Connect(f.now, "pod0", true)
	f.say(0, route.State{Workers: 8, Ready: 8, Warm: true, Seen: 1}) // it remembers
	f.arrive(route.Request{})
	f.say(0, route.State{Workers: 8, Ready: 8, Warm: true, Seen: 1})
	if got := f.View(f.now)[0]; got.Free != 7 {
		t.Errorf("%d free in view, want 7: the pod has not seen the second attempt", got.Free)
	}
}

func BenchmarkRouter(b *testing.B) {
	for _, pods := range []int{10, 500, 1000} {
		b.Run(fmt.Sprint(pods, " pods"), func(b *testing.B) {
			f := newFleet(b, route.Config{}, slices.Repeat([]int{8}, pods)...)
			at := make(map[string]int)
			for i, e := range f.all {
				at[e.Address] = i
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f.id++
				sent := f.Arrive(f.now, f.id, route.Request{Affinity: uint64(i)})[0].(route.Send)
				f.say(at[sent.Pod], route.State{Workers: 8, Ready: 8, Busy: 1, Warm: true, Seen: sent.Number})
				f.Ended(f.now, f.id)
			}
		})
	}
}

func TestTheLastAttemptWaitsForAGrant(t *testing.T) {
	for name, c := range map[string]struct {
		err   error // why the second attempt came to nothing; nil for a refusal
		after time.Duration
		want  string // what becomes of it where a pod has a slot in view
	}{
		"after a failure it does not":         {speech.ErrWorkerGone, 0, "sent"},
		"after a refusal it does":             {nil, 0, "waits"},
		"just before that has been long":      {nil, 2*route.GrantTime - 1, "waits"},
		"as no grant has come for two of its": {nil, 2 * route.GrantTime, "sent"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, route.Config{}, 1, 1, 1, 1)
			f.arrive(route.Request{})
			f.Refused(f.now, 1)
			if c.err != nil {
				f.AttemptFailed(f.now, 1, c.err)
			} else {
				f.Refused(f.now, 1)
			}
			f.now = f.now.Add(c.after)
			f.Tick(f.now)
			got := "sent"
			if f.Queued() == 1 {
				got = "waits"
			}
			check(t, got, c.want)
			if got == "waits" {
				check(t, outcome(f.Granted(f.now, "pod2", 5, "")), "sent to pod2")
			}
		})
	}
}

// TestAProcessIsNotBlamedForTheOneBefore lets the streams of one death, which are as many strikes, count for nothing
// once another process answers at that address.
func TestAProcessIsNotBlamedForTheOneBefore(t *testing.T) {
	f := newFleet(t, route.Config{}, 8, 0)
	if got := f.failUntilEjected(); got != 3 || !f.isEjected(0) {
		t.Fatalf("left alone after %d failures, want 3", got)
	}
	f.say(0, route.State{Workers: 8, Ready: 8, Warm: true})
	if !f.isEjected(0) {
		t.Error("the same process is forgiven as soon as it says something")
	}
	f.Disconnect(f.now, "pod0")
	f.Connect(f.now, "pod0", true)
	f.say(0, route.State{Epoch: 2, Workers: 8, Ready: 8, Warm: true})
	if f.isEjected(0) {
		t.Error("another process is left alone for what the one before failed")
	}
}
