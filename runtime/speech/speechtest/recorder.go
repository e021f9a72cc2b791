// Package speechtest tests speakers. It has a sink that checks the order of events, and the suite that every
// [speech.Speaker] passes, local or remote.
package speechtest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/swar-tts/swar/runtime/speech"
)

// Recorder is a sink that keeps everything and fails when the order of events is wrong. The zero value is ready.
type Recorder struct {
	// OnAudio, if set, is called with every block after it was recorded; its error ends the utterance.
	OnAudio func(speech.Audio) error

	Started []speech.Start
	Chunks  []speech.Chunk
	Blocks  []speech.Audio // Data is copied
	Ends    []speech.ChunkEnd
}

// Start implements [speech.Sink].
func (r *Recorder) Start(s speech.Start) error {
	if len(r.Started) != 0 {
		return errors.New("Start came twice")
	}
	r.Started = append(r.Started, s)
	return nil
}

// ChunkStart implements [speech.Sink].
func (r *Recorder) ChunkStart(c speech.Chunk) error {
	if len(r.Started) == 0 || len(r.Ends) != len(r.Chunks) || c.Index != len(r.Chunks) {
		return fmt.Errorf("ChunkStart %d after %d starts, %d chunks and %d ends", c.Index, len(r.Started),
			len(r.Chunks), len(r.Ends))
	}
	r.Chunks = append(r.Chunks, c)
	return nil
}

// Audio implements [speech.Sink].
func (r *Recorder) Audio(a speech.Audio) error {
	if open := len(r.Chunks) - 1; len(r.Ends) != open || a.Chunk != open {
		return fmt.Errorf("audio of chunk %d after %d chunks and %d ends", a.Chunk, len(r.Chunks), len(r.Ends))
	}
	if len(a.Data) == 0 {
		return fmt.Errorf("an empty block of audio in chunk %d", a.Chunk)
	}
	a.Data = append([]byte(nil), a.Data...)
	r.Blocks = append(r.Blocks, a)
	if r.OnAudio != nil {
		return r.OnAudio(a)
	}
	return nil
}

// ChunkEnd implements [speech.Sink].
func (r *Recorder) ChunkEnd(e speech.ChunkEnd) error {
	if len(r.Ends) != len(r.Chunks)-1 || e.Chunk != len(r.Ends) {
		return fmt.Errorf("ChunkEnd %d after %d chunks and %d ends", e.Chunk, len(r.Chunks), len(r.Ends))
	}
	r.Ends = append(r.Ends, e)
	return nil
}

// Bytes returns all audio.
func (r *Recorder) Bytes() []byte {
	var all []byte
	for _, b := range r.Blocks {
		all = append(all, b.Data...)
	}
	return all
}

// PCM returns all audio as samples; the format must have been pcm16.
func (r *Recorder) PCM() []int16 {
	data := r.Bytes()
	pcm := make([]int16, len(data)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return pcm
}

// Frames returns the number of frames that the blocks announce.
func (r *Recorder) Frames() int {
	n := 0
	for _, b := range r.Blocks {
		n += b.Frames
	}
	return n
}
