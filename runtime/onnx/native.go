package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
)

// model is what the workers of an engine share: graphs, weights and voices. It is safe for concurrent use.
type model interface {
	// open makes what one worker needs.
	open() (sequence, decoder, error)

	// bytes returns the memory of weights and voice prompts, and of what open makes.
	bytes() (weights, prompts, stream int64)

	close() error
}

// native is a model in our own layout.
type native struct {
	manifest bundle.Manifest
	prompts  map[string]*bundle.Prompt // by voice
	lm       *lm
	codec    *codec
	capacity int // positions that a stream needs for the longest prompt and chunk
	slots    int // of each bank

	settled []func() error // what frees the memory of prompts and embedding

	mu    sync.Mutex
	banks []*bank
}

// openNative loads the files of the bundle in dir.
func openNative(dir string, m bundle.Manifest, slots int) (_ *native, err error) {
	n := &native{manifest: m, prompts: map[string]*bundle.Prompt{}, slots: slots}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if err := ort.AtLeast(m.MinRuntime); err != nil {
		return nil, err
	}
	for _, v := range m.Voices {
		p, err := readPrompt(filepath.Join(dir, v.File.File), m.Dims)
		if err != nil {
			return nil, fmt.Errorf("voice %s: %w", v.Name, err)
		}
		if p.Positions != v.PromptFrames {
			return nil, fmt.Errorf("voice %s: %d positions, the manifest says %d", v.Name, p.Positions, v.PromptFrames)
		}
		for i := range p.K {
			if p.K[i], err = n.settle(p.K[i]); err != nil {
				return nil, err
			}
			if p.V[i], err = n.settle(p.V[i]); err != nil {
				return nil, err
			}
		}
		n.prompts[v.Name] = p
		n.capacity = max(n.capacity, p.Positions+m.Limits.MaxTokens+m.Limits.MaxFrames(m.Limits.MaxTokens))
	}
	host, err := readHost(filepath.Join(dir, m.Host.File), &m)
	if err != nil {
		return nil, err
	}
	if host.Embedding, err = n.settle(host.Embedding); err != nil {
		return nil, err
	}
	graphs := map[string][]byte{}
	for name, g := range map[string]bundle.Graph{"language model": m.LM, "flow head": m.FlowHead, "codec": m.Codec} {
		if graphs[name], err = os.ReadFile(filepath.Join(dir, g.File.File)); err != nil {
			return nil, err
		}
		if err := checkContract(graphs[name], g); err != nil {
			return nil, fmt.Errorf("%s, the %s: %w", g.File.File, name, err)
		}
	}
	take := func(name string) []byte { // so that nobody here holds on to a file while a session makes its own of it
		file := graphs[name]
		delete(graphs, name)
		return file
	}
	if n.lm, err = openLM(&m, host, n.prompts, take("language model"), take("flow head")); err != nil {
		return nil, err
	}
	n.codec, err = openCodec(&m, take("codec"))
	return n, err
}

// settle moves values that stay as long as the model out of the collector's sight: it lets garbage grow as large as what it knows to
// be in use.
func (n *native) settle(values []float32) ([]float32, error) {
	kept, free, err := pages(len(values))
	if err != nil {
		return nil, err
	}
	n.settled = append(n.settled, free)
	copy(kept, values)
	return kept, nil
}

func readPrompt(path string, d bundle.Dims) (*bundle.Prompt, error) {
	t, file, err := bundle.OpenTensors(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := bundle.ReadPrompt(t, d)
	return &p, err
}

func readHost(path string, m *bundle.Manifest) (bundle.Host, error) {
	t, file, err := bundle.OpenTensors(path)
	if err != nil {
		return bundle.Host{}, err
	}
	defer file.Close()
	return bundle.ReadHost(t, m.Dims, m.Flow.Steps)
}

// open implements [model]. Streams share banks, so that they can be stepped together.
func (n *native) open() (sequence, decoder, error) {
	s, err := n.newStream()
	if err != nil {
		return nil, nil, err
	}
	d, err := n.codec.newStream()
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, d, nil
}

func (n *native) newStream() (*stream, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range n.banks {
		if b.room() {
			return b.newStream()
		}
	}
	b, err := n.lm.newBank(n.slots, n.capacity)
	if err != nil {
		return nil, err
	}
	n.banks = append(n.banks, b)
	return b.newStream()
}

// bytes implements [model].
func (n *native) bytes() (weights, prompts, stream int64) {
	const float = 4
	m, d := &n.manifest, n.manifest.Dims
	weights = m.LM.Bytes + m.FlowHead.Bytes + m.Codec.Bytes + m.Host.Bytes
	position := int64(2 * d.Layers * d.Width * float)
	for _, p := range n.prompts {
		prompts += int64(p.Positions) * position
	}
	stream = int64(n.capacity) * position
	for _, s := range m.Codec.States {
		size := int64(float)
		for _, dim := range s.Shape {
			size *= int64(dim)
		}
		stream += size
	}
	return weights, prompts, stream
}

// close implements [model].
func (n *native) close() error {
	var err error
	for _, b := range n.banks {
		err = errors.Join(err, b.close())
	}
	if n.lm != nil {
		err = errors.Join(err, n.lm.close())
	}
	if n.codec != nil {
		err = errors.Join(err, n.codec.close())
	}
	for _, free := range n.settled {
		err = errors.Join(err, free())
	}
	return err
}
