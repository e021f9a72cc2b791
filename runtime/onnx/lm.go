package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

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
		return nil, fmt.Errorf("loading the language model: %w", err)
	}
	if l.flow, err = ort.Open(flowGraph, names(m.FlowHead.Inputs), names(m.FlowHead.Outputs)); err != nil {
		return nil, errors.Join(fmt.Errorf("loading the flow head: %w", err), l.lm.Close())
	}
	return l, nil
}

func (l *lm) close() error { return errors.Join(l.lm.Close(), l.flow.Close()) }

// stream is a [sequence] on the graphs of the language model. It owns its keys and values, which the graph extends in place.
type stream struct {
	lm       *lm
	capacity int         // positions
	length   int         // positions in use
	text     int         // the first position behind the voice prompt
	kv       [][]float32 // K0, V0, K1, …: [heads, capacity, head_dim]

	// What the last run returned.
	h      []float32 // state after the last row
	eos    []float32 // its logit, one value
	latent []float32 // what was drawn from it

	row, noise     []float32
	lengths, total []int32
	tensors        map[string]*ort.Tensor
	times          []*ort.Tensor // one for each flow step
	inputs         []*ort.Tensor // rows first
	outputs        []*ort.Tensor
}

func (l *lm) newStream(capacity int) (*stream, error) {
	d := l.dims
	s := &stream{
		lm: l, capacity: capacity, h: make([]float32, d.Width), eos: make([]float32, 1), latent: make([]float32, d.Latent),
		row: make([]float32, d.Width), noise: make([]float32, d.Latent), lengths: make([]int32, 1), total: make([]int32, 1),
		tensors: map[string]*ort.Tensor{},
	}
	var err error
	add := func(name string, t *ort.Tensor, e error) {
		s.tensors[name] = t
		err = errors.Join(err, e)
	}
	floats := func(name string, values []float32, shape ...int) {
		t, e := ort.Floats(values, shape...)
		add(name, t, e)
	}
	floats("rows", s.row, 1, 1, d.Width)
	floats("noise", s.noise, 1, d.Latent)
	floats("h", s.h, 1, d.Width)
	floats("eos", s.eos, 1, 1)
	floats("latent", s.latent, 1, d.Latent)
	for name, values := range map[string][]int32{"lengths": s.lengths, "total": s.total} {
		t, e := ort.Int32s(values, 1)
		add(name, t, e)
	}
	for i := range 2 * d.Layers {
		s.kv = append(s.kv, make([]float32, capacity*d.Width))
		floats("KV"[i%2:i%2+1]+strconv.Itoa(i/2), s.kv[i], 1, d.Heads, capacity, d.HeadDim)
	}
	for i := range l.steps {
		t, e := ort.Floats(l.host.Times[i*d.FlowWidth:(i+1)*d.FlowWidth], 1, d.FlowWidth)
		s.times = append(s.times, t)
		err = errors.Join(err, e)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.inputs = []*ort.Tensor{s.tensors["rows"]}
	if l.steps == 1 {
		s.inputs = append(s.inputs, s.tensors["noise"])
	}
	s.inputs = append(s.inputs, s.tensors["lengths"], s.tensors["total"])
	for i := range d.Layers {
		k, v := s.tensors["K"+strconv.Itoa(i)], s.tensors["V"+strconv.Itoa(i)]
		s.inputs, s.outputs = append(s.inputs, k, v), append(s.outputs, k, v)
	}
	if l.steps == 1 {
		s.outputs = append(s.outputs, s.tensors["latent"])
	}
	s.outputs = append(s.outputs, s.tensors["h"], s.tensors["eos"])
	return s, nil
}

func (s *stream) Close() error {
	var err error
	for _, t := range s.tensors {
		err = errors.Join(err, t.Close())
	}
	for _, t := range s.times {
		err = errors.Join(err, t.Close())
	}
	return err
}

// Begin implements [sequence].
func (s *stream) Begin(voice string) error {
	p, ok := s.lm.prompts[voice]
	if !ok {
		return speech.UnknownVoice(voice)
	}
	s.length, s.text = 0, 0
	for i := range p.K {
		for j, from := range [][]float32{p.K[i], p.V[i]} {
			if err := s.write(2*i+j, from, 0, p.Positions); err != nil {
				return err
			}
		}
	}
	s.length, s.text = p.Positions, p.Positions
	return nil
}

// write puts count positions of all heads at the given position of one of the key or value arrays.
func (s *stream) write(i int, from []float32, at, count int) error {
	if at+count > s.capacity {
		return fmt.Errorf("%d positions do not fit %d", at+count, s.capacity)
	}
	n := s.lm.dims.HeadDim
	for h := range s.lm.dims.Heads {
		copy(s.kv[i][(h*s.capacity+at)*n:], from[h*count*n:(h+1)*count*n])
	}
	return nil
}

// read copies positions from the given one on, as write takes them.
func (s *stream) read(i, at, count int) []float32 {
	n := s.lm.dims.HeadDim
	to := make([]float32, 0, s.lm.dims.Heads*count*n)
	for h := range s.lm.dims.Heads {
		from := (h*s.capacity + at) * n
		to = append(to, s.kv[i][from:from+count*n]...)
	}
	return to
}

// Prefill implements [sequence]. It is always one run, because rows that are read in another grouping come out a little different.
func (s *stream) Prefill(ctx context.Context, tokens []int32) error {
	d := s.lm.dims
	rows := make([]float32, 0, (len(tokens)+1)*d.Width)
	for _, id := range tokens {
		if id < 0 || int(id) >= d.Vocab {
			return fmt.Errorf("token %d of a vocabulary of %d", id, d.Vocab)
		}
		rows = append(rows, s.lm.host.Embedding[int(id)*d.Width:(int(id)+1)*d.Width]...)
	}
	rows = append(rows, s.lm.host.Start...)
	t, err := ort.Floats(rows, 1, len(tokens)+1, d.Width)
	if err != nil {
		return err
	}
	clear(s.noise)
	return errors.Join(s.run(ctx, t, len(tokens)+1), t.Close())
}

// snapshot is what the language model knows after the text of a chunk: the positions behind the voice prompt, and what it said last.
type snapshot struct {
	positions int
	kv        [][]float32 // as in stream
	h         []float32
	eos       float32
}

// Save implements [sequence].
func (s *stream) Save() (any, int64) {
	p := &snapshot{positions: s.length - s.text, h: slices.Clone(s.h), eos: s.eos[0]}
	values := len(p.h) + 1
	for i := range s.kv {
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
	for i, values := range p.kv {
		if err := s.write(i, values, s.length, p.positions); err != nil {
			return err
		}
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

// Step implements [sequence].
func (s *stream) Step(_ context.Context, noise []float32) error {
	s.lm.host.Row(s.row, s.latent)
	copy(s.noise, noise)
	// No context: a step is shorter than the time in which a cancel must take effect.
	if err := s.run(context.Background(), s.tensors["rows"], 1); err != nil {
		return err
	}
	if s.lm.steps == 1 {
		return nil
	}
	return s.Draw(noise)
}

func (s *stream) run(ctx context.Context, rows *ort.Tensor, count int) error {
	if s.length+count > s.capacity {
		return fmt.Errorf("%d positions do not fit %d", s.length+count, s.capacity)
	}
	s.lengths[0], s.total[0] = int32(s.length+count-1), int32(s.length+count)
	s.inputs[0] = rows
	if err := s.lm.lm.Run(ctx, s.inputs, s.outputs); err != nil {
		return err
	}
	s.length += count
	return nil
}

// Draw implements [sequence].
func (s *stream) Draw(noise []float32) error {
	copy(s.latent, noise)
	for _, t := range s.times {
		copy(s.noise, s.latent)
		err := s.lm.flow.Run(context.Background(), []*ort.Tensor{s.tensors["h"], s.tensors["noise"], t}, []*ort.Tensor{s.tensors["latent"]})
		if err != nil {
			return err
		}
	}
	return nil
}
