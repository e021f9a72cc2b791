package convert

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Names of the files that [Random.Publish] writes.
const (
	PublishedConfig    = "config.yaml"
	PublishedWeights   = "model.safetensors"
	PublishedTokenizer = "tokenizer.model"
)

// Publish writes the model to dir in the published form. That is a configuration, weights of 16 bits (BF16) with
// those of the encoder, and a tokenizer. It has no voice. The configuration names the other files as lying in at, a
// folder or an address of a hub; empty means beside it. [Convert] makes a bundle of them.
func (r Random) Publish(dir, at string) error {
	source, err := r.Source()
	if err != nil {
		return err
	}
	c, end := source.Checkpoint.Config, false
	if at != "" {
		at = strings.TrimSuffix(at, "/") + "/"
	}
	c.WeightsPath, c.FlowLM.LookupTable.TokenizerPath = at+PublishedWeights, at+PublishedTokenizer
	c.AppendTerminalPunctuation = &end
	c.FlowLM.DType, c.Mimi.DType = "float32", "float32"
	c.Mimi.OuterDim, c.Mimi.SEANet.DilationBase = c.Mimi.SEANet.Dimension, 2
	t := &c.Mimi.Transformer
	t.InputDimension, t.OutputDimensions, t.LayerScale = t.DModel, []int{t.DModel}, .01
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, PublishedConfig), text, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, PublishedTokenizer), source.Tokenizer, 0o644); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, PublishedWeights))
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(file, 1<<20)
	err = publishWeights(b, &c, source.Checkpoint.Weights)
	if err == nil {
		err = b.Flush()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}

// publishWeights writes all weights of a configuration as safetensors.
func publishWeights(w io.Writer, c *Config, weights Weights) error {
	const timeFrequencies = 128
	parts := slices.Concat(c.parts(), c.encoder(),
		[]part{{speakerProjection, []int{c.FlowLM.Transformer.DModel, c.promptWidth()}}})
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, offset := make(map[string]entry), 0
	for i, p := range parts {
		shape := slices.Clone(p.shape)
		for j, n := range shape {
			switch {
			case n != -1:
			case strings.HasSuffix(p.name, ".freqs"):
				shape[j] = timeFrequencies
			default:
				shape[j] = 2 * timeFrequencies // of sines and cosines
			}
		}
		end := offset + 2*size(shape)
		header[p.name] = entry{"BF16", shape, [2]int{offset, end}}
		parts[i].shape, offset = shape, end
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	text = append(text, strings.Repeat(" ", -len(text)&7)...) // the values begin at a multiple of eight
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)); err != nil {
		return err
	}
	for _, p := range parts {
		values, err := weights.Floats(p.name, p.shape...)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		b := make([]byte, 0, 2*len(values))
		for _, v := range values {
			b = binary.LittleEndian.AppendUint16(b, brainFloat(v))
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// brainFloat rounds to the nearest number of 16 bits whose exponent is that of a float32, to even between two.
func brainFloat(v float32) uint16 {
	bits := math.Float32bits(v)
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
