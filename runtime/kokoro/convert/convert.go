// Package convert makes Kokoro bundles. It reads the published model and voices, cuts the model into the parts that
// the engine runs, and writes them in the form that package bundle reads.
package convert

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/swar-tts/swar/runtime/internal/folder"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// Conversion says what to make a bundle of.
type Conversion struct {
	Model  string  // ONNX export: kokoro-v1.0.int8.onnx, or one in floats with the same names of nodes
	Voices []Voice // in the order of the manifest; the first is the default

	ID, Revision, Licence string
	Languages             []string

	// Measure returns the statistics of the vocoder's norms for a voice that has none: of all [Norms], over speech of
	// the voice. dir is the bundle as far as it is made: the files of m.Text, m.Prosody and m.Vocoder are there, no
	// voice is. report says how much of the speech is done.
	Measure func(ctx context.Context, dir string, m bundle.Manifest, v Voice, styles []float32,
		report func(done, total int)) (map[string]bundle.Norm, error)

	// Progress, if not nil, receives how much is done of the whole, in no particular unit, and what is being done. It
	// is called from the goroutine that called Convert, or that called report. The last call has done == total.
	Progress func(done, total int64, what string)

	sizes sizes // zero means those of the published model
}

// Voice is a voice to convert.
type Voice struct {
	Name     string
	Source   string // its name where it was published, such as hf_beta
	Language string // such as hi-IN+en-IN
	GainDB   float64
	File     string // float32 in little-endian order, [510][1][256]

	Norms map[string]bundle.Norm // of the vocoder; nil means that Measure returns them
}

// maxModel bounds the file of an export. The largest that is published, in floats, has 325 MB.
const maxModel = 1 << 30

// Convert makes a bundle in dir, which must not exist or be empty. The same files make the same bytes.
//
// The bundle appears under its name when it is whole. Until then it grows in a folder beside it, which is removed when
// Convert fails or ctx ends; a process that is killed leaves it, as .NAME.growing-…. Memory stays near three times
// the size of an export in integers, and near twice that of one in floats.
func Convert(ctx context.Context, dir string, c Conversion) (m bundle.Manifest, err error) {
	if c.sizes == (sizes{}) {
		c.sizes = kokoro82M
	}
	w := writer{Conversion: c}
	if err := w.checkVoices(); err != nil {
		return bundle.Manifest{}, err
	}
	w.say("reading " + filepath.Base(c.Model))
	file, err := folder.ReadSmall(c.Model, maxModel)
	if err != nil {
		return bundle.Manifest{}, err
	}
	sum := sha256.Sum256(file)
	s, err := readSource(file)
	if err != nil {
		return bundle.Manifest{}, fmt.Errorf("%s: %w", c.Model, err)
	}
	m = bundle.Manifest{
		Format: bundle.Format, Engine: bundle.Engine, MinRuntime: "1.30.0", Model: bundle.Model{
			ID: c.ID, Revision: c.Revision, Licence: c.Licence, Languages: c.Languages,
			Weights: hex.EncodeToString(sum[:]),
		},
	}
	w.total = work(s)*(1+int64(w.unmeasured())*workOfVoice) + 1
	err = folder.Make(ctx, dir, func(ctx context.Context, growing string) error {
		if err := w.model(ctx, growing, s, &m); err != nil {
			return fmt.Errorf("%s: %w", c.Model, err)
		}
		s, file = nil, nil // room for measuring
		if err := errors.Join(w.voices(ctx, growing, &m), context.Cause(ctx)); err != nil {
			return err
		}
		text, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return err
		}
		_, err = folder.WriteFile(growing, bundle.ManifestFile, append(text, '\n'))
		return err
	})
	if err != nil {
		return bundle.Manifest{}, err
	}
	w.done = w.total
	w.say("done")
	return m, nil
}

// writer makes a bundle.
type writer struct {
	Conversion
	done, total int64
	what        string
}

// workOfVoice is how much more work measuring a voice is than all weights.
const workOfVoice = 3

// work is how much there is to do for the weights: the number of their values.
func work(s *source) int64 {
	n := int64(0)
	for _, node := range s.Nodes {
		for _, in := range node.Inputs {
			if t := s.Tensor(in); t != nil {
				n += int64(t.Size())
			}
		}
	}
	return n
}

func (w *writer) say(what string) {
	w.what = what
	if w.Progress != nil {
		w.Progress(w.done, max(w.total, 1), what)
	}
}

func (w *writer) did(values int) {
	w.done = min(w.done+int64(values), w.total-1)
	w.say(w.what)
}

// unmeasured is how many voices have to be measured.
func (w *writer) unmeasured() int {
	n := 0
	for _, v := range w.Voices {
		if v.Norms == nil {
			n++
		}
	}
	return n
}

// checkVoices finds what is wrong with what is asked for, before the long part of the work.
func (w *writer) checkVoices() error {
	if len(w.Voices) == 0 {
		return errors.New("no voices: name at least one, such as hf_beta.bin")
	}
	for _, v := range w.Voices {
		if v.Norms == nil && w.Measure == nil {
			return fmt.Errorf("voice %s: no statistics of its norms, and nothing measures them", v.Name)
		}
		if v.Norms == nil {
			continue
		}
		if err := w.checkNorms(v.Norms); err != nil {
			return fmt.Errorf("voice %s: %w", v.Name, err)
		}
	}
	return nil
}

func (w *writer) checkNorms(norms map[string]bundle.Norm) error {
	for _, n := range w.sizes.norms() {
		got, ok := norms[n.Name]
		if !ok || len(got.Mean) != n.Channels || len(got.Variance) != n.Channels {
			return fmt.Errorf("the statistics of %s are of %d channels, want %d", n.Name, len(got.Mean), n.Channels)
		}
	}
	if len(norms) != len(w.sizes.norms()) {
		return fmt.Errorf("there are statistics of %d norms, want %d", len(norms), len(w.sizes.norms()))
	}
	return nil
}

// model writes the graphs and the weights of the vocoder.
func (w *writer) model(ctx context.Context, dir string, s *source, m *bundle.Manifest) (err error) {
	w.say("text")
	text, err := textGraph(ctx, s, w.sizes, w.did)
	if err != nil {
		return err
	}
	m.Text, err = folder.CreateFile(dir, "text.onnx", writeTo(text))
	if err != nil {
		return err
	}
	w.say("prosody")
	prosody, err := prosodyGraph(ctx, s, w.sizes, w.did)
	if err != nil {
		return err
	}
	m.Prosody, err = folder.CreateFile(dir, "prosody.onnx", writeTo(prosody))
	if err != nil {
		return err
	}
	w.say("vocoder")
	tensors, err := vocoderWeights(ctx, s, w.sizes, w.did)
	if err != nil {
		return err
	}
	m.Vocoder, err = folder.CreateFile(dir, "vocoder.safetensors", func(to io.Writer) error {
		return safetensors.Write(to, tensors...)
	})
	return err
}

func writeTo(g io.WriterTo) func(io.Writer) error {
	return func(to io.Writer) error { _, err := g.WriteTo(to); return err }
}

// voices writes one voice after the other.
func (w *writer) voices(ctx context.Context, dir string, m *bundle.Manifest) error {
	if err := os.Mkdir(filepath.Join(dir, "voices"), 0o755); err != nil {
		return err
	}
	var names []string
	for _, n := range w.sizes.norms() {
		names = append(names, n.Name)
	}
	each := max(w.total-1-w.done, 0) / int64(max(w.unmeasured(), 1))
	for i, v := range w.Voices {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		w.say("voice " + v.Name)
		p, err := w.voice(ctx, dir, *m, v, each)
		if err != nil {
			return fmt.Errorf("voice %s: %w", v.Name, err)
		}
		name := fmt.Sprintf("voices/%d.safetensors", i) // a voice's name may be anything, a file name may not
		f, err := folder.CreateFile(dir, name, func(to io.Writer) error { return bundle.WriteVoice(to, p, names) })
		if err != nil {
			return err
		}
		m.Voices = append(m.Voices, bundle.Voice{Name: v.Name, Source: v.Source, Language: v.Language,
			GainDB: v.GainDB, File: f})
	}
	if err := m.Check(); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	return nil
}

// voice reads a voice and measures what it lacks, which is so much of the work.
func (w *writer) voice(
	ctx context.Context, dir string, m bundle.Manifest, v Voice, work int64,
) (p bundle.Prompt, err error) {
	if p.Styles, err = readStyles(v.File); err != nil {
		return p, err
	}
	p.Norms = v.Norms
	if p.Norms == nil {
		before := w.done
		p.Norms, err = w.Measure(ctx, dir, m, v, p.Styles, func(done, total int) {
			w.done = before + work*int64(min(done, total))/int64(max(total, 1))
			w.say(w.what)
		})
		w.done = before + work
		if err != nil {
			return p, fmt.Errorf("measuring: %w", err)
		}
		if err := w.checkNorms(p.Norms); err != nil {
			return p, fmt.Errorf("measuring: %w", err)
		}
	}
	return p, p.Check()
}

// readStyles reads a published voice.
func readStyles(path string) ([]float32, error) {
	const size = 4 * bundle.StyleRows * bundle.StyleSize
	data, err := folder.ReadSmall(path, 16<<20)
	if err != nil {
		return nil, err
	}
	if len(data) != size {
		return nil, fmt.Errorf("%s has %d bytes, and a voice of Kokoro has %d: download NAME.bin again", path,
			len(data), size)
	}
	values := make([]float32, 0, size/4)
	for ; len(data) > 0; data = data[4:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return values, nil
}
