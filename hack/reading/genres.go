package main

import (
	"fmt"
	"io"
	"strings"
)

// A genre is a kind of messages whose rate is told apart from the others, because the mean of all of them hides the
// worst.
type genre struct {
	name string
	by   string // who wrote its messages and readings
	has  func(l list, m message) bool
}

// genres are those of the lists apart. Each message is of one.
var genres = [...]genre{
	{"everyday messages, plain", "writers who had not seen the rules", func(l list, m message) bool { return l.everyday() && m.Difficulty == 1 }},
	{"everyday messages, usual", "the same", func(l list, m message) bool { return l.everyday() && m.Difficulty == 2 }},
	{"everyday messages, careless", "the same", func(l list, m message) bool { return l.everyday() && m.Difficulty == 3 }},
	{"SMS of banks, cards and telephone firms", "a writer of rules, in shapes of public messages, before they were read", func(l list, _ message) bool { return l.sms }},
	{"lines of calls and bots, chats with typing shortcuts", "the same writer, before they were read", func(l list, _ message) bool { return l.talk }},
}

// A genreRate is how one normaliser reads a genre.
type genreRate struct {
	genre
	heldOut, development rate
}

// ratesOfGenres counts what the first normaliser made of the lists.
func ratesOfGenres(measured []listResult) []genreRate {
	out := make([]genreRate, len(genres))
	for k, g := range genres {
		out[k].genre = g
		for _, l := range measured {
			of := &out[k].development
			if l.heldOut {
				of = &out[k].heldOut
			}
			for i, m := range l.results[0].messages {
				if !g.has(l.list, m) {
					continue
				}
				of.all++
				if l.results[0].accepted[i] {
					of.accepted++
				}
			}
		}
	}
	return out
}

// worstAndMean are the lowest rate of what is held out, and the mean in which each genre counts once.
func worstAndMean(rates []genreRate) (worst genreRate, mean float64) {
	n := 0
	for _, r := range rates {
		if r.heldOut.all == 0 {
			continue
		}
		if n == 0 || r.heldOut.share() < worst.heldOut.share() {
			worst = r
		}
		mean += r.heldOut.share()
		n++
	}
	return worst, mean / float64(max(n, 1))
}

// share is the rate in percent.
func (r rate) share() float64 { return 100 * float64(r.accepted) / float64(max(r.all, 1)) }

// count is the rate with the numbers behind it.
func (r rate) count() string {
	if r.all == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%d of %d)", r, r.accepted, r.all)
}

// genreTable has a row a genre, and the worst beside the mean below it.
func genreTable(rates []genreRate) string {
	var b strings.Builder
	b.WriteString("| genre | held out | for development | written by |\n|---|---:|---:|---|\n")
	for _, r := range rates {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.name, r.heldOut.count(), r.development.count(), r.by)
	}
	worst, mean := worstAndMean(rates)
	fmt.Fprintf(&b, "\nThe worst genre of what is held out is *%s* with **%s**; the mean of the genres is **%.1f %%**.\n", worst.name, worst.heldOut, mean)
	return b.String()
}

func printGenres(w io.Writer, rates []genreRate) {
	_, _ = fmt.Fprintf(w, "\nSwar by genre, held out and for development\n")
	for _, r := range rates {
		_, _ = fmt.Fprintf(w, "    %-40s %22s %24s\n", r.name, r.heldOut.count(), r.development.count())
	}
	worst, mean := worstAndMean(rates)
	_, _ = fmt.Fprintf(w, "    worst %s (%s), mean %.1f %%\n", worst.heldOut, worst.name, mean)
}
