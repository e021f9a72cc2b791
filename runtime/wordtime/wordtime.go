// Package wordtime estimates when each word of a chunk is heard. A model does not tell: what is known is the text, how
// long its syllables usually are, and where the audio is silent. So times are estimates, and are to be called that.
package wordtime

import (
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

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
		times = append(times, speech.Word{
			Text: c.Text[w.from:w.to], CharStart: c.CharStart + w.charStart, CharEnd: c.CharStart + w.charEnd,
			Start: at, End: end,
		})
		at = end
	}
	return times
}
