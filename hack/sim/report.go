package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// report returns files by their names in docs.
func (s *study) report() map[string]string {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("\n## What must hold\n\n| | wanted | found | |\n|---|---|---|---|\n")
	for _, g := range s.goals() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", g.what, g.want, g.got, map[bool]string{true: "holds", false: "**missed**"}[g.met])
	}
	s.writeFaults(&b)
	s.writeViews(&b)
	files := make(map[string]string)
	if !s.quick {
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
	b.WriteString("\n## Pods and routers that die\n\nAt a load of 0.8 one pod is killed, then one router, then a pod hangs for 20 s, and then " +
		"every pod is replaced, one each 4 s; each is back after 5 s.\n\n" +
		"| | streams | cut | with their router | refused | failed | no pod | asked twice or more | ejected |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range []string{"no faults", "faults"} {
		r := s.results[name]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %.2f %% | %d | %d | %d | %d |\n", name, r.Arrived, r.Cut, r.Abandoned, r.refusedPercent(),
			r.Failed, r.Warming, r.Sends-r.Served-r.Cut-r.Abandoned, r.counts.Ejected)
	}
	b.WriteString("\nWhat is cut was being heard when its pod was killed or hung. Replacing all 50 pods cuts nothing.\n")
}

func (s *study) writeViews(b *strings.Builder) {
	b.WriteString("\n## How right views are\n\nEach router's belief about each pod's free slots, compared with the truth every millisecond.\n\n" +
		"| load | wrong | by, on average | of those: believed too free | for, median | 99 % |\n|---|---|---|---|---|---|\n")
	for _, load := range []float64{0.8, 0.95} {
		v := s.results[viewName(load)].view
		fmt.Fprintf(b, "| %.2f | %.1f %% | %.2f slots | %.0f %% | %s | %s |\n", load, 100*float64(v.wrong)/float64(v.samples),
			float64(v.slots)/float64(max(v.wrong, 1)), 100*float64(v.tooFree)/float64(max(v.wrong, 1)),
			ms(percentile(v.ages, 0.5)), ms(percentile(v.ages, 0.99)))
	}
}

func (s *study) writeLoads(b *strings.Builder, files map[string]string) {
	policies := []string{allKnowing, grants, race}
	b.WriteString("\n## Refusals against load\n\n`all-knowing` is one router without any delay, with as many places to wait as the eight have " +
		"together; `no grants` are eight routers that race for what they see free.\n\n" +
		"| load | refused: all-knowing | grants | no grants | attempts: grants | no grants | waited (99 %): all-knowing | grants | messages a second: grants | no grants |\n" +
		"|---|---|---|---|---|---|---|---|---|---|\n")
	refused := chart{title: "Refused, of all streams", x: "load", y: "%", maxY: 20, xs: loads}
	attempts := chart{title: "Attempts for each stream", x: "load", y: "attempts", maxY: 2, xs: loads}
	for _, policy := range policies {
		var percent, sends []float64
		for _, load := range loads {
			r := s.results[loadName(load, policy)]
			percent, sends = append(percent, r.refusedPercent()), append(sends, r.attempts())
		}
		refused.lines = append(refused.lines, line{policy, percent})
		attempts.lines = append(attempts.lines, line{policy, sends})
	}
	for _, load := range loads {
		ideal, own, racing := s.results[loadName(load, allKnowing)], s.results[loadName(load, grants)], s.results[loadName(load, race)]
		fmt.Fprintf(b, "| %.2f | %.2f %% | %.2f %% | %.2f %% | %.3f | %.3f | %s | %s | %.0f | %.0f |\n", load, ideal.refusedPercent(),
			own.refusedPercent(), racing.refusedPercent(), own.attempts(), racing.attempts(), ms(ideal.waitOf(0.99)), ms(own.waitOf(0.99)),
			own.messagesPerSecond(), racing.messagesPerSecond())
	}
	files["images/capacity-refused.svg"], files["images/capacity-attempts.svg"] = refused.svg(), attempts.svg()
	b.WriteString("\n![Refused, of all streams](images/capacity-refused.svg)\n\n![Attempts for each stream](images/capacity-attempts.svg)\n")
}

func (s *study) writeDelays(b *strings.Builder) {
	b.WriteString("\n## Between routers and pods\n\nOne way, on average; each message takes 0.75 to 1.25 of it.\n\n" +
		"| delay | refused at 0.95 | at 1.05 | attempts at 0.95 | at 1.05 | slots granted in vain at 1.05 |\n|---|---|---|---|---|---|\n")
	for _, d := range delays {
		below, above := s.results[delayName(0.95, d)], s.results[delayName(1.05, d)]
		fmt.Fprintf(b, "| %v | %.2f %% | %.2f %% | %.3f | %.3f | %d of %d |\n", d, below.refusedPercent(), above.refusedPercent(),
			below.attempts(), above.attempts(), above.counts.Declined, above.counts.Declined+above.counts.Granted)
	}
}

func (s *study) writeHits(b *strings.Builder, files map[string]string) {
	fmt.Fprintf(b, "\n## Texts found prepared\n\n%d texts, asked for by Zipf's law; each pod keeps the %d that it spoke last.\n\n"+
		"| load | zipf 0.8: by rank | at random | zipf 1.1: by rank | at random |\n|---|---|---|---|---|\n", textCount, cachedTexts)
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
	for i, load := range hitLoads {
		fmt.Fprintf(b, "| %.2f | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", load, c.lines[0].ys[i], c.lines[1].ys[i], c.lines[2].ys[i], c.lines[3].ys[i])
	}
	files["images/capacity-prepared.svg"] = c.svg()
	b.WriteString("\n![Texts found prepared](images/capacity-prepared.svg)\n")
}

func (s *study) writeLadder(b *strings.Builder) {
	fmt.Fprintf(b, "\n## From 10 to 10,000 pods\n\n%d pods are %d cells of 1,000 that know nothing of one another; clients come to each alike.\n\n"+
		"| pods | routers | load | refused | attempts | waited (99 %%) | messages a second, each router | events |\n|---|---|---|---|---|---|---|---|\n",
		cells*ladder[len(ladder)-1], cells)
	for _, load := range ladderLoads {
		for _, pods := range append(slices.Clone(ladder), cells*ladder[len(ladder)-1]) {
			r := s.results[ladderName(load, pods)]
			routers := r.cfg.routers
			if pods > 1000 {
				routers *= cells
			}
			perRouter := float64(r.Messages) / r.cfg.length.Seconds() / float64(r.cfg.routers)
			fmt.Fprintf(b, "| %d | %d | %.2f | %.2f %% | %.3f | %s | %.0f | %d |\n", pods, routers, load, r.refusedPercent(), r.attempts(),
				ms(r.waitOf(0.99)), perRouter, r.Events)
		}
	}
}

func (s *study) writeTheory(b *strings.Builder) {
	b.WriteString("\n## Compared with theory\n\nOne router without delay, 32 slots, service times and arrivals as M/M/c has them. The load is the one that was drawn.\n\n" +
		"| load | have to wait: theory | simulated | mean wait: theory | simulated |\n|---|---|---|---|---|\n")
	for _, load := range []float64{0.7, 0.8, 0.9} {
		r := run(markovian(load, 40_000*time.Second, s.seed))
		waits, mean := erlangC(4*slotCount, r.load(), meanStream)
		fmt.Fprintf(b, "| %.4f | %.2f %% | %.2f %% | %s | %s |\n", r.load(), 100*waits, 100*r.waited(), ms(mean), ms(r.meanWait()))
	}
}
