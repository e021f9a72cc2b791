package convolve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// reference is what a convolution is by definition.
func reference(
	weights []int8, scales []float32, in, taps int, x []byte, scale []float32, rows, dilation int,
) []float32 {
	y, stride := make([]float32, 0, rows*len(scales)), Stride(in)
	for r := range rows {
		for o := range scales {
			var all float32
			for t := range taps {
				var sum int64
				at := r + t*dilation
				for i, w := range weights[(o*taps+t)*in : (o*taps+t+1)*in] {
					sum += int64(w) * (int64(x[at*stride+i]) - Zero)
				}
				all += float32(float32(sum) * scale[at]) // rounded before it is added, also where Go would contract
			}
			y = append(y, all*scales[o])
		}
	}
	return y
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: value %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

func eachKernel(t *testing.T, test func(*testing.T, Kernel)) {
	t.Helper()
	for _, k := range built() {
		t.Run(k.Name(), func(t *testing.T) {
			if !slices.Contains(Kernels(), k) {
				t.Skip("NOT TESTED: this processor lacks the instructions")
			}
			test(t, k)
		})
	}
}

// shapes are those of the vocoder's layers and those around every edge of groups, panels, pairs of panels and tiles.
var shapes = []struct{ in, out, taps, dilation, rows int }{
	{22, 33, 1, 1, 70}, {66, 17, 2, 1, 13}, {128, 128, 11, 5, 49}, {256, 31, 3, 3, 25}, {256, 48, 7, 2, 48}, {514, 16, 3, 1, 4}, {1090, 20, 3, 1, 8},
	{1, 1, 1, 1, 1}, {15, 15, 4, 4, 2}, {16, 32, 5, 1, 3}, {17, 47, 6, 1, 5}, {31, 49, 8, 2, 6}, {33, 2, 9, 1, 7}, {4, 64, 10, 3, 12}, {48, 65, 11, 1, 96},
}

// counts are around every edge of tiles and of blocks.
var counts = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 23, 24, 25, 47, 48, 49, 70}

// A convolution and what it is by definition.
type convolution struct {
	name           string
	w              *Weights
	x              []byte
	scale          []float32
	rows, dilation int
	want           []float32
}

// kinds are weights as trained ones, whose products fit 16 bits, and larger ones.
var kinds = map[string]func(*rand.Rand) int8{
	"trained": func(r *rand.Rand) int8 { return int8(min(max(r.NormFloat64()*6, -64), 63)) },
	"middle":  func(r *rand.Rand) int8 { return int8(r.IntN(129) - 64) },
	"any":     func(r *rand.Rand) int8 { return int8(r.IntN(256) - 128) },
}

func drawn(name string, draw *rand.Rand, weight func(*rand.Rand) int8, in, out, taps, dilation, rows int) convolution {
	weights, scales := make([]int8, out*taps*in), make([]float32, out)
	for i := range weights {
		weights[i] = weight(draw)
	}
	for i := range scales {
		scales[i] = draw.Float32()
	}
	needed := rows + (taps-1)*dilation
	x, scale := make([]byte, needed*Stride(in)), make([]float32, needed)
	for i := range x {
		x[i] = byte(draw.IntN(256)) // also what follows the channels
	}
	for i := range scale {
		scale[i] = draw.Float32() * []float32{1, 1e-3, 0, 1e3}[i%4]
	}
	return convolution{
		fmt.Sprintf("%s weights, %d of %d channels, %d taps by %d", name, out, in, taps, dilation),
		Pack(weights, scales, in, taps), x, scale, rows, dilation,
		reference(weights, scales, in, taps, x, scale, rows, dilation),
	}
}

// convolutions are made once for all kernels, because the reference is what takes time.
var convolutions = sync.OnceValue(func() []convolution {
	draw := rand.New(rand.NewPCG(1, 2))
	var all []convolution
	for _, s := range shapes {
		for name, weight := range kinds {
			all = append(all, drawn(name, draw, weight, s.in, s.out, s.taps, s.dilation, s.rows))
		}
	}
	for name, weight := range kinds {
		all = append(all, drawn(name, draw, weight, 20, 35, 3, 2, slices.Max(counts)))
	}
	return all
})

func TestEveryKernelGivesTheBitsOfTheReference(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		for _, c := range convolutions() {
			for _, rows := range append(counts, c.rows) {
				if rows > c.rows {
					continue
				}
				y := make([]float32, rows*c.w.Out)
				k.Multiply(c.w, y, c.x, c.scale, rows, c.dilation)
				sameBits(t, fmt.Sprintf("%s, %d rows", c.name, rows), y, c.want[:len(y)])
			}
		}
	})
}

// TestNoSumIsCutOff has the largest bytes, and weights whose products just fit 16 bits, or just do not.
func TestNoSumIsCutOff(t *testing.T) {
	const in, out, rows = 64, 17, 9
	for _, weights := range [][16]int8{
		{64, 64, -64, -64}, {65, 64, -64, -65}, {127, 1, -127, -1}, {127, 2, 127, 127}, {-128, 0, 0, -128}, {-128, -1}, {-128, -128, -128, -128},
		{16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {17, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16},
		{-16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -17},
		{0, 0, 0, 0, 128 - 1, 1}, {64, -64, 63, -63, 64, -64, 64, -64, 1, -1},
	} {
		w, x, scales, ones := make([]int8, out*in), make([]byte, rows*in), make([]float32, out), make([]float32, rows)
		for i := range w {
			w[i] = weights[i%16]
		}
		for i := range x {
			x[i] = []byte{255, 0, 1, byte(255 * (i % 2))}[i/in%4]
		}
		for i := range scales {
			scales[i] = 1
		}
		for i := range ones {
			ones[i] = 1
		}
		want := reference(w, scales, in, 1, x, ones, rows, 1)
		eachKernel(t, func(t *testing.T, k Kernel) {
			y := make([]float32, rows*out)
			k.Multiply(Pack(w, scales, in, 1), y, x, ones, rows, 1)
			sameBits(t, fmt.Sprint(weights), y, want)
		})
	}
}

func TestHowProductsAreAdded(t *testing.T) {
	for _, c := range []struct {
		first []int8
		want  uint8
	}{
		{[]int8{64, 64}, 2}, {[]int8{65, 64}, 0}, {[]int8{-64, -64}, 2}, {[]int8{-64, -65}, 0}, {[]int8{127, -128}, 2}, {[]int8{127, 1}, 2}, {[]int8{127, 2}, 0},
		{[]int8{64, 64, 0, 0, 1}, 1}, {[]int8{64, 64, 127}, 2}, {[]int8{-64, -64, 0, 0, 1}, 2}, {[]int8{-64, -64, 0, 0, -1}, 1},
	} {
		weights := make([]int8, 32)
		copy(weights[16:], c.first)
		if got := Pack(weights, []float32{1}, 32, 1).sums[0]; got != c.want {
			t.Errorf("%v: %d, want %d", c.first, got, c.want)
		}
	}
}

// TestTheMostChannels has sums that just fit 32 bits, and refuses more.
func TestTheMostChannels(t *testing.T) {
	weights, x := make([]int8, 2*MaxIn), make([]byte, 2*MaxIn)
	for i := range MaxIn {
		weights[i], weights[MaxIn+i], x[i] = 127, -128, 255
	}
	ones := []float32{1, 1}
	want := reference(weights, ones, MaxIn, 1, x, ones, 2, 1)
	eachKernel(t, func(t *testing.T, k Kernel) {
		y := make([]float32, 4)
		k.Multiply(Pack(weights, ones, MaxIn, 1), y, x, ones, 2, 1)
		sameBits(t, "the most channels", y, want)
	})
	defer func() {
		if recover() == nil {
			t.Error("more channels were packed")
		}
	}()
	Pack(make([]int8, MaxIn+1), ones[:1], MaxIn+1, 1)
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	k, w := Kernels()[0], Pack(make([]int8, 3*20), []float32{1}, 20, 3)
	const rows, dilation, stride = 2, 2, 32
	multiply := func(y, x, scales, dilation int) (refused bool) {
		defer func() { refused = recover() != nil }()
		k.Multiply(w, make([]float32, y), make([]byte, x), make([]float32, scales), rows, dilation)
		return
	}
	if multiply(rows, 6*stride, 6, dilation) {
		t.Error("what fits was refused")
	}
	if !multiply(rows, 6*stride-1, 6, dilation) || !multiply(rows, 6*stride, 5, dilation) ||
		!multiply(rows+1, 6*stride, 6, dilation) ||
		!multiply(rows, 6*stride, 6, 0) {
		t.Error("what does not fit was multiplied")
	}
	k.Multiply(w, nil, nil, nil, 0, 1)
}

func TestKernelsMayRunSideBySide(t *testing.T) {
	c := convolutions()[0]
	eachKernel(t, func(t *testing.T, k Kernel) {
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() {
				y := make([]float32, c.rows*c.w.Out)
				for range 20 {
					k.Multiply(c.w, y, c.x, c.scale, c.rows, c.dilation)
					if !slices.Equal(y, c.want) {
						t.Error("other values")
						return
					}
				}
			})
		}
		running.Wait()
	})
}

func TestFind(t *testing.T) {
	for _, k := range Kernels() {
		if found, err := Find(k.Name()); err != nil || found != k {
			t.Errorf("%s: found %v, %v", k.Name(), found, err)
		}
	}
	if _, err := Find("abacus"); err == nil || !strings.Contains(err.Error(), `no kernel "abacus"`) {
		t.Errorf("a kernel that does not exist: %v", err)
	}
	if last := built()[len(built())-1]; last.Name() != "plain" || !slices.Contains(Kernels(), last) {
		t.Errorf("the last kernel is %s, want plain, which runs everywhere", last.Name())
	}
}

// TestExpectedKernels fails where other kernels run than SWAR_EXPECT_KERNELS names, so that no kernel's tests are
// skipped unseen.
func TestExpectedKernels(t *testing.T) {
	want := strings.Fields(os.Getenv("SWAR_EXPECT_KERNELS"))
	if len(want) == 0 {
		t.Skip("SWAR_EXPECT_KERNELS names no kernels")
	}
	var got []string
	for _, k := range Kernels() {
		got = append(got, k.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the kernels %q run here, SWAR_EXPECT_KERNELS wants %q", got, want)
	}
}

// BenchmarkKernel convolves as the layers of a vocoder do that take most of its time, and as its decoder does.
func BenchmarkKernel(b *testing.B) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct{ in, out, taps, dilation, rows int }{{128, 128, 11, 3, 480}, {256, 256, 7, 1, 80},
		{1090, 1024, 3, 1, 4}} {
		for _, kind := range []string{"trained", "middle", "any"} {
			c := drawn(kind, draw, kinds[kind], s.in, s.out, s.taps, s.dilation, 1)
			needed := s.rows + (s.taps-1)*s.dilation
			x, scale, y := make([]byte, needed*Stride(s.in)), make([]float32, needed), make([]float32, s.rows*s.out)
			for _, k := range Kernels() {
				b.Run(fmt.Sprintf("%dx%dx%d/%s/%s", s.in, s.taps, s.rows, kind, k.Name()), func(b *testing.B) {
					for b.Loop() {
						k.Multiply(c.w, y, x, scale, s.rows, s.dilation)
					}
					products := float64(s.in*s.out*s.taps*s.rows) * float64(b.N)
					b.ReportMetric(products/float64(b.Elapsed().Nanoseconds()), "products/ns")
				})
			}
		}
	}
}
