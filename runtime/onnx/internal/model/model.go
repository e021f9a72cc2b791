// Package model runs the graphs of a bundle. They are the language model with its flow and the codec; it also
// prepares text and detects the end of speech. It does not know who waits for what; the engine decides that, and the
// check of golden vectors needs no engine.
package model

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/codec"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// Model is a loaded bundle: graphs, weights and voices, which all streams share. It is safe for concurrent use.
type Model struct {
	Manifest bundle.Manifest // as it was when the model was loaded; not to be changed
	voices   *voices
	language *languageModel
	codec    sharedCodec
	// positions of a stream: those of the longest prompt that the bundle has room for, and the longest chunk
	capacity int
	slots    int // of each cache

	freeEmbedding func() error

	mu     sync.Mutex
	caches []*KVCache
}

// Open loads the files of the bundle in dir. Products of integers must be exact on this processor, and all of them
// our own.
func Open(dir string, manifest bundle.Manifest, slots int) (*Model, error) {
	if manifest.Precision == bundle.Int8 {
		if err := ort.CheckIntegers(); err != nil {
			return nil, err
		}
	}
	return open(dir, manifest, slots, manifest.Precision == bundle.Int8,
		func(file []byte, inputs, outputs []string) (*ort.Session, error) {
			s, err := ort.Open(file, inputs, outputs)
			if err != nil {
				return nil, err
			}
			if err := checkProducts(s.Products(), manifest.Precision); err != nil {
				return nil, errors.Join(err, s.Close())
			}
			return s, nil
		})
}

// checkProducts refuses a graph whose products of integers are not those that we have written: they would be slow,
// and others than promised.
func checkProducts(p ort.Products, precision string) error {
	switch {
	case precision == bundle.Int8 && p.Own == 0:
		return errors.New("none of its products of integers is written as this program expects them: convert the model again")
	case p.Others > 0:
		return fmt.Errorf("%d of its %d products of integers are not written as this program expects them: convert the model again",
			p.Others, p.Own+p.Others)
	}
	return nil
}

// OpenInFloats loads a bundle as [Open] does, but computes without rounding rows to integers, for comparing.
func OpenInFloats(dir string, manifest bundle.Manifest) (*Model, error) {
	return open(dir, manifest, 1, false, ort.OpenInFloats)
}

// opener loads a graph.
type opener func(file []byte, inputs, outputs []string) (*ort.Session, error)

func open(dir string, manifest bundle.Manifest, slots int, own bool, openGraph opener) (_ *Model, err error) {
	m := &Model{Manifest: manifest, voices: &voices{}, capacity: manifest.Limits.Positions, slots: slots}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if err := ort.AtLeast(manifest.MinRuntime); err != nil {
		return nil, err
	}
	for _, v := range manifest.Voices {
		if err := m.LoadVoice(dir, v.Name, v); err != nil {
			return nil, err
		}
	}
	host, err := readHost(filepath.Join(dir, manifest.Host.File), &manifest)
	if err != nil {
		return nil, err
	}
	if host.Embedding, m.freeEmbedding, err = moveOut(host.Embedding); err != nil {
		return nil, err
	}
	graphs := map[string][]byte{}
	for name, g := range map[string]bundle.Graph{"language model": manifest.LM, "flow head": manifest.FlowHead,
		"codec": manifest.Codec} {
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
	if m.language,
		err = openLanguageModel(&manifest, openGraph, host, m.voices, take("language model"),
		take("flow head")); err != nil {
		return nil, err
	}
	m.codec, err = openSharedCodec(&manifest, own, openGraph, take("codec"))
	return m, err
}

// openSharedCodec opens the codec from our own kernels or from the graph.
func openSharedCodec(m *bundle.Manifest, own bool, openGraph opener, file []byte) (sharedCodec, error) {
	if !own {
		return openCodec(m, openGraph, file)
	}
	c, err := codec.Open(m, file, ort.ChosenKernel())
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", m.Codec.File.File, err)
	}
	return ownCodec{c}, nil
}

// Codec is that of a bundle, without the rest of it.
type Codec struct{ shared sharedCodec }

// OpenCodec loads the codec of the bundle in dir, as [Open] does.
func OpenCodec(dir string, m *bundle.Manifest) (*Codec, error) {
	file, err := os.ReadFile(filepath.Join(dir, m.Codec.File.File))
	if err != nil {
		return nil, err
	}
	c, err := openSharedCodec(m, m.Precision == bundle.Int8, ort.Open, file)
	if err != nil {
		return nil, err
	}
	return &Codec{c}, nil
}

// NewDecoder returns a decoder with a state of its own.
func (c *Codec) NewDecoder() (Decoder, error) { return c.shared.newDecoder() }

// Close gives the codec up. Decoders must be closed before.
func (c *Codec) Close() error { return c.shared.close() }

// moveOut moves values that stay long out of the collector's sight: it lets garbage grow as large as what it knows to
// be in use.
func moveOut(values []float32) (kept []float32, free func() error, err error) {
	if kept, free, err = pages(len(values)); err != nil {
		return nil, nil, err
	}
	copy(kept, values)
	return kept, free, nil
}

func readHost(path string, manifest *bundle.Manifest) (bundle.Host, error) {
	t, file, err := safetensors.Open(path)
	if err != nil {
		return bundle.Host{}, err
	}
	defer file.Close()
	return bundle.ReadHost(t, manifest.Dims, manifest.Flow.Steps)
}

// NewDecoder returns a decoder with a state of its own.
func (m *Model) NewDecoder() (Decoder, error) { return m.codec.newDecoder() }

// NewLoneStream returns a stream with a cache of its own, of so many positions.
func (m *Model) NewLoneStream(positions int) (*Stream, error) {
	return m.language.newLoneStream(positions)
}

// Prompt returns the prompt of a voice, nil for one that is unknown. The caller must not change it.
func (m *Model) Prompt(voice string) (prompt *bundle.Prompt) {
	_ = m.voices.use(voice, func(p *bundle.Prompt) error { prompt = p; return nil }) // unknown is nil
	return prompt
}

// NewStream returns a stream that shares a cache with others, so that they can be stepped together.
func (m *Model) NewStream() (*Stream, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.caches {
		if c.hasRoom() {
			return c.newStream()
		}
	}
	c, err := m.language.newKVCache(m.slots, m.capacity)
	if err != nil {
		return nil, err
	}
	m.caches = append(m.caches, c)
	return c.newStream()
}

// Bytes returns the memory of weights and voice prompts, and of a stream with its decoder. The room of a stream
// behind the longest prompt that is loaded takes none until a longer one is.
func (m *Model) Bytes() (weights, prompts, stream int64) {
	const float = 4
	files, d := &m.Manifest, m.Manifest.Dims
	ofCodec, decoder := m.codec.bytes()
	weights = files.LM.Bytes + files.FlowHead.Bytes + ofCodec + files.Host.Bytes
	position := int64(2 * d.Layers * d.Width * float)
	all, longest := m.voices.positions()
	prompts = int64(all) * position
	stream = int64(m.Manifest.Limits.Longest(longest))*position + decoder
	return weights, prompts, stream
}

// Close closes all of it. Streams and decoders must be closed before.
func (m *Model) Close() error {
	var err error
	for _, c := range m.caches {
		err = errors.Join(err, c.close())
	}
	if m.language != nil {
		err = errors.Join(err, m.language.close())
	}
	if m.codec != nil {
		err = errors.Join(err, m.codec.close())
	}
	if m.freeEmbedding != nil {
		err = errors.Join(err, m.freeEmbedding())
	}
	return errors.Join(err, m.voices.close())
}
