package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/swar-tts/swar/controllers/scaler"
)

// scenario is how demand changes.
type scenario struct {
	name, about string
	scaling
	before, length time.Duration // it is measured
}

// The step that must hold: see goalsOfScaling.
const (
	stepName = "step"
	stepAt   = 120500 * time.Millisecond // not when somebody looks anyway

	flashAt = 2 * time.Minute

	dayName      = "day"
	zoneLossName = "zone loss"
)

var scenarios = []scenario{
	{
		stepName, "50 streams become 400 at once; 10 pods at first; 20 min",
		scaling{demand: step(50, 400, stepAt), most: 400, pods: 10, limit: 200, event: stepAt}, stepAt,
		20 * time.Minute,
	},
	{
		"flash crowd", "40 streams become 400 within 5 s, for 3 min, and ebb away by a third each 2 min; 30 min",
		scaling{demand: flash, most: 400, pods: 8, limit: 200, event: flashAt}, flashAt, 30 * time.Minute,
	},
	{
		"bursts", "60 streams, and 180 more for a minute of each ten; 60 min",
		scaling{demand: bursts, most: 240, pods: 10, limit: 200, event: time.Minute}, time.Minute, 60 * time.Minute,
	},
	{
		dayName, "20 streams at night, 120 at noon, 240 in the evening; a day in 4 h, so six times as steep",
		scaling{demand: day, most: 260, pods: 4, limit: 200, event: time.Minute}, time.Minute, dayLength,
	},
	{
		zoneLossName, "168 streams on 27 pods in three zones; one zone is lost; 20 min",
		scaling{
			demand: func(time.Duration) float64 { return 168 }, most: 168, pods: 27, limit: 200, zones: 3, lost: true,
			event: 120 * time.Second,
		}, 120 * time.Second, 20 * time.Minute,
	},
}

func step(before, after float64, at time.Duration) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		if t < at {
			return before
		}
		return after
	}
}

func flash(t time.Duration) float64 {
	const ordinary, crowd = 40, 360
	switch t -= flashAt; {
	case t < 0:
		return ordinary
	case t < 5*time.Second:
		return ordinary + crowd*t.Seconds()/5
	case t < 185*time.Second:
		return ordinary + crowd
	}
	return ordinary + crowd*math.Pow(2.0/3, (t.Seconds()-185)/120)
}

func bursts(t time.Duration) float64 {
	if t%(10*time.Minute) >= 5*time.Minute && t%(10*time.Minute) < 6*time.Minute {
		return 240
	}
	return 60
}

// dayLength is what a day is played in.
const dayLength = 4 * time.Hour

// day has a rise before noon and a higher one in the evening.
func day(t time.Duration) float64 {
	hour := math.Mod(24*t.Seconds()/dayLength.Seconds(), 24)
	hump := func(at, wide, high float64) float64 { return high * math.Exp(-(hour-at)*(hour-at)/(2*wide*wide)) }
	return 20 + hump(12, 2, 100) + hump(20.5, 1.5, 215)
}

func scalingName(scenario, by string) string { return fmt.Sprintf("scaling %s by %s", scenario, by) }

// scaled is the run of a scenario.
func (c scenario) scaled(by string) config {
	s := c.scaling
	s.by, s.tries = by, documentedTries
	return config{
		pods: s.pods, slots: slotCount, routers: 4, zones: s.zones, delay: usualDelay,
		warmUp: c.before, length: c.length, scaling: &s,
	}
}

// overload is a fleet that is too small, by far or not, and stays so.
func overload(load float64, tries int) config {
	demand := load * 10 * slotCount
	s := scaling{
		by: fixedSize, demand: func(time.Duration) float64 { return demand }, most: demand, tries: tries,
		pods: 10, limit: 10,
	}
	return config{
		pods: 10, slots: slotCount, routers: 4, delay: usualDelay, warmUp: 30 * time.Second, length: 200 * time.Second,
		scaling: &s,
	}
}

var (
	overloads  = []float64{0.9, 1.05, 1.2, 2, 5}
	triesOfAll = []int{1, documentedTries, 6}
)

func overloadName(load float64, tries int) string {
	return fmt.Sprintf("overload %.2f, %d tries", load, tries)
}

// addScaling adds runs of fleets whose size follows their clients.
func (s *study) addScaling() {
	for _, c := range scenarios {
		for _, by := range autoscalers {
			isQuick := by == ownLoop && (c.name == stepName || c.name == zoneLossName)
			if s.quick && !isQuick {
				continue
			}
			seeds := 1
			if c.name == stepName && by == ownLoop {
				seeds = int(s.lasting(3, 2))
			}
			s.add(scalingName(c.name, by), seeds, c.scaled(by))
		}
	}
	if s.quick {
		return
	}
	for _, load := range overloads {
		for _, tries := range triesOfAll {
			s.add(overloadName(load, tries), 1, overload(load, tries))
		}
	}
}

func (s *study) goalsOfScaling() []goal {
	step := &s.results[scalingName(stepName, ownLoop)].scaled
	removed := 0
	for _, r := range s.results {
		removed += r.scaled.Removed
	}
	return []goal{
		{
			"calls lost after 50 streams became 400, with 10 pods that grow by the own loop", "≤ 3 %",
			percent(step.lostPercent()), step.lostPercent() <= 3,
		},
		{"until the size follows that step", "≤ 2 s", step.grownAfter.String(), step.grownAfter <= scaler.Tick},
		{"streams on pods that were removed, whoever chose the size", "0", whole(removed), removed == 0},
	}
}

func (s *study) writeScaling(b *strings.Builder) {
	b.WriteString(aboutScaling)
	for _, c := range scenarios {
		fmt.Fprintf(b, "- %s: %s\n", c.name, c.about)
	}
	t := newTable(b, "", "size by", "calls", "lost", "last one, after the event", "pods at most", "pod hours", "turns")
	for _, c := range scenarios {
		for _, by := range autoscalers {
			r := s.results[scalingName(c.name, by)]
			if r == nil {
				continue // in the quick form
			}
			v := &r.scaled
			last := "–"
			if v.Lost > 0 {
				last = whole(int(v.lastLost.Seconds())) + " s"
			}
			runs := float64(len(s.jobs[scalingName(c.name, by)]))
			t.row(c.name, by, whole(v.Calls), percent(v.lostPercent()), last, whole(v.Peak),
				fmt.Sprintf("%.1f", v.podTime.Hours()/runs), fmt.Sprintf("%.0f", float64(v.Turns)/runs))
		}
	}
}

// writeSizes draws how large fleets are.
func (s *study) writeSizes(b *strings.Builder, files map[string]string) {
	for _, c := range []struct {
		scenario, file string
		chart
		every, length time.Duration
		unit          float64 // seconds
	}{
		{
			stepName, "step", chart{title: "Pods, as 50 streams become 400", x: "s", maxY: 100},
			4 * time.Second, 700 * time.Second, 1,
		},
		{
			dayName, "day", chart{title: "Pods over a day", x: "hour of the day", maxY: 50, steps: 8},
			dayLength / 240, dayLength, dayLength.Seconds() / 24,
		},
	} {
		c.y = "pods"
		for at := time.Duration(0); at <= c.length; at += c.every {
			c.xs = append(c.xs, at.Seconds()/c.unit)
		}
		for _, by := range autoscalers {
			l := line{name: by}
			sizes := s.results[scalingName(c.scenario, by)].scaled.sizes
			for i := range c.xs {
				l.ys = append(l.ys, float64(sizes[i*int(c.every.Seconds())]))
			}
			c.lines = append(c.lines, l)
		}
		name := "images/capacity-" + c.file + ".svg"
		files[name] = c.svg()
		fmt.Fprintf(b, "\n![%s](%s)\n", c.title, name)
	}
}

func (s *study) writeEstimates(b *strings.Builder) {
	b.WriteString(aboutEstimates)
	columns := []string{"asked for, of all slots"}
	for _, tries := range triesOfAll {
		columns = append(columns, fmt.Sprintf("tries of a client: %d", tries))
	}
	t := newTable(b, columns...)
	for _, load := range overloads {
		cells := []string{number(load)}
		for _, tries := range triesOfAll {
			v := s.results[overloadName(load, tries)].scaled
			asked := load * 10 * slotCount
			cells = append(cells, fmt.Sprintf("%+.0f %%", 100*(v.demands/float64(v.decisions)/asked-1)))
		}
		t.row(cells...)
	}
}
