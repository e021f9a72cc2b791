package graph

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// tensorOf encodes a tensor of others, with its values in the given fields.
func tensorOf(t Type, dims []uint64, fields ...[]byte) []byte {
	m := intField(nil, 2, int64(t))
	for _, d := range dims {
		m = intField(m, 1, int64(d))
	}
	return slices.Concat(append([][]byte{m, bytesField(nil, 8, []byte("t"))}, fields...)...)
}

// modelOf encodes a model of a tensor, and a node that uses it.
func modelOf(tensor []byte) []byte {
	node := bytesField(bytesField(bytesField(nil, 1, []byte("t")), 2, []byte("y")), 4, []byte("Identity"))
	return bytesField(nil, 7, bytesField(bytesField(nil, 1, node), 5, tensor))
}

func packedFloats(values ...float32) []byte {
	var body []byte
	for _, v := range values {
		body = protowire.AppendFixed32(body, math.Float32bits(v))
	}
	return body
}

func TestPartsReadEveryFormOfValues(t *testing.T) {
	one := func(number protowire.Number, v float32) []byte {
		return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), math.Float32bits(v))
	}
	for name, tt := range map[string]struct {
		tensor []byte
		floats []float32
		bytes  []byte
		want   string // of an error
	}{
		"floats in one piece":      {tensor: tensorOf(F32, []uint64{2}, bytesField(nil, 9, packedFloats(1, -2))), floats: []float32{1, -2}},
		"floats, packed":           {tensor: tensorOf(F32, []uint64{2}, bytesField(nil, 4, packedFloats(1, -2))), floats: []float32{1, -2}},
		"floats, one by one":       {tensor: tensorOf(F32, []uint64{2}, one(4, 1), one(4, -2)), floats: []float32{1, -2}},
		"a number":                 {tensor: tensorOf(F32, nil, one(4, 5)), floats: []float32{5}},
		"none":                     {tensor: tensorOf(F32, []uint64{0, 3}), floats: []float32{}},
		"unsigned bytes":           {tensor: tensorOf(U8, []uint64{3}, bytesField(nil, 9, []byte{0, 127, 255})), bytes: []byte{0, 127, 255}},
		"signed bytes":             {tensor: tensorOf(I8, []uint64{3}, bytesField(nil, 9, []byte{0, 127, 255})), bytes: []byte{0, 127, 255}},
		"signed bytes, one by one": {tensor: tensorOf(I8, []uint64{2}, intField(nil, 5, 7), intField(nil, 5, -1)), bytes: []byte{7, 255}},
		"integers of 32 bits":      {tensor: tensorOf(I32, []uint64{1}, bytesField(nil, 9, []byte{1, 1, 0, 0})), want: "is i32, want u8"},
		"too few":                  {tensor: tensorOf(F32, []uint64{3}, bytesField(nil, 4, packedFloats(1, -2))), want: "is missing 1 of its 3"},
		"too many":                 {tensor: tensorOf(F32, []uint64{1}, bytesField(nil, 4, packedFloats(1, -2))), want: "more than 1 values"},
		"half a value":             {tensor: tensorOf(F32, []uint64{1}, bytesField(nil, 9, []byte{1, 2})), want: "2 bytes for 1 values"},
		"values elsewhere":         {tensor: tensorOf(F32, []uint64{1}, intField(nil, 14, 1)), want: "lie in another file"},
		"another type":             {tensor: tensorOf(I64, []uint64{1}, bytesField(nil, 9, make([]byte, 8))), want: "is i64, want"},
		"more than there can be":   {tensor: tensorOf(F32, []uint64{1 << 20, 1 << 20}), want: "the file is damaged"},
		"a negative size":          {tensor: tensorOf(F32, []uint64{1 << 63}), want: "the file is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ReadParts(modelOf(tt.tensor))
			var floats []float32
			var bytes []byte
			if err == nil {
				if p.Tensor("t").Type == F32 {
					floats, err = p.Tensor("t").Floats()
				} else {
					bytes, err = p.Tensor("t").Bytes()
				}
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want one with %q", err, tt.want)
				}
				return
			}
			if err != nil || !slices.Equal(floats, tt.floats) || !slices.Equal(bytes, tt.bytes) {
				t.Errorf("%v %v, %v; want %v %v", floats, bytes, err, tt.floats, tt.bytes)
			}
		})
	}
}

func TestPartsAreAddedAsTheyAre(t *testing.T) {
	p, err := ReadParts(Affine().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	b := New("copy")
	for _, name := range []string{"x"} {
		if !p.IsInput(name) {
			t.Errorf("%s is not an input", name)
		}
		b.Input(name, F32, "rows", 2)
	}
	for _, n := range p.Nodes {
		for _, in := range n.Inputs {
			if c := p.Tensor(in); c != nil &&
				!slices.ContainsFunc(b.tensors, func(t []byte) bool { return string(t) == string(c.body) }) {
				b.AddTensor(c)
			}
		}
		b.Add(n)
	}
	b.Opset(p.Opset)
	again, err := ReadParts(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again.Opset != opset || len(again.Nodes) != len(p.Nodes) || len(again.tensors) != len(p.tensors) {
		t.Errorf("%d nodes and %d tensors of operator set %d, want %d and %d of %d",
			len(again.Nodes), len(again.tensors), again.Opset, len(p.Nodes), len(p.tensors), opset)
	}
	for i, n := range p.Nodes {
		got := again.Nodes[i]
		if got.Op != n.Op || got.Name != n.Name || !slices.Equal(got.Inputs, n.Inputs) ||
			!slices.Equal(got.Outputs, n.Outputs) {
			t.Errorf("node %d became %+v, want %+v", i, got, n)
		}
		if again.Maker(n.Outputs[0]) != got {
			t.Errorf("%s is made by another node", n.Outputs[0])
		}
	}
}

func FuzzReadParts(f *testing.F) {
	f.Add(Affine().Bytes())
	f.Add(modelOf(tensorOf(F32, []uint64{2}, bytesField(nil, 4, packedFloats(1, -2)))))
	f.Add(modelOf(tensorOf(I8, []uint64{2}, intField(nil, 5, 7), intField(nil, 5, -1))))
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := ReadParts(file)
		if err != nil {
			return
		}
		for name, tensor := range p.tensors {
			floats, errF := tensor.Floats()
			bytes, errB := tensor.Bytes()
			if errF == nil && len(floats) != tensor.Size() || errB == nil && len(bytes) != tensor.Size() {
				t.Errorf("%q has %d and %d values, want %d", name, len(floats), len(bytes), tensor.Size())
			}
		}
	})
}
