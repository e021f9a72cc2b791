// Package measure times the graphs of a bundle one by one, without the engine. It measures processor time of a step,
// a prefill and a decode, because wall time on shared machines varies every minute.
package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
)

// RuntimeVersion is the release of ONNX Runtime that the engine is tested with.
const RuntimeVersion = ort.Version

// MaxStreams is the most streams that [Graphs.Step] can step at once.
const MaxStreams = 8

// Position is where steps and readings happen: behind a voice prompt of about 8 s and a text, in the middle of a chunk.
const Position = 200

// Graphs are the graphs of a bundle, ready to run. They are not safe for concurrent use.
type Graphs struct {
	manifest bundle.Manifest
	lm       *ort.Session
	codec    *model.Codec
	kv       map[string][]float32 // of [MaxStreams] streams
	decoders []model.Decoder
	open     []*ort.Tensor // to close
}

// Open loads the bundle in dir. The library is that of ONNX Runtime.
func Open(dir, library string) (*Graphs, error) {
	m, err := bundle.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := ort.Load(library); err != nil {
		return nil, err
	}
	g := &Graphs{manifest: m, kv: map[string][]float32{}}
	data, err := os.ReadFile(filepath.Join(dir, m.LM.File.File))
	if err != nil {
		return nil, err
	}
	if g.lm, err = ort.Open(data, names(m.LM.Inputs), names(m.LM.Outputs)); err != nil {
		return nil, fmt.Errorf("%s: %w", m.LM.File.File, err)
	}
	if g.codec, err = model.OpenCodec(dir, &m); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	draw := rand.New(rand.NewPCG(1, 1))
	for i := range m.Dims.Layers {
		for _, half := range []string{"K", "V"} {
			values := make([]float32, MaxStreams*m.Limits.Positions*m.Dims.Width)
			for j := range values {
				values[j] = draw.Float32() - .5
			}
			g.kv[fmt.Sprint(half, i)] = values
		}
	}
	return g, nil
}

func names(values []bundle.Value) []string {
	var list []string
	for _, v := range values {
		list = append(list, v.Name)
	}
	return list
}

// Close releases the graphs.
func (g *Graphs) Close() error {
	var err error
	for _, d := range g.decoders {
		err = errors.Join(err, d.Close())
	}
	for _, t := range g.open {
		err = errors.Join(err, t.Close())
	}
	if g.codec != nil {
		err = errors.Join(err, g.codec.Close())
	}
	if g.lm != nil {
		err = errors.Join(err, g.lm.Close())
	}
	return err
}

// StepBytes is how many bytes of weights a step reads: all of the language model but its rotation tables.
func (g *Graphs) StepBytes() int64 {
	m := &g.manifest
	return m.LM.Bytes - int64(4*m.Limits.Positions*m.Dims.HeadDim)
}

// Step returns a function that makes one step of so many streams and says how long it took.
func (g *Graphs) Step(streams int) (func() (time.Duration, error), error) {
	return g.language(streams, 1)
}

// Prefill returns a function that reads so many tokens and the start row, and says how long it took.
func (g *Graphs) Prefill(tokens int) (func() (time.Duration, error), error) {
	return g.language(1, tokens+1)
}

func (g *Graphs) language(streams, rows int) (func() (time.Duration, error), error) {
	d := g.manifest.Dims
	if streams < 1 || streams > MaxStreams {
		return nil, fmt.Errorf("%d streams, want 1 to %d", streams, MaxStreams)
	}
	lengths, total := make([]int32, streams), []int32{int32(Position + rows)}
	for i := range lengths {
		lengths[i] = total[0] - 1
	}
	tensors := map[string]*ort.Tensor{}
	var err error
	keep := func(name string, t *ort.Tensor, e error) {
		tensors[name], g.open, err = t, append(g.open, t), errors.Join(err, e)
	}
	floats := func(name string, values []float32, shape ...int) {
		t, e := ort.Floats(values, shape...)
		keep(name, t, e)
	}
	floats("rows", random(streams*rows*d.Width), streams, rows, d.Width)
	floats("noise", random(streams*d.Latent), streams, d.Latent)
	floats("latent", make([]float32, streams*d.Latent), streams, d.Latent)
	floats("h", make([]float32, streams*d.Width), streams, d.Width)
	floats("eos", make([]float32, streams), streams, 1)
	for name, values := range map[string][]int32{"lengths": lengths, "total": total} {
		t, e := ort.Int32s(values, len(values))
		keep(name, t, e)
	}
	capacity := g.manifest.Limits.Positions
	for name, values := range g.kv {
		floats(name, values[:streams*capacity*d.Width], streams, d.Heads, capacity, d.HeadDim)
	}
	if err != nil {
		return nil, err
	}
	pick := func(values []bundle.Value) ([]*ort.Tensor, error) {
		var list []*ort.Tensor
		for _, v := range values {
			t, ok := tensors[strings.TrimSuffix(v.Name, "_out")]
			if !ok {
				return nil, fmt.Errorf("%s of the language model is unknown", v.Name)
			}
			list = append(list, t)
		}
		return list, nil
	}
	inputs, err := pick(g.manifest.LM.Inputs)
	if err != nil {
		return nil, err
	}
	outputs, err := pick(g.manifest.LM.Outputs)
	if err != nil {
		return nil, err
	}
	return timed(g.lm, inputs, outputs), nil
}

// Decode returns a function that decodes so many frames at once and returns how long it took. It runs in the middle
// of a chunk.
func (g *Graphs) Decode(frames int) (func() (time.Duration, error), error) {
	d, err := g.codec.NewDecoder()
	if err != nil {
		return nil, err
	}
	g.decoders = append(g.decoders, d)
	latents := random(frames * g.manifest.Dims.Latent)
	decode := func() error {
		_, err := d.Decode(latents, frames)
		return err
	}
	d.Begin()
	for range Position / 10 / frames { // until attention sees its whole window
		if err := decode(); err != nil {
			return nil, err
		}
	}
	return clocked(decode), nil
}

func random(n int) []float32 {
	draw := rand.New(rand.NewPCG(uint64(n), 2))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(draw.NormFloat64())
	}
	return values
}

func timed(s *ort.Session, inputs, outputs []*ort.Tensor) func() (time.Duration, error) {
	return clocked(func() error { return s.Run(context.Background(), inputs, outputs) })
}

// clocked returns a function that runs another one and says how long that took.
func clocked(run func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before := Thread()
		err := run()
		return Thread() - before, err
	}
}
