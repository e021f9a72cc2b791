package layout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/npy"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/safetensors"
	"github.com/swar-tts/swar/runtime/speech"
)

// voiceFiles returns the voices that a folder offers, by name.
//
// Stored voices lie in embeddings, or in languages/LANGUAGE/embeddings as in a download of all languages: beside the
// graphs, or in one of the two folders above. Only the nearest counts, because voices that were made with other
// weights never stop talking. Those in the folder voices, stored or recorded, are added. The recordings that
// sherpa-onnx gives as examples count where there is nothing else.
func voiceFiles(dir, language string) (map[string]string, error) {
	files := map[string]string{}
	add := func(folder, extension string) error {
		entries, err := os.ReadDir(folder)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), extension)
			if _, known := files[name]; ok && !known && name != "" && !e.IsDir() {
				files[name] = filepath.Join(folder, e.Name())
			}
		}
		return err
	}
	var err error
	for _, near := range []string{dir, filepath.Join(dir, ".."), filepath.Join(dir, "..", "..")} {
		err = errors.Join(err, add(filepath.Join(near, "embeddings"), stored))
		if language != "" && filepath.IsLocal(language) {
			err = errors.Join(err, add(filepath.Join(near, "languages", language, "embeddings"), stored))
		}
		if len(files) > 0 {
			break
		}
	}
	for _, extension := range slices.Concat([]string{stored}, recorded) {
		err = errors.Join(err, add(filepath.Join(dir, "voices"), extension))
	}
	if len(files) == 0 {
		err = errors.Join(err, add(filepath.Join(dir, "test_wavs"), recorded[0]))
	}
	if err == nil && len(files) == 0 {
		err = errors.New("no voices: put NAME.safetensors made with this model into embeddings, or a recording such as NAME.wav into voices")
	}
	return files, err
}

// The endings of the files of voices.
const stored = ".safetensors"

var recorded = []string{".wav", ".flac", ".mp3", ".opus", ".ogg", ".m4a"}

// firstForm is the one entry of voices in the form that upstream wrote first: rows that the language model has yet to
// read.
const firstForm = "audio_prompt"

// readVoice reads a stored voice. start is the row before the voice, for the form that lacks it.
func (m *Model) readVoice(path string, start func() ([]float32, error)) (*snapshot, error) {
	t, file, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	read := m.storedVoice
	if _, first := t.Shape(firstForm); first {
		read = func(t *safetensors.Tensors) (*snapshot, error) { return m.storedRows(t, start) }
	}
	p, err := read(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// storedVoice takes the caches of all layers, as far as they were used, out of a stored voice.
func (m *Model) storedVoice(t *safetensors.Tensors) (*snapshot, error) {
	p := &snapshot{}
	known := map[string]bool{}
	for j, i := range m.caches {
		s := &m.lm.states[i]
		n, err := storedPositions(t, moduleOf(s.path), known)
		if err != nil {
			return nil, err
		}
		values, err := t.Floats(s.path, 2, 1, -1, s.shape[3], s.shape[4])
		if err != nil {
			return nil, fmt.Errorf("it was made with another model: %w", err)
		}
		known[s.path] = true
		row, half := s.shape[3]*s.shape[4], len(values)/2
		if n < 1 || n > half/row {
			return nil, fmt.Errorf("%s holds %d positions of %d", s.path, n, half/row)
		}
		if j > 0 && n != p.count {
			return nil, fmt.Errorf("%s has %d positions, the layer before it %d", s.path, n, p.count)
		}
		p.count = n
		used := slices.Concat(values[:n*row], values[half:half+n*row])
		if slices.ContainsFunc(used, broken) {
			return nil, fmt.Errorf("%s holds a value that is not a number", s.path)
		}
		p.caches = append(p.caches, used)
	}
	for _, name := range t.Names() {
		if !known[name] {
			return nil, fmt.Errorf("%s belongs to no layer: it was made with another model", name)
		}
	}
	return p, nil
}

// storedPositions returns how many positions of a layer are in use, and notes which entries say so.
func storedPositions(t *safetensors.Tensors, module string, known map[string]bool) (int, error) {
	n := 0
	for _, key := range []string{"current_end", "step", "offset"} { // the last word counts
		name := module + "/" + key
		shape, ok := t.Shape(name)
		if !ok {
			continue
		}
		known[name] = true
		if key == "current_end" {
			if len(shape) != 1 {
				return 0, fmt.Errorf("%s has shape %v, want a list", name, shape)
			}
			n = shape[0]
			continue
		}
		values, err := t.Ints(name, 1)
		if err != nil {
			return 0, err
		}
		n = int(min(max(values[0], 0), math.MaxInt32))
	}
	pad := module + "/pad"
	if _, ok := t.Shape(pad); !ok {
		return n, nil
	}
	known[pad] = true
	switch values, err := t.Ints(pad, 1); {
	case err != nil:
		return 0, err
	case values[0] != 0:
		return 0, fmt.Errorf("%s is %d, want 0", pad, values[0])
	}
	return n, nil
}

func broken(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }

// storedRows reads the rows of a voice that was stored in the first form.
func (m *Model) storedRows(t *safetensors.Tensors, start func() ([]float32, error)) (*snapshot, error) {
	rows, err := t.Floats(firstForm, 1, -1, m.Manifest.Dims.Width)
	if err != nil {
		return nil, fmt.Errorf("it was made with another model: %w", err)
	}
	before, err := start()
	if err != nil {
		return nil, err
	}
	return m.listen(slices.Concat(before, rows))
}

// openEncoder loads the graph that hears recordings.
func (m *Model) openEncoder(path string) (*network, error) {
	if path == "" {
		return nil, errors.New("the folder has no encoder for recordings: give the voice as safetensors")
	}
	n, _, err := open(path, nil, []graph.Port{wantPort("audio", graph.F32, 1, 1, varies)},
		[]graph.Port{wantPort("latents", graph.F32, 1, varies, m.Manifest.Dims.Width)})
	return n, err
}

// encodeVoice makes a voice of a recording, behind the row that stands before a voice.
func (m *Model) encodeVoice(encoder *network, start func() ([]float32, error), path string) (*snapshot, error) {
	before, err := start()
	if err != nil {
		return nil, err
	}
	samples, _, err := convert.ReadRecording(context.Background(), path)
	if err != nil {
		return nil, err
	}
	audio, frames := make([]float32, len(samples)), len(samples)/speech.FrameSamples
	for i, v := range samples {
		audio[i] = float32(v)
	}
	rows := make([]float32, len(before)+frames*m.Manifest.Dims.Width)
	heard := rows[copy(rows, before):]

	var t tensors
	in, out := t.floats(audio, 1, 1, len(audio)), t.floats(heard, 1, frames, m.Manifest.Dims.Width)
	if err = t.err; err == nil {
		err = encoder.session.Run(context.Background(), []*ort.Tensor{in}, []*ort.Tensor{out})
	}
	if err = errors.Join(err, t.close()); err != nil {
		return nil, fmt.Errorf("%s: encoding the recording: %w", path, err)
	}
	p, err := m.listen(rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// listen makes a voice of rows: the language model reads them as it reads text, and what it remembers is the voice.
func (m *Model) listen(rows []float32) (p *snapshot, err error) {
	if len(rows) == 0 {
		return nil, errors.New("the voice has no positions")
	}
	s, err := m.NewSequence()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.readRows(context.Background(), rows); err != nil {
		return nil, fmt.Errorf("reading the voice: %w", err)
	}
	p = s.read(0)
	for _, c := range p.caches {
		if slices.ContainsFunc(c, broken) {
			return nil, errors.New("the model makes something of the voice that is not a number")
		}
	}
	return p, nil
}

// readStart reads the row that stands before a voice.
func readStart(path string, width int) ([]float32, error) {
	a, err := npy.Read(path)
	if err != nil {
		return nil, err
	}
	if len(a.Floats) != width || slices.ContainsFunc(a.Floats, broken) {
		return nil, fmt.Errorf("%s: shape %v is not one row of %d numbers", filepath.Base(path), a.Shape, width)
	}
	return a.Floats, nil
}
