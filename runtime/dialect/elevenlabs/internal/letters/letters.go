// Package letters computes the time of each letter of a text, for sockets and responses.
package letters

import (
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
)

// Letters are the code points of a text with their times.
type Letters struct {
	chars  []string
	starts []time.Duration // one more than chars: where the last one ends
}

// place is a word in a text, in code points, and its time.
type place struct {
	from, to   int
	start, end time.Duration
}

// spread gives every code point of text a time. The code points of a word share its time in order. Marks after it have
// no duration, and the space after these has the pause; the last code point lasts until until.
func spread(text []rune, words []place, until time.Duration) Letters {
	l := Letters{make([]string, len(text)), make([]time.Duration, len(text)+1)}
	for i, r := range text {
		l.chars[i] = string(r)
	}
	at, now := 0, words[0].start
	put := func(upTo int) {
		for ; at < upTo; at++ {
			l.starts[at] = now
		}
	}
	for _, w := range words {
		w.from, w.to = max(w.from, at), min(w.to, len(text))
		if w.from >= w.to {
			continue
		}
		put(w.from)
		count := w.to - w.from
		for i := range count {
			l.starts[at] = max(now, w.start+time.Duration(i)*(w.end-w.start)/time.Duration(count))
			at++
		}
		now = max(now, w.end)
	}
	put(len(text))
	l.starts[len(text)] = max(now, until)
	return l
}

// Written has the words as they were written, each with a space behind it.
func Written(w dialect.Words) *Letters {
	if len(w.Source) == 0 {
		return nil
	}
	var text strings.Builder
	var words []place
	at := 0
	for _, word := range w.Source {
		length := len([]rune(word.Text))
		words = append(words, place{at, at + length, word.Start, word.End})
		text.WriteString(word.Text + " ")
		at += length + 1
	}
	l := spread([]rune(text.String()), words, w.End)
	return &l
}

// Spoken has the text as it is spoken, with a space behind it.
func Spoken(w dialect.Words) *Letters {
	if len(w.Spoken) == 0 {
		return nil
	}
	var words []place
	for _, word := range w.Spoken {
		words = append(words, place{word.CharStart - w.CharStart, word.CharEnd - w.CharStart, word.Start, word.End})
	}
	l := spread([]rune(strings.TrimRight(w.Text, " ")+" "), words, w.End)
	return &l
}

// End is when the last one ends.
func (l *Letters) End() time.Duration { return l.starts[len(l.chars)] }

// Alignment is letters as sockets have them.
type Alignment struct {
	Chars     []string `json:"chars"`
	Starts    []int64  `json:"charStartTimesMs"`
	Durations []int64  `json:"charDurationsMs"`
}

// Since has the letters with times that count from zero on.
func (l *Letters) Since(zero time.Duration) *Alignment {
	a := &Alignment{l.chars, make([]int64, len(l.chars)), make([]int64, len(l.chars))}
	from := zero.Milliseconds()
	for i := range l.chars {
		a.Starts[i] = l.starts[i].Milliseconds() - from
		a.Durations[i] = l.starts[i+1].Milliseconds() - l.starts[i].Milliseconds()
	}
	return a
}

// Timed is letters as answers have them.
type Timed struct {
	Characters []string  `json:"characters"`
	Starts     []float64 `json:"character_start_times_seconds"`
	Ends       []float64 `json:"character_end_times_seconds"`
}

// Add appends letters to t, which may be nil.
func (t *Timed) Add(l *Letters) *Timed {
	if l == nil {
		return t
	}
	if t == nil {
		t = &Timed{}
	}
	t.Characters = append(t.Characters, l.chars...)
	for i := range l.chars {
		t.Starts = append(t.Starts, seconds(l.starts[i]))
		t.Ends = append(t.Ends, seconds(l.starts[i+1]))
	}
	return t
}

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
