package model

import (
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
)

func TestPrepare(t *testing.T) {
	usual := bundle.Text{Capitalise: true, TerminalPunctuation: true}
	tests := map[string]struct {
		rules bundle.Text
		text  string
		want  string
		words int
	}{
		"a sentence stays":                     {usual, "Haan.", "Haan.", 1},
		"white space is one space":             {usual, "  kal \n subah\taana. ", "Kal subah aana.", 3},
		"a missing full stop is added":         {usual, "Kal aana", "Kal aana.", 2},
		"after a Devanagari vowel sign too":    {usual, "कल आना", "कल आना.", 2},
		"a danda ends a sentence":              {usual, "कल आना।", "कल आना।", 2},
		"a double danda too":                   {usual, "कल आना॥", "कल आना॥", 2},
		"a weak mark becomes a full stop":      {usual, "Kal aana,", "Kal aana.", 2},
		"also before what closes":              {usual, "(Kal aana —)", "(Kal aana .)", 3},
		"an end mark before what closes stays": {usual, "\"Kal aana!\"", "\"Kal aana!\"", 2},
		"a full stop goes behind what closes":  {usual, "\"Kal aana\"", "\"Kal aana\".", 2},
		"only closing marks stay":              {usual, "\")", "\")", 1},
		"nothing stays nothing":                {usual, " \n", "", 0},
		"no rules change nothing":              {bundle.Text{}, "kal; aana", "kal; aana", 2},
		"semicolons":                           {bundle.Text{RemoveSemicolons: true}, "kal; aana;", "kal, aana,", 2},
		"replacements in their order":          {bundle.Text{Replace: []bundle.Replace{{From: "॥", To: "।"}, {From: "।", To: "."}}}, "आना॥", "आना.", 1},
		"a replacement that leaves nothing":    {bundle.Text{Replace: []bundle.Replace{{From: "*", To: " "}}}, "**", "", 0},
		"four words are padded":                {bundle.Text{PadShort: true}, "a b c d", "        a b c d", 4},
		"five are not":                         {bundle.Text{PadShort: true}, "a b c d e", "a b c d e", 5},
	}
	for name, tt := range tests {
		if got, words := PrepareText(tt.text, &tt.rules); got != tt.want || words != tt.words {
			t.Errorf("%s: %q, %d words; want %q, %d", name, got, words, tt.want, tt.words)
		}
	}
}

func TestPrepareEqualsTheReference(t *testing.T) {
	for _, name := range []string{"01-v2-tanh", "02-v1-erf", "03-noise-and-steps", "05-eos", "07-bf16"} {
		v := vectortest.Load(t, name)
		rules := convert.DefaultText(v.Checkpoint.Config)
		for _, r := range v.Runs {
			if got, _ := PrepareText(r.Text, &rules); got != r.Prepared {
				t.Errorf("%s %s: %q, want %q", name, r.Name, got, r.Prepared)
			}
		}
	}
}
