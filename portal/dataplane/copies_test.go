package dataplane

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// copied is a usage log of a router, and of what was made from copies of its folder.
type copied struct {
	t     *testing.T
	store usage.Store
	front *front
	begin time.Time
	made  int
}

// speak opens the log in folder, appends n events, and sends everything if the portal is there.
func (c *copied) speak(folder string, n int, sends bool) meter.Backlog {
	c.t.Helper()
	log := slog.New(slog.NewTextHandler(c.t.Output(), nil))
	l, err := meter.OpenLog(meter.LogConfig{Folder: folder}, log)
	if err != nil {
		c.t.Fatal(err)
	}
	for range n {
		c.made++
		e := c.event(c.made, meter.Final)
		l.Append(&e)
	}
	if sends {
		s := meter.NewShipper(meter.ShipperConfig{MaxBatch: 4}, l, c.front.client, log)
		if err := s.Drain(c.t.Context()); err != nil {
			c.t.Error(err)
		}
	}
	state := l.Backlog()
	if err := l.Close(); err != nil {
		c.t.Error(err)
	}
	return state
}

func (c *copied) event(i int, kind meter.Kind) meter.Event {
	start := c.begin.Add(time.Duration(i) * time.Millisecond)
	e := meter.Event{
		ID: fmt.Sprintf("evt_%03d", i), Kind: kind, Start: start, At: start.Add(time.Second), Date: meter.DateOf(start),
		OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a", Endpoint: "rest", Voice: "raj", Frames: 10, Billed: 10,
	}
	if kind == meter.Final {
		e.Status = meter.OK
	}
	return e
}

// copy copies a folder as the disk of a machine is cloned.
func (c *copied) copy(folder string) string {
	c.t.Helper()
	to := filepath.Join(c.t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
		c.t.Fatal(err)
	}
	return to
}

// want checks that each event was booked once, in so many shards, which is one for each source.
func (c *copied) want(sources int) {
	c.t.Helper()
	shards, err := c.store.Shards(c.t.Context(), "org_a", "0000-01-01", "9999-12-31")
	if err != nil {
		c.t.Fatal(err)
	}
	var sum usage.Totals
	of := map[string]bool{}
	for _, s := range shards {
		sum.Add(s.Totals)
		of[s.Source] = true
	}
	if n := int64(c.made); sum != (usage.Totals{Requests: n, Frames: 10 * n, Billed: 10 * n}) {
		c.t.Errorf("booked %+v, want %d requests of 10 frames", sum, n)
	}
	if len(of) != sources {
		c.t.Errorf("booked from %d sources, want %d", len(of), sources)
	}
}

// TestCopiesOfALog: routers whose folders are copies of one lose nothing, and what the copies have in common counts
// once.
func TestCopiesOfALog(t *testing.T) {
	for name, test := range map[string]func(c *copied, first string){
		"all was sent": func(c *copied, first string) {
			second := c.copy(first)
			for range 3 {
				c.speak(first, 1, true)
				c.speak(second, 2, true)
			}
			c.want(2)
		},
		"something was not sent": func(c *copied, first string) {
			c.speak(first, 6, false)
			second := c.copy(first)
			c.speak(first, 1, true)
			c.speak(second, 3, true)
			c.want(2)
		},
		"the copy is started anew before it can send": func(c *copied, first string) {
			c.speak(first, 2, false)
			second := c.copy(first)
			c.speak(second, 3, false)
			c.speak(second, 3, false)
			c.speak(first, 1, true)
			c.speak(second, 1, true)
			c.want(2)
		},
		"the other one has sent as much": func(c *copied, first string) {
			second := c.copy(first)
			c.speak(first, 5, true)
			if got := c.speak(second, 5, true); got.Forks != 1 || got.Lost != 0 {
				c.t.Errorf("the copy tells %+v, want that it is one", got)
			}
			c.want(2)
		},
		"the other one has sent far more": func(c *copied, first string) {
			c.speak(first, 5, false)
			second := c.copy(first)
			c.speak(second, 2, false)
			c.speak(first, 30, true)
			c.speak(second, 1, true)
			c.want(2)
		},
		"the other one has sent what ends within the second batch": func(c *copied, first string) {
			second := c.copy(first)
			c.speak(first, 5, true)
			c.speak(second, 20, true)
			c.want(2)
		},
		"three copies": func(c *copied, first string) {
			c.speak(first, 3, false)
			second := c.copy(first)
			third := c.copy(second)
			c.speak(first, 2, true)
			c.speak(second, 3, true)
			c.speak(third, 4, true)
			c.speak(second, 3, true)
			c.speak(first, 2, true)
			c.want(3)
		},
		"a copy of the copy": func(c *copied, first string) {
			second := c.copy(first)
			c.speak(first, 2, true)
			c.speak(second, 2, true)
			c.speak(second, 3, false)
			third := c.copy(second)
			c.speak(second, 1, true)
			c.speak(third, 2, true)
			c.want(3)
		},
		"an old copy is put back": func(c *copied, first string) {
			c.speak(first, 3, false)
			old := c.copy(first)
			c.speak(first, 6, true)
			c.speak(old, 6, false)
			c.speak(old, 3, true)
			c.want(2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, open := range stores {
				t.Run(kind, func(t *testing.T) {
					store := open(t)
					books := store.(usage.Store)
					p := newPortal(t, store, func(p *portal) { p.sink = usage.NewLedger(books) })
					c := &copied{t: t, store: books, front: newFront(t, p.addr),
						begin: time.Now().UTC().Truncate(time.Microsecond)}
					folder := t.TempDir()
					c.speak(folder, 3, true)
					test(c, folder)
				})
			}
		})
	}
}

// TestACopyOfARunningLog: a stream that ran while the folder was copied counts once.
func TestACopyOfARunningLog(t *testing.T) {
	store := stores["memory"](t)
	books := store.(usage.Store)
	p := newPortal(t, store, func(p *portal) { p.sink = usage.NewLedger(books) })
	c := &copied{t: t, store: books, front: newFront(t, p.addr), begin: time.Now().UTC().Truncate(time.Microsecond)}
	first := t.TempDir()
	l, err := meter.OpenLog(meter.LogConfig{Folder: first}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	c.made++
	e := c.event(c.made, meter.Progress)
	l.Append(&e)
	if err := l.Close(); err != nil { // as a crash would
		t.Fatal(err)
	}
	second := c.copy(first)
	c.speak(first, 1, true) // which ends the stream that was cut off
	c.speak(second, 2, true)
	c.want(2)
}
