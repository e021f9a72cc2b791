// Package bundle is the stored form of a Kokoro model. It reads and checks the folder that the engine runs a model
// from. Package convert makes such folders.
//
// A bundle is a folder: manifest.json, the graphs text and prosody, the weights of the vocoder, and one file for each
// voice.
package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/swar-tts/swar/runtime/internal/folder"
)

// Format is the version of the layout below. A bundle of another version is refused: convert it again.
const Format = 1

// Engine is what a manifest names, so that a bundle of another engine is told apart.
const Engine = "kokoro"

// ManifestFile is the file that makes a folder a bundle.
const ManifestFile = "manifest.json"

// The sizes of Kokoro-82M that texts and voices depend on.
const (
	Vocabulary = 178 // ids of phonemes
	MaxTokens  = 512 // ids of a chunk, those of the pauses around it included
	StyleRows  = 510 // styles of a voice, by the number of ids of a chunk
	StyleSize  = 256 // the first half is for the vocoder, the second for the prosody
)

// Manifest describes a bundle.
type Manifest struct {
	Format     int     `json:"format"`
	Engine     string  `json:"engine"`
	Model      Model   `json:"model"`
	Text       File    `json:"text"`    // graph: ids and style to features, and durations
	Prosody    File    `json:"prosody"` // graph: features of frames and style to pitch and energy
	Vocoder    File    `json:"vocoder"` // weights
	Voices     []Voice `json:"voices"`
	MinRuntime string  `json:"min_runtime"` // oldest ONNX Runtime
}

// Model says where a bundle comes from.
type Model struct {
	ID        string   `json:"id"`
	Revision  string   `json:"revision,omitempty"`
	Licence   string   `json:"licence,omitempty"`
	Languages []string `json:"languages"`
	Weights   string   `json:"weights_sha256"` // of the export's file
}

// File is a file of the bundle.
type File = folder.File

// Voice is a voice of the bundle.
type Voice struct {
	Name     string  `json:"name"`
	Source   string  `json:"source"` // its name where it was published
	Language string  `json:"language"`
	GainDB   float64 `json:"gain_db"` // that makes voices equally loud
	File
}

// ReadManifest reads a manifest and checks that it is whole and consistent. A key that is unknown is an error.
func ReadManifest(data []byte) (Manifest, error) {
	var version struct {
		Format int    `json:"format"`
		Engine string `json:"engine"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	switch {
	case version.Engine == "":
		return Manifest{}, errors.New("manifest: it names no engine, as bundles of Pocket-TTS do, and this is the engine " +
			Engine + ": choose the engine of the bundle")
	case version.Engine != Engine:
		return Manifest{}, fmt.Errorf("manifest: this bundle is for the engine %.40q, and this is the engine %s: choose that engine",
			version.Engine, Engine)
	case version.Format != Format:
		return Manifest{}, fmt.Errorf("manifest: format %d, this program reads %d: convert the model again",
			version.Format, Format)
	}
	var m Manifest
	if err := folder.ReadManifest(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	if err := m.Check(); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	return m, nil
}

// Files lists every file of the bundle but the manifest.
func (m *Manifest) Files() []File {
	files := []File{m.Text, m.Prosody, m.Vocoder}
	for _, v := range m.Voices {
		files = append(files, v.File)
	}
	return files
}

// Bytes returns the size of all files but the manifest.
func (m *Manifest) Bytes() int64 {
	n := int64(0)
	for _, f := range m.Files() {
		n += f.Bytes
	}
	return n
}

// Voice returns the voice of that name.
func (m *Manifest) Voice(name string) (Voice, bool) {
	for _, v := range m.Voices {
		if v.Name == name {
			return v, true
		}
	}
	return Voice{}, false
}

// The largest files that are believed. They bound what a bundle makes the engine allocate.
const (
	maxManifest = 1 << 20
	maxGraph    = 512 << 20
	maxVoice    = 8 << 20
	maxVoices   = 1000
)

// Check returns what is wrong with m, naming the first field that is.
func (m *Manifest) Check() error {
	switch {
	case m.Format != Format:
		return fmt.Errorf("format is %d, want %d", m.Format, Format)
	case m.Engine != Engine:
		return fmt.Errorf("engine is %.40q, want %s", m.Engine, Engine)
	case m.Model.ID == "":
		return errors.New("model.id is empty")
	case len(m.Model.Languages) == 0:
		return errors.New("model.languages is empty")
	case !folder.IsHash(m.Model.Weights):
		return errors.New("model.weights_sha256 is not a SHA-256")
	case len(m.Voices) == 0 || len(m.Voices) > maxVoices:
		return fmt.Errorf("there are %d voices, want 1 to %d", len(m.Voices), maxVoices)
	}
	for _, f := range m.Files() {
		if err := f.Check(ManifestFile); err != nil {
			return err
		}
		if f.Bytes > maxGraph {
			return fmt.Errorf("%s has %d MiB, want at most %d", f.File, f.Bytes>>20, maxGraph>>20)
		}
	}
	seen := map[string]bool{}
	for _, v := range m.Voices {
		switch {
		case v.Name == "" || v.Language == "" || seen[v.Name]:
			return fmt.Errorf("voice %.40q is listed twice, or its name or language is missing", v.Name)
		case !(v.GainDB >= -60 && v.GainDB <= 20):
			return fmt.Errorf("voice %s: gain_db is %g, want -60 to 20", v.Name, v.GainDB)
		case v.Bytes > maxVoice:
			return fmt.Errorf("voice %s has %d MiB, want at most %d", v.Name, v.Bytes>>20, maxVoice>>20)
		}
		seen[v.Name] = true
	}
	return nil
}

// Open reads the manifest of the bundle in dir and checks the sizes of its files. See [Verify] for the hashes.
func Open(dir string) (Manifest, error) {
	data, err := folder.ReadSmall(filepath.Join(dir, ManifestFile), maxManifest)
	if err != nil {
		return Manifest{}, fmt.Errorf("opening bundle: %w", err)
	}
	m, err := ReadManifest(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("bundle %s: %w", dir, err)
	}
	return m, folder.CheckSizes(dir, m.Files())
}

// Verify reads every file of the bundle in dir and compares its hash with the manifest.
func Verify(dir string, m Manifest) error { return folder.Verify(dir, m.Files()) }
