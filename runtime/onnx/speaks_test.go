package onnx

import (
	"fmt"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/tokenize"
)

func TestSpeaksWhatTheTokenizerHasPiecesFor(t *testing.T) {
	plain := vocabulary(t, false, "नमस्ते", "न", "म", "स", "्", "त", "े", "a", "b", ",", ".")
	bytes := vocabulary(t, true, "न", "म", "a", "b", "β")
	devanagari := vocabulary(t, false, "नमस्ते", "ब", "ी")
	hindi := bundle.Manifest{Model: bundle.Model{Languages: []string{"hi-IN", "en-IN"}}}
	english := bundle.Manifest{Model: bundle.Model{Languages: []string{"EN"}}}
	undetermined := bundle.Manifest{Model: bundle.Model{Languages: []string{"hi-IN", "und"}}}
	ruled := hindi
	ruled.Text = bundle.Text{RemoveSemicolons: true, Replace: []bundle.Replace{{From: "।", To: "."}}}
	deva := hindi
	deva.Trained.Script = bundle.Devanagari
	for _, tt := range []struct {
		name      string
		manifest  bundle.Manifest
		tokenizer Tokenizer
		text      string
		want      bool
	}{
		{"letters that are pieces", hindi, plain, "नमस्ते ab", true},
		{"nothing", hindi, plain, "", true},
		{"a letter that is none", hindi, plain, "नमस्ते abc", false},
		{"another script", hindi, plain, "你", false},
		{"a mark that is none", hindi, plain, "ab!", false},
		{"a mark that a rule replaces", ruled, plain, "ab।", true},
		{"a semicolon that becomes a comma", ruled, plain, "ab;", true},
		{"a semicolon that does not", hindi, plain, "ab;", false},
		{"bytes for a rare letter of a language", hindi, bytes, "नॠ", true},
		{"bytes for marks and signs", hindi, bytes, "न! 😀", true},
		{"bytes for another script", hindi, bytes, "न你", false},
		{"bytes for digits, which are of no script", hindi, bytes, "न7", false},
		{"a piece of another script", hindi, bytes, "नβ", true},
		{"bytes for a script of another model", english, bytes, "ab ॠ", false},
		{"bytes where a language has no known script", undetermined, bytes, "न你", true},
		{"Roman Hindi for a model of Devanagari", deva, devanagari, "namaste", true},
		{"a Latin letter for it, by its name", deva, devanagari, "B", true},
		{"its letters in another script", deva, devanagari, "你", false},
		{"Roman Hindi for a model that gets it as it is", hindi, devanagari, "namaste", false},
		{"a tokenizer that does not tell", hindi, letters(100), "न你", true},
	} {
		r := &Reader{Engine{manifest: tt.manifest, tokenizer: tt.tokenizer,
			text: model.NewPreparer(&tt.manifest.Text, tt.manifest.Trained.Script)}}
		if engine, reader := r.engine.Speaks(tt.text), r.Speaks(tt.text); engine != tt.want || reader != tt.want {
			t.Errorf("%s: Speaks(%q) = %v, of a reader %v; want %v", tt.name, tt.text, engine, reader, tt.want)
		}
	}
}

// vocabulary is a tokenizer of these pieces.
func vocabulary(t *testing.T, byteFallback bool, texts ...string) *tokenize.SentencePiece {
	t.Helper()
	pieces := []tokenize.Piece{{Text: "<unk>"}, {Text: "▁", Score: -2}}
	if byteFallback {
		for b := range 256 {
			pieces = append(pieces, tokenize.Piece{Text: fmt.Sprintf("<0x%02X>", b)})
		}
	}
	for _, text := range texts {
		pieces = append(pieces, tokenize.Piece{Text: text, Score: -1})
	}
	sp, err := tokenize.FromPieces(pieces)
	if err != nil {
		t.Fatal(err)
	}
	return sp
}
