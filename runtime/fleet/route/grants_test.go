package route_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swar-tts/swar/runtime/fleet/route"
)

func TestWhoHasWaitedLongestIsGranted(t *testing.T) {
	const ms = time.Millisecond
	var g route.Grants
	if _, ok := g.Next(); ok || g.AnyWaiting() {
		t.Error("somebody waits before anybody has come")
	}
	g.Waiting(noon, 1, []time.Duration{30 * ms, 10 * ms}, 0)
	g.Waiting(noon.Add(5*ms), 2, []time.Duration{30 * ms, 20 * ms}, 0) // since 25 and 15 ms before noon
	g.Waiting(noon, 3, []time.Duration{25 * ms}, 0)
	g.Waiting(noon, 4, []time.Duration{time.Hour}, 0)
	g.Leave(4)
	g.Leave(5)
	var got []uint64
	for id, ok := g.Next(); ok; id, ok = g.Next() {
		got = append(got, id)
	}
	if want := []uint64{1, 2, 3, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("granted to %v, want %v", got, want)
	}
}

func TestGrantsUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		granted  int // before the router tells anew
		received uint64
		waiting  int
		want     int // are granted afterwards
	}{
		"none":                         {0, 0, 2, 2},
		"one of one":                   {1, 0, 2, 1},
		"one that has come":            {1, 1, 2, 2},
		"one of two has come":          {2, 1, 2, 1},
		"more than wait":               {3, 0, 2, 0},
		"more than were sent":          {1, 9, 2, 2},
		"as many wait as count":        {0, 0, 64, 64},
		"more wait than count":         {0, 0, 65, 64},
		"more under way than count":    {70, 0, 100, 0},
		"as many under way as count":   {64, 0, 100, 0},
		"fewer under way than do":      {63, 0, 100, 1},
		"nobody waits, some under way": {2, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var g route.Grants
			for range c.granted {
				g.Waiting(noon, 1, []time.Duration{1}, 99)
				g.Next()
			}
			g.Waiting(noon, 1, make([]time.Duration, c.waiting), c.received)
			got := 0
			for _, ok := g.Next(); ok; _, ok = g.Next() {
				got++
			}
			if got != c.want {
				t.Errorf("%d granted, want %d", got, c.want)
			}
		})
	}
}

// TestNobodyIsGrantedTwice: whatever is told while grants are on their way, each finds somebody who waits, and all who
// wait are granted in the end.
func TestNobodyIsGrantedTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type told struct {
			waiting  int
			received uint64
		}
		var g route.Grants
		var toPod []told
		waiting, underWay, received := 0, 0, uint64(0)
		tell := func() { toPod = append(toPod, told{waiting, received}) }
		hear := func() {
			g.Waiting(noon, 1, make([]time.Duration, toPod[0].waiting), toPod[0].received)
			toPod = toPod[1:]
		}
		take := func() {
			if waiting == 0 {
				t.Fatal("a grant finds nobody waiting")
			}
			waiting, underWay, received = waiting-1, underWay-1, received+1
		}
		for range rapid.IntRange(0, 100).Draw(t, "events") {
			switch event := rapid.IntRange(0, 4).Draw(t, "event"); {
			case event == 0:
				waiting++
			case event == 1:
				tell()
			case event == 2 && len(toPod) > 0:
				hear()
			case event == 3:
				if _, ok := g.Next(); ok {
					underWay++
				}
			case event == 4 && underWay > 0:
				take()
			}
		}
		for underWay > 0 {
			take()
		}
		tell()
		for len(toPod) > 0 {
			hear()
		}
		for _, ok := g.Next(); ok; _, ok = g.Next() {
			underWay++
		}
		if underWay != waiting {
			t.Fatalf("%d are granted, %d wait", underWay, waiting)
		}
	})
}
