// Package prosody predicts the prosody of a text. It runs the two graphs of a bundle that turn phoneme ids and a
// style into durations, and into pitch and energy over time.
package prosody

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
)

// Prosody is what the vocoder speaks from. It belongs to the caller.
type Prosody struct {
	Durations []int     // frames of 25 ms of each id, at least one
	Text      []float32 // [ids][channels]: the features of the text
	F0        []float32 // pitch in Hz, two values a frame; near zero where there is no voice
	N         []float32 // energy, two values a frame
}

// MaxFrames is the most frames that a chunk may last: 102 s, several times what the longest one does.
const MaxFrames = 4096

// The slowest and fastest speech.
const (
	MinSpeed = .5
	MaxSpeed = 2.0
)

// Model is the two graphs of a bundle. It is safe for concurrent use.
type Model struct {
	text, prosody *ort.Session
	channels      int // of the text
	features      int // of an id

	scratch sync.Pool // *scratch
}

// scratch is what a run needs in passing.
type scratch struct {
	durations, text, features, frames []float32
}

// Open loads the graphs of the bundle in dir. ONNX Runtime must be loaded.
func Open(dir string, m bundle.Manifest) (_ *Model, err error) {
	p := &Model{scratch: sync.Pool{New: func() any { return &scratch{} }}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	p.text, err = p.open(dir, m.Text.File, []string{"tokens", "style"}, []string{"durations", "features", "text"})
	if err != nil {
		return nil, err
	}
	p.prosody, err = p.open(dir, m.Prosody.File, []string{"frames", "style"}, []string{"pitch", "energy"})
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what loading needed in passing is as much as what stays
	ort.Trim()
	return p, nil
}

// The sizes of a graph that are believed.
const maxWidth = 1 << 14

func (p *Model) open(dir, name string, inputs, outputs []string) (*ort.Session, error) {
	file, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	s, err := graph.ReadSignature(file)
	if err == nil {
		err = p.readSizes(s, inputs, outputs)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of the bundle: %w: convert the model again", name, err)
	}
	session, err := ort.Open(file, inputs, outputs)
	if err != nil {
		return nil, fmt.Errorf("%s of the bundle: %w", name, err)
	}
	return session, nil
}

func (p *Model) readSizes(s graph.Signature, inputs, outputs []string) error {
	for _, name := range inputs {
		if _, ok := s.Input(name); !ok {
			return fmt.Errorf("the graph has no input %s", name)
		}
	}
	for _, name := range outputs {
		o, ok := s.Output(name)
		if !ok {
			return fmt.Errorf("the graph has no output %s", name)
		}
		var size int
		switch {
		case name == "features" && len(o.Shape) == 3:
			size, p.features = o.Shape[2], o.Shape[2]
		case name == "text" && len(o.Shape) == 3:
			size, p.channels = o.Shape[1], o.Shape[1]
		default:
			continue
		}
		if size < 1 || size > maxWidth {
			return fmt.Errorf("the output %v has no size", o)
		}
	}
	if in, ok := s.Input("frames"); ok && (len(in.Shape) != 3 || in.Shape[2] != p.features) {
		return fmt.Errorf("the input %v is not of the %d features of the text", in, p.features)
	}
	return nil
}

// Close releases the graphs. No run may be under way.
func (p *Model) Close() error {
	var err error
	for _, s := range []*ort.Session{p.text, p.prosody} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// Channels returns how many features of the text each id has in [Prosody].
func (p *Model) Channels() int { return p.channels }

// Run makes the prosody of ids, those of the pauses around them included, in a style of a voice. Speech takes as long
// as at speed 1, divided by speed. Cancelling ctx ends it early with the cause of ctx.
func (p *Model) Run(ctx context.Context, ids []int64, style []float32, speed float64) (Prosody, error) {
	switch {
	case len(ids) == 0 || len(ids) > bundle.MaxTokens:
		return Prosody{}, fmt.Errorf("there are %d ids of phonemes, want 1 to %d", len(ids), bundle.MaxTokens)
	case len(style) != bundle.StyleSize:
		return Prosody{}, fmt.Errorf("the style has %d values, want %d", len(style), bundle.StyleSize)
	case !(speed >= MinSpeed && speed <= MaxSpeed):
		return Prosody{}, fmt.Errorf("speed is %g, want %g to %g", speed, MinSpeed, MaxSpeed)
	}
	for _, id := range ids {
		if id < 0 || id >= bundle.Vocabulary {
			return Prosody{}, fmt.Errorf("the id %d of a phoneme is not in a vocabulary of %d", id, bundle.Vocabulary)
		}
	}
	b := p.scratch.Get().(*scratch)
	defer p.scratch.Put(b)
	if err := p.runText(ctx, b, ids, style); err != nil {
		return Prosody{}, err
	}
	durations, total := Durations(b.durations, speed)
	if total > MaxFrames {
		return Prosody{}, fmt.Errorf("%d ids would last %d frames of 25 ms, more than %d: split the text", len(ids),
			total, MaxFrames)
	}
	out := Prosody{Durations: durations, Text: rows(b.text, len(ids), p.channels)}
	b.frames = repeat(sized(b.frames, total*p.features)[:0], b.features, durations)
	return out, p.runProsody(ctx, b, &out, style, total)
}

func (p *Model) runText(ctx context.Context, b *scratch, ids []int64, style []float32) error {
	n := len(ids)
	b.durations, b.text = sized(b.durations, n), sized(b.text, n*p.channels)
	b.features = sized(b.features, n*p.features)
	tokens, err := ort.Int64s(ids, 1, n)
	if err != nil {
		return err
	}
	return run(ctx, p.text, []*ort.Tensor{tokens}, [][]float32{style}, [][]int{{1, bundle.StyleSize}},
		[][]float32{b.durations, b.features, b.text}, [][]int{{1, n}, {1, n, p.features}, {1, p.channels, n}})
}

func (p *Model) runProsody(ctx context.Context, b *scratch, out *Prosody, style []float32, frames int) error {
	out.F0, out.N = make([]float32, 2*frames), make([]float32, 2*frames)
	return run(ctx, p.prosody, nil, [][]float32{b.frames, style},
		[][]int{{1, frames, p.features}, {1, bundle.StyleSize}},
		[][]float32{out.F0, out.N}, [][]int{{1, 2 * frames}, {1, 2 * frames}})
}

// run runs a graph on the inputs that are there, and those in floats of the given shapes, which follow. It closes them.
func run(ctx context.Context, s *ort.Session, inputs []*ort.Tensor, in [][]float32, inShapes [][]int,
	out [][]float32, outShapes [][]int,
) (err error) {
	var outputs []*ort.Tensor
	defer func() {
		for _, t := range append(inputs, outputs...) {
			err = errors.Join(err, t.Close())
		}
	}()
	for i, values := range in {
		t, err := ort.Floats(values, inShapes[i]...)
		if err != nil {
			return err
		}
		inputs = append(inputs, t)
	}
	for i, values := range out {
		t, err := ort.Floats(values, outShapes[i]...)
		if err != nil {
			return err
		}
		outputs = append(outputs, t)
	}
	return s.Run(ctx, inputs, outputs)
}

// Durations returns how many frames each id lasts, at least one, and the sum. predicted are the frames of each id at
// speed 1, with their fractions.
//
// At speed 1 each is rounded by itself, to even, as the model was trained. At other speeds the end of each id is where
// it is at speed 1, divided by speed and rounded, so that roundings do not add up and speech as a whole takes as long
// as it should. An id that would get no frame takes one of those that follow. The first id, the silence in front, lasts
// what it does at speed 1: the model makes half a second of silence however many frames there are for it, and speech
// would begin within what is cut off.
func Durations(predicted []float32, speed float64) (frames []int, total int) {
	frames = make([]int, len(predicted))
	normal := 0 // frames at speed 1, without the first id
	for i, d := range predicted {
		if d >= 1 { // not so for what is not a number
			normal += int(math.RoundToEven(min(float64(d), MaxFrames)))
		} else {
			normal++
		}
		if i == 0 {
			frames[0], total, normal = normal, normal, 0
			continue
		}
		end := max(frames[0]+int(math.RoundToEven(float64(normal)/speed)), total+1)
		frames[i], total = end-total, end
	}
	return frames, total
}

// repeat appends each row of features as often as it has frames.
func repeat(to, features []float32, durations []int) []float32 {
	width := len(features) / len(durations)
	for i, n := range durations {
		for range n {
			to = append(to, features[i*width:(i+1)*width]...)
		}
	}
	return to
}

// rows turns [channels, ids] into [ids, channels].
func rows(values []float32, ids, channels int) []float32 {
	to := make([]float32, len(values))
	for c := range channels {
		for i, v := range values[c*ids : (c+1)*ids] {
			to[i*channels+c] = v
		}
	}
	return to
}

// sized returns a slice of n values, whose content is of no meaning.
func sized(values []float32, n int) []float32 {
	if cap(values) < n {
		return make([]float32, n)
	}
	return values[:n]
}
