package bundle

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/safetensors"
)

// readers are all that read files of others, with a good file each.
func readers(t testing.TB) map[string]struct {
	good []byte
	read func([]byte) error
} {
	t.Helper()
	file := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "01-v2-tanh", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	d := Dims{Width: 128, Layers: 2, Heads: 2, HeadDim: 64, Latent: 32, Vocab: 400, FlowWidth: 32}
	host := Host{Embedding: make([]float32, 401*128), Input: make([]float32, 128*32), Start: make([]float32, 128),
		Times: make([]float32, 32)}
	var hostFile bytes.Buffer
	if err := WriteHost(&hostFile, host, d, 1); err != nil {
		t.Fatal(err)
	}
	m := manifest()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	tensors := func(use func(*safetensors.Tensors) error) func([]byte) error {
		return func(data []byte) error {
			f, err := open(data)
			if err != nil {
				return err
			}
			return use(f)
		}
	}
	return map[string]struct {
		good []byte
		read func([]byte) error
	}{
		"voice":    {file("voice.safetensors"), tensors(func(f *safetensors.Tensors) error { _, err := ReadPrompt(f, d); return err })},
		"host":     {hostFile.Bytes(), tensors(func(f *safetensors.Tensors) error { _, err := ReadHost(f, d, 1); return err })},
		"manifest": {text, func(data []byte) error { _, err := ReadManifest(data); return err }},
	}
}

func TestReadersRefuseATruncatedFile(t *testing.T) {
	for name, r := range readers(t) {
		if err := r.read(r.good); err != nil {
			t.Fatalf("%s: the whole file: %v", name, err)
		}
		for n := 0; n < len(r.good); n += 1 + n/64 { // every length at first, where the structure is
			err := r.read(r.good[:n])
			if err == nil {
				t.Errorf("%s: %d bytes of %d are accepted", name, n, len(r.good))
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %d bytes: an error of several lines: %v", name, n, err)
			}
		}
		if err := r.read(r.good[:len(r.good)-1]); err == nil {
			t.Errorf("%s: all but the last byte is accepted", name)
		}
	}
}

// TestReadersAllocateNoMoreThanTheFileHolds changes one byte after the other. Whatever a file claims, little more is
// taken than a few times its size.
func TestReadersAllocateNoMoreThanTheFileHolds(t *testing.T) {
	for name, r := range readers(t) {
		var before, after runtime.MemStats
		for at := 0; at < len(r.good); at += 1 + at/12 {
			for _, b := range []byte{0, '9', 0xff} {
				data := bytes.Clone(r.good)
				data[at] = b
				runtime.ReadMemStats(&before)
				_ = r.read(data) // it may be as good as before
				runtime.ReadMemStats(&after)
				if taken := after.TotalAlloc - before.TotalAlloc; taken > uint64(16*len(data))+1<<20 {
					t.Fatalf("%s: with byte %d as %#x, %d bytes are taken for a file of %d", name, at, b,
						taken, len(data))
				}
			}
		}
	}
}

func FuzzReadManifest(f *testing.F) {
	for _, seed := range manifestSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadManifest(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ReadManifest(text); err != nil || again.Model.ID != m.Model.ID ||
			len(again.Voices) != len(m.Voices) {
			t.Errorf("what was read cannot be read again: %v", err)
		}
		for _, file := range m.Files() {
			if !filepath.IsLocal(file.File) {
				t.Errorf("%q lies outside the bundle", file.File)
			}
		}
	})
}

func manifestSeeds(t testing.TB) [][]byte {
	t.Helper()
	text, err := json.Marshal(manifest())
	if err != nil {
		t.Fatal(err)
	}
	return [][]byte{text, []byte(`{"format":1}`), bytes.Replace(text, []byte("lsd"), []byte("drifting"), 1)}
}

func FuzzReadPrompt(f *testing.F) {
	for _, seed := range promptSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := open(data)
		if err != nil {
			return
		}
		p, err := ReadPrompt(file, voiceDims)
		if err != nil {
			return
		}
		if p.Positions < 1 || len(p.K) != 1 || len(p.K[0]) != p.Positions*4 || len(p.V[0]) != p.Positions*4 {
			t.Errorf("%d positions, %d and %d values", p.Positions, len(p.K[0]), len(p.V[0]))
		}
		if p.VoiceEmbedding != nil && len(p.VoiceEmbedding) != 4 {
			t.Errorf("an embedding of %d", len(p.VoiceEmbedding))
		}
	})
}

func promptSeeds(t testing.TB) (seeds [][]byte) {
	t.Helper()
	embedding := safetensors.Tensor{Name: voiceEmbeddingEntry, Shape: []int{1, 1, 4}, Floats: make([]float32, 4)}
	pad := safetensors.Tensor{Name: attn("pad"), Shape: []int{1}, Ints: []int64{0}}
	for _, entries := range [][]safetensors.Tensor{{cache(), offset(2)}, {cache(), offset(2), embedding},
		{cache(), offset(1), pad}, {cache(), offset(9)}} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, entries...); err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, b.Bytes())
	}
	return seeds
}

func TestSeedsOfOtherReadersReachThem(t *testing.T) {
	good := map[string]int{}
	for _, s := range manifestSeeds(t) {
		if _, err := ReadManifest(s); err == nil {
			good["manifest"]++
		}
	}
	for _, s := range promptSeeds(t) {
		if f, err := open(s); err == nil {
			if _, err := ReadPrompt(f, voiceDims); err == nil {
				good["voice"]++
			}
		}
	}
	if want := map[string]int{"manifest": 2, "voice": 3}; !reflect.DeepEqual(good, want) {
		t.Errorf("good seeds: %v, want %v", good, want)
	}
}
