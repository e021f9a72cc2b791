package rowproduct

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

// matrix lays integers [in, out] out as kernels read them.
func matrix(integers []int8, in, out int, scales []float32) *Matrix {
	panels := (out + PanelColumns - 1) / PanelColumns
	m := &Matrix{In: in, Out: out, Panels: make([]int8, panels*PanelColumns*in), Offset: make([]int32, out),
		Scales: scales}
	for k := range in {
		for c := range out {
			step := (c/PanelColumns*(in/PanelDepth) + k/PanelDepth) * PanelColumns * PanelDepth
			m.Panels[step+c%PanelColumns*PanelDepth+k%PanelDepth] = integers[k*out+c]
			m.Offset[c] -= 128 * int32(integers[k*out+c])
		}
	}
	return m
}

// reference is what a product is by definition, in integers of 64 bits.
func reference(integers []int8, in, out int, scales, x []float32, rows int) []float32 {
	y := make([]float32, 0, rows*out)
	q := make([]int64, in)
	for r := range rows {
		row := x[r*in : (r+1)*in]
		peak := float32(0)
		for _, v := range row {
			peak = max(peak, float32(math.Abs(float64(v))))
		}
		scale := peak * float32(1./127)
		for i, v := range row {
			q[i] = -128 // of 0/0, which is multiplied by a scale of 0
			if v /= scale; v == v {
				q[i] = int64(math.RoundToEven(float64(min(max(v, -128), 127))))
			}
		}
		for c := range out {
			sum := int64(0)
			for i, v := range q {
				sum += v * int64(integers[i*out+c])
			}
			y = append(y, float32(sum)*scale*scales[c])
		}
	}
	return y
}

// sameBits fails at the first value whose bits differ.
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

// The depths and widths around every edge of steps, panels and pairs of panels, and the numbers of rows around every
// edge of tiles and of the rows that are packed together.
var (
	depths = []int{4, 8, 12, 16, 20, 60, 64, 68, 512, 1028}
	widths = []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 100}
	counts = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 31, 63, 64, 65, 130}
)

// A product is rows times a matrix, and what that is by definition.
type product struct {
	m       *Matrix
	x, want []float32
}

// randomProducts are made once for all kernels, because the reference is what takes time.
var randomProducts = sync.OnceValue(func() []product {
	draw, most := rand.New(rand.NewPCG(1, 2)), slices.Max(counts)
	var all []product
	for _, in := range depths {
		for _, out := range widths {
			integers, scales := make([]int8, in*out), make([]float32, out)
			for i := range integers {
				integers[i] = int8(draw.IntN(256) - 128)
			}
			for i := range scales {
				scales[i] = draw.Float32()
			}
			x := make([]float32, most*in)
			for i := range x {
				x[i] = float32(draw.NormFloat64() * math.Pow(10, float64(i/in%5)-2)) // rows of different size
			}
			clear(x[in : 2*in])
			x[2*in] = -1e30
			all = append(all, product{matrix(integers, in, out, scales), x,
				reference(integers, in, out, scales, x, most)})
		}
	}
	return all
})

func TestEveryKernelGivesTheBitsOfTheReference(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		for _, p := range randomProducts() {
			in, out := p.m.In, p.m.Out
			for _, rows := range counts {
				y := make([]float32, rows*out)
				k.Multiply(p.m, p.x[:rows*in], rows, y)
				sameBits(t, fmt.Sprintf("[%d, %d] x [%d, %d]", rows, in, in, out), y, p.want[:rows*out])
			}
		}
	})
}

const extremeRows = 9

// extremeProducts are those of the largest integers, whose products add up beyond what 16 bits hold two by two.
var extremeProducts = sync.OnceValue(func() []product {
	var all []product
	for _, in := range []int{4, 8, 12, 64, 4096} {
		for out := 1; out <= 2*PanelColumns+1; out++ {
			all = append(all, extremeProduct(in, out))
		}
	}
	return all
})

func extremeProduct(in, out int) product {
	integers, scales := make([]int8, in*out), make([]float32, out)
	for i := range integers {
		integers[i] = []int8{127, -128, 127, -127, 1}[(i%out+(i/out)*(i%out%3))%5]
	}
	for i := range scales {
		scales[i] = 1
	}
	x := make([]float32, extremeRows*in)
	for i := range x {
		x[i] = []float32{1, -1, 1 - 2*float32(i%2), float32(i%3) - 1}[i/in%4]
	}
	return product{matrix(integers, in, out, scales), x, reference(integers, in, out, scales, x, extremeRows)}
}

func TestNoSumIsCutOff(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		for _, p := range extremeProducts() {
			y := make([]float32, extremeRows*p.m.Out)
			k.Multiply(p.m, p.x, extremeRows, y)
			sameBits(t, fmt.Sprintf("[%d, %d]", p.m.In, p.m.Out), y, p.want)
		}
	})
}

// TestTheDeepestMatrix has sums that just fit 32 bits, and refuses one that might not.
func TestTheDeepestMatrix(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		for _, in := range []int{MaxIn - PanelDepth, MaxIn} {
			integers, x := make([]int8, 2*in), make([]float32, 2*in)
			for i := range in {
				integers[2*i], integers[2*i+1] = 127, -128
				x[i], x[in+i] = 1, -1
			}
			scales := []float32{1, 1}
			y := make([]float32, 4)
			k.Multiply(matrix(integers, in, 2, scales), x, 2, y)
			sameBits(t, fmt.Sprint(in, " deep"), y, reference(integers, in, 2, scales, x, 2))
		}
		defer func() {
			if recover() == nil {
				t.Error("a matrix that is too deep was multiplied")
			}
		}()
		const in = MaxIn + PanelDepth
		k.Multiply(matrix(make([]int8, in), in, 1, []float32{1}), make([]float32, in), 1, make([]float32, 1))
	})
}

// TestTinyRows has rows so small that their scale is rounded, and integers reach -128.
func TestTinyRows(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		const in, out = 64, 17
		integers, scales := make([]int8, in*out), make([]float32, out)
		for i := range integers {
			integers[i] = -128
		}
		for i := range scales {
			scales[i] = 1e20
		}
		var x []float32
		rows := 0
		for _, size := range []float32{1e-37, 1e-42, 1.8e-43, 9e-44, 1e-44, math.SmallestNonzeroFloat32} {
			rows++
			for i := range in {
				x = append(x, -size*float32(i%3))
			}
		}
		y := make([]float32, rows*out)
		k.Multiply(matrix(integers, in, out, scales), x, rows, y)
		sameBits(t, "tiny rows", y, reference(integers, in, out, scales, x, rows))
	})
}

func TestWhatIsNoNumberShowsInItsRow(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		const in, out = 40, 20
		integers, scales := make([]int8, in*out), make([]float32, out)
		for i := range integers {
			integers[i] = int8(i%255 - 127)
		}
		for i := range scales {
			scales[i] = 1
		}
		m := matrix(integers, in, out, scales)
		for _, strange := range []float64{math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1)} {
			for at := range in {
				x := make([]float32, 2*in)
				for i := range x {
					x[i] = 1
				}
				x[at] = float32(strange)
				y := make([]float32, 2*out)
				k.Multiply(m, x, 2, y)
				for i, v := range y {
					if finite := v*0 == 0; finite != (i >= out) {
						t.Fatalf("value %d is %g: output %d is %g", at, strange, i, v)
					}
				}
			}
		}
	})
}

func TestKernelsMayRunSideBySide(t *testing.T) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		const in, out, rows = 256, 48, 9
		integers, scales := make([]int8, in*out), make([]float32, out)
		for i := range integers {
			integers[i] = int8(i * 7)
		}
		for i := range scales {
			scales[i] = 1
		}
		m := matrix(integers, in, out, scales)
		var running sync.WaitGroup
		for g := range 4 {
			running.Go(func() {
				x := make([]float32, rows*in)
				for i := range x {
					x[i] = float32((i*(g+3))%101) - 50
				}
				want, y := reference(integers, in, out, scales, x, rows), make([]float32, rows*out)
				for range 20 {
					k.Multiply(m, x, rows, y)
					if !slices.Equal(y, want) {
						t.Errorf("goroutine %d got other values", g)
						return
					}
				}
			})
		}
		running.Wait()
	})
}

func TestFind(t *testing.T) {
	best, err := Find("")
	if err != nil || best != Kernels()[0] {
		t.Errorf("the best kernel is %v, %v", best, err)
	}
	for _, k := range Kernels() {
		if found, err := Find(k.Name()); err != nil || found != k {
			t.Errorf("%s: found %v, %v", k.Name(), found, err)
		}
	}
	if _, err := Find("abacus"); err == nil || !strings.Contains(err.Error(), "none of that name; it can run ") {
		t.Errorf("a kernel that nobody has: %v", err)
	}
	for _, k := range built() {
		if slices.Contains(Kernels(), k) {
			continue
		}
		if _, err := Find(k.Name()); err == nil ||
			!strings.Contains(err.Error(), "does not have its instructions; it can run ") {
			t.Errorf("%s, which this processor cannot run: %v", k.Name(), err)
		}
	}
	if last := built()[len(built())-1]; last.Name() != "plain" || !slices.Contains(Kernels(), last) {
		t.Errorf("the last kernel is %s, want plain, which runs everywhere", last.Name())
	}
}

// TestExpectedKernels fails where other kernels run than somebody counts on, so that neither a kernel's tests are
// skipped unseen nor an older processor is only believed to be imitated.
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

// BenchmarkKernel multiplies by twenty matrices one after another, more than caches hold, as a step of a model does.
func BenchmarkKernel(b *testing.B) {
	const products, in, out = 20, 2048, 2048
	scales := make([]float32, out)
	integers := make([]int8, in*out)
	var matrices []*Matrix
	for i := range products {
		for j := range integers {
			integers[j] = int8((j*7+i)%255 - 127)
		}
		matrices = append(matrices, matrix(integers, in, out, scales))
	}
	for _, rows := range []int{1, 2, 4, 8, 16, 31} {
		x, y := make([]float32, rows*in), make([]float32, rows*out)
		for i := range x {
			x[i] = float32(i%17) - 8
		}
		for _, k := range Kernels() {
			b.Run(fmt.Sprintf("rows=%d/%s", rows, k.Name()), func(b *testing.B) {
				b.SetBytes(products * in * out)
				for b.Loop() {
					for _, m := range matrices {
						k.Multiply(m, x, rows, y)
					}
				}
			})
		}
	}
}
