package onnx

import "github.com/swar-tts/swar/runtime/onnx/bundle"

// ending decides after how many frames a chunk is over.
//
// Speech ends with the first logit above the threshold, not counting the first frames, whose logits mean nothing. From there on a
// few more frames sound. If that would reach the limit, the limit counts and the speech did not end by itself.
type ending struct {
	threshold float64
	minFrames int // frames whose logit is ignored
	after     int // frames that still sound, counted from the one whose logit was seen
	maxFrames int

	seen bool
	stop int // frames in all, once seen
}

// newEnding returns the rule for a chunk of so many tokens and words.
func newEnding(m *bundle.Manifest, tokens, words int) ending {
	after := m.Sampling.FramesAfterEOS
	if words <= m.Sampling.ShortWords {
		after = m.Sampling.FramesAfterEOSShort
	}
	return ending{threshold: m.Sampling.EOSThreshold, minFrames: m.Sampling.MinFrames, after: after, maxFrames: m.Limits.MaxFrames(tokens)}
}

// observe takes the logit of a frame, counted from 0.
func (e *ending) observe(frame int, logit float32) {
	if !e.seen && frame >= e.minFrames && float64(logit) > e.threshold {
		e.seen, e.stop = true, frame+e.after
	}
}

// over reports whether a chunk is over after so many frames, and whether it ended by itself.
func (e *ending) over(frames int) (done, eos bool) {
	if e.seen && e.stop < e.maxFrames {
		done = frames >= e.stop
		return done, done
	}
	return frames >= e.maxFrames, false
}
