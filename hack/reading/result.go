package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A result is what one normaliser made of the messages.
type result struct {
	name     string
	messages []message
	spoken   []string
	accepted []bool
	took     time.Duration
}

// measure has all messages read, and says every hundred messages how far that is.
func measure(
	ctx context.Context, n normaliser, messages []message, limit time.Duration, progress io.Writer,
) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	told := 0
	begin := time.Now()
	spoken, err := n.read(ctx, messages, func(done int) {
		if done/100 > told/100 || done == len(messages) && done != told {
			told = done
			_, _ = fmt.Fprintf(progress, "%s: %d of %d messages\n", n.name, done, len(messages))
		}
	})
	if err != nil {
		return result{}, err
	}
	r := result{name: n.name, messages: messages, spoken: spoken, took: time.Since(begin)}
	for i, m := range messages {
		r.accepted = append(r.accepted, m.reading.Accepts(spoken[i]))
	}
	return r, nil
}

// A rate is how many of how many.
type rate struct{ accepted, all int }

func (r rate) String() string {
	if r.all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(r.accepted)/float64(r.all))
}

func (r result) rate() rate {
	return r.by(func(message) string { return "" })[""]
}

// by counts in groups.
func (r result) by(group func(message) string) map[string]rate {
	out := map[string]rate{}
	for i, m := range r.messages {
		n := out[group(m)]
		n.all++
		if r.accepted[i] {
			n.accepted++
		}
		out[group(m)] = n
	}
	return out
}

// groupings are the tables after that of the classes.
var groupings = []struct {
	name string
	of   func(message) string
}{
	{"difficulty", func(m message) string { return strconv.Itoa(m.Difficulty) }},
	{"script", func(m message) string { return m.Script }},
	{"language", func(m message) string { return string(m.Language) }},
}

func byClass(m message) string { return m.Class }

func (r result) print(w io.Writer) {
	r.printClasses(w)
	for _, g := range groupings {
		printRates(w, g.name, r.by(g.of))
	}
}

func (r result) printClasses(w io.Writer) {
	total := r.rate()
	_, _ = fmt.Fprintf(w, "\n%s: %s (%d of %d, %s)\n", r.name, total, total.accepted, total.all,
		r.took.Round(time.Millisecond))
	printRates(w, "class", r.by(byClass))
}

func printRates(w io.Writer, name string, rates map[string]rate) {
	_, _ = fmt.Fprintf(w, "  by %s\n", name)
	for _, k := range sortedKeys(rates) {
		_, _ = fmt.Fprintf(w, "    %-12s %8s  %d of %d\n", k, rates[k], rates[k].accepted, rates[k].all)
	}
}

func (r result) printFailures(w io.Writer) {
	_, _ = fmt.Fprintf(w, "\nNot accepted of %s:\n", r.name)
	for i, m := range r.messages {
		if r.accepted[i] {
			continue
		}
		stop := m.reading.Stop(r.spoken[i])
		if stop == "" {
			stop = "its end"
		}
		_, _ = fmt.Fprintf(w, "%s  %s\n    read      %s\n    stops at  %s\n    expected  %s\n", m.ID, m.Text,
			strings.TrimSpace(r.spoken[i]), stop, m.Reading)
	}
}

func sortedKeys(rates map[string]rate) []string {
	var keys []string
	for k := range rates {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
