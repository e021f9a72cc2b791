package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
	"github.com/swar-tts/swar/runtime/speech"
)

// lm is the language model with its flow head: what all streams share. It is safe for concurrent use.
type lm struct {
	dims     bundle.Dims
	steps    int // of the flow
	host     bundle.Host
	prompts  map[string]*bundle.Prompt // by voice
	lm, flow *ort.Session
	times    []*ort.Tensor // one for each flow step
}

// openLM loads the two graphs.
func openLM(m *bundle.Manifest, host bundle.Host, prompts map[string]*bundle.Prompt, lmGraph, flowGraph []byte) (*lm, error) {
	names := func(values []bundle.Value) []string {
		var list []string
		for _, v := range values {
			list = append(list, v.Name)
		}
		return list
	}
	l := &lm{dims: m.Dims, steps: m.Flow.Steps, host: host, prompts: prompts}
	var err error
	if l.lm, err = ort.Open(lmGraph, names(m.LM.Inputs), names(m.LM.Outputs)); err != nil {
		return nil, fmt.Errorf("loading %s: %w", m.LM.File.File, err)
	}
	if l.flow, err = ort.Open(flowGraph, names(m.FlowHead.Inputs), names(m.FlowHead.Outputs)); err != nil {
		return nil, errors.Join(fmt.Errorf("loading %s: %w", m.FlowHead.File.File, err), l.close())
	}
	for i := range l.steps {
		t, err := ort.Floats(host.Times[i*m.Dims.FlowWidth:(i+1)*m.Dims.FlowWidth], 1, m.Dims.FlowWidth)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the flow's times: %w", err), l.close())
		}
		l.times = append(l.times, t)
	}
	return l, nil
}

func (l *lm) close() error {
	var err error
	for _, t := range l.times {
		err = errors.Join(err, t.Close())
	}
	for _, s := range []*ort.Session{l.lm, l.flow} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// draw moves noise along the flow of h to latent. The tensors are those of h, noise and latent; noise is overwritten.
func (l *lm) draw(tensors []*ort.Tensor, noise, latent []float32) error {
	for i, t := range l.times {
		if i > 0 {
			copy(noise, latent)
		}
		if err := l.flow.Run(context.Background(), []*ort.Tensor{tensors[0], tensors[1], t}, tensors[2:]); err != nil {
			return err
		}
	}
	return nil
}

// stream is a [sequence] on the graphs of the language model. Its keys and values lie in a slot of a bank, from Begin until Rest.
type stream struct {
	lm     *lm
	bank   *bank
	alone  bool      // in a bank of its own
	slot   int       // -1 for none
	length int       // positions in use
	text   int       // the first position behind the voice prompt
	term   []float32 // the embedding of the voice: [bundle.Prompt]

	// What the last run returned, and the noise that the next one starts from.
	h      []float32 // state after the last row
	eos    []float32 // its logit, one value
	latent []float32 // what was drawn from it
	noise  []float32
	flow   []*ort.Tensor // h, noise, latent
}

// newStream returns a stream in a bank of its own, which it closes.
func (l *lm) newStream(capacity int) (*stream, error) {
	b, err := l.newBank(1, capacity)
	if err != nil {
		return nil, err
	}
	s, err := b.newStream()
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	s.alone = true
	return s, nil
}

// newStream returns a stream that takes its slots from b, which must have room.
func (b *bank) newStream() (*stream, error) {
	d := b.lm.dims
	b.join()
	s := &stream{
		lm: b.lm, bank: b, slot: -1,
		h: make([]float32, d.Width), eos: make([]float32, 1), latent: make([]float32, d.Latent), noise: make([]float32, d.Latent),
	}
	for _, values := range [][]float32{s.h, s.noise, s.latent} {
		t, err := ort.Floats(values, 1, len(values))
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.flow = append(s.flow, t)
	}
	return s, nil
}

// Close implements [sequence].
func (s *stream) Close() error {
	s.Rest()
	s.bank.leave()
	var err error
	for _, t := range s.flow {
		err = errors.Join(err, t.Close())
	}
	if s.alone {
		err = errors.Join(err, s.bank.close())
	}
	return err
}

// Rest says that nothing more is to be drawn until Begin.
func (s *stream) Rest() {
	if s.slot >= 0 {
		s.bank.rest(s.slot)
		s.slot = -1
	}
}

// Begin implements [sequence].
func (s *stream) Begin(voice string) error {
	p, ok := s.lm.prompts[voice]
	if !ok {
		return speech.UnknownVoice(voice)
	}
	s.Rest()
	s.length = 0
	if err := s.room(p.Positions); err != nil {
		return err
	}
	s.slot = s.bank.hold(s)
	defer s.bank.settle(s.slot)
	for i := range p.K {
		s.write(2*i, p.K[i], 0, p.Positions)
		s.write(2*i+1, p.V[i], 0, p.Positions)
	}
	s.length, s.text, s.term = p.Positions, p.Positions, p.VoiceEmbedding
	return nil
}

// room refuses what would not fit behind what is there: the graph would write over the end.
func (s *stream) room(positions int) error {
	if s.length+positions > s.bank.capacity {
		return fmt.Errorf("%d positions do not fit %d", s.length+positions, s.bank.capacity)
	}
	return nil
}

// write puts count positions of all heads at the given position of one of the key or value arrays.
func (s *stream) write(i int, from []float32, at, count int) {
	n := s.lm.dims.HeadDim
	for h := range s.lm.dims.Heads {
		copy(s.kv(i)[(h*s.bank.capacity+at)*n:], from[h*count*n:(h+1)*count*n])
	}
}

// read copies positions from the given one on, as write takes them.
func (s *stream) read(i, at, count int) []float32 {
	n := s.lm.dims.HeadDim
	to := make([]float32, 0, s.lm.dims.Heads*count*n)
	for h := range s.lm.dims.Heads {
		from := (h*s.bank.capacity + at) * n
		to = append(to, s.kv(i)[from:from+count*n]...)
	}
	return to
}

// kv returns one of the key or value arrays of the slot: [heads, capacity, head_dim].
func (s *stream) kv(i int) []float32 {
	size := s.bank.capacity * s.lm.dims.Width
	return s.bank.kv[i][s.slot*size : (s.slot+1)*size]
}

// Prefill implements [sequence]. It is always one run, because rows that are read in another grouping come out a little different.
func (s *stream) Prefill(ctx context.Context, tokens []int32) error {
	d, count := s.lm.dims, len(tokens)+1
	if err := s.room(count); err != nil {
		return err
	}
	rows := make([]float32, 0, count*d.Width)
	for _, id := range tokens {
		if id < 0 || int(id) >= d.Vocab {
			return fmt.Errorf("token %d of a vocabulary of %d", id, d.Vocab)
		}
		rows = append(rows, s.lm.host.Embedding[int(id)*d.Width:(int(id)+1)*d.Width]...)
	}
	rows = append(rows, s.lm.host.Start...)
	s.addTerm(rows[len(rows)-d.Width:])
	t, err := ort.Floats(rows, 1, count, d.Width)
	if err != nil {
		return err
	}
	return errors.Join(s.prefill(ctx, t, count), t.Close())
}

func (s *stream) prefill(ctx context.Context, rows *ort.Tensor, count int) error {
	if err := s.claim(); err != nil {
		return err
	}
	defer s.bank.settle(s.slot)
	v, err := s.bank.view(s.slot, 1)
	if err != nil {
		return err
	}
	inputs := append([]*ort.Tensor{rows}, v.inputs[1:]...)
	v.lengths[0], v.total[0] = int32(s.length+count-1), int32(s.length+count)
	clear(v.noise)
	if err := s.lm.lm.Run(ctx, inputs, v.outputs); err != nil {
		return err
	}
	s.length += count
	copy(s.h, v.h)
	s.eos[0] = v.eos[0]
	return nil
}

// addTerm adds to a row of audio what belongs to the voice.
func (s *stream) addTerm(row []float32) {
	for i, v := range s.term {
		row[i] += v
	}
}

// claim makes the stream's own slot busy, until settle.
func (s *stream) claim() error {
	if s.slot < 0 {
		return errors.New("no voice: Begin comes first")
	}
	s.bank.claim(s.slot)
	return nil
}

// snapshot is what the language model knows after the text of a chunk: the positions behind the voice prompt, and what it said last.
type snapshot struct {
	positions int
	kv        [][]float32 // as in bank, of one slot
	h         []float32
	eos       float32
}

// Save implements [sequence].
func (s *stream) Save() (any, int64) {
	p := &snapshot{positions: s.length - s.text, h: slices.Clone(s.h), eos: s.eos[0]}
	values := len(p.h) + 1
	for i := range s.bank.kv {
		p.kv = append(p.kv, s.read(i, s.text, p.positions))
		values += len(p.kv[i])
	}
	return p, int64(4 * values)
}

// Restore implements [sequence].
func (s *stream) Restore(saved any) error {
	p, ok := saved.(*snapshot)
	if !ok {
		return fmt.Errorf("restoring a %T", saved)
	}
	if err := s.room(p.positions); err != nil {
		return err
	}
	if err := s.claim(); err != nil {
		return err
	}
	defer s.bank.settle(s.slot)
	for i, values := range p.kv {
		s.write(i, values, s.length, p.positions)
	}
	s.length += p.positions
	copy(s.h, p.h)
	s.eos[0] = p.eos
	return nil
}

// State implements [sequence].
func (s *stream) State() (h []float32, eos float32) { return s.h, s.eos[0] }

// Latent implements [sequence].
func (s *stream) Latent() []float32 { return s.latent }

// Step implements [sequence]. The scheduler steps several streams at once instead, see [bank.reserve].
func (s *stream) Step(_ context.Context, noise []float32) error {
	copy(s.noise, noise)
	if err := s.claim(); err != nil {
		return err
	}
	defer s.bank.settle(s.slot)
	// No context: a step is shorter than the time in which a cancel must take effect.
	return s.bank.run(s.slot, 1, []*stream{s})
}

// Draw implements [sequence].
func (s *stream) Draw(noise []float32) error {
	copy(s.noise, noise)
	return s.lm.draw(s.flow, s.noise, s.latent)
}
