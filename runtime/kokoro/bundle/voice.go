package bundle

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/swar-tts/swar/runtime/safetensors"
)

// Norm holds the mean and the variance of each channel of a norm of the vocoder. They are those of the voice, so that
// speech can be decoded in pieces.
type Norm struct {
	Mean, Variance []float32
}

// Prompt is the data of a voice. It has the styles, and the statistics of the vocoder's norms by name, such as
// encode.norm1 and generator.resblocks.0.adain1.0.
type Prompt struct {
	Styles []float32 // [StyleRows][StyleSize]
	Norms  map[string]Norm
}

// Style returns the style of a chunk of so many ids, those of the pauses around it included. It must not be changed.
func (p *Prompt) Style(ids int) []float32 {
	row := min(max(ids-3, 0), StyleRows-1)
	return p.Styles[row*StyleSize : (row+1)*StyleSize]
}

// The names of the tensors of a voice.
const (
	stylesName     = "style"
	meanSuffix     = ".mean"
	varianceSuffix = ".variance"
)

// WriteVoice writes a voice with its norms in the given order.
func WriteVoice(w io.Writer, p Prompt, norms []string) error {
	tensors := []safetensors.Tensor{{Name: stylesName, Shape: []int{StyleRows, StyleSize}, Floats: p.Styles}}
	for _, name := range norms {
		n := p.Norms[name]
		tensors = append(tensors,
			safetensors.Tensor{Name: name + meanSuffix, Shape: []int{len(n.Mean)}, Floats: n.Mean},
			safetensors.Tensor{Name: name + varianceSuffix, Shape: []int{len(n.Variance)}, Floats: n.Variance})
	}
	return safetensors.Write(w, tensors...)
}

// ReadVoice reads the file of a voice.
func ReadVoice(path string) (p Prompt, err error) {
	t, file, err := safetensors.Open(path)
	if err != nil {
		return Prompt{}, err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = fmt.Errorf("voice %s: %w", path, err)
		}
	}()
	return readVoice(t)
}

func readVoice(t *safetensors.Tensors) (Prompt, error) {
	styles, err := t.Floats(stylesName, StyleRows, StyleSize)
	if err != nil {
		return Prompt{}, err
	}
	p := Prompt{Styles: styles, Norms: map[string]Norm{}}
	for _, name := range t.Names() {
		if name == stylesName || strings.HasSuffix(name, varianceSuffix) {
			continue
		}
		norm, ok := strings.CutSuffix(name, meanSuffix)
		if !ok {
			return Prompt{}, fmt.Errorf("the tensor %.80q is unknown", name)
		}
		var n Norm
		if n.Mean, err = t.Floats(name, -1); err != nil {
			return Prompt{}, err
		}
		if n.Variance, err = t.Floats(norm+varianceSuffix, len(n.Mean)); err != nil {
			return Prompt{}, err
		}
		p.Norms[norm] = n
	}
	if len(t.Names()) != 1+2*len(p.Norms) {
		return Prompt{}, errors.New("a norm has a variance and no mean")
	}
	return p, p.Check()
}

// Check returns what is wrong with p.
func (p *Prompt) Check() error {
	if len(p.Styles) != StyleRows*StyleSize {
		return fmt.Errorf("there are %d values of styles, want %d times %d", len(p.Styles), StyleRows, StyleSize)
	}
	if !finite(p.Styles) {
		return errors.New("a style is not a number")
	}
	for name, n := range p.Norms {
		if len(n.Mean) != len(n.Variance) {
			return fmt.Errorf("%s has %d means and %d variances", name, len(n.Mean), len(n.Variance))
		}
		if !finite(n.Mean) || !finite(n.Variance) {
			return fmt.Errorf("a statistic of %s is not a number", name)
		}
		for _, v := range n.Variance {
			if v < 0 {
				return fmt.Errorf("a variance of %s is %g", name, v)
			}
		}
	}
	return nil
}

func finite(values []float32) bool {
	for _, v := range values {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}
