package main

import (
	"flag"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what the quick form finds to testdata")

// TestTheory: where theory knows the answer, the simulator finds it. Only then is the rest to be believed.
func TestTheory(t *testing.T) {
	if raceDetector {
		t.Skip("it takes a minute with the race detector, and nothing here runs beside anything else")
	}
	for _, load := range []float64{0.7, 0.8} {
		cfg := markovian(load, 30_000*time.Second)
		cfg.seed = 1
		r := run(cfg)
		waits, mean := erlangC(4*slotCount, r.load(), meanStream)
		if got := r.waited(); math.Abs(got/waits-1) > 0.05 {
			t.Errorf("load %.1f: %.4f have to wait, theory says %.4f", load, got, waits)
		}
		if got := r.meanWait(); math.Abs(got.Seconds()/mean.Seconds()-1) > 0.06 {
			t.Errorf("load %.1f: they wait for %v on average, theory says %v", load, got, mean)
		}
		if r.Refused+r.Failed+r.Warming != 0 {
			t.Errorf("load %.1f: %d were refused where nobody is", load, r.Refused+r.Failed+r.Warming)
		}
	}
}

func TestErlangC(t *testing.T) {
	for name, c := range map[string]struct {
		servers int
		load    float64
		waits   float64
		mean    time.Duration
	}{ // values of tables
		"one server is M/M/1": {1, 0.5, 0.5, time.Second},
		"two servers":         {2, 0.5, 1.0 / 3, time.Second / 3},
		"ten servers":         {10, 0.8, 0.4092, 204600 * time.Microsecond},
	} {
		waits, mean := erlangC(c.servers, c.load, time.Second)
		if math.Abs(waits-c.waits) > 1e-4 || (mean-c.mean).Abs() > 100*time.Microsecond {
			t.Errorf("%s: %v and %v, want %v and %v", name, waits, mean, c.waits, c.mean)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	cfg := withFaults(usual(0.95, 40*time.Second))
	cfg.lines, cfg.zipf, cfg.cache, cfg.zones, cfg.seed = 100, 0.8, 10, 3, 7
	cfg.faults = cfg.faults[:2]
	first, again := run(cfg), run(cfg)
	first.cfg, again.cfg = config{}, config{}
	if !reflect.DeepEqual(first, again) {
		t.Errorf("the same seed gave\n%+v\n%+v", first.counts, again.counts)
	}
	cfg.seed++
	if other := run(cfg); other.Events == first.Events {
		t.Error("another seed gave as many events")
	}
}

func TestWhatMustHold(t *testing.T) {
	if raceDetector {
		t.Skip("it takes minutes with the race detector; runs have nothing in common")
	}
	s := newStudy(true, 1)
	s.play()
	for _, g := range s.goals() {
		if !g.met {
			t.Errorf("%s: %s, want %s", g.what, g.got, g.want)
		}
	}
	got := s.report()["capacity.md"]
	const file = "testdata/quick.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the quick form differs from %s; where decisions were changed on purpose, run\n"+
			"go test ./hack/sim -update && make sim\nand commit what they write. Now:\n%s", file, got)
	}
}

// TestCharts: lines stay within the picture, and each is drawn.
func TestCharts(t *testing.T) {
	c := chart{title: "A", x: "x", y: "y", maxY: 10, xs: []float64{0, 1}}
	c.lines = []line{{"first", []float64{0, 99}}, {"second", []float64{5, 10}}}
	svg := c.svg()
	for _, want := range []string{
		`points="60.0,300.0 560.0,40.0"`, `points="60.0,170.0 560.0,40.0"`, ">first<", ">second<", "prefers-color-scheme",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %s:\n%s", want, svg)
		}
	}
}
