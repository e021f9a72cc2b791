package speech

import "time"

// Sink receives speech events from one goroutine, in this order. Start, then for each chunk ChunkStart, Audio (any
// number), ChunkEnd. A Sink that returns an error ends the utterance; Speak returns that error.
type Sink interface {
	Start(Start) error
	ChunkStart(Chunk) error
	Audio(Audio) error
	ChunkEnd(ChunkEnd) error
}

// Start says that a worker was assigned.
type Start struct {
	Model      string
	Voice      string
	Format     Format
	Seed       int64
	Chunks     int
	Normalized string        // exactly what will be spoken
	Disclosure string        // see [Normalized]
	Unspoken   string        // see [Normalized]
	WordTimes  bool          // each ChunkEnd has Words: they were asked for, and who speaks can tell
	Normalize  time.Duration // time spent normalising and splitting
	Queue      time.Duration // time spent waiting for a worker
}

// Audio is a block of encoded audio, ready to be sent. The first block has one frame, later ones up to four.
type Audio struct {
	Chunk  int
	Frames int    // frames that Data adds; 0 for a closing block that only ends the container
	Data   []byte // owned by the speaker; valid until the call returns

	// On the first block of the utterance only: how the time since the worker was assigned was spent.
	Prefill    time.Duration
	FirstFrame time.Duration
}

// ChunkEnd says that a chunk is finished.
type ChunkEnd struct {
	Chunk         int
	Frames        int
	Prefill       time.Duration
	PrefillCached bool
	EOS           bool // false when the chunk was cut at its frame limit instead of ending by itself

	// Words are those of the chunk, as [Start.WordTimes] says. There are none where nothing can be told: the chunk is
	// silent, or was cut.
	Words      []Word
	ExactWords bool // their times are the model's own; otherwise they are estimates
}

// Word is a word of the normalised text, and when it is heard. One that is silent lasts no time.
type Word struct {
	Text       string        // without the marks around it
	CharStart  int           // code point offset in the normalised text
	CharEnd    int           // exclusive
	Start, End time.Duration // in the audio of the utterance
}

// Stats is what one call of Speak did. It is valid, and counts what was produced, also when Speak returns an error.
type Stats struct {
	Started        bool          // a worker was assigned
	Chars          int           // code points of the normalised text
	Chunks         int           // chunks completed
	Frames         int           // frames decoded: the base of billing
	Normalize      time.Duration // normalising and splitting
	Queue          time.Duration // waiting for a worker
	TTFA           time.Duration // worker assigned to first frame decoded; 0 without a frame
	Synth          time.Duration // time the worker computed, without waiting for the reader
	Wall           time.Duration // from the call to its end
	LeadingSilence time.Duration // silence before the first audible sample
	PrefillCached  bool          // of the first chunk
}

// RTF is the synthesis time per second of audio: below 1 is faster than real time; 0 without audio.
func (s Stats) RTF() float64 {
	if s.Frames == 0 {
		return 0
	}
	return s.Synth.Seconds() / Seconds(s.Frames)
}

// Capacity is how much work a speaker can take at this moment.
type Capacity struct {
	Workers    int // configured
	Ready      int // warmed up and alive
	Busy       int // speaking now
	Reserved   int // kept for somebody for a moment
	Queued     int // utterances that wait for a worker
	QueueLimit int
	Draining   bool
}

// AllReady reports whether every worker is warm and new work is welcome.
func (c Capacity) AllReady() bool { return c.Workers > 0 && c.Ready == c.Workers && !c.Draining }

// Readiness is what [Speaker.Ready] says of workers in this process, of which it wants all.
func (c Capacity) Readiness() error {
	switch {
	case c.Draining:
		return ErrDraining
	case !c.AllReady():
		return ErrWarming
	}
	return nil
}
