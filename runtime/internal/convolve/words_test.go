package convolve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// referenceOfWords is what a convolution is by definition, of the words that were packed.
func referenceOfWords(w *Weights, x []int16, scale []float32, rows, dilation int) []float32 {
	y, stride := make([]float32, 0, rows*w.Out), WordStride(w.In)
	weights := make([]int16, 0, w.Out*w.Taps*w.In)
	for i := range cap(weights) {
		weights = append(weights, w.word(i/w.In/w.Taps, i/w.In%w.Taps, i%w.In))
	}
	for r := range rows {
		for o := range w.Out {
			var all float32
			for t := range w.Taps {
				var sum int64
				at := r + t*dilation
				row := x[at*stride:]
				for i, v := range weights[(o*w.Taps+t)*w.In : (o*w.Taps+t+1)*w.In] {
					sum += int64(v) * int64(row[i])
				}
				all += float32(float32(sum) * scale[at])
			}
			y = append(y, all*w.scales[o])
		}
	}
	return y
}

// word returns a weight from where kernels read it.
func (w *Weights) word(out, tap, in int) int16 {
	step := ((out/16*w.Taps+tap)*w.stride + in/2*4) * 16
	at := step + out%16*4 + in%2*2
	return int16(uint16(uint8(w.panels[at])) | uint16(uint8(w.panels[at+1]))<<8)
}

type wordConvolution struct {
	name           string
	w              *Weights
	x              []int16
	scale          []float32
	rows, dilation int
	want           []float32
}

func drawWords(draw *rand.Rand, in, out, taps, dilation, rows int) wordConvolution {
	weights := make([]float32, out*taps*in)
	for i := range weights {
		weights[i] = float32(draw.NormFloat64())
	}
	needed, most := rows+(taps-1)*dilation, WordRange(in)
	x, scale := make([]int16, needed*WordStride(in)), make([]float32, needed)
	for i := range x {
		if x[i] = int16(draw.IntN(2*most+1) - most); i%WordStride(in) >= in {
			x[i] = int16(draw.Uint32()) // what follows the channels
		}
	}
	for i := range scale {
		scale[i] = draw.Float32() * []float32{1, 1e-3, 0, 1e3}[i%4]
	}
	w := PackWords(weights, in, out, taps)
	return wordConvolution{
		fmt.Sprintf("%d of %d channels, %d taps by %d", out, in, taps, dilation), w, x, scale, rows, dilation,
		referenceOfWords(w, x, scale, rows, dilation),
	}
}

func TestEveryKernelGivesTheBitsOfTheReferenceForWords(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	var all []wordConvolution
	for _, s := range shapes[2:] { // the first are large
		all = append(all, drawWords(draw, s.in, s.out, s.taps, s.dilation, s.rows))
	}
	all = append(all, drawWords(draw, 512, 33, 2, 1, slices.Max(counts)))
	eachKernel(t, func(t *testing.T, k Kernel) {
		for _, c := range all {
			for _, rows := range append(counts, c.rows) {
				if rows > c.rows {
					continue
				}
				y := make([]float32, rows*c.w.Out)
				k.MultiplyWords(c.w, y, c.x, c.scale, rows, c.dilation)
				sameBits(t, fmt.Sprintf("%s, %d rows", c.name, rows), y, c.want[:len(y)])
			}
		}
	})
}

// TestNoSumOfWordsIsCutOff has the largest rows with the sign of each weight, and weights of all kinds.
func TestNoSumOfWordsIsCutOff(t *testing.T) {
	for _, in := range []int{1, 2, 63, 512, MaxIn} {
		for name, weight := range map[string]func(i int) float32{
			"equal":   func(int) float32 { return -.5 },
			"one":     func(i int) float32 { return float32(1 - min(i, 1)) },
			"signs":   func(i int) float32 { return float32(1 - i%2*2) },
			"growing": func(i int) float32 { return float32(i+1) / 3 },
			"halves":  func(i int) float32 { return float32(i%3) + .5 }, // most are rounded up
		} {
			weights, x, most := make([]float32, in), make([]int16, WordStride(in)), int16(WordRange(in))
			for i := range weights {
				if weights[i], x[i] = weight(i), most; weights[i] < 0 {
					x[i] = -most
				}
			}
			w := PackWords(weights, in, 1, 1)
			sum := int64(0)
			for i := range in {
				sum += int64(w.word(0, 0, i)) * int64(x[i])
			}
			if sum > math.MaxInt32 || sum < 1 {
				t.Errorf("%d %s weights: a sum of %d", in, name, sum)
			}
			one := []float32{1}
			want := referenceOfWords(w, x, one, 1, 1)
			eachKernel(t, func(t *testing.T, k Kernel) {
				y := make([]float32, 1)
				k.MultiplyWords(w, y, x, one, 1, 1)
				sameBits(t, name, y, want)
			})
		}
	}
}

// TestWordsAreNearTheWeights bounds what rounding weights changes: words are worth at least eleven bits here.
func TestWordsAreNearTheWeights(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	for _, in := range []int{64, 128, 256, 512} {
		weights := make([]float32, 3*in)
		for i := range weights {
			weights[i] = float32(draw.NormFloat64())
		}
		w := PackWords(weights, in, 1, 3)
		difference, size := 0., 0.
		for i, v := range weights {
			d := float64(w.word(0, i/in, i%in))*float64(w.scales[0]) - float64(v)
			difference, size = difference+d*d, size+float64(v)*float64(v)
		}
		if part := math.Sqrt(difference / size); part > 6e-4 {
			t.Errorf("%d channels: %.1e of the weights is lost", in, part)
		}
	}
}

func TestColumnsOfWords(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	w := PackWords([]float32{0, 0, 1, nan, 2, inf, 1e30, -1e30}, 2, 4, 1)
	y := make([]float32, 4)
	Kernels()[0].MultiplyWords(w, y, make([]int16, 8), []float32{1}, 1, 1)
	if y[0] != 0 || y[1] == y[1] || y[2] == y[2] || y[3] != 0 {
		t.Errorf("zeros times columns of zeros, of what is not a number twice, and of large numbers: %v", y)
	}
}

func TestWhatDoesNotFitWordsIsRefused(t *testing.T) {
	k, w, bytes := Kernels()[0], PackWords(make([]float32, 3*20), 20, 1, 3),
		Pack(make([]int8, 3*20), []float32{1}, 20, 3)
	const rows, stride = 2, 24
	refused := func(w *Weights, y, x, scales, dilation int) (refused bool) {
		defer func() { refused = recover() != nil }()
		k.MultiplyWords(w, make([]float32, y), make([]int16, x), make([]float32, scales), rows, dilation)
		return
	}
	if refused(w, rows, 6*stride, 6, 2) {
		t.Error("what fits was refused")
	}
	if !refused(w, rows, 6*stride-1, 6, 2) || !refused(w, rows, 6*stride, 5, 2) ||
		!refused(w, rows+1, 6*stride, 6, 2) ||
		!refused(w, rows, 6*stride, 6, 0) || !refused(bytes, rows, 6*stride, 6, 2) {
		t.Error("what does not fit was multiplied")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("words were multiplied as bytes")
			}
		}()
		k.Multiply(w, make([]float32, rows), make([]byte, 6*48), make([]float32, 6), rows, 2)
	}()
}

// BenchmarkWords convolves as the layers of a codec do that take most of its time.
func BenchmarkWords(b *testing.B) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct{ in, out, taps, rows int }{{512, 512, 7, 16}, {512, 512, 7, 64}, {256, 640, 2, 48},
		{128, 256, 2, 120}, {64, 32, 3, 480}, {32, 64, 1, 480}} {
		c := drawWords(draw, s.in, s.out, s.taps, 1, 1)
		needed := s.rows + s.taps - 1
		x, scale, y := make([]int16, needed*WordStride(s.in)), make([]float32, needed), make([]float32, s.rows*s.out)
		for _, k := range Kernels() {
			b.Run(fmt.Sprintf("%dx%dx%dx%d/%s", s.in, s.taps, s.out, s.rows, k.Name()), func(b *testing.B) {
				for b.Loop() {
					k.MultiplyWords(c.w, y, x, scale, s.rows, 1)
				}
				products := float64(s.in*s.out*s.taps*s.rows) * float64(b.N)
				b.ReportMetric(products/float64(b.Elapsed().Nanoseconds()), "products/ns")
			})
		}
	}
}
