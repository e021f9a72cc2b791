package main

import (
	"reflect"
	"testing"
	"time"

	"github.com/swar-tts/swar/controllers/scaler"
)

// TestDemandStaysBelowItsMost: clients are drawn from the most and left out where fewer ask.
func TestDemandStaysBelowItsMost(t *testing.T) {
	for _, c := range scenarios {
		most := 0.0
		for at := time.Duration(0); at < c.before+c.length; at += 100 * time.Millisecond {
			most = max(most, c.demand(at))
		}
		if most > c.most || most < 0.8*c.most {
			t.Errorf("%s: up to %.1f streams, want nearly %.0f", c.name, most, c.most)
		}
	}
}

func TestAutoscalers(t *testing.T) {
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	demand := func(since, wished int, slots float64) sight {
		return sight{since: second(since), wished: wished, ready: wished, Decision: scaler.Decision{Demand: slots}}
	}
	spoken := func(since, wished, n int) sight {
		return sight{since: second(since), wished: wished, ready: wished, concurrent: n}
	}
	for name, c := range map[string]struct {
		by   string
		seen []sight
		want int
	}{
		"HPA: within ten percent":            {hpaDemand, []sight{demand(0, 10, 70)}, 10},
		"HPA: more than ten percent":         {hpaDemand, []sight{demand(0, 10, 71)}, 12},
		"HPA: twice as many at most":         {hpaDemand, []sight{demand(0, 10, 400)}, 20},
		"HPA: or four more":                  {hpaDemand, []sight{demand(0, 1, 400)}, 5},
		"HPA: not before fifteen seconds":    {hpaDemand, []sight{demand(0, 10, 64), demand(14, 10, 400)}, 10},
		"HPA: then":                          {hpaDemand, []sight{demand(0, 10, 64), demand(15, 10, 400)}, 20},
		"HPA: not down for five minutes":     {hpaDemand, []sight{demand(0, 10, 64), demand(300, 10, 0)}, 10},
		"HPA: down":                          {hpaDemand, []sight{demand(0, 10, 64), demand(301, 10, 6)}, 1},
		"HPA: a queue that waits for nobody": {hpaQueue, []sight{demand(0, 10, 400)}, 0},
		"KPA: the mean of a minute":          {kpaLike, []sight{spoken(0, 10, 0), spoken(30, 10, 100)}, 9},
		"KPA: down by half at most":          {kpaLike, []sight{spoken(0, 10, 0)}, 5},
		"KPA: a panic of twice the pods":     {kpaLike, []sight{spoken(0, 10, 0), spoken(10, 10, 113)}, 21},
		"KPA: which does not shrink":         {kpaLike, []sight{spoken(0, 10, 113), spoken(59, 21, 0)}, 21},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAutoscaler(&scaling{by: c.by})
			got := 0
			for _, s := range c.seen {
				got = a.size(s)
			}
			if got != c.want {
				t.Errorf("got %d pods, want %d", got, c.want)
			}
		})
	}
}

func TestSameSeedSameSizes(t *testing.T) {
	cfg := scenarios[0].scaled(ownLoop)
	cfg.warmUp, cfg.length, cfg.seed = 10*time.Second, 120*time.Second, 7
	first, again := run(cfg), run(cfg)
	first.cfg, again.cfg = config{}, config{}
	if !reflect.DeepEqual(first, again) {
		t.Errorf("the same seed gave\n%+v\n%+v", first.scaled, again.scaled)
	}
}
