package wordtime

import (
	"math"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// window is a count of windows of 10 ms, for each of which a loudness is kept: an eighth of a frame.
type window int

const (
	windowSamples = speech.FrameSamples / 8
	windowTime    = speech.FrameDuration / 8
)

func (w window) time() time.Duration { return time.Duration(w) * windowTime }

// stretch is a part of the audio; to is exclusive.
type stretch struct{ from, to window }

func (s stretch) length() window { return s.to - s.from }

// Levels is how loud a chunk is from window to window. The zero value is a chunk without audio.
type Levels struct {
	rms    []float32
	sorted []float32 // for the work of sounding
}

// Reset makes l that of a chunk without audio, and keeps its memory.
func (l *Levels) Reset() { l.rms = l.rms[:0] }

// Add takes the next audio of the chunk, which is whole frames.
func (l *Levels) Add(pcm []int16) {
	for part := range slices.Chunk(pcm, windowSamples) {
		sum := 0.
		for _, s := range part {
			sum += float64(s) * float64(s)
		}
		l.rms = append(l.rms, float32(math.Sqrt(sum/float64(len(part)))))
	}
}

const (
	silence = 33 // RMS below which nothing is speech: -60 dBFS

	// quiet is the part of the usual loudness below which a window counts as silent. Fricatives at the beginning of a
	// word are hardly above it.
	quiet = .03

	// shortest is the shortest silence that may be a pause between words. Shorter ones are plosives.
	shortest = window(6)

	// mostPauses bounds the work of aligning them. A chunk of 50 tokens has hardly ever ten.
	mostPauses = 16
)

// sounding returns the part of the audio from the first to the last speech, and the longest silences within, in their
// order.
func (l *Levels) sounding() (all stretch, pauses []stretch) {
	limit := l.limit()
	silent := stretch{}
	for i, level := range l.rms {
		at := window(i)
		if level < limit {
			continue
		}
		silent.to = at
		if all.to == 0 {
			all.from = at
		} else if silent.length() >= shortest {
			pauses = append(pauses, silent)
		}
		all.to = at + 1
		silent.from = at + 1
	}
	for len(pauses) > mostPauses {
		least := 0
		for i, p := range pauses {
			if p.length() < pauses[least].length() {
				least = i
			}
		}
		pauses = slices.Delete(pauses, least, least+1)
	}
	return all, pauses
}

const (
	// reach is how far from where two words should meet the border between them is looked for. Farther away are other
	// borders: of 4 to 10 windows, 5 had the smallest errors beside espeak-ng.
	reach = window(5)

	distance = .15 // by how much louder a window a step farther away seems
)

// dipNear returns the quietest moment near at, where a consonant usually begins a word, and at itself where that is as
// quiet as any. It is after from and before to.
func (l *Levels) dipNear(at, from, to time.Duration) time.Duration {
	middle := window(at / windowTime)
	first := max(middle-reach, window(from/windowTime)+1)
	last := min(middle+reach, window(to/windowTime)-1)
	if middle < first || middle > last {
		return at
	}
	best, quietest := middle, l.rms[middle]
	for w := first; w <= last; w++ {
		if seems := l.rms[w] * (1 + distance*float32(max(w-middle, middle-w))); seems < quietest {
			best, quietest = w, seems
		}
	}
	if best == middle {
		return at
	}
	return best.time() + windowTime/2
}

// near is how far from the border of two parts, as a model has it, a pause between them may be.
const near = 30 * time.Millisecond

// withoutSilence returns parts without the silence at both ends of the audio, and without the pauses between them.
func (l *Levels) withoutSilence(parts []Part) []Part {
	all, pauses := l.sounding()
	if len(parts) == 0 || all.length() == 0 {
		return parts
	}
	parts = slices.Clone(parts)
	first, last := &parts[0], &parts[len(parts)-1]
	first.Start, last.End = min(all.from.time(), first.End), max(all.to.time(), last.Start)
	for i := 1; i < len(parts); i++ {
		before, behind := &parts[i-1], &parts[i]
		longest := stretch{}
		for _, p := range pauses {
			isNear := p.to.time() > before.End-near && p.from.time() < behind.Start+near
			isBetween := p.from.time() > before.Start && p.to.time() < behind.End
			if isNear && isBetween && p.length() > longest.length() {
				longest = p
			}
		}
		if longest.length() > 0 {
			before.End, behind.Start = longest.from.time(), longest.to.time()
		}
	}
	return parts
}

// limit returns the level from which a window is speech. It follows the loud part of the chunk, so that neither the
// volume of a voice nor one loud sample matters.
func (l *Levels) limit() float32 {
	if len(l.rms) == 0 {
		return silence
	}
	l.sorted = append(l.sorted[:0], l.rms...)
	slices.Sort(l.sorted)
	return max(silence, quiet*l.sorted[len(l.sorted)*9/10])
}
