package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func encoded(header, body string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+body...)
}

func open(data []byte) (*Tensors, error) {
	return Read(bytes.NewReader(data), int64(len(data)))
}

func TestTensorsWidenTheirValues(t *testing.T) {
	tests := map[string]struct {
		dtype string
		bits  []uint16
		want  []float32
	}{
		"bfloat16": {"BF16", []uint16{0x3f80, 0xc000, 0x7f80, 0x0001}, []float32{1, -2, float32(math.Inf(1)), math.Float32frombits(1 << 16)}},
		"half": {
			"F16", []uint16{0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x0400, 0x8000, 0xfc00},
			[]float32{1, -2, 65504, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, float32(math.Copysign(0, -1)),
				float32(math.Inf(-1))},
		},
	}
	for name, tt := range tests {
		body := []byte{}
		for _, b := range tt.bits {
			body = binary.LittleEndian.AppendUint16(body, b)
		}
		header := fmt.Sprintf(`{"a":{"dtype":%q,"shape":[%d],"data_offsets":[0,%d]}}`, tt.dtype,
			len(tt.bits), len(body))
		f, err := open(encoded(header, string(body)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Floats("a", -1)
		same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
		if err != nil || !slices.EqualFunc(got, tt.want, same) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
		}
	}
	if v := float16(0x7e00); v == v {
		t.Errorf("the half 0x7e00 is %v, want not a number", v)
	}
}

func TestTensorsRoundTrip(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, Tensor{Name: "z", Shape: []int{2, 2}, Floats: []float32{1, 2, 3, 4}},
		Tensor{Name: "bytes", Shape: []int{3}, Int8s: []int8{-128, 0, 127}}, Tensor{Name: "none", Shape: []int{0, 3}},
		Tensor{Name: "a", Shape: []int{1}, Ints: []int64{-7}}, Tensor{Name: "scalar", Floats: []float32{5}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Names(), []string{"a", "bytes", "none", "scalar", "z"}; !slices.Equal(got, want) {
		t.Errorf("Names = %v, want %v", got, want)
	}
	if got, err := f.Floats("z", 2, -1); err != nil || !slices.Equal(got, []float32{1, 2, 3, 4}) {
		t.Errorf("z = %v, %v", got, err)
	}
	if got, err := f.Ints("a", 1); err != nil || !slices.Equal(got, []int64{-7}) {
		t.Errorf("a = %v, %v", got, err)
	}
	if got, err := f.Int8s("bytes", 3); err != nil || !slices.Equal(got, []int8{-128, 0, 127}) {
		t.Errorf("bytes = %v, %v", got, err)
	}
	if _, err := f.Int8s("a", 1); err == nil {
		t.Error("64 bits were read as 8")
	}
	if got, err := f.Floats("none", 0, 3); err != nil || len(got) != 0 {
		t.Errorf("none = %v, %v", got, err)
	}
	if got, err := f.Floats("scalar"); err != nil || !slices.Equal(got, []float32{5}) {
		t.Errorf("scalar = %v, %v", got, err)
	}
	for _, name := range []string{"a", "missing"} {
		if _, err := f.Floats(name, 1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Floats(%s): error %v, want one that names it", name, err)
		}
	}
	if _, err := f.Floats("z", 4); err == nil {
		t.Error("a tensor was read in another shape")
	}
	if _, err := f.Ints("z", 2, 2); err == nil {
		t.Error("numbers with a fraction were read as integers")
	}
}

func TestWriteTensorsRefuses(t *testing.T) {
	one := Tensor{Name: "a", Shape: []int{1}, Floats: []float32{1}}
	if err := Write(&bytes.Buffer{}, one, one); err == nil {
		t.Error("a name was written twice")
	}
	one.Shape = []int{2}
	if err := Write(&bytes.Buffer{}, one); err == nil {
		t.Error("one value was written for a shape of two")
	}
}

func TestReadTensorsRefuses(t *testing.T) {
	header := func(entries ...string) string { return "{" + strings.Join(entries, ",") + "}" }
	at := func(name string, begin, end int) string {
		return fmt.Sprintf(`%q:{"dtype":"U8","shape":[%d],"data_offsets":[%d,%d]}`, name, end-begin, begin, end)
	}
	whole := encoded(header(at("a", 0, 4)), "1234")
	if _, err := open(whole); err != nil {
		t.Fatalf("a good file: %v", err)
	}
	if _, err := open(encoded(header(`"__metadata__":{"k":"v"}`, at("a", 0, 4))+"   ", "1234")); err != nil {
		t.Fatalf("a good file with metadata and padding: %v", err)
	}
	huge := binary.LittleEndian.AppendUint64(nil, maxHeader+1)
	tests := map[string]struct {
		data []byte
		want string
	}{
		"an empty file":                  {nil, "too few"},
		"seven bytes":                    {whole[:7], "too few"},
		"a header larger than the limit": {huge, "larger than"},
		"a length of all ones":           {bytes.Repeat([]byte{0xff}, 16), "larger than"},
		"a header larger than the file":  {whole[:20], "truncated"},
		"a value cut off":                {whole[:len(whole)-1], "truncated"},
		"a byte too many":                {append(slices.Clone(whole), 0), "after the last"},
		"bytes without a tensor":         {encoded("{}", "1"), "after the last"},
		"a hole":                         {encoded(header(at("a", 0, 1), at("b", 2, 4)), "1234"), "belong to none"},
		"an overlap":                     {encoded(header(at("a", 0, 3), at("b", 2, 4)), "1234"), "inside the one before"},
		"the same bytes twice":           {encoded(header(at("a", 0, 4), at("b", 0, 4)), "1234"), "inside the one before"},
		"a name twice":                   {encoded(header(at("a", 0, 2), at("a", 2, 4)), "1234"), "duplicate tensor a"},
		"metadata twice":                 {encoded(header(`"__metadata__":{}`, `"__metadata__":{}`), ""), "duplicate __metadata__"},
		"metadata that is not text":      {encoded(header(`"__metadata__":{"a":1}`), ""), "__metadata__"},
		"an unknown type":                {encoded(`{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}`, "1234"), "unknown dtype"},
		"an unknown field":               {encoded(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}}`, "1234"), "unknown field"},
		"a negative dimension":           {encoded(`{"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}}`, "1234"), "dimension -4"},
		"a fraction of a dimension":      {encoded(`{"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,4]}}`, "1234"), "tensor a"},
		"a product that overflows":       {encoded(`{"a":{"dtype":"U8","shape":[2147483647,2147483647,8],"data_offsets":[0,4]}}`, "1234"), "overflows"},
		"too many dimensions":            {encoded(`{"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,4],"data_offsets":[0,4]}}`, "1234"), "dimensions"},
		"a size that does not fit":       {encoded(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, "1234"), "has 8"},
		"offsets backwards":              {encoded(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}}`, "1234"), "begin and an end"},
		"one offset":                     {encoded(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0]}}`, "1234"), "begin and an end"},
		"a header that is a list":        {encoded("[]", ""), "begin with {"},
		"a header that is cut off":       {encoded(`{"a":`, ""), "header"},
		"something behind the header":    {encoded(`{}x`, ""), "other than spaces"},
	}
	for name, tt := range tests {
		if _, err := open(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

// seeds are files that reach every branch of the header.
func seeds() [][]byte {
	return [][]byte{
		encoded("{}", ""),
		encoded(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  `, "1234"),
		encoded(`{"__metadata__":{"k":"v"},"a":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},"b":{"dtype":"I64","shape":[],"data_offsets":[4,12]}}`, "123456789012"),
		encoded(`{"a":{"dtype":"F16","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}`, "1234"),
		encoded(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, "1234"),
	}
}

func TestFuzzSeedsReachTheReader(t *testing.T) {
	good := 0
	for _, s := range seeds() {
		if _, err := open(s); err == nil {
			good++
		}
	}
	if got, want := good, 4; got != want {
		t.Errorf("%d seeds are good files, want %d and a bad one", got, want)
	}
}

func FuzzReadTensors(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := open(data)
		if err != nil {
			return
		}
		for _, name := range file.Names() {
			shape, ok := file.Shape(name)
			if !ok {
				t.Fatalf("%s is listed but has no shape", name)
			}
			// What is in the header lies in the file: reading fails for the type only.
			floats, errF := file.Floats(name, shape...)
			ints, errI := file.Ints(name, shape...)
			int8s, err8 := file.Int8s(name, shape...)
			for _, err := range []error{errF, errI, err8} {
				ofType := func(want string) bool { return strings.Contains(err.Error(), "want "+want) }
				if err != nil && !ofType("F32") && !ofType("I64") && !ofType("I8") {
					t.Errorf("%s: %v", name, err)
				}
			}
			n := size(shape)
			if errF == nil && len(floats) != n || errI == nil && len(ints) != n || err8 == nil && len(int8s) != n {
				t.Errorf("%s: %d, %d and %d values for %v", name, len(floats), len(ints), len(int8s), shape)
			}
		}
	})
}
