package vector

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// near compares with what is computed in double precision.
func near(t *testing.T, what string, got []float32, want []float64, bound float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= bound*(1+math.Abs(w))) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], w)
		}
	}
}

func TestRoundWords(t *testing.T) {
	for _, columns := range []int{1, 7, 16, 33, 128} {
		for _, largest := range []int{1, 2896, 32767} {
			const rows, beyond = 4, 3
			x, bias := random(1, rows*columns, 2), random(2, columns, 1)
			clear(x[columns : 2*columns])
			x[2*columns] = float32(math.NaN())
			for _, elu := range []bool{false, true} {
				v := make([]float64, len(x))
				for i, at := range x {
					if v[i] = float64(at); elu {
						if v[i] = float64(at + bias[i%columns]); v[i] < 0 {
							v[i] = math.Expm1(v[i])
						}
					}
				}
				var first Words
				for _, f := range slices.Backward(All()) {
					q := Words{make([]int16, rows*(columns+beyond)), make([]float32, rows)}
					for i := range q.Words {
						q.Words[i] = 77
					}
					if elu {
						f.ELURoundWords(q, x, bias, largest)
					} else {
						f.RoundWords(q, x, columns, largest)
					}
					if first.Words == nil {
						first = q
					}
					what := fmt.Sprintf("%s: %d columns up to %d, elu %v", f.Name(), columns, largest, elu)
					checkWords(t, what, q, first, v, columns, largest)
				}
			}
		}
	}
}

// checkWords compares rows with others, and with values. The third row holds what is not a number.
func checkWords(t *testing.T, what string, q, same Words, v []float64, columns, largest int) {
	t.Helper()
	stride := len(q.Words) / len(q.Scales)
	for r, scale := range q.Scales {
		if r == 2 {
			if scale == scale {
				t.Errorf("%s: a row with what is not a number has the scale %v", what, scale)
			}
			continue
		}
		if scale != same.Scales[r] || !slices.Equal(q.Words[r*stride:(r+1)*stride], same.Words[r*stride:(r+1)*stride]) {
			t.Fatalf("%s: row %d differs from that of plain C", what, r)
		}
		for c := range stride {
			w := q.Words[r*stride+c]
			if c >= columns {
				if w != 77 {
					t.Errorf("%s: word %d behind a row was written", what, c)
				}
				continue
			}
			if got, want := float64(w)*float64(scale), v[r*columns+c]; math.Abs(got-want) > .51*float64(scale)+1e-6 ||
				int(w) > largest || int(w) < -largest {
				t.Fatalf("%s: %d times %v, want %v", what, w, scale, want)
			}
		}
	}
}

func TestNorm(t *testing.T) {
	for _, columns := range []int{1, 15, 16, 33, 512} {
		const rows = 3
		x, weight, bias := random(1, rows*columns, 3), random(2, columns, 1), random(3, columns, 1)
		got := every(t, len(x), func(f Functions, y []float32) { f.Norm(y, x, weight, bias, 1e-5) })
		want := make([]float64, len(x))
		for r := range rows {
			row := x[r*columns : (r+1)*columns]
			mean, variance := 0., 0.
			for _, v := range row {
				mean += float64(v) / float64(columns)
			}
			for _, v := range row {
				variance += (float64(v) - mean) * (float64(v) - mean) / float64(columns)
			}
			for c, v := range row {
				want[r*columns+c] = (float64(v)-mean)/math.Sqrt(variance+1e-5)*float64(weight[c]) + float64(bias[c])
			}
		}
		near(t, fmt.Sprint(columns, " columns"), got, want, 1e-5)
	}
}

func TestGELU(t *testing.T) {
	x := append(random(1, 101, 2), -200, -20, -6, -1e-3, 0, 1e-3, 6, 20, 200)
	want := [2][]float64{}
	for _, v := range x {
		at := float64(v)
		want[0] = append(want[0], at/2*(1+math.Erf(at/math.Sqrt2)))
		want[1] = append(want[1], at/2*(1+math.Tanh(math.Sqrt(2/math.Pi)*(at+.044715*at*at*at))))
	}
	for i, tanh := range []bool{false, true} {
		got := every(t, len(x), func(f Functions, y []float32) { f.GELU(y, x, tanh) })
		near(t, fmt.Sprint("tanh ", tanh), got, want[i], 1e-6)
	}
}

func TestRotateAndMix(t *testing.T) {
	const half, heads = 5, 3
	x, c, s := random(1, 2*half*heads, 1), random(2, half, 1), random(3, half, 1)
	got := every(t, len(x), func(f Functions, y []float32) { f.Rotate(y, x, c, s) })
	want := make([]float64, len(x))
	for i, v := range x {
		at, other := i%half, float64(x[(i/half^1)*half+i%half])
		sign := -1.
		if i/half%2 == 1 {
			sign = 1
		}
		want[i] = float64(v)*float64(c[at]) + sign*other*float64(s[at])
	}
	near(t, "rotate", got, want, 1e-6)

	const columns, rows = 37, 3
	x, z, a, b := random(1, columns, 1), random(2, columns, 1), random(3, rows*columns, 1), random(4, rows*columns, 1)
	got = every(t, rows*columns, func(f Functions, y []float32) { f.Mix(y, x, z, a, b) })
	want = make([]float64, rows*columns)
	for i := range want {
		want[i] = float64(x[i%columns])*float64(a[i]) + float64(z[i%columns])*float64(b[i])
	}
	near(t, "mix", got, want, 1e-6)
}

// past returns random keys and values of so many positions, which begin at from.
func past(width, from, count int) Past {
	capacity := from + count + 1
	p := Past{make([]float32, width*capacity+KeyPadding), make([]float32, width*capacity), capacity}
	keys, values := random(1, width*count, 1), random(2, width*count, 1)
	for j := range count {
		for c := range width {
			p.Keys[c*capacity+from+j], p.Values[(from+j)*width+c] = keys[j*width+c], values[j*width+c]
		}
	}
	return p
}

func TestAttend(t *testing.T) {
	for _, head := range []int{1, 8, 16, 24, 64, 100} {
		for _, count := range []int{1, 15, 16, 63, 64, 65, 250} {
			const heads = 2
			width := heads * head
			q, scratch := random(3, width, .3), make([]float32, AttendScratch(count))
			p := past(width, 0, count)
			query := Queries{q, width, count - 1, count}
			got := every(t, width, func(f Functions, y []float32) { f.Attend(y, width, query, p, heads, scratch) })
			want := make([]float64, width)
			for h := range heads {
				sum, weights := 0., make([]float64, count)
				for j := range weights {
					for d := h * head; d < (h+1)*head; d++ {
						weights[j] += float64(q[d]) * float64(p.Keys[d*p.Capacity+j])
					}
					weights[j] = math.Exp(weights[j])
					sum += weights[j]
				}
				for d := h * head; d < (h+1)*head; d++ {
					for j, w := range weights {
						want[d] += w / sum * float64(p.Values[j*width+d])
					}
				}
			}
			near(t, fmt.Sprintf("%d of %d", count, head), got, want, 2e-5)
			moved := past(width, 5, count)
			y := make([]float32, width)
			query.At += 5
			if Best.Attend(y, width, query, moved, heads, scratch); !slices.Equal(y, got) {
				t.Errorf("%d of %d: other bits where the window lies elsewhere", count, head)
			}
		}
	}
}

// TestQueriesAlone compares queries that look together with each of them alone, at the beginning and behind a whole
// window.
func TestQueriesAlone(t *testing.T) {
	const heads, head, rows = 2, 24, 11
	width, step := heads*head, 3*heads*head
	for _, window := range []int{1, 2, 3, 4, 5, 16, 40} {
		for _, at := range []int{0, 1, 2, window - 1, window, window + 7} {
			p, scratch := past(width, 0, at+rows), make([]float32, AttendScratch(window))
			queries, nan := random(4, rows*step, .3), float32(math.NaN())
			got := every(t, rows*width, func(f Functions, y []float32) {
				f.Attend(y, width, Queries{queries, step, at, window}, p, heads, scratch)
			})
			for r := range rows {
				first, last := max(0, at+r+1-window), at+r
				for d := range width { // what it does not see
					for j := range p.Capacity {
						if j < first || j > last {
							p.Keys[d*p.Capacity+j], p.Values[j*width+d] = nan, nan
						}
					}
				}
				want := make([]float32, width)
				Best.Attend(want, width, Queries{queries[r*step:], step, last, window}, p, heads, scratch)
				if !slices.Equal(got[r*width:(r+1)*width], want) {
					t.Errorf("window of %d: query at %d of %d from %d has other bits than alone", window, last,
						rows, at)
				}
				p = past(width, 0, at+rows)
			}
		}
	}
}

func TestWhatIsNoNumberStaysThat(t *testing.T) {
	nan := float32(math.NaN())
	x, ones := []float32{1, nan, 2}, []float32{1, 1, 1}
	p := past(3, 0, 4)
	for _, f := range All() {
		for what, write := range map[string]func(y []float32){
			"norm":   func(y []float32) { f.Norm(y, x, ones, ones, 1e-5) },
			"gelu":   func(y []float32) { f.GELU(y, x, false) },
			"tanh":   func(y []float32) { f.GELU(y, x, true) },
			"attend": func(y []float32) { f.Attend(y, 3, Queries{x, 3, 3, 4}, p, 3, make([]float32, AttendScratch(4))) },
			"mix":    func(y []float32) { f.Mix(y, x, ones, ones, ones) },
		} {
			y := make([]float32, 3)
			if write(y); y[1] == y[1] {
				t.Errorf("%s: %s makes %v of what is not a number", f.Name(), what, y[1])
			}
		}
	}
}
