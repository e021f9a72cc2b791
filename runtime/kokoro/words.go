package kokoro

import (
	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/kokoro/internal/phoneme"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
	"github.com/swar-tts/swar/runtime/synth"
)

// word is what stands between two spaces of a chunk, and its sounds.
type word struct {
	from, to    int // bytes of the chunk
	first, last int // ids [first, last), of those with the silence at both ends
}

// wordsOf joins the words that one part of the chunk was made into. It leaves out what is silent.
func wordsOf(prepared []espeak.PreparedWord, spoken []phoneme.Word) []word {
	var words []word
	for _, s := range spoken {
		for len(prepared) > 1 && prepared[1].At <= s.From {
			prepared = prepared[1:]
		}
		if len(prepared) == 0 || s.First == s.Last {
			continue
		}
		w := word{prepared[0].From, prepared[0].To, s.First + 1, s.Last + 1} // behind the silence in front
		if n := len(words); n > 0 && words[n-1].from == w.from {
			words[n-1].last = w.last
			continue
		}
		words = append(words, w)
	}
	return words
}

// ahead is by how much the sound of a word precedes the frames of its ids, about the same at all speeds: 87 ms, as
// fricatives show, whose beginnings are seen best. That is about what the space before the word takes.
const ahead = 3.5 * vocoder.FrameSamples

// times returns when the words are heard. The audio begins after so many samples of the vocoder's, and sounds until
// others.
func (p *prefill) times(cut, sound int) []synth.WordTime {
	begins := make([]int, len(p.prosody.Durations)+1) // where each id begins in the audio
	begins[0] = -p.from - cut
	for i, d := range p.prosody.Durations {
		begins[i+1] = begins[i] + d*vocoder.FrameSamples
	}
	times := make([]synth.WordTime, len(p.words))
	for i, w := range p.words {
		within := func(sample int) int { return min(max(0, sample), sound-cut) }
		times[i] = synth.WordTime{From: w.from, To: w.to, Start: within(begins[w.first] - ahead),
			End: within(begins[w.last])}
		if i > 0 {
			times[i-1].End = min(times[i-1].End, times[i].Start)
		}
	}
	return times
}

// WordTimes implements [synth.WordTimer].
func (w *worker) WordTimes() (words []synth.WordTime, ok bool) { return w.times, w.ended }
