package recording

import (
	"context"
	"fmt"
)

// sound is what a decoder has heard so far. It keeps little more than what is used of it, however long it goes on.
type sound struct {
	ctx            context.Context // of the one call that reads
	format         string
	rate, channels int
	full           float32 // the smallest value that stands for full scale
	recordedRate   int     // Hz that were recorded, where it was resampled since; 0 is rate
	kept           []float32
	frames         int64  // one sample of each channel, all that came
	broken         string // why the end is missing, "" where it is not
	run, clipped   int    // frames at full scale up to here, and runs of them
}

// keptSeconds are the used ones and what the resampler looks ahead.
const keptSeconds = UsedSeconds + 1

// clipRun is how many frames at full scale, one after another, are taken for clipping: a loud tone touches it once
// or twice.
const clipRun = 3

// begin says what follows. bits is the size of the samples that the file holds, 16 where it has none.
func (s *sound) begin(rate, channels, bits int) error {
	switch {
	case rate < minRate || rate > maxRate:
		return fmt.Errorf("it has %d samples a second: want %d to %d", rate, minRate, maxRate)
	case channels < 1 || channels > maxChannels:
		return fmt.Errorf("it has %d channels: want 1 to %d", channels, maxChannels)
	}
	s.rate, s.channels = rate, channels
	s.full = .9999
	if bits < 16 {
		s.full = .98 // the greatest value of µ-law; 8 bits have .992
	}
	return nil
}

// add takes frames, the samples of all channels in turn, and keeps their mean. It fails when there are too many,
// when one is not a number that a sample can be, and when nobody waits any more.
func (s *sound) add(samples []float32) error {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	const loudest = 16 // times full scale: floating point may go beyond it, but not as far as integers do
	for ; len(samples) >= s.channels; samples = samples[s.channels:] {
		sum, atFull := 0.0, false
		for _, v := range samples[:s.channels] {
			if v-v != 0 {
				return fmt.Errorf("sample %d is not a finite number", s.frames)
			}
			if v > loudest || v < -loudest {
				return fmt.Errorf("sample %d is %g: full scale is 1 in floating point", s.frames, v)
			}
			sum += float64(v)
			atFull = atFull || v >= s.full || v <= -s.full
		}
		s.count(atFull)
		if s.frames > int64(MaxSeconds)*int64(s.rate) {
			return errTooLong
		}
		if len(s.kept) < keptSeconds*s.rate {
			s.kept = append(s.kept, float32(sum/float64(s.channels)))
		}
	}
	return nil
}

// count counts a frame.
func (s *sound) count(atFull bool) {
	s.frames++
	if !atFull {
		s.run = 0
		return
	}
	if s.run++; s.run == clipRun {
		s.clipped++
	}
}
