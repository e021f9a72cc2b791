// Package layout loads models in their published folders for ONNX Runtime. It reads the KevinAHM export with and
// without a description, and sherpa-onnx. Folders of the other known families are refused by name.
//
// All three hold the same five graphs: a table of text, a language model, its flow, a codec and, for new voices, an
// encoder. Their states have one size for the longest sequence there can be and go in and out of every run as a
// whole, so that they are slower than a bundle of our own, see package bundle; nothing but speed differs.
package layout

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// Kind is one of the layouts that this package reads.
type Kind int

// The layouts.
const (
	None      Kind = iota // none of them
	Described             // KevinAHM v2: one folder for a language, with bundle.json
	Flat                  // KevinAHM, first form: the folder onnx with the tokenizer beside it, no description
	Sherpa                // sherpa-onnx
)

func (k Kind) String() string {
	return [...]string{"none", "KevinAHM", "flat KevinAHM", "sherpa-onnx"}[k]
}

const describedFile = "bundle.json"

// Find recognises the layout of a folder by its files. It returns None without an error for a folder that is none of
// them, such as a bundle of our own. A folder of a family that cannot run as it is, is an error that names the family
// and says how to convert it.
func Find(dir string) (Kind, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return None, err
	}
	f := folder{dir: dir}
	for _, e := range entries {
		f.names = append(f.names, e.Name())
	}
	if family := f.family(); family != "" {
		return None, f.refuse(family)
	}
	switch {
	case f.native():
		return None, nil
	case f.has(describedFile):
		return Described, nil
	case f.any("lm_main", ".onnx"):
		return Sherpa, nil
	case existing(filepath.Join(flatGraphs(dir), "flow_lm_main.onnx")) != "",
		existing(filepath.Join(flatGraphs(dir), "flow_lm_main_int8.onnx")) != "":
		return Flat, nil
	}
	if err := f.languages(); err != nil {
		return None, err
	}
	if f.checkpoint() {
		return None, f.refuse("upstream's own checkpoints")
	}
	return None, nil
}

// flatGraphs is where the graphs of the first form lie.
func flatGraphs(dir string) string {
	if info, err := os.Stat(filepath.Join(dir, "onnx")); err == nil && info.IsDir() {
		return filepath.Join(dir, "onnx")
	}
	return dir
}

// folder is what a folder holds.
type folder struct {
	dir   string
	names []string
}

func (f *folder) has(name string) bool { return slices.Contains(f.names, name) }

// any reports whether there is a file that begins and ends like this.
func (f *folder) any(prefix, suffix string) bool { return f.first(prefix, suffix) != "" }

func (f *folder) first(prefix, suffix string) string {
	i := slices.IndexFunc(f.names,
		func(n string) bool { return strings.HasPrefix(n, prefix) && strings.HasSuffix(n, suffix) })
	if i < 0 {
		return ""
	}
	return f.names[i]
}

// native reports whether the folder is a bundle of our own. Other families have a manifest.json too.
func (f *folder) native() bool {
	if !f.has(bundle.ManifestFile) {
		return false
	}
	_, ours := f.manifest()["format"]
	return ours
}

func (f *folder) manifest() map[string]json.RawMessage {
	var keys map[string]json.RawMessage
	if text, err := readText(filepath.Join(f.dir, bundle.ManifestFile)); err == nil {
		_ = json.Unmarshal(text, &keys) // what is no object has no keys
	}
	return keys
}

// family names the family of a folder that has to be converted, as far as its files tell.
func (f *folder) family() string {
	lm := f.any("flow_lm_main", ".onnx")
	switch {
	case f.native():
		return ""
	case f.any("flow_lm_prefill", ".onnx") || f.any("flow_lm_step", ".onnx") || f.any("latent_to_mimi", ".onnx"):
		return "CWBudde (go-pocket-tts)"
	case f.any("", "_q4.onnx") || lm && f.hasOnlyJSONTokenizer() && !f.has(describedFile):
		return "alfredomariamilano (ottomate)"
	case lm && (f.any("", ".kv") || f.any("", ".emb") || f.inside("voices", ".kv")):
		return "VolgaGerm (PocketTTS.cpp)"
	case lm && !f.any("flow_lm_flow", ".onnx") && f.merged():
		return "RAVEN"
	case f.any("lm_main", ".onnx") && !f.has("vocab.json") && f.has(bundle.ManifestFile):
		return "soniqo"
	}
	return ""
}

func (f *folder) hasOnlyJSONTokenizer() bool {
	return f.has("tokenizer.json") && !f.has("tokenizer.model")
}

// checkpoint reports whether the folder holds what graphs are made of.
func (f *folder) checkpoint() bool {
	return f.has(checkpointFile) || f.any("", ".safetensors") && f.config() != ""
}

// checkpointFile is what upstream's training calls its weights.
const checkpointFile = "model.safetensors"

// config names the configuration of a checkpoint.
func (f *folder) config() string {
	if yaml := f.first("", ".yaml"); yaml != "" {
		return yaml
	}
	return f.first("", ".yml")
}

// merged reports whether the language model draws latents itself. Only its graph tells that from a download that
// lacks the flow.
func (f *folder) merged() bool {
	file, err := readFile(filepath.Join(f.dir, f.first("flow_lm_main", ".onnx")))
	if err != nil {
		return false
	}
	g, err := graph.ReadSignature(file)
	_, merged := g.Input("flow_x")
	return err == nil && merged
}

// inside reports whether a folder of the folder holds a file that ends like this.
func (f *folder) inside(name, suffix string) bool {
	matches, err := filepath.Glob(filepath.Join(f.dir, name, "*"+suffix))
	return err == nil && len(matches) > 0
}

// refuse says how to convert what a model of this family was made of.
func (f *folder) refuse(family string) error {
	path := func(found, fallback string) string {
		if !f.has(found) {
			return fallback
		}
		return filepath.Join(f.dir, found)
	}
	weights := checkpointFile
	if !f.has(weights) {
		weights = f.first("", ".safetensors")
	}
	return fmt.Errorf("%s is a model of the family %s, which cannot run as it is: convert its checkpoint with swar bundle convert "+
		"--from %s --config %s --tokenizer %s --voice NAME=VOICE.safetensors -o DIR", f.dir, family,
		path(weights, checkpointFile), path(f.config(), "model.yaml"),
		path(f.first("tokenizer", ".model"), "tokenizer.model"))
}

// languages refuses a folder of many languages, of which one has to be named.
func (f *folder) languages() error {
	for _, pattern := range []string{"*", filepath.Join("onnx", "*")} {
		matches, err := filepath.Glob(filepath.Join(f.dir, pattern, describedFile))
		if err == nil && len(matches) > 0 {
			return fmt.Errorf("%s holds %d models, one for each language: name one, such as %s", f.dir, len(matches),
				filepath.Dir(matches[0]))
		}
	}
	return nil
}

// foreign refuses graphs of families that no file name gives away.
func foreign(g *graph.Signature) error {
	for _, in := range g.Inputs {
		switch {
		case in.Name == "flow_x":
			return familyError("RAVEN")
		case in.Type == graph.F16 && len(in.Shape) == 4: // keys and values apart
			return familyError("VolgaGerm (PocketTTS.cpp)")
		}
	}
	first, ok := g.Input("state_0")
	if ok && len(first.Shape) == 5 && first.Shape[0] == 2 && first.Shape[2] == varies {
		return familyError("alfredomariamilano (ottomate)")
	}
	return nil
}

func familyError(family string) error {
	f := folder{dir: "this"}
	return f.refuse(family)
}
