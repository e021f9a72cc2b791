package onnx

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// lacking is a copy of a bundle that lacks one of its voices.
func lacking(t *testing.T, dir, voice string) string {
	t.Helper()
	other := filepath.Join(t.TempDir(), "bundle")
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := convert.RemoveVoice(other, voice); err != nil {
		t.Fatal(err)
	}
	return other
}

// become gives the bundle in dir the manifest and the voices of another one.
func become(t *testing.T, dir, other string) {
	t.Helper()
	m, err := bundle.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range m.Voices {
		copyFile(t, filepath.Join(dir, v.File.File), filepath.Join(other, v.File.File))
	}
	copyFile(t, filepath.Join(dir, bundle.ManifestFile), filepath.Join(other, bundle.ManifestFile))
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

func writeManifest(t *testing.T, dir string, m bundle.Manifest) {
	t.Helper()
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, bundle.ManifestFile), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func idOf(t *testing.T, voices []synth.LoadedVoice, name string) string {
	t.Helper()
	i := slices.IndexFunc(voices, func(v synth.LoadedVoice) bool { return v.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s among %+v", name, voices)
	}
	return voices[i].ID
}

// TestAVoiceReadLaterSoundsAsIfItHadBeenThere: the samples are those of an engine that was opened with it, for workers
// that were there before, too.
func TestAVoiceReadLaterSoundsAsIfItHadBeenThere(t *testing.T) {
	orttest.Need(t)
	dir, m := random(t, convert.Tiny())
	name := m.Voices[1].Name
	o := synth.Options{Voice: name, Text: "kal subah", Seed: 3, Temperature: .3}
	whole := open(t, dir, m)
	want, _, _ := speak(t, newTestWorker(t, whole), o)

	e := open(t, lacking(t, dir, name), m)
	w := newTestWorker(t, e)
	if _, err := w.Prefill(t.Context(), o); !errors.Is(err, speech.UnknownVoice(name)) {
		t.Fatalf("before it is there: %v", err)
	}
	first := synth.Options{Voice: m.Voices[0].Name, Text: "kal subah", Seed: 3, Temperature: .3}
	before, _, _ := speak(t, w, first)
	become(t, e.dir, dir)
	voices, err := e.ReadVoices()
	if err != nil || len(voices) != 2 {
		t.Fatalf("voices %+v, error %v", voices, err)
	}
	if id := idOf(t, voices, m.Voices[0].Name); id != m.Voices[0].Name {
		t.Errorf("a voice that has not changed has the id %q", id)
	}
	o.Voice = idOf(t, voices, name)
	for _, w := range []synth.Worker{w, newTestWorker(t, e)} {
		if got, _, _ := speak(t, w, o); !slices.Equal(got, want) {
			t.Error("it sounds otherwise than with an engine that was opened with it")
		}
		if got, _, _ := speak(t, w, first); !slices.Equal(got, before) {
			t.Error("the other voice has changed")
		}
	}
	again, err := e.ReadVoices()
	if err != nil || !slices.Equal(again, voices) || len(e.loaded()) != 2 {
		t.Errorf("read again: %+v, %v, and %d are loaded", again, err, len(e.loaded()))
	}
	if err := e.FreeVoice(o.Voice); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Prefill(t.Context(), o); !errors.Is(err, speech.UnknownVoice(o.Voice)) {
		t.Errorf("after it was freed: %v", err)
	}
	if got, _, _ := speak(t, w, first); !slices.Equal(got, before) {
		t.Error("the other voice has gone with it")
	}
}

// TestAReplacedVoiceIsNotTheOldOneFromTheCache: a text that was read with the voice before is read anew.
func TestAReplacedVoiceIsNotTheOldOneFromTheCache(t *testing.T) {
	orttest.Need(t)
	dir, m := random(t, convert.Tiny())
	name := m.Voices[1].Name
	e := open(t, dir, m)
	w := newTestWorker(t, e)
	o := synth.Options{Voice: name, Text: "kal subah", Seed: 3, Temperature: .3}
	old, _, _ := speak(t, w, o)
	// The first voice's prompt under the second one's name.
	swapped := m
	swapped.Voices = slices.Clone(m.Voices)
	swapped.Voices[1].File = m.Voices[0].File
	writeManifest(t, dir, swapped)
	voices, err := e.ReadVoices()
	if err != nil {
		t.Fatal(err)
	}
	o.Voice = idOf(t, voices, name)
	got, _, cached := speak(t, w, o)
	o.Voice = m.Voices[0].Name
	if want, _, _ := speak(t, w, o); cached || slices.Equal(got, old) || !slices.Equal(got, want) {
		t.Errorf("cached %v, as before %v, as the new one %v", cached, slices.Equal(got, old), slices.Equal(got, want))
	}
}

func TestReadVoicesRefuses(t *testing.T) {
	orttest.Need(t)
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string, m bundle.Manifest)
		want   string
	}{
		"another model": {func(t *testing.T, dir string, m bundle.Manifest) {
			m.Model.Revision += "2"
			writeManifest(t, dir, m)
		}, "start the server again"},
		"a voice of other weights": {func(t *testing.T, dir string, m bundle.Manifest) {
			m.Voices = slices.Clone(m.Voices)
			m.Voices[1].Weights = strings.Repeat("0", 64)
			writeManifest(t, dir, m)
		}, "weights"},
		"a damaged voice": {func(t *testing.T, dir string, m bundle.Manifest) {
			path := filepath.Join(dir, m.Voices[1].File.File)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)-1]++
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "damaged"},
		"a voice that is not there": {func(t *testing.T, dir string, m bundle.Manifest) {
			if err := os.Remove(filepath.Join(dir, m.Voices[1].File.File)); err != nil {
				t.Fatal(err)
			}
		}, "missing"},
		"no manifest": {func(t *testing.T, dir string, _ bundle.Manifest) {
			if err := os.Remove(filepath.Join(dir, bundle.ManifestFile)); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, m := random(t, convert.Tiny())
			e := open(t, lacking(t, dir, m.Voices[1].Name), m)
			become(t, e.dir, dir)
			tt.change(t, e.dir, m)
			if voices, err := e.ReadVoices(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("voices %+v, error %v, want one with %q", voices, err, tt.want)
			}
			if len(e.loaded()) != 1 {
				t.Errorf("%d voices are loaded, want that of before", len(e.loaded()))
			}
			if _, _, cached := speak(t, newTestWorker(t, e),
				synth.Options{Voice: m.Voices[0].Name, Text: "kal", Seed: 1}); cached {
				t.Error("it was cached")
			}
		})
	}
}
