package bundle

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/safetensors"
)

// Prompt is what the language model remembers of a voice prompt: keys, already rotated, and values of every layer.
type Prompt struct {
	Positions int
	K, V      [][]float32 // by layer: [heads, positions, head_dim]

	// VoiceEmbedding, if not nil, is added to every row of a latent and to the start row, but to no row of text:
	// models that were trained on a closed set of voices know each by its name too. [width]
	VoiceEmbedding []float32
}

// ReadPrompt reads a stored voice in any of upstream's three forms. The number of positions is the value offset, the
// length of current_end, or beside a pad, which must be 0. The cache may be longer than that; the rest is ignored. It
// must fit the layers and heads of the model; that it was made with the same weights cannot be seen in it.
func ReadPrompt(t *safetensors.Tensors, d Dims) (Prompt, error) {
	var p Prompt
	known := 0
	for i := range d.Layers {
		prefix := "transformer.layers." + strconv.Itoa(i) + ".self_attn/"
		n, entries, err := promptPositions(t, prefix)
		if err != nil {
			return Prompt{}, fmt.Errorf("voice: %w", err)
		}
		known += entries + 1
		if i > 0 && n != p.Positions {
			return Prompt{}, fmt.Errorf("voice: layer %d has %d positions, the one before it %d", i, n, p.Positions)
		}
		p.Positions = n
		cache, err := t.Floats(prefix+"cache", 2, 1, -1, d.Heads, d.HeadDim)
		if err != nil {
			return Prompt{}, fmt.Errorf("voice: %w", err)
		}
		stored := len(cache) / (2 * d.Width)
		if n < 1 || n > stored {
			return Prompt{}, fmt.Errorf("voice: %d positions in a cache of %d", n, stored)
		}
		half := stored * d.Width
		k, v := ByHead(cache[:half], n, d), ByHead(cache[half:], n, d)
		for _, values := range [][]float32{k, v} {
			if slices.ContainsFunc(values, func(v float32) bool { return !isFinite(float64(v)) }) {
				return Prompt{}, fmt.Errorf("voice: layer %d holds a value that is not a number", i)
			}
		}
		p.K, p.V = append(p.K, k), append(p.V, v)
	}
	if _, ok := t.Shape(voiceEmbeddingEntry); ok {
		var err error
		if p.VoiceEmbedding, err = t.Floats(voiceEmbeddingEntry, 1, 1, d.Width); err != nil {
			return Prompt{}, fmt.Errorf("voice: %w", err)
		}
		if slices.ContainsFunc(p.VoiceEmbedding, func(v float32) bool { return !isFinite(float64(v)) }) {
			return Prompt{}, errors.New("voice: its embedding (voice_lut/term) holds a value that is not a number")
		}
		known++
	}
	if extra := len(t.Names()) - known; extra > 0 {
		return Prompt{},
			fmt.Errorf("voice: %d entries that belong to none of %d layers: it was made with another model", extra,
				d.Layers)
	}
	return p, nil
}

// OpenPrompt reads the stored voice in the file at path, as [ReadPrompt] does.
func OpenPrompt(path string, d Dims) (*Prompt, error) {
	t, file, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := ReadPrompt(t, d)
	return &p, err
}

// promptPositions returns the number of positions of a layer and how many entries beside the cache say so.
func promptPositions(t *safetensors.Tensors, prefix string) (positions, entries int, err error) {
	for _, name := range t.Names() {
		field, ok := strings.CutPrefix(name, prefix)
		if !ok || field == "cache" {
			continue
		}
		entries++
		switch field {
		case "offset":
			offset, err := t.Ints(name, 1)
			if err != nil {
				return 0, 0, err
			}
			positions = int(min(max(offset[0], 0), math.MaxInt32))
		case "current_end":
			if shape, _ := t.Shape(name); len(shape) == 1 {
				positions = shape[0]
			}
		case "pad":
			pad, err := t.Ints(name, 1)
			if err != nil {
				return 0, 0, err
			}
			if pad[0] != 0 {
				return 0, 0, fmt.Errorf("%s is %d, want 0", name, pad[0])
			}
		default:
			return 0, 0, fmt.Errorf("%s is unknown", name)
		}
	}
	return positions, entries, nil
}

// ByHead copies the first n positions of [positions, heads, head_dim] to [heads, n, head_dim].
func ByHead(x []float32, n int, d Dims) []float32 {
	y := make([]float32, 0, n*d.Width)
	for h := range d.Heads {
		for p := range n {
			at := (p*d.Heads + h) * d.HeadDim
			y = append(y, x[at:at+d.HeadDim]...)
		}
	}
	return y
}

// voiceEmbeddingEntry is where upstream keeps the embedding of a voice.
const voiceEmbeddingEntry = "voice_lut/term"

// WritePrompt writes p in upstream's form, with the number of positions as offset.
func WritePrompt(w io.Writer, p Prompt, d Dims) error {
	var entries []safetensors.Tensor
	for i := range p.K {
		cache := make([]float32, 0, 2*p.Positions*d.Width)
		for _, values := range [][]float32{p.K[i], p.V[i]} {
			for position := range p.Positions {
				for h := range d.Heads {
					at := (h*p.Positions + position) * d.HeadDim
					cache = append(cache, values[at:at+d.HeadDim]...)
				}
			}
		}
		prefix := "transformer.layers." + strconv.Itoa(i) + ".self_attn/"
		entries = append(entries,
			safetensors.Tensor{Name: prefix + "cache", Shape: []int{2, 1, p.Positions, d.Heads, d.HeadDim},
				Floats: cache},
			safetensors.Tensor{Name: prefix + "offset", Shape: []int{1}, Ints: []int64{int64(p.Positions)}})
	}
	if p.VoiceEmbedding != nil {
		entries = append(entries,
			safetensors.Tensor{Name: voiceEmbeddingEntry, Shape: []int{1, 1, d.Width}, Floats: p.VoiceEmbedding})
	}
	return safetensors.Write(w, entries...)
}
