package onnx

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
)

// lm is the language model with its flow head: what all streams share. It is safe for concurrent use.
type lm struct {
	dims     bundle.Dims
	steps    int // of the flow
	host     bundle.Host
	lm, flow *ort.Session
}

// openLM loads the two graphs.
func openLM(m *bundle.Manifest, host bundle.Host, lmGraph, flowGraph []byte) (*lm, error) {
	names := func(values []bundle.Value) []string {
		var list []string
		for _, v := range values {
			list = append(list, v.Name)
		}
		return list
	}
	l := &lm{dims: m.Dims, steps: m.Flow.Steps, host: host}
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

// stream is one sequence of voice, text and frames. It owns its keys and values, which the graph extends in place. It is not safe
// for concurrent use.
type stream struct {
	lm       *lm
	capacity int         // positions
	length   int         // positions in use
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
		return nil, errors.Join(err, s.close())
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

func (s *stream) close() error {
	var err error
	for _, t := range s.tensors {
		err = errors.Join(err, t.Close())
	}
	for _, t := range s.times {
		err = errors.Join(err, t.Close())
	}
	return err
}

// begin forgets everything and starts behind a voice prompt.
func (s *stream) begin(p *bundle.Prompt) error {
	s.length = 0
	for i := range p.K {
		for j, from := range [][]float32{p.K[i], p.V[i]} {
			if err := s.write(2*i+j, from, 0, p.Positions); err != nil {
				return err
			}
		}
	}
	s.length = p.Positions
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

// prefill reads the tokens and the start row in one run, which leaves h and eos of frame 0. It is always one run, because rows
// that are read in another grouping come out a little different. Call draw for the latent.
func (s *stream) prefill(ctx context.Context, tokens []int32) error {
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

// step reads the latent before and draws the next one, starting from noise.
func (s *stream) step(noise []float32) error {
	s.lm.host.Row(s.row, s.latent)
	copy(s.noise, noise)
	// No context: a step is shorter than the time in which a cancel must take effect.
	if err := s.run(context.Background(), s.tensors["rows"], 1); err != nil {
		return err
	}
	if s.lm.steps == 1 {
		return nil
	}
	return s.draw(noise)
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

// draw moves noise along the flow of h to the latent.
func (s *stream) draw(noise []float32) error {
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
