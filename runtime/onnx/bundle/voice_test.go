package bundle

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/safetensors"
)

var voiceDims = Dims{Width: 4, Layers: 1, Heads: 2, HeadDim: 2}

func voice(t *testing.T, entries ...safetensors.Tensor) *safetensors.Tensors {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, entries...); err != nil {
		t.Fatal(err)
	}
	f, err := open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func attn(field string) string { return "transformer.layers.0.self_attn/" + field }

// cache holds three positions: keys 0 to 11 and values 12 to 23, the last of each not a number.
func cache() safetensors.Tensor {
	c := safetensors.Tensor{Name: attn("cache"), Shape: []int{2, 1, 3, 2, 2}}
	for i := range 24 {
		c.Floats = append(c.Floats, float32(i))
	}
	c.Floats[11] = float32(math.NaN())
	return c
}

func offset(n int64) safetensors.Tensor {
	return safetensors.Tensor{Name: attn("offset"), Shape: []int{1}, Ints: []int64{n}}
}

func TestReadPromptGroupsByHead(t *testing.T) {
	p, err := ReadPrompt(voice(t, cache(), offset(2)), voiceDims)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{0, 1, 4, 5, 2, 3, 6, 7}; p.Positions != 2 || !slices.Equal(p.K[0], want) {
		t.Errorf("%d positions, keys %v; want 2, %v", p.Positions, p.K[0], want)
	}
	if want := []float32{12, 13, 16, 17, 14, 15, 18, 19}; !slices.Equal(p.V[0], want) {
		t.Errorf("values %v, want %v", p.V[0], want)
	}
}

func TestReadPromptRefuses(t *testing.T) {
	tests := map[string]struct {
		entries []safetensors.Tensor
		want    string
	}{
		"no layers":                              {nil, "missing"},
		"no number of positions":                 {[]safetensors.Tensor{cache()}, "0 positions"},
		"no positions":                           {[]safetensors.Tensor{cache(), offset(0)}, "0 positions"},
		"fewer than none":                        {[]safetensors.Tensor{cache(), offset(-1)}, "0 positions"},
		"more positions than stored":             {[]safetensors.Tensor{cache(), offset(4)}, "cache of 3"},
		"very many positions":                    {[]safetensors.Tensor{cache(), offset(math.MaxInt64)}, "cache of 3"},
		"a value that is not a number":           {[]safetensors.Tensor{cache(), offset(3)}, "not a number"},
		"a pad":                                  {[]safetensors.Tensor{cache(), offset(2), {Name: attn("pad"), Shape: []int{1}, Ints: []int64{1}}}, "want 0"},
		"a voice embedding that is not a number": {[]safetensors.Tensor{cache(), offset(2), {Name: voiceEmbeddingEntry, Shape: []int{1, 1, 4}, Floats: []float32{0, 0, 0, float32(math.Inf(1))}}}, "not a number"},
		"a voice embedding of another width":     {[]safetensors.Tensor{cache(), offset(2), {Name: voiceEmbeddingEntry, Shape: []int{1, 1, 3}, Floats: make([]float32, 3)}}, voiceEmbeddingEntry},
		"a field nobody knows":                   {[]safetensors.Tensor{cache(), offset(2), {Name: attn("scale"), Shape: []int{1}, Floats: []float32{1}}}, "unknown"},
		"a layer more":                           {[]safetensors.Tensor{cache(), offset(2), {Name: "transformer.layers.1.self_attn/offset", Shape: []int{1}, Ints: []int64{2}}}, "another model"},
		"heads of another size":                  {[]safetensors.Tensor{{Name: attn("cache"), Shape: []int{2, 1, 1, 1, 4}, Floats: make([]float32, 8)}, offset(1)}, "shape"},
		"an offset that is not an integer":       {[]safetensors.Tensor{cache(), {Name: attn("offset"), Shape: []int{1}, Floats: []float32{2}}}, "I64"},
	}
	for name, tt := range tests {
		if _, err := ReadPrompt(voice(t, tt.entries...), voiceDims); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestHostRoundTrip(t *testing.T) {
	d := Dims{Width: 2, Latent: 3, Vocab: 1, FlowWidth: 2}
	want := Host{Embedding: []float32{1, 2, 3, 4}, Input: []float32{1, 0, 0, 0, 2, 1}, Start: []float32{5, 6},
		Times: []float32{7, 8}}
	var b bytes.Buffer
	if err := WriteHost(&b, want, d, 1); err != nil {
		t.Fatal(err)
	}
	f, err := open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadHost(f, d, 1)
	if err != nil || !slices.Equal(got.Embedding, want.Embedding) || !slices.Equal(got.Times, want.Times) {
		t.Errorf("ReadHost = %+v, %v; want %+v", got, err, want)
	}
	row := make([]float32, 2)
	if got.Row(row, []float32{10, 20, 30}); !slices.Equal(row, []float32{10, 70}) {
		t.Errorf("row of a latent = %v, want [10 70]", row)
	}
	if _, err := ReadHost(f, d, 2); err == nil {
		t.Error("times of one step were read for two")
	}
}

func TestPromptRoundTrip(t *testing.T) {
	want, err := ReadPrompt(voice(t, cache(), offset(2)), voiceDims)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WritePrompt(&b, want, voiceDims); err != nil {
		t.Fatal(err)
	}
	f, err := open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPrompt(f, voiceDims)
	if err != nil || got.Positions != want.Positions || !slices.Equal(got.K[0], want.K[0]) ||
		!slices.Equal(got.V[0], want.V[0]) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func open(data []byte) (*safetensors.Tensors, error) {
	return safetensors.Read(bytes.NewReader(data), int64(len(data)))
}
