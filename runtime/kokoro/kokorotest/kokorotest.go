// Package kokorotest finds the published files of Kokoro-82M for tests, and makes a bundle of them.
package kokorotest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/internal/testenv/downloadtest"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/convert"
)

// ModelFile is the name of the model in the folder.
const ModelFile = "model_int8.onnx"

// Folder returns the folder of the published files, as hack/kokoro.sh makes it: model_int8.onnx, and the voices as
// voices/NAME.bin. It is SWAR_KOKORO, or .cache/kokoro. Without either it ends the test, see [downloadtest.Find].
func Folder(tb testing.TB) string {
	tb.Helper()
	return downloadtest.Find(tb, downloadtest.Root(), downloadtest.File{
		Variable: "SWAR_KOKORO", Path: ".cache/kokoro", Probe: ModelFile, Word: "kokoro",
		Missing: "there are no weights of Kokoro; run make kokoro, or set SWAR_KOKORO to their folder",
	})
}

// Bundle makes a bundle of the published model with these voices and returns its folder. A voice keeps its published
// name, or NAME=PUBLISHED renames it. It takes some seconds. Statistics of the vocoder's norms, if there are none,
// are those of [convert.Constants], or made up for a voice that has none there.
//
// It is for [WithoutRaceDetector]. Whether many may use a model at once is for those tests that make their bundle by
// [RacingBundle].
func Bundle(tb testing.TB, norms map[string]bundle.Norm, voices ...string) (string, bundle.Manifest) {
	tb.Helper()
	WithoutRaceDetector(tb)
	return RacingBundle(tb, norms, voices...)
}

// WithoutRaceDetector skips a test under the race detector. It is for tests that compute much in one goroutine, where
// the detector takes ten times as long and finds nothing. make test runs it without.
func WithoutRaceDetector(tb testing.TB) {
	tb.Helper()
	if raceDetector {
		tb.Skip("tried without the race detector: run go test ./runtime/kokoro/...")
	}
}

// RacingBundle is Bundle with the race detector, too.
func RacingBundle(tb testing.TB, norms map[string]bundle.Norm, voices ...string) (string, bundle.Manifest) {
	tb.Helper()
	from, dir := Folder(tb), filepath.Join(tb.TempDir(), "kokoro")
	c := convert.Conversion{
		Model: filepath.Join(from, ModelFile), ID: "kokoro-82m", Licence: "Apache-2.0", Languages: []string{"hi", "en"},
	}
	for _, voice := range voices {
		name, source, renamed := strings.Cut(voice, "=")
		if !renamed {
			source = name
		}
		v := convert.Voice{
			Name: name, Source: source, Language: "hi-IN+en-IN", GainDB: -4,
			File: filepath.Join(from, "voices", source+".bin"), Norms: norms,
		}
		if norms == nil {
			v.Norms = constants(source)
		}
		c.Voices = append(c.Voices, v)
	}
	m, err := convert.Convert(tb.Context(), dir, c)
	if err != nil {
		tb.Fatal(err)
	}
	return dir, m
}

func constants(name string) map[string]bundle.Norm {
	if norms, ok := convert.Constants(weights, name); ok {
		return norms
	}
	return Norms()
}

// weights is the SHA-256 of the model's file.
const weights = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"

// Norms returns statistics that change nothing: means of zero and variances of one.
func Norms() map[string]bundle.Norm {
	norms := map[string]bundle.Norm{}
	for _, n := range convert.Norms() {
		norms[n.Name] = bundle.Norm{Mean: make([]float32, n.Channels),
			Variance: slices.Repeat([]float32{1}, n.Channels)}
	}
	return norms
}
