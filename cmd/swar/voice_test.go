package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// cloner is a shell with a bundle that has room for 5 s, the configuration and weights it was made of, and recordings.
func cloner(t *testing.T) *shell {
	t.Helper()
	s := neuralShell(t)
	from := "../../runtime/onnx/testdata/01-v2-tanh/"
	var all []safetensors.Tensor
	for _, name := range []string{"model.safetensors", "encoder.safetensors"} {
		w, file, err := safetensors.Open(from + name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, tensor := range w.Names() {
			shape, _ := w.Shape(tensor)
			values, err := w.Floats(tensor, shape...)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, safetensors.Tensor{Name: tensor, Shape: shape, Floats: values})
		}
	}
	for name, change := range map[string]float32{"whole.safetensors": 0, "other.safetensors": .5} {
		var b bytes.Buffer
		all[0].Floats[0] += change
		if err := safetensors.Write(&b, all...); err != nil {
			t.Fatal(err)
		}
		all[0].Floats[0] -= change
		s.write(name, b.Bytes())
	}
	for _, name := range []string{"config.yaml", "tokenizer.model", "voice.safetensors"} {
		data, err := os.ReadFile(from + name)
		if err != nil {
			t.Fatal(err)
		}
		s.write(name, data)
	}
	for _, name := range []string{"stereo44.flac", "mono24.mp3", "mono16.opus", "mono24.m4a"} {
		data, err := os.ReadFile(filepath.Join("../../runtime/recording/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		s.write(name, data)
	}
	s.ok("bundle", "convert", "--config", "config.yaml", "--from", "whole.safetensors", "--voice",
		"raj=voice.safetensors",
		"--voice-seconds", "5", "-o", "b")
	return s
}

func TestAddingAVoice(t *testing.T) {
	s := cloner(t)
	add := []string{"voice", "add", "--bundle", "b", "--config", "config.yaml", "--from", "whole.safetensors",
		"--consent", "Asha agreed\x1b[31m"}
	r := s.ok(append(add, "asha=mono16.opus")...)
	for _, want := range []string{"✓ asha is in b: ", "it spoke once: ",
		"say --bundle b --voice asha 'Namaste! Kya haal hai?'"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("it says %q, want %q", r.out, want)
		}
	}
	if !strings.Contains(r.err, "note: voice asha: It has only 1.0 s") {
		t.Errorf("the advice is %q", r.err)
	}
	s.ok("bundle", "verify", "b")
	s.ok("say", "--bundle", "b", "--voice", "asha", "--seed", "1", "-o", "x.wav", "hello")
	shown := s.ok("bundle", "inspect", "b").out
	for _, want := range []string{"asha was cloned from 1.0 s of Ogg Opus, SHA-256 ", "consent of asha, noted on 20",
		": Asha agreed [31m\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("inspect shows %q, want %q", shown, want)
		}
	}
	if out := s.ok("voices", "--bundle", "b", "--json").out; strings.Contains(out, "agreed") ||
		strings.Contains(out, "sha256") {
		t.Errorf("what the API answers holds the consent: %s", out)
	}
	list := s.ok("voice", "list", "--bundle", "b").out
	if !strings.Contains(list, "1.0 s of Ogg Opus") || !strings.Contains(list, "raj") {
		t.Errorf("the list is %q", list)
	}
	var voices []bundle.Voice
	if err := json.Unmarshal([]byte(s.ok("voice", "list", "--bundle", "b", "--json").out), &voices); err != nil ||
		len(voices) != 2 {
		t.Errorf("%v, %v", voices, err)
	}

	if err := os.Mkdir(s.path("kokoro"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("kokoro/manifest.json", []byte(`{"engine":"kokoro"}`))
	before := s.tree("b")
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a name that is taken":   {append(add, "asha=mono24.mp3"), 1, "swar: the bundle has a voice of that name: asha; --replace puts the new one in its place"},
		"other weights":          {append(add, "--from", "other.safetensors", "new=mono24.mp3"), 1, "voices belong to their weights"},
		"no name":                {append(add, "mono24.mp3"), 2, "want NAME=FILE"},
		"no configuration":       {[]string{"voice", "add", "--bundle", "b", "--consent", "it is mine", "x=mono24.mp3"}, 2, "--config is missing"},
		"no bundle":              {[]string{"voice", "add", "--config", "config.yaml", "x=mono24.mp3"}, 2, "--model is missing"},
		"nobody who could agree": {[]string{"voice", "add", "--bundle", "b", "--config", "config.yaml", "x=mono24.mp3"}, 2, "--consent is missing"},
		"a missing agreement":    {append(add, "--consent", "agreement.txt", "x=mono24.mp3"), 1, "not a file, and too short to be a consent text"},
		"no recording":           {append(add, "x=config.yaml"), 1, "no format of sound that is known here: install ffmpeg"},
		"an m4a without ffmpeg":  {append(add, "x=mono24.m4a"), 1, "ffmpeg -i mono24.m4a -ac 1 -ar 24000 -c:a pcm_s16le voice.wav"},
		"a folder that is none":  {append(add, "--bundle", "none", "x=mono24.mp3"), 1, "there is no folder none"},
		"another engine":         {append(add, "--bundle", "kokoro", "x=mono24.mp3"), 1, "which clones no voices"},
		"removing from another":  {[]string{"voice", "rm", "raj", "--bundle", "kokoro"}, 1, "which clones no voices"},
		"removing nobody":        {[]string{"voice", "rm", "nobody", "--bundle", "b"}, 1, "b has no voice nobody"},
	} {
		r := s.run(tt.args...)
		if r.code != tt.code || !strings.Contains(r.err, tt.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", name, r.code, r.err, tt.code, tt.want)
		}
	}
	for name, data := range s.tree("b") {
		if before[name] != data {
			t.Errorf("what was refused has changed %s", name)
		}
	}

	s.write("agreement.txt", []byte("Raj has signed on paper.\n"))
	s.ok(append(add, "--replace", "--consent", "agreement.txt", "asha=stereo44.flac")...)
	if shown := s.ok("bundle", "inspect", "b").out; !strings.Contains(shown, "1.0 s of FLAC") ||
		!strings.Contains(shown, ": Raj has signed on paper.\n") {
		t.Errorf("inspect shows %q", shown)
	}
	s.ok("voice", "rm", "raj", "--bundle", "b")
	if r := s.run("voice", "rm", "asha", "--bundle", "b"); r.code != 1 ||
		!strings.Contains(r.err, "asha is the only voice of b") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
	s.ok("bundle", "verify", "b")
}
