package wordtime

import "math"

// phrase is a run of words without a pause, and when it is heard.
type phrase struct {
	from, to int // words; to is exclusive
	heard    stretch
}

// What the alignment of pauses with the ends of words weighs, in units of a log-likelihood.
const (
	// Of a phrase that should last a second the length varies by about so much of a second.
	variance = .15 * .15

	markMissed   = 2.  // no pause is heard at a comma
	stopMissed   = 4.  // nor at the end of a sentence
	unmarked     = 3.  // a pause where no mark is written
	pauseMissed  = .12 // for each window of a silence that is taken for part of a word
	missedAtMost = 12.
)

// divide decides at the end of which word each pause is, or that it is a plosive in a word, and returns the phrases
// between. Of all possible ways it takes the one in which the lengths of the phrases fit their words best.
func divide(words []word, all stretch, pauses []stretch) []phrase {
	a := newAlignment(words, all, pauses)
	n := len(words)
	for i := range pauses {
		for j := 1; j < n; j++ {
			a.place(i, j)
		}
	}
	end := len(pauses)
	best, before := math.Inf(1), choice{}
	for i := -1; i < end; i++ {
		for j := range n {
			if c := a.cost(i, j) + a.step(i, j, end, n); c < best {
				best, before = c, choice{i, j}
			}
		}
	}
	return a.phrases(before)
}

// choice says that a pause is before a word. The zero word belongs to pause -1, which is the silence before the chunk.
type choice struct{ pause, word int }

// alignment is the work of divide.
type alignment struct {
	words  []word
	all    stretch
	pauses []stretch
	rate   float64   // windows for a unit of weight
	weight []float64 // of all words before this one
	missed []float64 // cost of the marks before this word, without pauses
	silent []float64 // cost of the pauses before this one, were they all parts of words
	best   []placed  // by pause and word
}

// placed is the least cost of all that is before a choice, and the choice before it.
type placed struct {
	cost   float64
	before choice
}

func newAlignment(words []word, all stretch, pauses []stretch) *alignment {
	a := &alignment{
		words: words, all: all, pauses: pauses,
		weight: make([]float64, len(words)+1), missed: make([]float64, len(words)+1),
		silent: make([]float64, len(pauses)+1), best: make([]placed, len(pauses)*len(words)),
	}
	speaking := all.length()
	for i, w := range words {
		a.weight[i+1] = a.weight[i] + w.weight
		a.missed[i+1] = a.missed[i] + w.after.missed()
	}
	for i, p := range pauses {
		a.silent[i+1] = a.silent[i] + min(pauseMissed*float64(p.length()), missedAtMost)
		speaking -= p.length()
	}
	a.rate = float64(speaking) / a.weight[len(words)]
	return a
}

// place finds the best way to a pause that is before word j.
func (a *alignment) place(i, j int) {
	own := 0.
	if a.words[j-1].after == space {
		own = unmarked
	}
	least := placed{cost: math.Inf(1)}
	for before := -1; before < i; before++ {
		for w := range j {
			if c := a.cost(before, w) + a.step(before, w, i, j); c < least.cost {
				least = placed{c, choice{before, w}}
			}
		}
	}
	least.cost += own
	a.best[i*len(a.words)+j] = least
}

// cost is that of the best way to a choice.
func (a *alignment) cost(pause, word int) float64 {
	switch {
	case pause < 0 && word == 0:
		return 0
	case pause < 0 || word == 0:
		return math.Inf(1)
	}
	return a.best[pause*len(a.words)+word].cost
}

// step is the cost of one phrase, from one choice to the next: how badly its length fits its words, the marks in it
// at which nothing was heard, and the silences in it that would be parts of words.
func (a *alignment) step(pause, word, nextPause, nextWord int) float64 {
	const second = 100 // windows
	heard := float64(a.between(pause, nextPause).length())
	want := a.rate * (a.weight[nextWord] - a.weight[word])
	off := heard - want
	fit := off * off / (2 * variance * second * want)
	return fit + a.missed[nextWord-1] - a.missed[word] + a.silent[nextPause] - a.silent[pause+1]
}

// between is what is between two pauses.
func (a *alignment) between(pause, next int) stretch {
	s := a.all
	if pause >= 0 {
		s.from = a.pauses[pause].to
	}
	if next < len(a.pauses) {
		s.to = a.pauses[next].from
	}
	return s
}

// phrases follows the choices back from the last one.
func (a *alignment) phrases(last choice) []phrase {
	nextPause, nextWord := len(a.pauses), len(a.words)
	var reversed []phrase
	for c := last; ; {
		reversed = append(reversed, phrase{c.word, nextWord, a.between(c.pause, nextPause)})
		if c.pause < 0 {
			break
		}
		nextPause, nextWord = c.pause, c.word
		c = a.best[c.pause*len(a.words)+c.word].before
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return reversed
}
