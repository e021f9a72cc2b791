package layout

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/internal/ort"
)

// Sequence is one voice, text and frames in the language model. It is not safe for concurrent use.
type Sequence struct {
	model  *Model
	memory *memory
	voice  string
	prompt int // positions of the voice
	length int // positions in use

	h, eos, latent, from, direction []float32

	tensors
	none            struct{ latents, rows *ort.Tensor } // of no positions
	start, fed      *ort.Tensor                         // one latent: the mark of the start, and the one that was drawn
	state           []*ort.Tensor                       // h and eos, what a run of the language model returns
	flowIn, flowOut []*ort.Tensor
}

// snapshot is a stretch of positions with what counts them.
type snapshot struct {
	voice     string
	at, count int
	caches    [][]float32 // by cache: keys of all positions, then values
	h, eos    []float32
}

// NewSequence makes a sequence, which takes two sets of the language model's states: about 100 MB at full size.
func (m *Model) NewSequence() (*Sequence, error) {
	width, latent := m.Manifest.Dims.Width, m.Manifest.Dims.Latent
	memory, err := m.lm.newMemory()
	if err != nil {
		return nil, fmt.Errorf("new sequence: %w", err)
	}
	s := &Sequence{
		model: m, memory: memory,
		h: make([]float32, width), eos: make([]float32, 1),
		latent: make([]float32, latent), from: make([]float32, latent), direction: make([]float32, latent),
	}
	mark := make([]float32, latent)
	fillWith(mark, float32(math.NaN()))
	s.none.latents, s.none.rows = s.floats(nil, 1, 0, latent), s.floats(nil, 1, 0, width)
	s.start, s.fed = s.floats(mark, 1, 1, latent), s.floats(s.latent, 1, 1, latent)
	s.state = []*ort.Tensor{s.floats(s.h, 1, width), s.floats(s.eos, 1, 1)}
	// One step of the flow, from 0 to 1.
	s.flowIn = []*ort.Tensor{s.state[0], s.floats([]float32{0}, 1, 1), s.floats([]float32{1}, 1, 1),
		s.floats(s.from, 1, latent)}
	s.flowOut = []*ort.Tensor{s.floats(s.direction, 1, latent)}
	if s.err != nil {
		return nil, errors.Join(fmt.Errorf("new sequence: %w", s.err), s.Close())
	}
	return s, nil
}

// Begin forgets everything and starts behind the prompt of a voice.
func (s *Sequence) Begin(voice string) error {
	p, ok := s.model.prompts[voice]
	if !ok {
		return fmt.Errorf("no voice %q", voice)
	}
	s.forget()
	s.write(p)
	s.voice, s.prompt = voice, s.length
	return nil
}

// forget empties the sequence. Only what was used is cleared: behind it the caches still hold what they started with,
// in both sets, since every run copies it from one to the other.
func (s *Sequence) forget() {
	for _, i := range s.model.caches {
		spec, values := &s.model.lm.states[i], s.memory.now(i).floats
		row, half := spec.shape[3]*spec.shape[4], len(values)/2
		fillWith(values[:s.length*row], spec.filler())
		fillWith(values[half:half+s.length*row], spec.filler())
	}
	s.voice, s.prompt = "", 0
	s.count(0)
}

// count sets the number of positions in use.
func (s *Sequence) count(n int) {
	for _, i := range s.model.counters {
		s.memory.now(i).ints[0] = int64(n)
	}
	s.length = n
}

// write puts a stretch of positions where it was taken.
func (s *Sequence) write(from *snapshot) {
	for j, i := range s.model.caches {
		spec, values := &s.model.lm.states[i], s.memory.now(i).floats
		row, half := spec.shape[3]*spec.shape[4], len(values)/2
		n := from.count * row
		copy(values[from.at*row:], from.caches[j][:n])
		copy(values[half+from.at*row:], from.caches[j][n:])
	}
	s.count(from.at + from.count)
}

// read copies the positions in use from the given one on.
func (s *Sequence) read(at int) *snapshot {
	p := &snapshot{voice: s.voice, at: at, count: s.length - at}
	for _, i := range s.model.caches {
		spec, values := &s.model.lm.states[i], s.memory.now(i).floats
		row, half := spec.shape[3]*spec.shape[4], len(values)/2
		c := make([]float32, 0, 2*p.count*row)
		c = append(c, values[at*row:s.length*row]...)
		p.caches = append(p.caches, append(c, values[half+at*row:half+s.length*row]...))
	}
	return p
}

func (p *snapshot) bytes() int64 {
	n := len(p.h) + len(p.eos)
	for _, c := range p.caches {
		n += len(c)
	}
	return 4 * int64(n)
}

// Prefill reads the text and then the start row, which leaves h and eos of frame 0. These graphs take text and
// latents in runs of their own, so that it is always the same two.
func (s *Sequence) Prefill(ctx context.Context, tokens []int32) error {
	if len(tokens) == 0 {
		return errors.New("a text without tokens")
	}
	if err := s.room(len(tokens) + 1); err != nil {
		return err
	}
	rows, err := s.model.embed(ctx, tokens)
	if err != nil {
		return err
	}
	if err := s.readRows(ctx, rows); err != nil {
		return err
	}
	return s.run(ctx, s.start, s.none.rows, 1)
}

// readRows reads rows of text or of a voice.
func (s *Sequence) readRows(ctx context.Context, rows []float32) error {
	count := len(rows) / len(s.h)
	t, err := ort.Floats(rows, 1, count, len(s.h))
	if err != nil {
		return err
	}
	return errors.Join(s.run(ctx, s.none.latents, t, count), t.Close())
}

// room reports whether so many more positions fit. The graphs do not check it, they would write over something.
func (s *Sequence) room(count int) error {
	if s.length+count > s.model.Manifest.Limits.Positions {
		return fmt.Errorf("%d positions do not fit the %d that this model was exported with", s.length+count,
			s.model.Manifest.Limits.Positions)
	}
	return nil
}

func (s *Sequence) run(ctx context.Context, latents, rows *ort.Tensor, count int) error {
	if err := s.room(count); err != nil {
		return err
	}
	if err := s.memory.run(ctx, []*ort.Tensor{latents, rows}, s.state); err != nil {
		return err
	}
	s.length += count
	return nil
}

// Save copies what Prefill left behind the voice prompt. It is never changed afterwards and fits every sequence of
// the model.
func (s *Sequence) Save() (snapshot any, bytes int64) {
	p := s.read(s.prompt)
	p.h, p.eos = append(p.h, s.h...), append(p.eos, s.eos...)
	return p, p.bytes()
}

// Restore takes the place of Prefill after Begin with the same voice.
func (s *Sequence) Restore(saved any) error {
	p, ok := saved.(*snapshot)
	if !ok || p.voice != s.voice || p.at != s.length {
		return errors.New("what was saved does not begin where the voice prompt ends")
	}
	s.write(p)
	copy(s.h, p.h)
	copy(s.eos, p.eos)
	return nil
}

// Draw moves noise along the flow from the present state to Latent.
func (s *Sequence) Draw(noise []float32) error {
	copy(s.from, noise)
	// No context: the flow takes a few milliseconds.
	if err := s.model.flow.session.Run(context.Background(), s.flowIn, s.flowOut); err != nil {
		return fmt.Errorf("drawing a latent: %w", err)
	}
	for i, d := range s.direction {
		s.latent[i] = s.from[i] + d
	}
	return nil
}

// Step reads Latent, then draws the next one from noise.
func (s *Sequence) Step(ctx context.Context, noise []float32) error {
	if err := s.run(ctx, s.fed, s.none.rows, 1); err != nil {
		return err
	}
	return s.Draw(noise)
}

// State returns what the language model said last: its state and the logit of the end of speech. It is valid until
// the next call.
func (s *Sequence) State() (h []float32, eos float32) { return s.h, s.eos[0] }

// Latent returns the normalised latent that was drawn last. It is valid until the next call.
func (s *Sequence) Latent() []float32 { return s.latent }

// Close releases the states.
func (s *Sequence) Close() error { return errors.Join(s.memory.close(), s.close()) }
