package kokoro

import (
	"context"
	_ "embed"
	"errors"
	"math"
	"strings"

	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/convert"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
)

// sentences are what voices are measured with, one a line: Hindi, Hinglish and English, as they are spoken.
//
//go:embed sentences.txt
var sentences string

// Measuring returns the Measure function of [convert.Conversion]. The statistics of a voice are the means of those of
// some sixty sentences. library is that of ONNX Runtime.
func Measuring(library string) func(ctx context.Context, dir string, m bundle.Manifest, v convert.Voice,
	styles []float32,
	report func(done, total int)) (map[string]bundle.Norm, error) {
	return func(ctx context.Context, dir string, m bundle.Manifest, _ convert.Voice, styles []float32,
		report func(done, total int)) (
		_ map[string]bundle.Norm, err error) {
		n, err := openNetwork(dir, m, library, "")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, n.prosody.Close()) }()
		lines := strings.Split(strings.TrimSpace(sentences), "\n")
		sums := map[string]sum{}
		for i, line := range lines {
			report(i, len(lines))
			if err := n.measure(ctx, &bundle.Prompt{Styles: styles}, line, sums); err != nil {
				return nil, err
			}
		}
		report(len(lines), len(lines))
		norms := make(map[string]bundle.Norm, len(sums))
		for name, s := range sums {
			norms[name] = bundle.Norm{Mean: s.mean.over(len(lines)), Variance: s.variance.over(len(lines))}
		}
		return norms, nil
	}
}

// sum adds up statistics of many sentences.
type sum struct{ mean, variance values }

type values []float64

func (v values) add(x []float32) {
	for i := range v {
		v[i] += float64(x[i])
	}
}

func (v values) over(n int) []float32 {
	means := make([]float32, len(v))
	for i := range v {
		means[i] = float32(v[i] / float64(n))
	}
	return means
}

// measure speaks a sentence and adds its statistics to sums.
func (n *network) measure(ctx context.Context, p *bundle.Prompt, text string, sums map[string]sum) error {
	r, err := n.read(ctx, p, text, 1)
	if err != nil {
		return err
	}
	s, err := n.vocoder.Start(vocoder.Chunk{
		Durations: r.prosody.Durations, Text: r.prosody.Text, Pitch: r.prosody.F0, Energy: r.prosody.N,
		Style: timbre(p, r.ids),
		Seen: func(norm string, s vocoder.Statistics) {
			if _, ok := sums[norm]; !ok {
				sums[norm] = sum{make(values, len(s.Mean)), make(values, len(s.Mean))}
			}
			sums[norm].mean.add(s.Mean)
			sums[norm].variance.add(s.Variance)
		},
	})
	if err != nil {
		return err
	}
	_, err = s.Next(ctx, math.MaxInt32)
	return err
}
