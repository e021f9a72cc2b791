package main

import (
	"fmt"
	"slices"
	"strings"
)

// report returns files by their names in docs.
func (s *study) report() map[string]string {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("\n## What must hold\n")
	t := newTable(&b, "", "wanted", "found", "")
	for _, g := range s.goals() {
		verdict := "holds"
		if !g.met {
			verdict = "**missed**"
		}
		t.row(g.what, g.want, g.got, verdict)
	}
	s.writeFaults(&b)
	s.writeViews(&b)
	files := make(map[string]string)
	s.writeScaling(&b)
	if !s.quick {
		s.writeSizes(&b, files)
		s.writeEstimates(&b)
		s.writeLoads(&b, files)
		s.writeDelays(&b)
		s.writeHits(&b, files)
		s.writeLadder(&b)
		s.writeTheory(&b)
		b.WriteString(reading)
	}
	files["capacity.md"] = b.String()
	return files
}

func (s *study) writeFaults(b *strings.Builder) {
	b.WriteString(aboutFaults)
	t := newTable(b, "", "streams", "cut", "gone with their router", "refused", "failed", "no pod",
		"attempts beyond the first", "ejected")
	for _, name := range []string{"no faults", "faults"} {
		r := s.results[name]
		again := r.Sends - r.Served - r.Cut - r.Abandoned
		t.row(name, whole(r.Arrived), whole(r.Cut), whole(r.Abandoned), percent(r.refusedPercent()), whole(r.Failed),
			whole(r.Warming), whole(again), whole(r.counts.Ejected))
	}
	b.WriteString("\nWhat is cut was being heard when its pod was killed or hung. Replacing all 50 pods cuts nothing.\n")
}

func (s *study) writeViews(b *strings.Builder) {
	b.WriteString(aboutViews)
	t := newTable(b, "load", "wrong", "by, on average", "of those: believed too free", "for, median", "99 %")
	for _, load := range viewLoads {
		v := s.results[viewName(load)].view
		wrong := float64(max(v.wrong, 1))
		t.row(number(load), tenth(100*wrong/float64(v.samples)), number(float64(v.slots)/wrong)+" slots",
			tenth(100*float64(v.tooFree)/wrong), ms(percentile(v.ages, 0.5)), ms(percentile(v.ages, 0.99)))
	}
}

func (s *study) writeLoads(b *strings.Builder, files map[string]string) {
	b.WriteString(aboutLoads)
	refused := chart{title: "Refused, of all streams", x: "load", y: "%", maxY: 20, xs: loads}
	attempts := chart{title: "Attempts for each stream", x: "load", y: "attempts", maxY: 2, xs: loads}
	for _, policy := range policies {
		var shares, sends []float64
		for _, load := range loads {
			r := s.results[loadName(load, policy)]
			shares, sends = append(shares, r.refusedPercent()), append(sends, r.attempts())
		}
		refused.lines = append(refused.lines, line{policy, shares})
		attempts.lines = append(attempts.lines, line{policy, sends})
	}
	t := newTable(b, "load", "refused: all-knowing", "grants", "no grants", "attempts: grants", "no grants",
		"waited (99 %): all-knowing", "grants", "no grants", "messages a second: grants", "no grants")
	for _, load := range loads {
		ideal, own := s.results[loadName(load, allKnowing)], s.results[loadName(load, grants)]
		racing := s.results[loadName(load, race)]
		t.row(number(load), percent(ideal.refusedPercent()), percent(own.refusedPercent()),
			percent(racing.refusedPercent()),
			thousandth(own.attempts()), thousandth(racing.attempts()), ms(ideal.wait99()), ms(own.wait99()),
			ms(racing.wait99()), whole(int(own.messagesPerSecond())), whole(int(racing.messagesPerSecond())))
	}
	files["images/capacity-refused.svg"], files["images/capacity-attempts.svg"] = refused.svg(), attempts.svg()
	for _, c := range []struct{ chart, file string }{{refused.title, "refused"}, {attempts.title, "attempts"}} {
		fmt.Fprintf(b, "\n![%s](images/capacity-%s.svg)\n", c.chart, c.file)
	}
}

func (s *study) writeDelays(b *strings.Builder) {
	b.WriteString(aboutDelays)
	t := newTable(b, "delay", "refused at 0.95", "at 1.05", "attempts at 0.95", "at 1.05", "granted in vain at 1.05")
	for _, d := range delays {
		below, above := s.results[delayName(0.95, d)], s.results[delayName(1.05, d)]
		granted := above.counts.Granted + above.counts.Declined
		t.row(d.String(), percent(below.refusedPercent()), percent(above.refusedPercent()),
			thousandth(below.attempts()),
			thousandth(above.attempts()), tenth(100*float64(above.counts.Declined)/float64(max(granted, 1))))
	}
}

func (s *study) writeHits(b *strings.Builder, files map[string]string) {
	fmt.Fprintf(b, aboutHits, textCount, cachedTexts)
	c := chart{title: "Texts found prepared", x: "load", y: "%", maxY: 100, xs: hitLoads}
	for _, z := range zipfs {
		for _, atRandom := range []bool{false, true} {
			l := line{name: fmt.Sprintf("by rank, zipf %.1f", z)}
			if atRandom {
				l.name = fmt.Sprintf("random, zipf %.1f", z)
			}
			for _, load := range hitLoads {
				l.ys = append(l.ys, s.results[hitsName(load, z, atRandom)].hitPercent())
			}
			c.lines = append(c.lines, l)
		}
	}
	t := newTable(b, "load", "zipf 0.8: by rank", "at random", "zipf 1.1: by rank", "at random")
	for i, load := range hitLoads {
		cells := []string{number(load)}
		for _, l := range c.lines {
			cells = append(cells, tenth(l.ys[i]))
		}
		t.row(cells...)
	}
	files["images/capacity-prepared.svg"] = c.svg()
	fmt.Fprintf(b, "\n![%s](images/capacity-prepared.svg)\n", c.title)
}

func (s *study) writeLadder(b *strings.Builder) {
	largest := cells * ladder[len(ladder)-1]
	fmt.Fprintf(b, aboutLadder, largest, cells)
	t := newTable(b, "pods", "routers", "load", "refused", "attempts", "waited (99 %)",
		"messages a second, each router", "events")
	for _, load := range ladderLoads {
		for _, pods := range append(slices.Clone(ladder), largest) {
			r := s.results[ladderName(load, pods)]
			if r == nil {
				continue // the largest is played at one load only
			}
			routers := r.cfg.routers
			if pods == largest {
				routers *= cells
			}
			each := r.messagesPerSecond() / float64(r.cfg.routers) // as long as all cells together
			t.row(whole(pods), whole(routers), number(load), percent(r.refusedPercent()), thousandth(r.attempts()),
				ms(r.wait99()), whole(int(each)), whole(r.Events))
		}
	}
}

func (s *study) writeTheory(b *strings.Builder) {
	b.WriteString(aboutTheory)
	t := newTable(b, "load", "have to wait: theory", "simulated", "wait on average: theory", "simulated")
	for _, load := range theoryLoads {
		r := s.results[theoryName(load)]
		waits, mean := erlangC(4*slotCount, r.load(), meanStream)
		t.row(fmt.Sprintf("%.4f", r.load()), percent(100*waits), percent(100*r.waited()), ms(mean), ms(r.meanWait()))
	}
}
