package graph

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Affine is x·w + b with x of any number of rows, and the sum of each row.
func Affine() *Builder {
	b := New("affine")
	x := b.Input("x", F32, "rows", 2)
	y := b.Op("Add", []Value{b.Op("MatMul", []Value{x, b.Floats("w", []float32{1, 2, 3, 4, 5, 6}, 2, 3)}),
		b.Floats("b", []float32{10, 20, 30}, 3)})
	b.Output("y", y, F32, "rows", 3)
	b.Output("sum", b.Op("ReduceSum", []Value{y, b.Ints(1)}, Attr{"keepdims", 0}), F32, "rows")
	b.Output("gelu", b.Ops(Contrib, "FastGelu", 1, []Value{y})[0], F32, "rows", 3)
	b.Output("max", b.Op("ArgMax", []Value{y}, Attr{"axis", 1}), I64, "rows", 1)
	b.Output("scaled", b.Op("LeakyRelu", []Value{y}, Attr{"alpha", float32(.5)}), F32, "rows", 3)
	return b
}

func TestGraphDeclaresItsSignature(t *testing.T) {
	sig, err := ReadSignature(Affine().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(sig.Inputs), "[x f32 [-1 2]]"; got != want {
		t.Errorf("inputs %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(sig.Outputs), "[y f32 [-1 3] sum f32 [-1] gelu f32 [-1 3] max i64 [-1 1] scaled f32 [-1 3]]"; got != want {
		t.Errorf("outputs %s, want %s", got, want)
	}
	edges := Affine().Outputs()
	if got := edges[0]; got.Name != "y" || got.Type.String() != "f32" ||
		!slices.Equal(got.Dims, []string{"rows", "3"}) {
		t.Errorf("first output %+v", got)
	}
}

func TestGraphBytesDoNotChange(t *testing.T) {
	if a, b := Affine().Bytes(), Affine().Bytes(); !slices.Equal(a, b) {
		t.Error("the same graph was written in two ways")
	}
}

func TestEqualIntegersAreWrittenOnce(t *testing.T) {
	b := New("ints")
	if a, c := b.Ints(1, 2), b.Ints(1, 2); a != c {
		t.Errorf("%s and %s for the same list", a, c)
	}
	if a, c := b.Ints(1, 2), b.Ints(12); a == c {
		t.Error("two lists share a constant")
	}
}

func TestMistakesPanic(t *testing.T) {
	tests := map[string]struct {
		build func(*Builder)
		want  string
	}{
		"values that do not fit the shape": {func(b *Builder) { b.Floats("w", make([]float32, 5), 2, 3) }, "5 values"},
		"an attribute of another type":     {func(b *Builder) { b.Op("Elu", nil, Attr{"alpha", 1.0}); b.Bytes() }, "float64"},
		"a value that leaves twice": {func(b *Builder) {
			v := b.Op("Elu", nil)
			b.Output("a", v, F32)
			b.Output("b", v, F32)
		}, "twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got, ok := recover().(string); !ok || !strings.Contains(got, tt.want) {
					t.Errorf("panic %q, want one with %q", got, tt.want)
				}
			}()
			tt.build(New("wrong"))
		})
	}
}

// narrow takes so many bytes and no more.
type narrow struct{ room int }

func (w *narrow) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	if w.room -= n; n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

func TestWriteToSaysWhatIsWritten(t *testing.T) {
	b := New("g")
	b.Output("y", b.Op("Add", []Value{b.Input("x", F32, 2), b.Floats("one", []float32{1, 2}, 2)}), F32, 2)
	whole := len(b.Bytes())
	for _, room := range []int{0, 1, whole / 2, whole - 1, whole} {
		n, err := b.WriteTo(&narrow{room})
		if n != int64(room) || (err == nil) != (room == whole) {
			t.Errorf("room for %d of %d: %d written, error %v", room, whole, n, err)
		}
	}
}
