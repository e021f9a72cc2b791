// Package bundle is the stored form of a neural model. It reads and checks the folder that the engine runs a model
// from. Package convert makes such folders.
//
// A bundle is a folder: manifest.json, the graphs lm, flow and codec, host.safetensors with the few weights that the
// host itself needs, the tokenizer and one file of keys and values for each voice.
package bundle

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/internal/folder"
)

// Format is the version of the layout below. A bundle of another version is refused: convert it again.
const Format = 1

// ManifestFile is the file that makes a folder a bundle.
const ManifestFile = "manifest.json"

// Manifest describes a bundle. Everything that changes how the model sounds or when it ends stands here and not in
// the engine.
type Manifest struct {
	Format     int       `json:"format"`
	Model      Model     `json:"model"`
	Dims       Dims      `json:"dims"`
	GELU       string    `json:"gelu"` // tanh or erf
	Flow       Flow      `json:"flow"`
	BOS        bool      `json:"insert_bos_before_voice"`
	Tokenizer  Tokenizer `json:"tokenizer"`
	Text       Text      `json:"text"`
	Trained    Trained   `json:"trained,omitzero"`
	Sampling   Sampling  `json:"sampling"`
	Limits     Limits    `json:"limits"`
	Decode     Decode    `json:"decode"`
	Precision  string    `json:"precision"` // FP32 or Int8
	Quantised  Quantised `json:"quantised,omitzero"`
	MinRuntime string    `json:"min_runtime"` // oldest ONNX Runtime
	LM         Graph     `json:"lm"`
	FlowHead   Graph     `json:"flow_head"`
	Codec      Graph     `json:"codec"`
	Host       File      `json:"host"`
	Voices     []Voice   `json:"voices"`
}

// Model says where a bundle comes from.
type Model struct {
	ID        string   `json:"id"`
	Revision  string   `json:"revision,omitempty"`
	Licence   string   `json:"licence,omitempty"`
	Languages []string `json:"languages"`
	// of the checkpoint's file, or of weights that were made up: voices belong to exactly these
	Weights string `json:"weights_sha256"`
	Codec   string `json:"codec_sha256,omitempty"` // of the codec's file where the checkpoint came in two
}

// Dims are the sizes of the model.
type Dims struct {
	Width       int     `json:"width"`
	Layers      int     `json:"layers"`
	Heads       int     `json:"heads"`
	HeadDim     int     `json:"head_dim"`
	FFN         int     `json:"ffn"`
	Latent      int     `json:"latent"`
	Vocab       int     `json:"vocab"` // pieces; the embedding has one row more
	FlowWidth   int     `json:"flow_width"`
	CodecWidth  int     `json:"codec_width"`
	CodecHeads  int     `json:"codec_heads"`
	CodecWindow int     `json:"codec_window"` // positions that codec attention sees, itself included
	Upsample    int     `json:"upsample"`     // codec positions per frame
	RoPE        float64 `json:"rope_period"`
	CodecRoPE   float64 `json:"codec_rope_period"`
}

// Flow is how a latent is drawn.
type Flow struct {
	Type  string `json:"type"` // LSD or Drifting
	Steps int    `json:"steps"`
}

// The kinds of flow. Lagrangian self-distillation moves noise by steps that know where in time they begin and end.
// Drifting knows no time and takes exactly one step: what the net returns is the latent.
const (
	LSD      = "lsd"
	Drifting = "drifting"
)

// The precisions of the large matrices. All else is fp32.
const (
	FP32 = "fp32"
	Int8 = "int8"
)

// File is a file of the bundle.
type File = folder.File

// Tokenizer is the file that turns text into token ids.
type Tokenizer struct {
	File
	Kind string `json:"kind"` // SentencePiece or TokenizerJSON
}

// The kinds of tokenizers' files.
const (
	SentencePiece = "sentencepiece"
	TokenizerJSON = "tokenizers"
)

// Quantised says what became integers, for the reader of a manifest. It is the zero value for FP32.
type Quantised struct {
	Matrices string `json:"matrices"` // which ones
	Weights  string `json:"weights"`
	Rows     string `json:"rows"` // what they are multiplied with
}

// Graph is an ONNX file and what goes in and out. States are fed back: output NAME_out becomes input NAME of the next
// run.
type Graph struct {
	File
	Inputs  []Value `json:"inputs"`
	Outputs []Value `json:"outputs"`
	States  []State `json:"states,omitempty"`
}

// Value is a tensor at the edge of a graph. A dimension is a number or the name of a size that varies.
type Value struct {
	Name string   `json:"name"`
	Type string   `json:"type"` // f32, i32 or i64
	Dims []string `json:"dims"`
}

// State is an array of float32 that starts as zeros.
type State struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// Text says how a chunk is prepared before it is tokenised.
type Text struct {
	Capitalise          bool      `json:"capitalise"`           // the first letter
	TerminalPunctuation bool      `json:"terminal_punctuation"` // a full stop if there is no end mark
	RemoveSemicolons    bool      `json:"remove_semicolons"`
	PadShort            bool      `json:"pad_short"` // eight spaces before fewer than five words
	Replace             []Replace `json:"replace,omitempty"`
	// those that the tokenizer has a piece for, for the reader of a manifest
	SentenceMarks string `json:"sentence_marks"`
}

// Trained says which text the model was trained on, as far as somebody has said so. The zero value says nothing: the
// model reads what its tokenizer has pieces for, in whatever script it comes.
type Trained struct {
	Script Script `json:"script,omitempty"` // empty means Mixed
	// NoPunctuation, or the marks, such as ".,?", as in the rules of Text
	Punctuation string `json:"punctuation,omitempty"`
	Numbers     string `json:"numbers,omitempty"` // NumbersAsWords, for the reader of a manifest
}

// Script is how a model is given Hindi and English. What is not named is given as it is written.
type Script string

// The scripts that models are trained on.
const (
	Devanagari      Script = "deva"      // Roman Hindi and English words are written in Devanagari
	DevanagariLatin Script = "deva+latn" // Roman Hindi is written in Devanagari, English words stay Latin
	Mixed           Script = "mixed"     // as it is written, Roman Hindi too
)

// What a model was trained without.
const (
	NoPunctuation  = "none"
	NumbersAsWords = "words"
)

// Knows reports whether the model was trained with a mark, as far as is known.
func (t *Trained) Knows(mark string) bool {
	return t.Punctuation == "" || t.Punctuation != NoPunctuation && strings.Contains(t.Punctuation, mark)
}

// Check returns what is wrong with t, naming the first field that is.
func (t *Trained) Check() error {
	const mostMarks = 64
	isNoMark := func(r rune) bool { return !unicode.In(r, unicode.P, unicode.S) }
	isMarks := len(t.Punctuation) <= mostMarks && !strings.ContainsFunc(t.Punctuation, isNoMark)
	switch {
	case !slices.Contains([]Script{"", Devanagari, DevanagariLatin, Mixed}, t.Script):
		return fmt.Errorf("script is %.40q, want deva, deva+latn or mixed", t.Script)
	case t.Punctuation != NoPunctuation && !isMarks:
		return fmt.Errorf("punctuation is %.40q, want none or the marks, without spaces", t.Punctuation)
	case t.Numbers != "" && t.Numbers != NumbersAsWords:
		return fmt.Errorf("numbers is %.40q, want words", t.Numbers)
	}
	return nil
}

// Replace is a replacement of characters. Each character of a text is replaced once: at each place the longest From
// counts.
type Replace struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Sampling says how noise is drawn and when speech ends.
type Sampling struct {
	Temperature         float64 `json:"temperature"`           // default
	NoiseClamp          float64 `json:"noise_clamp,omitempty"` // 0 means none
	EOSThreshold        float64 `json:"eos_threshold"`
	MinFrames           int     `json:"min_frames"`             // frames whose end mark is ignored
	FramesAfterEOS      int     `json:"frames_after_eos"`       // more than ShortWords words
	FramesAfterEOSShort int     `json:"frames_after_eos_short"` // up to ShortWords words
	ShortWords          int     `json:"short_words"`
}

// Limits bound one chunk.
type Limits struct {
	MaxTokens       int     `json:"max_tokens"`
	TokensPerSecond float64 `json:"tokens_per_second"` // slowest speech
	PaddingSeconds  float64 `json:"padding_seconds"`   // added to it
	// rows of the rotation tables in the graph: voice, text and frames together
	Positions int `json:"positions"`
}

// MaxFrames is the most frames that a chunk of so many tokens may sound.
func (l Limits) MaxFrames(tokens int) int {
	const framesPerSecond = 12.5
	return int(math.Ceil((float64(tokens)/l.TokensPerSecond + l.PaddingSeconds) * framesPerSecond))
}

// Longest returns the most positions that a stream takes after a prompt of so many. They are the prompt, the longest
// text and its frames.
func (l Limits) Longest(prompt int) int { return prompt + l.MaxTokens + l.MaxFrames(l.MaxTokens) }

// Decode is how latents become audio.
type Decode struct {
	// frames at a time; the last number repeats. Every bundle of this format has DecodePlan
	Plan   []int `json:"plan"`
	FadeIn int   `json:"fade_in_samples"` // of the first frame of a chunk; 0 means none
}

// DecodePlan is one frame, so that speech begins soon, and then groups of four, which are cheaper.
func DecodePlan() []int { return []int{1, 4} }

// Voice is a voice of the bundle.
type Voice struct {
	Name         string `json:"name"`
	Language     string `json:"language"`
	PromptFrames int    `json:"prompt_frames"`  // positions of the prompt
	Weights      string `json:"weights_sha256"` // that its keys and values were made with: those of the model
	File
	Recording Recording `json:"recording,omitzero"` // that it was cloned from; zero for others
	Consent   Consent   `json:"consent,omitzero"`   // of the speaker; zero where nobody has said anything
}

// Recording says which recording a voice was cloned from. The recording itself is not kept.
type Recording struct {
	SHA256  string  `json:"sha256"` // of the file
	Seconds float64 `json:"seconds"`
	Format  string  `json:"format"`
}

// Consent is what the speaker has agreed to, in the words of whoever cloned the voice. Nothing can check it.
type Consent struct {
	Text string `json:"text"`
	Date string `json:"date"` // on which it was noted, such as 2026-11-23
}

// MaxConsent is the longest text of a consent, in bytes.
const MaxConsent = 16 << 10

// Check returns what is wrong with c.
func (c *Consent) Check() error {
	if c.Text == "" || len(c.Text) > MaxConsent || !utf8.ValidString(c.Text) {
		return fmt.Errorf("the text of a consent has %d bytes, want 1 to %d of UTF-8", len(c.Text), MaxConsent)
	}
	if _, err := time.Parse(time.DateOnly, c.Date); err != nil {
		return fmt.Errorf("the date of a consent is %.20q, want one such as 2026-11-23", c.Date)
	}
	return nil
}

// ReadManifest reads a manifest and checks that it is whole and consistent. A key that is unknown is an error.
func ReadManifest(data []byte) (Manifest, error) {
	var version struct {
		Format int    `json:"format"`
		Engine string `json:"engine"` // of bundles of other engines; those of this one do not name it
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	if version.Engine != "" {
		return Manifest{},
			fmt.Errorf("manifest: this bundle is for the engine %.40q, and this is the engine for Pocket-TTS: "+
				"choose that engine", version.Engine)
	}
	if version.Format != Format {
		return Manifest{},
			fmt.Errorf("manifest: format %d, this program reads %d: convert the model again", version.Format, Format)
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
	files := []File{m.LM.File, m.FlowHead.File, m.Codec.File, m.Host, m.Tokenizer.File}
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

// MaxManifest is more than a thousand voices need. It bounds what is read before anything is known.
const MaxManifest = 4 << 20

// Open reads the manifest of the bundle in dir and checks the sizes of its files. See [Verify] for the hashes.
func Open(dir string) (Manifest, error) {
	data, err := ReadSmall(filepath.Join(dir, ManifestFile), MaxManifest)
	if err != nil {
		return Manifest{}, fmt.Errorf("opening bundle: %w", err)
	}
	m, err := ReadManifest(data)
	if err != nil {
		return Manifest{}, fmt.Errorf("bundle %s: %w", dir, err)
	}
	if err := folder.CheckSizes(dir, m.Files()); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// Verify reads every file of the bundle in dir and compares its hash with the manifest.
func Verify(dir string, m Manifest) error { return folder.Verify(dir, m.Files()) }

// HashFile returns the SHA-256 of the file at path, in hexadecimal digits.
func HashFile(path string) (string, error) { return folder.HashFile(path) }

// ReadSmall reads a file that is no larger than most bytes.
func ReadSmall(path string, most int64) ([]byte, error) { return folder.ReadSmall(path, most) }
