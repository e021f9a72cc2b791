// Package manifest reads the manifests of all engines' bundles. They have the source of a model, its voices and its
// files. Whoever keeps, copies or checks bundles needs no more; how one speaks is known to its engine.
package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/folder"
	kokoro "github.com/swar-tts/swar/runtime/kokoro/bundle"
	onnx "github.com/swar-tts/swar/runtime/onnx/bundle"
)

// File is the file that makes a folder a bundle.
const File = onnx.ManifestFile

// MaxBytes bounds what is read of a manifest before anything is known.
const MaxBytes = onnx.MaxManifest

// The engines that bundles are for.
const (
	ONNX   = "onnx" // models of the Pocket-TTS family; their manifests name no engine
	Kokoro = kokoro.Engine
)

// Bundle is what a bundle says of itself.
type Bundle struct {
	Engine                string
	ID, Revision, Licence string
	Languages             []string
	Precision             string // of the weights; empty where the engine has one alone
	Script, Punctuation   string // that the model was trained on; empty where nothing is said
	Voices                []Voice
	Files                 []folder.File // without the manifest

	Manifest any // all of it, as the engine's own package reads it
}

// Voice is a voice of a bundle.
type Voice struct {
	Name, Language string
	Recording      string // SHA-256 of what it was cloned from; empty for others
}

// engines are those that a bundle may be for.
var engines = map[string]func(data []byte) (Bundle, error){ONNX: readONNX, Kokoro: readKokoro}

// Engine returns which engine the bundle in dir is for.
func Engine(dir string) (string, error) {
	_, engine, err := read(dir)
	return engine, err
}

// Open reads the manifest of the bundle in dir and checks the sizes of its files. See [Bundle.Verify] for the hashes.
func Open(dir string) (Bundle, error) {
	data, engine, err := read(dir)
	if err != nil {
		return Bundle{}, err
	}
	b, err := engines[engine](data)
	if err != nil {
		return Bundle{}, fmt.Errorf("bundle %s: %w", dir, err)
	}
	return b, folder.CheckSizes(dir, b.Files)
}

// Verify reads every file of the bundle in dir and compares its hash.
func (b *Bundle) Verify(dir string) error { return folder.Verify(dir, b.Files) }

// Family is what models of that kind are called.
func (b *Bundle) Family() string {
	if b.Engine == ONNX {
		return "pocket-tts"
	}
	return b.Engine
}

// Digest returns the SHA-256 of the manifest of the bundle in dir. The manifest names the hashes of all other files.
func Digest(dir string) (string, error) { return folder.HashFile(filepath.Join(dir, File)) }

// read reads a manifest, and which engine it is for.
func read(dir string) (data []byte, engine string, err error) {
	if data, err = folder.ReadSmall(filepath.Join(dir, File), MaxBytes); err != nil {
		return nil, "", fmt.Errorf("opening bundle: %w", err)
	}
	named := struct {
		Engine string `json:"engine"`
	}{}
	if err := json.Unmarshal(data, &named); err != nil {
		return nil, "", fmt.Errorf("bundle %s: manifest: %w", dir, err)
	}
	if named.Engine == "" {
		named.Engine = ONNX
	}
	if engines[named.Engine] == nil {
		return nil, "", fmt.Errorf("bundle %s: it is for the engine %.40q, and this program has %s: use a newer one",
			dir, named.Engine, strings.Join(slices.Sorted(maps.Keys(engines)), ", "))
	}
	return data, named.Engine, nil
}

func readONNX(data []byte) (Bundle, error) {
	m, err := onnx.ReadManifest(data)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{
		Engine: ONNX, ID: m.Model.ID, Revision: m.Model.Revision, Licence: m.Model.Licence,
		Languages: m.Model.Languages,
		Precision: m.Precision, Script: string(m.Trained.Script), Punctuation: m.Trained.Punctuation,
		Files: m.Files(), Manifest: m,
	}
	for _, v := range m.Voices {
		b.Voices = append(b.Voices, Voice{Name: v.Name, Language: v.Language, Recording: v.Recording.SHA256})
	}
	return b, nil
}

func readKokoro(data []byte) (Bundle, error) {
	m, err := kokoro.ReadManifest(data)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{
		Engine: Kokoro, ID: m.Model.ID, Revision: m.Model.Revision, Licence: m.Model.Licence,
		Languages: m.Model.Languages,
		Files:     m.Files(), Manifest: m,
	}
	for _, v := range m.Voices {
		b.Voices = append(b.Voices, Voice{Name: v.Name, Language: v.Language})
	}
	return b, nil
}
