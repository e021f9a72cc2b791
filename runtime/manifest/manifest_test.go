package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	kokoro "github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

// pocket makes a bundle of the Pocket-TTS family.
func pocket(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pocket")
	if _, err := convert.SynthRandom(dir, convert.Tiny()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// other makes a folder with a manifest of Kokoro whose files hold one byte each.
func other(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) kokoro.File {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return kokoro.File{File: name, SHA256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
			Bytes: 1}
	}
	m := kokoro.Manifest{
		Format: kokoro.Format, Engine: kokoro.Engine, Text: file("text.onnx"), Prosody: file("prosody.onnx"),
		Vocoder: file("vocoder"),
		Model: kokoro.Model{ID: "kokoro", Revision: "1", Licence: "Apache-2.0", Languages: []string{"hi-IN"},
			Weights: strings.Repeat("0a", 32)},
		Voices: []kokoro.Voice{{Name: "raj", Source: "hm_omega", Language: "hi-IN", File: file("raj")}},
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, File), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBundlesOfBothEngines(t *testing.T) {
	for engine, dir := range map[string]string{ONNX: pocket(t), Kokoro: other(t)} {
		b, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := Engine(dir); err != nil || found != engine || b.Engine != engine || b.ID == "" ||
			len(b.Voices) == 0 || b.Manifest == nil {
			t.Errorf("%s: it is %+v, of the engine %s, %v", engine, b, found, err)
		}
		if err := b.Verify(dir); err != nil {
			t.Errorf("%s: %v", engine, err)
		}
		last := filepath.Join(dir, b.Files[len(b.Files)-1].File)
		content, err := os.ReadFile(last)
		if err == nil {
			content[len(content)-1] ^= 1
			err = os.WriteFile(last, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Verify(dir); err == nil || !strings.Contains(err.Error(), "was changed or is damaged") {
			t.Errorf("%s: a changed file: %v", engine, err)
		}
		if err := os.Truncate(last, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "not wholly copied") {
			t.Errorf("%s: a short file: %v", engine, err)
		}
	}
}

func TestWhatIsNoBundle(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no manifest":         {"", "opening bundle"},
		"no JSON":             {"x", "manifest: invalid character"},
		"an unknown engine":   {`{"engine":"piper"}`, `it is for the engine "piper", and this program has kokoro, onnx`},
		"a damaged manifest":  {`{"engine":"kokoro","format":1}`, "model.id is empty"},
		"a manifest of a day": {`{"format":9}`, "format 9"},
	} {
		dir := t.TempDir()
		if tt.text != "" {
			if err := os.WriteFile(filepath.Join(dir, File), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
