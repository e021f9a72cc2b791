package model

import "github.com/swar-tts/swar/runtime/onnx/bundle"

// Ending decides after how many frames a chunk is over.
//
// Speech ends with the first logit above the threshold, not counting the first frames, whose logits mean nothing.
// From there on a few more frames sound. If that would reach the limit, the limit counts and the speech did not end
// by itself.
type Ending struct {
	Threshold float64
	MinFrames int // frames whose logit is ignored
	After     int // frames that still sound, counted from the one whose logit was seen
	MaxFrames int

	Seen bool
	Stop int // frames in all, once seen
}

// NewEnding returns the rule for a chunk of so many tokens and words.
func NewEnding(m *bundle.Manifest, tokens, words int) Ending {
	after := m.Sampling.FramesAfterEOS
	if words <= m.Sampling.ShortWords {
		after = m.Sampling.FramesAfterEOSShort
	}
	return Ending{Threshold: m.Sampling.EOSThreshold, MinFrames: m.Sampling.MinFrames, After: after,
		MaxFrames: m.Limits.MaxFrames(tokens)}
}

// Observe takes the logit of a frame, counted from 0.
func (e *Ending) Observe(frame int, logit float32) {
	if !e.Seen && frame >= e.MinFrames && float64(logit) > e.Threshold {
		e.Seen, e.Stop = true, frame+e.After
	}
}

// Over reports whether a chunk is over after so many frames, and whether it ended by itself.
func (e *Ending) Over(frames int) (done, eos bool) {
	if e.Seen && e.Stop < e.MaxFrames {
		done = frames >= e.Stop
		return done, done
	}
	return frames >= e.MaxFrames, false
}
