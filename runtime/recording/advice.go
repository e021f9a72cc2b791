package recording

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/swar-tts/swar/runtime/speech"
)

// A Kind says what a [Finding] is about. Its values stay what they are.
type Kind string

// What can be wrong with a recording that is read all the same.
const (
	Broken   Kind = "broken"    // the file breaks off
	TooShort Kind = "too_short" // less than 3 s
	Clipped  Kind = "clipped"   // full scale several times over, in runs of 3 samples and more
	Noisy    Kind = "noisy"     // the quietest tenth is less than 25 dB below the loudest
	Quiet    Kind = "quiet"     // less than -40 dBFS on the whole
	LowRate  Kind = "low_rate"  // less than 16 kHz
	Short    Kind = "short"     // less than 8 s
	Cut      Kind = "cut"       // more than 30 s
	Mixed    Kind = "mixed"     // several channels
)

// A Finding is something that makes a worse voice than necessary, and what to do about it.
type Finding struct {
	Kind Kind
	Text string // a sentence
}

// The limits of findings.
const (
	tooShort    = 3.   // s
	short       = 8.   // s
	quiet       = -40. // dBFS
	noise       = 25.  // dB
	silence     = -80. // dBFS, of the loudest 20 ms
	clippedRuns = 3
	lowRate     = 16000 // Hz
)

// judge looks for what makes r a bad voice. Silence is the only thing that makes it none.
func (r *Recording) judge(s *sound) error {
	levels := r.levels()
	if levels[len(levels)-1] < silence {
		if s.channels > 1 {
			return errors.New("it is silent, or its channels cancel one another out")
		}
		return errors.New("it is silent")
	}
	add := func(is bool, k Kind, format string, args ...any) {
		if is {
			r.Findings = append(r.Findings, Finding{k, fmt.Sprintf(format, args...)})
		}
	}
	used := float64(len(r.Samples)) / speech.SampleRate
	level := decibels(power(r.Samples))
	tenth := len(levels) / 10
	above := levels[len(levels)-1-tenth] - levels[tenth]
	rate := r.Rate
	if s.recordedRate > 0 {
		rate = min(rate, s.recordedRate)
	}
	add(s.broken != "", Broken, "The file is truncated (%s): the %.1f s before that are used.", s.broken, r.Seconds)
	add(used < tooShort, TooShort,
		"It has only %.1f s: the voice will hardly resemble the speaker; use 8 to 20 s.", used)
	add(s.clipped >= clippedRuns, Clipped,
		"It is clipped in %d places: record with less gain, because the voice repeats the distortion.", s.clipped)
	add(above < noise, Noisy, "Its pauses are only %.0f dB below the speech, less than %.0f: there is noise or music, "+
		"which the voice repeats; clean it first or record in a quiet room.", above, noise)
	add(level < quiet, Quiet, "It is quiet, %.0f dBFS on the whole: record nearer to the microphone; "+
		"below %.0f the voice gets quiet too.", level, quiet)
	add(rate < lowRate, LowRate,
		"It was recorded at %d Hz: the voice will sound like a telephone; take %d Hz or more.", rate, lowRate)
	add(used >= tooShort && used < short, Short, "It has %.1f s: 8 to 20 s resemble the speaker more.", used)
	if r.Seconds > UsedSeconds {
		r.Findings = append(r.Findings, r.cutAt(UsedSeconds*speech.SampleRate))
	}
	add(r.Channels > 1, Mixed, "It has %d channels: their mean is used, which should be one speaker.", r.Channels)
	return nil
}

// levels returns the level of each 20 ms in dBFS, in order. It has at least one.
func (r *Recording) levels() []float64 {
	const block = speech.SampleRate / 50
	var levels []float64
	for b := range slices.Chunk(r.Samples, block) {
		if len(b) == block || levels == nil {
			levels = append(levels, decibels(power(b)))
		}
	}
	slices.Sort(levels)
	return levels
}

// decibels returns a mean square relative to full scale, with -200 for silence.
func decibels(power float64) float64 { return 10 * math.Log10(power+1e-20) }
