// Package speech is the vocabulary of the service. It defines utterances, voices, chunks and frames, the events of
// speaking, and the reasons for refusals. Every other package speaks in these words; this one imports none of them.
package speech

import "time"

// The shape of all audio: 24 kHz, mono, signed 16 bit. A frame is the unit of decoding, cancelling and billing.
const (
	SampleRate    = 24000                 // samples per second
	FrameSamples  = 1920                  // samples in one frame
	FrameBytes    = 2 * FrameSamples      // bytes of one frame as pcm16
	FrameDuration = 80 * time.Millisecond // how long one frame sounds
)

// What one request may ask for.
const (
	MaxChars         = 4000              // code points of text after trimming
	MaxChunks        = 64                // chunks of one utterance
	MaxChunkTokens   = 50                // engine tokens of one chunk
	MaxTemperature   = 2.0               // inclusive
	MaxRequestID     = 128               // visible ASCII characters
	UtteranceTimeout = 120 * time.Second // wall clock, end to end
)

// What a client gets that leaves a field out.
const (
	DefaultVoice       = "anjura"
	DefaultFormat      = WAV
	DefaultTemperature = 0.3
)

// Seconds returns how long frames sound, in seconds, exactly.
func Seconds(frames int) float64 { return float64(frames*FrameSamples) / SampleRate }
