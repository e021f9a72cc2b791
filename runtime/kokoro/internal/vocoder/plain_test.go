package vocoder

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
)

var update = flag.Bool("update", false, "compute testdata/plain.f32 again, slowly")

const plainFile = "testdata/plain.f32" // samples as 32-bit floats in little-endian order

// TestTheSamplesOfAPlainModel: made-up weights give the samples that the model has by its definition, as plainModel
// computes it. Those are in a file, because that takes long. So a vocoder that is silent, or speaks something else, is
// noticed without the published weights.
func TestTheSamplesOfAPlainModel(t *testing.T) {
	kokorotest.WithoutRaceDetector(t)
	v := vocoders["integers"]()
	c := plainChunk(t, v)
	if *update {
		var file []byte
		for _, x := range newPlainModel(c, v).samples() {
			file = binary.LittleEndian.AppendUint32(file, math.Float32bits(float32(x)))
		}
		if err := os.WriteFile(plainFile, file, 0o644); err != nil {
			t.Fatal(err)
		}
		exact := mustNew(Options{Exact: true})
		t.Logf("in floats, what differs is %.1f dB below the model's samples",
			ratio(listen(t, exact, plainChunk(t, exact), 1<<20), readPlain(t)))
	}
	want := readPlain(t)
	got := listen(t, v, c, 1<<20)
	if len(got) != len(want) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	// Beyond the last whole window of samples the model itself fades.
	got, want = got[windowSize:len(got)-windowSize], want[windowSize:len(want)-windowSize]
	if above := ratio(got, want); !(above > 20) {
		t.Errorf("what differs is only %.1f dB below the model's samples, whose peak is %v; ours is %v", above,
			slices.Max(want), slices.Max(got))
	} else {
		t.Logf("what differs is %.1f dB below the model's samples", above)
	}
}

// plainChunk is a short chunk.
func plainChunk(t *testing.T, v *Vocoder) Chunk {
	t.Helper()
	c := testChunk(t, v)
	c.Durations = []int{1, 2}
	// the voice begins after the second value
	c.Text, c.Pitch, c.Energy = c.Text[:2*textWidth], c.Pitch[6:12], c.Energy[:6]
	for i := range c.Style {
		c.Style[i] = float32(i%5-2) / 4
	}
	var err error
	c.Shape, err = v.Shape(c.Style, func(norm string) Statistics {
		n := v.Norms()[norm]
		return Statistics{make([]float32, n), slices.Repeat([]float32{1}, n)}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readPlain(t *testing.T) []float32 {
	t.Helper()
	file, err := os.ReadFile(plainFile)
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]float32, len(file)/4)
	for i := range samples {
		samples[i] = math.Float32frombits(binary.LittleEndian.Uint32(file[4*i:]))
	}
	return samples
}

// ratio is how much louder want is than what got differs from it, in dB.
func ratio(got, want []float32) float64 {
	var signal, noise float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		signal, noise = signal+float64(w)*float64(w), noise+d*d
	}
	return 10 * math.Log10(signal/noise)
}

// plainModel is the decoder and the generator of Kokoro as StyleTTS 2 defines them, written down for reading and not
// for speed: in floats of 64 bits, each layer over the whole signal. It shares no code with the vocoder but the spectra
// of the source, which have tests of their own, and whose phases may be half a turn either way where a bin is real.
type plainModel struct {
	chunk   Chunk
	spectra []float32
}

func newPlainModel(c Chunk, v *Vocoder) *plainModel {
	s := &spectra{source: newSource(c.Pitch, v.harmonics, v.harmonicsBias, nil)}
	m := &plainModel{c, make([]float32, s.frames()*2*bins)}
	s.write(0, s.frames(), m.spectra)
	return m
}

// channels is a signal: [channel][time].
type channels [][]float64

func silence(n, length int) channels {
	x := make(channels, n)
	for c := range x {
		x[c] = make([]float64, length)
	}
	return x
}

// tensor returns weights in floats, by the name of the layer.
func tensor(name string, shape ...int) []float64 {
	f, _ := madeUp{}.Floats(name, shape...)
	to := make([]float64, len(f))
	for i, v := range f {
		to[i] = float64(v)
	}
	return to
}

// scaledTensor returns weights [out][…] that are integers with a scale for each of out.
func scaledTensor(name string, shape ...int) []float64 {
	w, _ := madeUp{}.Int8s(name+".weight", shape...)
	scales := tensor(name+".scale", shape[0])
	to := make([]float64, len(w))
	for i, v := range w {
		to[i] = float64(v) * scales[i/(len(w)/shape[0])]
	}
	return to
}

// convolution64 is a convolution with weights [out][taps][in], which may be nil for none, and zeros around the signal.
func convolution64(x channels, weights, bias []float64, out, taps, stride, dilation, pad int) channels {
	in, length := len(x), len(x[0])
	y := silence(out, (length+2*pad-dilation*(taps-1)-1)/stride+1)
	for o := range y {
		for at := range y[o] {
			sum := 0.0
			if bias != nil {
				sum = bias[o]
			}
			for tap := range taps {
				if from := at*stride + tap*dilation - pad; from >= 0 && from < length {
					w := weights[(o*taps+tap)*in : (o*taps+tap+1)*in]
					for c, v := range w {
						sum += v * x[c][from]
					}
				}
			}
			y[o][at] = sum
		}
	}
	return y
}

// layer is a convolution that keeps the length.
func layer(x channels, name string, out, taps, dilation int) channels {
	w := scaledTensor(name, out, taps, len(x))
	var bias []float64
	if _, ok := (madeUp{}).Shape(name + ".bias"); ok {
		bias = tensor(name+".bias", out)
	}
	return convolution64(x, w, bias, out, taps, 1, dilation, dilation*(taps-1)/2)
}

// transpose is a transposed convolution with weights [in][out][taps]: each value adds taps, from which pad are cut at
// either end.
func transpose(x channels, weights, bias []float64, out, taps, stride, pad int) channels {
	length := len(x[0])
	y := silence(out, (length-1)*stride+taps-2*pad)
	for o := range y {
		for at := range y[o] {
			y[o][at] = bias[o]
		}
	}
	for c := range x {
		for at, v := range x[c] {
			for o := range y {
				for tap := range taps {
					if to := at*stride + tap - pad; to >= 0 && to < len(y[o]) {
						y[o][to] += v * weights[(c*out+o)*taps+tap]
					}
				}
			}
		}
	}
	return y
}

// norm is an adaptive norm whose statistics are a mean of 0 and a variance of 1.
func (m *plainModel) norm(x channels, name string) channels {
	n := len(x)
	w, bias := scaledTensor(name+".fc", 2*n, StyleSize), tensor(name+".fc.bias", 2*n)
	of := func(row int) float64 {
		sum := bias[row]
		for i, s := range m.chunk.Style {
			sum += w[row*StyleSize+i] * float64(s)
		}
		return sum
	}
	y := silence(n, len(x[0]))
	for c := range x {
		factor, summand := (1+of(c))/math.Sqrt(1+1e-5), of(n+c)
		for at, v := range x[c] {
			y[c][at] = factor*v + summand
		}
	}
	return y
}

func each(x channels, f func(c int, v float64) float64) channels {
	y := silence(len(x), len(x[0]))
	for c := range x {
		for at, v := range x[c] {
			y[c][at] = f(c, v)
		}
	}
	return y
}

func bent(x channels, slope float64) channels {
	return each(x, func(_ int, v float64) float64 { return max(v, slope*v) })
}

func sumOf(factor float64, signals ...channels) channels {
	y := silence(len(signals[0]), len(signals[0][0]))
	for _, x := range signals {
		for c := range y {
			for at := range y[c] {
				y[c][at] += factor * x[c][at]
			}
		}
	}
	return y
}

// samples speaks the chunk.
func (m *plainModel) samples() []float64 {
	text := channels(nil)
	for c := range textWidth {
		var row []float64
		for token, frames := range m.chunk.Durations {
			for range frames {
				row = append(row, float64(m.chunk.Text[token*textWidth+c]))
			}
		}
		text = append(text, row)
	}
	half := func(values []float32, name string) []float64 {
		x := channels{nil}
		for _, v := range values {
			x[0] = append(x[0], float64(v))
		}
		return convolution64(x, tensor(name+".weight", 3), tensor(name+".bias", 1), 1, 3, 2, 1, 1)[0]
	}
	pitch, energy := half(m.chunk.Pitch, "F0_conv"), half(m.chunk.Energy, "N_conv")
	x := m.residual(append(slices.Clone(text), pitch, energy), "encode", 1024, false)
	beside := append(layer(text, "asr_res.0", 64, 1, 1), pitch, energy)
	for i, out := range []int{1024, 1024, 1024, 512} {
		x = m.residual(append(x, beside...), fmt.Sprintf("decode.%d", i), out, i == 3)
	}
	return m.generate(x)
}

// residual is a block of the decoder.
func (m *plainModel) residual(x channels, name string, out int, doubles bool) channels {
	past := convolution64(x, scaledTensor(name+".conv1x1", out, len(x)), nil, out, 1, 1, 1, 0)
	x = bent(m.norm(x, name+".norm1"), .2)
	if doubles {
		w, bias := tensor(name+".pool.weight", len(x), 3), tensor(name+".pool.bias", len(x))
		for c := range x { // one value more behind the end
			x[c] = transpose(channels{append(x[c], 0)}, w[3*c:3*c+3], bias[c:c+1], 1, 3, 2, 1)[0][:2*len(x[c])]
		}
		for c, row := range past {
			past[c] = nil
			for _, v := range row {
				past[c] = append(past[c], v, v)
			}
		}
	}
	x = layer(x, name+".conv1", out, 3, 1)
	x = layer(bent(m.norm(x, name+".norm2"), .2), name+".conv2", out, 3, 1)
	return sumOf(1/math.Sqrt2, x, past)
}

// generate makes samples of what the decoder gives.
func (m *plainModel) generate(x channels) []float64 {
	heard := silence(2*bins, len(m.spectra)/(2*bins))
	for i, v := range m.spectra {
		heard[i%(2*bins)][i/(2*bins)] = float64(v)
	}
	for i, s := range []struct{ channels, stride, taps, noiseStride, noiseTaps, noisePad, blockTaps int }{
		{256, 10, 20, 6, 12, 3, 7}, {128, 6, 12, 1, 1, 0, 11},
	} {
		name := fmt.Sprintf("generator.noise_convs.%d", i)
		noise := convolution64(heard, tensor(name+".weight", s.channels, s.noiseTaps, 2*bins),
			tensor(name+".bias", s.channels),
			s.channels, s.noiseTaps, s.noiseStride, 1, s.noisePad)
		noise = m.snakes(noise, fmt.Sprintf("generator.noise_res.%d", i), s.blockTaps)
		name = fmt.Sprintf("generator.ups.%d", i)
		x = bent(x, .1)
		x = transpose(x, tensor(name+".weight", len(x), s.channels, s.taps), tensor(name+".bias", s.channels),
			s.channels, s.taps, s.stride, (s.taps-s.stride)/2)
		if i == 1 {
			for c := range x { // mirrored by one
				x[c] = append([]float64{x[c][1]}, x[c]...)
			}
		}
		x = sumOf(1, x, noise)
		var blocks []channels
		for b, taps := range []int{3, 7, 11} {
			blocks = append(blocks, m.snakes(x, fmt.Sprintf("generator.resblocks.%d", 3*i+b), taps))
		}
		x = sumOf(1./3, blocks...)
	}
	x = bent(x, .01)
	x = convolution64(x, tensor("generator.conv_post.weight", 2*bins, 7, 128),
		tensor("generator.conv_post.bias", 2*bins), 2*bins, 7, 1, 1, 3)
	return inverse(x)
}

// snakes is a block of the generator.
func (m *plainModel) snakes(x channels, name string, taps int) channels {
	snake := func(x channels, name string) channels {
		alpha := tensor(name, len(x))
		return each(x, func(c int, v float64) float64 { return v + math.Pow(math.Sin(alpha[c]*v), 2)/alpha[c] })
	}
	for i := range 3 {
		y := snake(m.norm(x, fmt.Sprintf("%s.adain1.%d", name, i)), fmt.Sprintf("%s.alpha1.%d", name, i))
		y = layer(y, fmt.Sprintf("%s.convs1.%d", name, i), len(x), taps, 2*i+1)
		y = snake(m.norm(y, fmt.Sprintf("%s.adain2.%d", name, i)), fmt.Sprintf("%s.alpha2.%d", name, i))
		x = sumOf(1, x, layer(y, fmt.Sprintf("%s.convs2.%d", name, i), len(x), taps, 1))
	}
	return x
}

// inverse makes samples of logarithms of magnitudes, and of angles whose sines are phases.
func inverse(post channels) []float64 {
	frames := len(post[0])
	sum, squares := make([]float64, (frames-1)*hop+windowSize), make([]float64, (frames-1)*hop+windowSize)
	for f := range frames {
		for i := range windowSize {
			value := 0.0
			for b := range bins {
				phase := math.Sin(post[bins+b][f]) + 2*math.Pi*float64(b*i)/windowSize
				part := math.Exp(post[b][f]) * math.Cos(phase) / windowSize
				if b > 0 && b < windowSize/2 {
					part *= 2
				}
				value += part
			}
			w := math.Pow(math.Sin(math.Pi*float64(i)/windowSize), 2)
			sum[f*hop+i] += w * value
			squares[f*hop+i] += w * w
		}
	}
	samples := sum[windowSize/2 : len(sum)-windowSize/2]
	for i := range samples {
		samples[i] /= squares[windowSize/2+i]
	}
	return samples
}
