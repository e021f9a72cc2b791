// Package wordtime says when each word of a chunk is heard. Some models know; of others only the text is known, how
// long its syllables usually are, and where the audio is silent. Times that are made of these are estimates, and are
// to be called that.
package wordtime

import (
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// Part is a part of a chunk's text, in bytes, and when it is heard, since the chunk's first sample.
type Part struct {
	From, To   int
	Start, End time.Duration
}

// Known returns the words of c with the times of their parts, which are in order. What a model counts to a word may
// be silent in part, before a comma or at the end: silence in the audio, all of which l must have, belongs to no
// word. A word of which no part is heard lasts no time, behind the one before it. No word begins before the one ahead
// of it has ended.
func Known(c speech.Chunk, parts []Part, l *Levels) []speech.Word {
	parts = l.withoutSilence(parts)
	var times []speech.Word
	at := time.Duration(0)
	for _, w := range wordsOf(c) {
		for len(parts) > 0 && parts[0].To <= w.from {
			parts = parts[1:]
		}
		t := w.of(c, at, at)
		for i := 0; i < len(parts) && parts[i].From < w.to; i++ {
			if i == 0 {
				t.Start = max(at, parts[i].Start)
			}
			t.End = max(t.Start, parts[i].End)
		}
		at = t.End
		times = append(times, t)
	}
	return times
}

// Estimate returns the words of c in their order, with the time of each since the chunk's first sample. No word begins
// before the one ahead of it has ended, and none is where the audio is silent at its beginning or end. It returns none
// where nothing sounds. l must be of all audio of the chunk, and the same audio gives the same times.
func Estimate(c speech.Chunk, l *Levels) []speech.Word {
	words := wordsOf(c)
	sounding, pauses := l.sounding()
	if len(words) == 0 || sounding.length() == 0 {
		return nil
	}
	times := make([]speech.Word, 0, len(words))
	for _, p := range divide(words, sounding, pauses) {
		times = fill(times, c, words[p.from:p.to], p.heard)
	}
	for i := 1; i < len(times); i++ {
		if border := times[i].Start; border == times[i-1].End {
			border = l.dipNear(border, times[i-1].Start, times[i].End)
			times[i-1].End, times[i].Start = border, border
		}
	}
	return times
}

// fill appends words that are heard one after another, without a pause.
func fill(times []speech.Word, c speech.Chunk, words []word, heard stretch) []speech.Word {
	total := 0.
	for _, w := range words {
		total += w.weight
	}
	at, said := heard.from.time(), 0.
	for i, w := range words {
		said += w.weight
		end := heard.from.time() + time.Duration(said/total*float64(heard.length().time()))
		if i == len(words)-1 {
			end = heard.to.time() // exactly
		}
		times = append(times, w.of(c, at, end))
		at = end
	}
	return times
}
