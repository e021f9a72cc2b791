package graph

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// writing is a product as bundles write it, and what can be told otherwise.
type writing struct {
	name             string
	in, out          int
	zeros            Value // of the rows
	sumZeros         []Value
	divisor          Value
	axis, keep       int
	to               Type
	column           Value
	domain           string // of MatMulInteger
	magnitude        Value  // instead of the rows
	columnOf         Value  // instead of the scales of rows
	weights, outputs Value  // instead of the matrix and its scales
}

// chain is what the nodes of a product make.
type chain struct{ scale, q, i, f, r, m, y Value }

func ours(b *Builder, name string, x Value, in, out int) writing {
	count := b.Op("Gather", []Value{b.Op("Shape", []Value{x}), b.Ints(0)})
	return writing{
		name: name, in: in, out: out, zeros: b.Op("Expand", []Value{b.Uint8(128), count}),
		sumZeros: []Value{b.Uint8(128)},
		divisor:  b.Float(1. / 127), to: F32, column: b.Ints(-1, 1), magnitude: x,
	}
}

func (w writing) multiply(b *Builder, x Value) (c chain) {
	if w.weights == "" {
		w.weights = b.Int8s(w.name, weights(w.in, w.out), w.in, w.out)
	}
	if w.outputs == "" {
		w.outputs = b.Floats(w.name+".scales", make([]float32, w.out), w.out)
	}
	peak := b.Op("ReduceMax", []Value{b.Op("Abs", []Value{w.magnitude})}, Attr{"axes", []int64{-1}},
		Attr{"keepdims", w.keep})
	c.scale = b.Op("Mul", []Value{peak, w.divisor})
	c.q = b.Op("QuantizeLinear", []Value{x, c.scale, w.zeros}, Attr{"axis", w.axis})
	c.i = b.Ops(w.domain, "MatMulInteger", 1, append([]Value{c.q, w.weights}, w.sumZeros...))[0]
	c.f = b.Op("Cast", []Value{c.i}, Attr{"to", int(w.to)})
	if w.columnOf == "" {
		w.columnOf = c.scale
	}
	c.r = b.Op("Reshape", []Value{w.columnOf, w.column})
	c.m = b.Op("Mul", []Value{c.f, c.r})
	c.y = b.Op("Mul", []Value{c.m, w.outputs})
	return c
}

// weights are all different from their neighbours, and reach both ends.
func weights(in, out int) []int8 {
	w := make([]int8, in*out)
	for i := range w {
		w[i] = int8(i*37 - 128)
	}
	return w
}

// two is a graph of two products in a row and of other nodes, one of which nothing needs.
func two() (b *Builder, nodes []string) {
	b = New("two")
	x := b.Input("x", F32, "rows", 8)
	b.Op("Neg", []Value{x})
	low := b.Op("Relu", []Value{x})
	first := ours(b, "a", low, 8, 20)
	mid := first.multiply(b, low)
	sum := b.Op("Add", []Value{mid.y, b.Floats("bias", make([]float32, 20), 20)})
	second := first // with its zeros, which bundles count once
	second.name, second.in, second.out, second.magnitude = "b", 20, 16, sum
	last := second.multiply(b, sum)
	b.Output("y", last.y, F32, "rows", 16)
	b.Output("same", b.Op("Identity", []Value{x}), F32, "rows", 8)
	return b, []string{
		"Neg x -> v0",
		"Relu x -> " + string(low),
		"swar RowProduct " + string(low) + " a.rows a.zero a.scales -> " + string(mid.y),
		"Add " + string(mid.y) + " bias -> " + string(sum),
		"swar RowProduct " + string(sum) + " b.rows b.zero b.scales -> y",
		"Identity x -> same",
	}
}

// contents is a file read back.
type contents struct {
	nodes, imports []string
	tensors        map[string]testTensor
	fields         [][]byte // of the model, and in the place of the graph those of the graph
}

type testTensor struct {
	kind Type
	dims []int
	raw  []byte
}

func read(t testing.TB, file []byte) contents {
	t.Helper()
	c := contents{tensors: map[string]testTensor{}}
	err := fields(file, func(f field) error {
		if f.number != 7 {
			c.fields = append(c.fields, f.whole)
		}
		body, _ := protowire.ConsumeBytes(f.body)
		if f.number == 8 {
			domain := ""
			err := messages(body, func(_ protowire.Number, v []byte) error { domain = string(v); return nil })
			c.imports = append(c.imports, fmt.Sprint(domain, " ", integer(body, 2, 0)))
			return err
		}
		if f.number != 7 {
			return nil
		}
		return fields(body, func(f field) error {
			c.fields = append(c.fields, f.whole)
			switch f.number {
			case 1:
				c.nodes = append(c.nodes, nodeText(t, f.whole))
			case 5:
				name, x := readTestTensor(t, f.whole)
				if _, twice := c.tensors[name]; twice {
					t.Errorf("weight %s is there twice", name)
				}
				c.tensors[name] = x
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func inside(t testing.TB, whole []byte, f func(number protowire.Number, v []byte)) {
	t.Helper()
	_, _, tag := protowire.ConsumeTag(whole)
	body, _ := protowire.ConsumeBytes(whole[tag:])
	if err := messages(body, func(number protowire.Number, v []byte) error { f(number, v); return nil }); err != nil {
		t.Fatal(err)
	}
}

func nodeText(t testing.TB, whole []byte) string {
	t.Helper()
	var domain, op, in, out string
	inside(t, whole, func(number protowire.Number, v []byte) {
		switch number {
		case 1:
			in += " " + string(v)
		case 2:
			out += " " + string(v)
		case 4:
			op = string(v)
		case 7:
			domain = string(v) + " "
		}
	})
	return domain + op + in + " ->" + out
}

func readTestTensor(t testing.TB, whole []byte) (name string, x testTensor) {
	t.Helper()
	inside(t, whole, func(number protowire.Number, v []byte) {
		switch number {
		case 1:
			for len(v) > 0 {
				d, n := protowire.ConsumeVarint(v)
				x.dims, v = append(x.dims, int(d)), v[n:]
			}
		case 8:
			name = string(v)
		case 9:
			x.raw = v
		}
	})
	_, _, tag := protowire.ConsumeTag(whole)
	body, _ := protowire.ConsumeBytes(whole[tag:])
	x.kind = Type(integer(body, 2, 0))
	return name, x
}

// extend appends fields to the graph of a file, and others to the model.
func extend(t testing.TB, file, toGraph, toModel []byte) (longer []byte) {
	t.Helper()
	err := fields(file, func(f field) error {
		if f.number == 7 {
			graph, _ := protowire.ConsumeBytes(f.body)
			longer = bytesField(longer, 7, append(slices.Clone(graph), toGraph...))
		} else {
			longer = append(longer, f.whole...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(longer, toModel...)
}

func fuse(t testing.TB, file []byte, want int) []byte {
	t.Helper()
	before := slices.Clone(file)
	fused, products, err := FuseRows(file)
	if err != nil || products != want {
		t.Fatalf("%d products, %v, want %d", products, err, want)
	}
	if !bytes.Equal(file, before) {
		t.Fatal("the file that was given has changed")
	}
	return fused
}

func TestProductsBecomeOneNodeEach(t *testing.T) {
	b, want := two()
	got := read(t, fuse(t, b.Bytes(), 2))
	if !slices.Equal(got.nodes, want) {
		t.Errorf("nodes\n%s\nwant\n%s", strings.Join(got.nodes, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{" 17", "com.microsoft 1", "swar 1"}; !slices.Equal(got.imports, want) {
		t.Errorf("imports %q, want %q", got.imports, want)
	}
	names := slices.Sorted(maps.Keys(got.tensors))
	if want := []string{"a.rows", "a.scales", "a.zero", "b.rows", "b.scales", "b.zero",
		"bias"}; !slices.Equal(names, want) {
		t.Errorf("weights %q, want %q", names, want)
	}
}

func TestMatricesAreWrittenInPanels(t *testing.T) {
	for _, in := range []int{4, 8, 24} {
		for _, out := range []int{1, 15, 16, 17, 31, 32, 33, 80} {
			b := New("g")
			x := b.Input("x", F32, "rows", in)
			b.Output("y", ours(b, "w", x, in, out).multiply(b, x).y, F32, "rows", out)
			got := read(t, fuse(t, b.Bytes(), 1)).tensors
			rows, zero, w := got["w.rows"], got["w.zero"], weights(in, out)
			panels := (out + 15) / 16
			if want := []int{panels, in / 4, 16, 4}; rows.kind != I8 || !slices.Equal(rows.dims, want) ||
				len(rows.raw) != panels*16*in {
				t.Fatalf("%d to %d: the matrix is %v %v in %d bytes, want %v", in, out, rows.kind, rows.dims,
					len(rows.raw), want)
			}
			if zero.kind != I32 || !slices.Equal(zero.dims, []int{out}) || len(zero.raw) != 4*out {
				t.Fatalf("%d to %d: the sums are %v %v in %d bytes", in, out, zero.kind, zero.dims, len(zero.raw))
			}
			for o := range panels * 16 {
				sum := 0
				for i := range in {
					want := 0
					if o < out {
						want = int(w[i*out+o])
					}
					sum += want
					if got := int(int8(rows.raw[((o/16*(in/4)+i/4)*16+o%16)*4+i%4])); got != want {
						t.Fatalf("%d to %d: the weight of input %d and output %d is %d, want %d", in, out, i, o,
							got, want)
					}
				}
				if o < out {
					if got := int(int32(binary.LittleEndian.Uint32(zero.raw[4*o:]))); got != -128*sum {
						t.Errorf("%d to %d: zeros sum up to %d for output %d, want %d", in, out, got, o, -128*sum)
					}
				}
			}
		}
	}
}

func TestWhatIsNotReplacedKeepsItsBytes(t *testing.T) {
	b, _ := two()
	// a value's shape, and what later versions may have
	strange := intField(bytesField(nil, 13, []byte("\x0a\x02v3")), 99, 7)
	// two outputs without a name
	unwanted := bytesField(bytesField(bytesField(nil, 4, []byte("Split")), 2, nil), 2, nil)
	strange = bytesField(strange, 1, unwanted)
	file := extend(t, b.Bytes(), strange, bytesField(nil, 6, []byte("about")))
	old, fused := read(t, file), read(t, fuse(t, file, 2))
	among := func(list [][]byte) func([]byte) bool {
		return func(x []byte) bool {
			return slices.ContainsFunc(list, func(y []byte) bool { return bytes.Equal(x, y) })
		}
	}
	gone := slices.DeleteFunc(slices.Clone(old.fields), among(fused.fields))
	kept := slices.DeleteFunc(slices.Clone(old.fields), func(x []byte) bool { return !among(fused.fields)(x) })
	kept2 := slices.DeleteFunc(slices.Clone(fused.fields), func(x []byte) bool { return !among(old.fields)(x) })
	if !slices.EqualFunc(kept, kept2, bytes.Equal) {
		t.Error("what is kept is in another order")
	}
	// Two chains of nine nodes and a matrix, what made zeros for both, and the constants 1/127, [-1 1], 128 and [0].
	if got, want := len(gone), 2*(9+1)+3+4; got != want {
		t.Errorf("%d fields are gone, want %d", got, want)
	}
	if got, want := len(fused.fields)-len(kept2), 2+2*2+1; got != want {
		t.Errorf("%d fields are new, want %d: nodes, weights and an import", got, want)
	}
}

func TestFusingAgainChangesNothing(t *testing.T) {
	b, _ := two()
	once := fuse(t, b.Bytes(), 2)
	if again := fuse(t, once, 0); &again[0] != &once[0] || len(again) != len(once) {
		t.Error("a file without products did not come back as it is")
	}
}

// TestOthersStay gives products that differ from ours in one thing.
func TestOthersStay(t *testing.T) {
	use := func(pick func(chain) Value) func(*Builder, chain) {
		return func(b *Builder, c chain) { b.Output("used", b.Op("Neg", []Value{pick(c)}), F32) }
	}
	leave := func(pick func(chain) Value) func(*Builder, chain) {
		return func(b *Builder, c chain) { b.Output("used", pick(c), F32) }
	}
	q, i, f, m := func(c chain) Value { return c.q }, func(c chain) Value { return c.i },
		func(c chain) Value { return c.f }, func(c chain) Value { return c.m }
	tests := map[string]struct {
		change func(*Builder, *writing)
		after  func(*Builder, chain)
		want   int
	}{
		"as bundles write it": {want: 1},
		"its scales are used elsewhere, and its rows, and its output": {after: func(b *Builder, c chain) {
			b.Output("scales", b.Op("Add", []Value{c.scale, c.r}), F32)
			b.Output("rows", b.Op("Add", []Value{"x", c.y}), F32)
		}, want: 1},
		"the integers of its rows are used elsewhere":       {after: use(q)},
		"its sums are used elsewhere":                       {after: use(i)},
		"its sums as floats are used elsewhere":             {after: use(f)},
		"its sums times the scales of rows are used too":    {after: use(m)},
		"the integers of its rows leave the graph":          {after: leave(q)},
		"its sums leave the graph":                          {after: leave(i)},
		"its sums as floats leave the graph":                {after: leave(f)},
		"its sums times the scales of rows leave the graph": {after: leave(m)},
		"rows of three":                    {change: func(_ *Builder, w *writing) { w.in = 3 }},
		"rows of four":                     {change: func(_ *Builder, w *writing) { w.in = 4 }, want: 1},
		"rows of five":                     {change: func(_ *Builder, w *writing) { w.in = 5 }},
		"rows of none":                     {change: func(_ *Builder, w *writing) { w.in = 0 }},
		"no outputs":                       {change: func(_ *Builder, w *writing) { w.out = 0 }},
		"another zero of the sums":         {change: func(b *Builder, w *writing) { w.sumZeros[0] = b.Uint8(127) }},
		"a signed zero of the sums":        {change: func(b *Builder, w *writing) { w.sumZeros[0] = b.Int8(-128) }},
		"a zero of the sums that is given": {change: func(b *Builder, w *writing) { w.sumZeros[0] = b.Input("zero", U8) }},
		"another zero of the rows":         {change: func(b *Builder, w *writing) { w.zeros = b.Op("Expand", []Value{b.Uint8(127), "rows"}) }},
		"zeros of the rows that are given": {change: func(b *Builder, w *writing) { w.zeros = b.Input("zeros", U8, "rows") }},
		"another range of the rows":        {change: func(b *Builder, w *writing) { w.divisor = b.Float(1. / 128) }},
		"another axis":                     {change: func(_ *Builder, w *writing) { w.axis = 1 }},
		"peaks with two dimensions":        {change: func(_ *Builder, w *writing) { w.keep = 1 }},
		"sums as half floats":              {change: func(_ *Builder, w *writing) { w.to = F16 }},
		"scales in a row":                  {change: func(b *Builder, w *writing) { w.column = b.Ints(1, -1) }},
		"other scales in a column":         {change: func(b *Builder, w *writing) { w.columnOf = b.Input("scales", F32, "rows") }},
		"sums without a zero":              {change: func(_ *Builder, w *writing) { w.sumZeros = nil }},
		"a zero of the matrix":             {change: func(b *Builder, w *writing) { w.sumZeros = append(w.sumZeros, b.Int8(1)) }},
		"an operator of someone else":      {change: func(_ *Builder, w *writing) { w.domain = Contrib }},
		"peaks of other rows":              {change: func(b *Builder, w *writing) { w.magnitude = b.Input("other", F32, "rows", 8) }},
		"a matrix that is computed":        {change: func(b *Builder, w *writing) { w.weights = b.Op("Neg", []Value{b.Int8s("n", weights(8, 21), 8, 21)}) }},
		"a matrix that is given":           {change: func(b *Builder, w *writing) { w.weights = b.Input("w", I8, 8, 21) }},
		"a matrix that can be given": {change: func(b *Builder, w *writing) {
			w.weights = b.Int8s(string(b.Input("w", I8, 8, 21)), weights(8, 21), 8, 21)
		}},
		"a matrix with three dimensions":    {change: func(b *Builder, w *writing) { w.weights = b.Int8s("w", weights(8, 21), 1, 8, 21) }},
		"a matrix of unsigned bytes":        {change: func(b *Builder, w *writing) { w.weights = b.tensor("w", U8, make([]byte, 8*21), 8*21, []int{8, 21}) }},
		"a matrix that is a byte too short": {change: func(b *Builder, w *writing) { w.weights = cut(b, 8*21-1) }},
		"a matrix that is there in full":    {change: func(b *Builder, w *writing) { w.weights = cut(b, 8*21) }, want: 1},
		"a matrix that is a byte too long":  {change: func(b *Builder, w *writing) { w.weights = cut(b, 8*21+1) }},
		"a scale for all outputs":           {change: func(b *Builder, w *writing) { w.outputs = b.Float(2) }},
		"scales of two dimensions":          {change: func(b *Builder, w *writing) { w.outputs = b.Floats("s", make([]float32, 21), 1, 21) }},
		"scales of one output too few":      {change: func(b *Builder, w *writing) { w.outputs = b.Floats("s", make([]float32, 20), 20) }},
		"scales that are a byte too short":  {change: func(b *Builder, w *writing) { w.outputs = scales(b, 21, 4*21-1) }},
		"scales that are there in full":     {change: func(b *Builder, w *writing) { w.outputs = scales(b, 21, 4*21) }, want: 1},
		"scales that are a byte too long":   {change: func(b *Builder, w *writing) { w.outputs = scales(b, 21, 4*21+1) }},
		"scales that say they are fewer":    {change: func(b *Builder, w *writing) { w.outputs = scales(b, 20, 4*21) }},
		"scales of integers":                {change: func(b *Builder, w *writing) { w.outputs = b.tensor("s", I32, make([]byte, 4*21), 21, []int{21}) }},
		"the name of the panels is a weight's": {after: func(b *Builder, _ chain) {
			b.Output("used", b.Op("Neg", []Value{b.Floats("w.rows", []float32{1})}), F32)
		}},
		"the name of the zeros is an input's": {change: func(b *Builder, _ *writing) { b.Input("w.zero", F32) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := New("g")
			x := b.Input("x", F32, "rows", 8)
			w := ours(b, "w", x, 8, 21)
			if tt.change != nil {
				tt.change(b, &w)
			}
			c := w.multiply(b, x)
			b.Output("y", c.y, F32)
			if tt.after != nil {
				tt.after(b, c)
			}
			file := b.Bytes()
			if fused := fuse(t, file, tt.want); tt.want == 0 && &fused[0] != &file[0] {
				t.Error("the file did not come back as it is")
			}
		})
	}
}

// cut adds a matrix of [8, 21] in so many bytes, with the dimensions written one by one.
func cut(b *Builder, size int) Value {
	m := intField(intField(intField(nil, 1, 8), 1, 21), 2, int64(I8))
	b.tensors = append(b.tensors, bytesField(bytesField(m, 8, []byte("cut")), 9, make([]byte, size)))
	return "cut"
}

// scales adds so many scales in so many bytes.
func scales(b *Builder, count uint64, size int) Value {
	m := intField(bytesField(nil, 1, protowire.AppendVarint(nil, count)), 2, int64(F32))
	b.tensors = append(b.tensors, bytesField(bytesField(m, 8, []byte("scales")), 9, make([]byte, size)))
	return "scales"
}

func TestProductsOfOneMatrixShareItsPanels(t *testing.T) {
	b := New("g")
	x := b.Input("x", F32, "rows", 8)
	w := ours(b, "w", x, 8, 8)
	w.weights = b.Int8s("w", weights(8, 8), 8, 8)
	w.outputs = b.Floats("s", make([]float32, 8), 8)
	first := w.multiply(b, x)
	w.magnitude = first.y
	b.Output("y", w.multiply(b, first.y).y, F32)
	got := read(t, fuse(t, b.Bytes(), 2))
	if want := []string{"swar RowProduct x w.rows w.zero s -> " + string(first.y),
		"swar RowProduct " + string(first.y) + " w.rows w.zero s -> y"}; !slices.Equal(got.nodes, want) {
		t.Errorf("nodes %q, want %q", got.nodes, want)
	}
	if got := slices.Sorted(maps.Keys(got.tensors)); !slices.Equal(got, []string{"s", "w.rows", "w.zero"}) {
		t.Errorf("weights %q", got)
	}
}

func TestMatrixThatIsUsedElsewhereStays(t *testing.T) {
	b := New("g")
	x := b.Input("x", F32, "rows", 8)
	b.Output("y", ours(b, "w", x, 8, 8).multiply(b, x).y, F32)
	b.Output("w_out", b.Op("Neg", []Value{"w"}), I8)
	got := read(t, fuse(t, b.Bytes(), 1)).tensors
	if !slices.Equal(slices.Sorted(maps.Keys(got)), []string{"w", "w.rows", "w.scales", "w.zero"}) {
		t.Errorf("weights %q", slices.Sorted(maps.Keys(got)))
	}
}

func TestWeightThatIsAnInputStays(t *testing.T) {
	b := New("g")
	x := b.Input("x", F32, "rows", 8)
	b.Output("y", ours(b, "w", x, 8, 8).multiply(b, x).y, F32)
	b.Input(string(b.Ints(0)), I64, 1) // of which row of the shape is counted
	if got := read(t, fuse(t, b.Bytes(), 1)).tensors; len(got) != 4 || got[string(b.Ints(0))].raw == nil {
		t.Errorf("weights %q", slices.Sorted(maps.Keys(got)))
	}
}

func TestNamesOfWhatIsGoneAreFree(t *testing.T) {
	b := New("g")
	x := b.Input("x", F32, "rows", 8)
	b.Output("y", ours(b, "w", x, 8, 8).multiply(b, x).y, F32)
	second := ours(b, "w.rows", x, 8, 16)
	b.nodes = append(b.nodes, node{op: "Shape", inputs: []Value{x}, outputs: []Value{"w.zero"}})
	second.zeros = b.Op("Expand", []Value{b.Uint8(128), "w.zero"})
	b.Output("z", second.multiply(b, x).y, F32)
	got := read(t, fuse(t, b.Bytes(), 2))
	got.nodes = slices.DeleteFunc(got.nodes, func(n string) bool { return !strings.HasPrefix(n, "swar ") })
	if want := []string{"swar RowProduct x w.rows w.zero w.scales -> y",
		"swar RowProduct x w.rows.rows w.rows.zero w.rows.scales -> z"}; !slices.Equal(got.nodes, want) {
		t.Errorf("nodes %q, want %q", got.nodes, want)
	}
	if got, want := got.tensors["w.rows"].dims, []int{1, 2, 16, 4}; !slices.Equal(got, want) {
		t.Errorf("w.rows is %v, want %v", got, want)
	}
}

// TestNodesThatKeptAProductGoFirst counts the rows of two products, for zeros that nothing needs any more. Of the one
// nothing else is used; of the other its sums are, so that it can be replaced when what counted its rows is gone.
func TestNodesThatKeptAProductGoFirst(t *testing.T) {
	b := New("g")
	x := b.Input("x", F32, "rows", 8)
	kept := ours(b, "kept", x, 8, 4).multiply(b, x)
	counted := ours(b, "counted", x, 8, 4).multiply(b, x)
	other := b.Op("Mul", []Value{kept.m, "kept.scales"}) // the same once more
	w := ours(b, "w", x, 8, 4)
	b.nodes = append(b.nodes, // with inputs left out, and outputs that nobody wants
		node{op: "Count", inputs: []Value{"", kept.y, ""}, outputs: []Value{"", "rows", ""}},
		node{op: "Count", inputs: []Value{"", counted.y, "rows"}, outputs: []Value{"", "", "all"}})
	w.zeros = b.Op("Expand", []Value{b.Uint8(128), "all"})
	b.Output("y", w.multiply(b, x).y, F32)
	b.Output("z", other, F32)
	file := fuse(t, b.Bytes(), 3)
	got := read(t, file)
	var products []string
	for _, n := range got.nodes {
		if strings.HasPrefix(n, "swar ") {
			products = append(products, n)
		}
	}
	if want := []string{"swar RowProduct x kept.rows kept.zero kept.scales -> z",
		"swar RowProduct x w.rows w.zero w.scales -> y"}; !slices.Equal(products, want) {
		t.Errorf("nodes %q, want %q", products, want)
	}
	if _, ok := got.tensors["counted.rows"]; ok {
		t.Error("the panels of a product that is gone are written")
	}
	fuse(t, file, 0)
}

func TestImportIsDeclaredOnce(t *testing.T) {
	b, _ := two()
	file := extend(t, b.Bytes(), nil, bytesField(nil, 8, intField(bytesField(nil, 1, []byte("swar")), 2, 1)))
	if got, want := read(t, fuse(t, file, 2)).imports,
		[]string{" 17", "com.microsoft 1", "swar 1"}; !slices.Equal(got, want) {
		t.Errorf("imports %q, want %q", got, want)
	}
}

// TestForeignFilesStay gives files with products of ours, and with something that rules out to touch them.
func TestForeignFilesStay(t *testing.T) {
	b, _ := two()
	attr := func(number protowire.Number) []byte { // a node with an attribute that holds graphs
		return bytesField(nil, 1, bytesField(bytesField(nil, 4, []byte("If")), 5, bytesField(nil, number, nil)))
	}
	tests := map[string]struct{ toGraph, toModel []byte }{
		"a graph in a node":              {toGraph: attr(6)},
		"graphs in a node":               {toGraph: attr(11)},
		"two graphs":                     {toModel: bytesField(nil, 7, nil)},
		"a value that two nodes make":    {toGraph: bytesField(nil, 1, bytesField(nil, 2, []byte("y")))},
		"a value that a node makes too":  {toGraph: bytesField(nil, 1, bytesField(nil, 2, []byte("bias")))},
		"a weight that is there already": {toGraph: bytesField(nil, 5, bytesField(nil, 8, []byte("a")))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := extend(t, b.Bytes(), tt.toGraph, tt.toModel)
			if got := fuse(t, file, 0); &got[0] != &file[0] {
				t.Error("the file did not come back as it is")
			}
		})
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	b, _ := two()
	whole := b.Bytes()
	node, weight := func(m []byte) []byte { return bytesField(nil, 1, m) },
		func(m []byte) []byte { return bytesField(nil, 5, m) }
	tests := map[string][]byte{
		"nothing":                       {},
		"no graph":                      intField(nil, 1, 8),
		"a number in the graph's place": intField(nil, 7, 8),
		"a node that is cut":            extend(t, whole, node([]byte{0x0a, 5}), nil),
		"an attribute that is cut":      extend(t, whole, node(bytesField(nil, 5, []byte{0x0a, 5})), nil),
		"a weight that is cut":          extend(t, whole, weight([]byte{0x4a, 5}), nil),
		"dimensions that are cut":       extend(t, whole, weight(bytesField(nil, 1, []byte{0x80})), nil),
		"an input that is cut":          extend(t, whole, bytesField(nil, 11, []byte{0x0a, 5}), nil),
		"an import that is cut":         extend(t, whole, nil, bytesField(nil, 8, []byte{0x0a, 5})),
		"something else at the end":     extend(t, whole, nil, []byte{0}),
		"something else in the graph":   extend(t, whole, []byte{0}, nil),
	}
	for name, file := range tests {
		if got, products, err := FuseRows(file); !errors.Is(err, errNotGraph) || got != nil || products != 0 {
			t.Errorf("%s: %d bytes, %d products, %v", name, len(got), products, err)
		}
	}
	ends := map[int]bool{} // where the graph is there and a field of the model is over
	end, graph := 0, false
	if err := fields(whole, func(f field) error {
		end, graph = end+len(f.whole), graph || f.number == 7
		ends[end] = graph
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, _, err := FuseRows(whole[:n]); (err == nil) != ends[n] || err != nil && !errors.Is(err, errNotGraph) {
			t.Errorf("the first %d bytes of %d: %v", n, len(whole), err)
		}
	}
}

func TestDimensionsAreBelievedUpToALimit(t *testing.T) {
	for _, rank := range []int{maxRank - 1, maxRank, maxRank + 1, 10 * maxRank} {
		var single []byte
		for range rank {
			single = intField(single, 1, 1)
		}
		for _, body := range [][]byte{single, bytesField(nil, 1, bytes.Repeat([]byte{1}, rank))} {
			m, err := readModel(bytesField(nil, 7, bytesField(nil, 5, bytesField(body, 8, []byte("w")))))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(m.values["w"].tensor.dims), min(rank, maxRank+1); got != want {
				t.Errorf("%d dimensions of %d, want %d", got, rank, want)
			}
		}
	}
}

// TestSizesThatOverflowAreNotBelieved has matrices whose sizes, multiplied, come out at the size that is there.
func TestSizesThatOverflowAreNotBelieved(t *testing.T) {
	for _, dims := range [][2]uint64{{1 << 32, 1 << 32}, {4, 1 << 62}, {1 << 62, 4},
		{math.MaxUint64 - 3, math.MaxUint64}} {
		t.Run(strconv.FormatUint(dims[0], 10), func(t *testing.T) {
			b := New("g")
			x := b.Input("x", F32, "rows", 8)
			w := ours(b, "w", x, 8, 8)
			shape := protowire.AppendVarint(protowire.AppendVarint(nil, dims[0]), dims[1])
			m := bytesField(intField(bytesField(nil, 1, shape), 2, int64(I8)), 8, []byte("huge"))
			b.tensors = append(b.tensors, bytesField(m, 9, make([]byte, dims[0]*dims[1])))
			w.weights, w.outputs = "huge", scales(b, dims[1], int(4*dims[1]%(1<<20)))
			b.Output("y", w.multiply(b, x).y, F32)
			fuse(t, b.Bytes(), 0)
		})
	}
}

func FuzzFuseRows(f *testing.F) {
	b, _ := two()
	unfused := b.Bytes()
	fused := fuse(f, unfused, 2)
	f.Add(unfused)
	f.Add(fused)
	f.Add([]byte("not a graph"))
	f.Fuzz(func(t *testing.T, file []byte) {
		fused, products, err := FuseRows(file)
		if err != nil {
			if fused != nil || products != 0 {
				t.Fatalf("%d bytes and %d products beside %v", len(fused), products, err)
			}
			return
		}
		if products == 0 && !bytes.Equal(file, fused) {
			t.Fatal("a file without products has changed")
		}
		again, more, err := FuseRows(fused)
		if err != nil || more != 0 || !bytes.Equal(again, fused) {
			t.Fatalf("%d products are found in what %d were replaced in: %v", more, products, err)
		}
		before, errBefore := ReadSignature(file)
		after, errAfter := ReadSignature(fused)
		if (errBefore == nil) != (errAfter == nil) || fmt.Sprint(before) != fmt.Sprint(after) {
			t.Fatalf("%v, %v has become %v, %v", before, errBefore, after, errAfter)
		}
	})
}
