package convert

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// grows returns a bundle with the voices anjura and raj and room for 5 s, what it was made of, and a recording of 3 s.
func grows(t *testing.T) (Addition, Conversion) {
	t.Helper()
	const name = "01-v2-tanh"
	c := published(t)
	dir := filepath.Dir(c.Config)
	c.Weights = write(t, dir+"/whole.safetensors", checkpointOf(t, name))
	c.VoiceSeconds = 5
	out, _ := convert(t, c)
	sound := make([]float64, 3*sampleRate)
	for i := range sound {
		sound[i] = .4 * math.Sin(float64(i)/20) * max(0, math.Sin(float64(i)/4000))
	}
	return Addition{
		Bundle: out, Name: "asha", File: writeWAV(t, dir+"/asha", sound), Config: c.Config, Weights: c.Weights,
		Consent: bundle.Consent{Text: "she agreed", Date: "2026-11-23"},
	}, c
}

func names(m bundle.Manifest) (all []string) {
	for _, v := range m.Voices {
		all = append(all, v.Name)
	}
	return all
}

// whole opens a bundle and compares every file with its hash. No other file may lie there.
func whole(t *testing.T, dir string) bundle.Manifest {
	t.Helper()
	m, err := bundle.Open(dir)
	if err == nil {
		err = bundle.Verify(dir, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	if err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if want := len(m.Files()) + 1; files != want {
		t.Errorf("the bundle has %d files, want %d", files, want)
	}
	return m
}

func TestAddVoice(t *testing.T) {
	a, c := grows(t)
	before := whole(t, a.Bundle)
	tried := false
	a.Try = func(_ context.Context, dir string) error {
		m, err := bundle.Open(dir)
		if err == nil {
			err = bundle.Verify(dir, m)
		}
		if got := names(m); tried || !slices.Equal(got, []string{"anjura", "asha", "raj"}) {
			t.Errorf("tried %v with %v", tried, got)
		}
		if got := names(opened(t, a.Bundle)); len(got) != 2 {
			t.Errorf("while it is tried the bundle has %v", got)
		}
		tried = true
		return err
	}
	var notices []string
	var done, total int64
	a.Notice = func(line string) { notices = append(notices, line) }
	a.Progress = func(d, of int64, _ string) { done, total = d, of }
	v, err := AddVoice(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	m := whole(t, a.Bundle)
	if got := names(m); !slices.Equal(got, []string{"anjura", "asha", "raj"}) || m.Voices[1] != v || !tried {
		t.Errorf("voices %v, tried %v", got, tried)
	}
	if v.Recording.Seconds != 3 || v.Consent != a.Consent || v.Language != "hi-IN+en-IN" ||
		v.Weights != m.Model.Weights {
		t.Errorf("%+v", v)
	}
	if len(notices) != 1 || !strings.HasPrefix(notices[0], "voice asha: It has 3.0 s") || done != total || total < 1 {
		t.Errorf("notices %q, %d of %d done", notices, done, total)
	}
	m.Voices = before.Voices
	if got, want := text(t, m), text(t, before); got != want {
		t.Error("more than the voices has changed")
	}

	// A bundle that is made with the voice at once holds the same voice.
	c.Voices["asha"] = a.File
	at, direct := convert(t, c)
	if got, want := v.File.SHA256, direct.Voices[1].File.SHA256; got != want {
		t.Errorf("the voice has SHA-256 %s, and %s in %s, which is made with it", got, want, at)
	}
	if got, want := m.LM.SHA256, direct.LM.SHA256; got != want {
		t.Errorf("the language model has SHA-256 %s, and %s where the voice is there from the beginning", got, want)
	}
}

func text(t *testing.T, m bundle.Manifest) string {
	t.Helper()
	b, err := manifestText(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func opened(t *testing.T, dir string) bundle.Manifest {
	t.Helper()
	m, err := bundle.Open(dir)
	if err != nil {
		t.Error(err)
	}
	return m
}

func TestAddVoiceRefuses(t *testing.T) {
	a, _ := grows(t)
	dir := filepath.Dir(a.Config)
	manifest, err := os.ReadFile(filepath.Join(a.Bundle, bundle.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	other := checkpointOf(t, "01-v2-tanh")
	changed := other[speakerProjection]
	changed.bytes = slices.Clone(changed.bytes)
	changed.bytes[0] ^= 1
	other[speakerProjection] = changed
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		change func(a *Addition)
		want   string
	}{
		"a name that is taken":       {func(a *Addition) { a.Name = "raj" }, "the bundle has a voice of that name: raj"},
		"no name":                    {func(a *Addition) { a.Name = "" }, `"" is not a name of a voice`},
		"a name of two lines":        {func(a *Addition) { a.Name = "a\nb" }, "is not a name of a voice"},
		"other weights":              {func(a *Addition) { a.Weights = write(t, dir+"/other.safetensors", other) }, "voices belong to their weights"},
		"weights in two files":       {func(a *Addition) { a.MimiWeights = a.Weights }, "voices belong to their weights"},
		"weights without an encoder": {func(a *Addition) { a.Weights = filepath.Join(dir, "model.safetensors") }, "voices belong to their weights"},
		"keys and values":            {func(a *Addition) { a.File = filepath.Join(dir, "voice.safetensors") }, "holds keys and values, and not what weights"},
		"silence":                    {func(a *Addition) { a.File = writeWAV(t, dir+"/silence", make([]float64, 24000)) }, "it is silent"},
		"a consent without a date":   {func(a *Addition) { a.Consent.Date = "" }, "the date of a consent"},
		"no bundle":                  {func(a *Addition) { a.Bundle = dir }, "opening bundle"},
		"a voice that fails":         {func(a *Addition) { a.Try = func(context.Context, string) error { return errors.New("it is mute") } }, "voice asha: it is mute"},
		"a bundle that changes meanwhile": {func(a *Addition) {
			a.Try = func(context.Context, string) error {
				return os.WriteFile(filepath.Join(a.Bundle, bundle.ManifestFile),
					append(bytes.TrimSpace(manifest), " \n"...), 0o644)
			}
		}, "another program has changed"},
	} {
		b := a
		tt.change(&b)
		if _, err := AddVoice(t.Context(), b); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err := os.WriteFile(filepath.Join(a.Bundle, bundle.ManifestFile), manifest, 0o644); err != nil {
			t.Fatal(err)
		}
		whole(t, a.Bundle)
	}
	if _, err := AddVoice(stop, a); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
	whole(t, a.Bundle)
	a.Name, a.Replace = "raj", true
	if _, err := AddVoice(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if m := whole(t, a.Bundle); m.Voices[1].Recording.Seconds != 3 || len(m.Voices) != 2 {
		t.Errorf("raj is replaced: %+v", m.Voices)
	}
}

func TestAVoiceIsCutToTheRoomOfTheBundle(t *testing.T) {
	a, c := grows(t)
	sound := make([]float64, 9*sampleRate)
	for i := range sound {
		sound[i] = .4 * math.Sin(float64(i)/20)
	}
	a.File = writeWAV(t, a.File, sound)
	var notices []string
	a.Notice = func(line string) { notices = append(notices, line) }
	v, err := AddVoice(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(v.PromptFrames) * frameSamples / sampleRate; got > 5.3 || got < 4 {
		t.Errorf("a voice of 9 s has %.2f s in a bundle with room for 5", got)
	}
	if !slices.ContainsFunc(notices, func(s string) bool {
		return strings.Contains(s,
			"up to the quietest place before 5")
	}) {
		t.Errorf("notices %q", notices)
	}

	c.VoiceSeconds = 0
	a.Bundle, _ = convert(t, c)
	if _, err := AddVoice(t.Context(), a); err == nil || !strings.Contains(err.Error(), "--voice-seconds") {
		t.Errorf("a bundle with room for a second: %v", err)
	}
	for seconds, good := range map[int]bool{-1: false, 0: true, 30: true, 31: false} {
		c.VoiceSeconds = seconds
		if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "b"), c); (err == nil) != good {
			t.Errorf("room for %d s: %v", seconds, err)
		}
	}
}

func TestRemoveVoice(t *testing.T) {
	a, _ := grows(t)
	if err := RemoveVoice(a.Bundle, "asha"); err == nil || !strings.Contains(err.Error(), "has no voice asha") {
		t.Errorf("a voice that is not there: %v", err)
	}
	if err := RemoveVoice(a.Bundle, "anjura"); err != nil {
		t.Fatal(err)
	}
	if got := names(whole(t, a.Bundle)); !slices.Equal(got, []string{"raj"}) {
		t.Errorf("voices %v", got)
	}
	if err := RemoveVoice(a.Bundle, "raj"); err == nil || !strings.Contains(err.Error(), "raj is the only voice") {
		t.Errorf("the last voice: %v", err)
	}
	whole(t, a.Bundle)
}
