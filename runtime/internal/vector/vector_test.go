package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(seed uint64, n int, scale float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * scale)
	}
	return v
}

// every runs f with each set of instructions and returns what plain C gave, once all have given the same bits.
func every(t *testing.T, n int, f func(fs Functions, y []float32)) []float32 {
	t.Helper()
	var want []float32
	for _, fs := range slices.Backward(All()) {
		y := make([]float32, n)
		f(fs, y)
		if want == nil {
			want = y
			continue
		}
		for i := range y {
			if math.Float32bits(y[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%s: value %d is %v, plain C says %v", fs.Name(), i, y[i], want[i])
			}
		}
	}
	return want
}

func TestSnake(t *testing.T) {
	for _, scale := range []float64{0.1, 3, 300} {
		for _, columns := range []int{1, 7, 16, 33, 128} {
			x, a, b := random(1, 5*columns, scale), random(2, columns, 1), random(3, columns, 1)
			frequency, height := random(4, columns, 2), random(5, columns, 2)
			got := every(t, len(x), func(fs Functions,
				y []float32) {
				fs.Snake(y, x, Affine{a, b}, Snake{frequency, height})
			})
			for i, y := range got {
				c := i % columns
				v := float32(x[i]*a[c]) + b[c] // rounded before the sum, also where Go would contract
				s := math.Sin(float64(frequency[c] * v))
				want := float64(v) + float64(height[c])*s*s
				if bound := 1e-6*math.Abs(want) +
					2e-6*(1+math.Abs(float64(height[c]))); math.Abs(float64(y)-want) > bound {
					t.Errorf("scale %v: value %d is %v, want %v", scale, i, y, want)
				}
			}
		}
	}
}

func TestLeakyAndSum(t *testing.T) {
	const columns = 37
	x, z := random(1, 4*columns, 1), random(2, 4*columns, 1)
	a, b := random(3, columns, 1), random(4, columns, 1)
	got := every(t, len(x), func(fs Functions, y []float32) { fs.Leaky(y, x, Affine{a, b}, 0.25) })
	for i, y := range got {
		v := float32(x[i] * a[i%columns])
		if v += b[i%columns]; v < 0 {
			v /= 4
		}
		if y != v {
			t.Errorf("leaky: value %d is %v, want %v", i, y, v)
		}
	}
	got = every(t, len(x), func(fs Functions, y []float32) { fs.Sum(y, x, z, b, 0.5) })
	for i, y := range got {
		v := x[i] + z[i]
		if v = (v + b[i%columns]) / 2; y != v {
			t.Errorf("sum: value %d is %v, want %v", i, y, v)
		}
	}
}

func TestMultiply(t *testing.T) {
	for _, out := range []int{1, 22, 31, 32, 33, 64, 70} {
		for _, rows := range []int{0, 1, 3, 4, 5, 9} {
			const in, step = 21, 6 // rows overlap
			x, w, bias := random(1, 9*step+in, 1), random(2, in*out, 1), random(3, out, 1)
			m := NewMatrix(w, in, out, bias)
			got := every(t, rows*out, func(fs Functions, y []float32) { fs.Multiply(m, y, x, rows, step) })
			for i, y := range got {
				r, o := i/out, i%out
				want := float64(bias[o])
				for k := range in {
					want += float64(x[r*step+k]) * float64(w[o*in+k])
				}
				if math.Abs(float64(y)-want) > 1e-4 {
					t.Errorf("%d columns, %d rows: value %d is %v, want %v", out, rows, i, y, want)
				}
			}
		}
	}
}

func BenchmarkSnake(b *testing.B) {
	const columns, rows = 128, 512
	x, y, of := random(1, rows*columns, 1), make([]float32, rows*columns), random(2, columns, 1)
	for _, fs := range All() {
		b.Run(fs.Name(), func(b *testing.B) {
			for b.Loop() {
				fs.Snake(y, x, Affine{of, of}, Snake{of, of})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*columns), "ns/value")
		})
	}
}

func BenchmarkMultiply(b *testing.B) {
	const in, out, rows = 7 * 128, 22, 512
	x, y := random(1, (rows+7)*128, 1), make([]float32, rows*out)
	m := NewMatrix(random(2, in*out, 1), in, out, nil)
	for _, fs := range All() {
		b.Run(fs.Name(), func(b *testing.B) {
			for b.Loop() {
				fs.Multiply(m, y, x, rows, 128)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*in*out), "ns/product")
		})
	}
}

// rounded is what rounding a row is by definition.
func rounded(x []float32) (q []byte, scale float32) {
	var peak float32
	for _, v := range x {
		peak = max(peak, float32(math.Abs(float64(v))))
	}
	inverse := 127 / peak
	if scale = peak * float32(1./127); peak < 1e-30 {
		inverse, scale = 0, 0
	}
	for _, v := range x {
		q = append(q, byte(128+int(math.RoundToEven(float64(v*inverse)))))
	}
	return q, scale
}

func TestRound(t *testing.T) {
	const rows = 7
	for _, columns := range []int{1, 15, 16, 22, 66, 128, 514, 1090, 2048} {
		for _, beyond := range []int{0, 14} {
			stride := columns + beyond
			x := random(1, rows*columns, 1)
			clear(x[columns : 2*columns])
			for i := range x[2*columns : 4*columns] {
				x[2*columns+i] *= []float32{1e-36, 1e3}[i/columns] // too small to count, and large
			}
			a, b, frequency := random(3, columns, 1), random(4, columns, 1), random(5, columns, 1)
			of, snake := Affine{a, b}, Snake{frequency, a}
			for name, f := range map[string]struct {
				floats func(f Functions, y []float32)
				bytes  func(f Functions, q Integers)
			}{
				"round": {func(_ Functions, y []float32) { copy(y, x) }, func(f Functions, q Integers) { f.Round(q, x, columns) }},
				"leaky": {func(f Functions, y []float32) { f.Leaky(y, x, of, .2) }, func(f Functions, q Integers) { f.LeakyRound(q, x, of, .2) }},
				"snake": {func(f Functions, y []float32) { f.Snake(y, x, of, snake) }, func(f Functions, q Integers) { f.SnakeRound(q, x, of, snake) }},
			} {
				y := every(t, len(x), f.floats)
				for _, fs := range All() {
					q := Integers{make([]byte, rows*stride), make([]float32, rows)}
					f.bytes(fs, q)
					for r := range rows {
						want, scale := rounded(y[r*columns : (r+1)*columns])
						for range beyond {
							want = append(want, 128)
						}
						if got := q.Bytes[r*stride : (r+1)*stride]; !slices.Equal(got, want) || q.Scales[r] != scale {
							t.Fatalf("%s, %s, %d columns: row %d is %v times %v, want %v times %v", fs.Name(), name,
								columns, r, got, q.Scales[r], want, scale)
						}
					}
				}
			}
		}
	}
}

// TestWhatIsNoNumberStaysOne: it shows in the scale of its row, and in no other.
func TestWhatIsNoNumberStaysOne(t *testing.T) {
	const columns = 35
	for _, fs := range All() {
		for _, strange := range []float64{math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1)} {
			for at := range columns {
				x := random(1, 2*columns, 1)
				x[at] = float32(strange)
				q := Integers{make([]byte, 2*columns), make([]float32, 2)}
				fs.Round(q, x, columns)
				if q.Scales[0]*0 == 0 || q.Scales[1]*0 != 0 {
					t.Fatalf("%s: the scales are %v", fs.Name(), q.Scales)
				}
			}
		}
	}
}

func TestLinear(t *testing.T) {
	for _, in := range []int{1, 15, 16, 17, 128, 130} {
		const out = 5
		x, scales, bias := random(1, in, 1), random(2, out, 1), random(3, out, 1)
		w := make([]int8, in*out)
		for i := range w {
			w[i] = int8(i*37%255 - 127)
		}
		got := every(t, out, func(fs Functions, y []float32) { fs.Linear(y, x, w, scales, bias) })
		for o, y := range got {
			var sum float64
			for i, v := range x {
				sum += float64(v) * float64(w[o*in+i])
			}
			if want := sum*float64(scales[o]) + float64(bias[o]); math.Abs(float64(y)-want) > 1e-3 {
				t.Errorf("%d values: row %d is %v, want %v", in, o, y, want)
			}
		}
	}
}

func BenchmarkSnakeRound(b *testing.B) {
	const columns, rows = 128, 512
	x, of := random(1, rows*columns, 1), random(2, columns, 1)
	q := Integers{make([]byte, rows*columns), make([]float32, rows)}
	for _, fs := range All() {
		b.Run(fs.Name(), func(b *testing.B) {
			for b.Loop() {
				fs.SnakeRound(q, x, Affine{of, of}, Snake{of, of})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*columns), "ns/value")
		})
	}
}
