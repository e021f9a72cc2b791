package parity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/swar-tts/swar/runtime/tokenize"
)

// goldenTokenizer is a tokenizer and what it must make of lines of text.
type goldenTokenizer struct {
	Model    string `json:"model"`
	Expected string `json:"expected"` // one object a line
	Lines    int    `json:"lines"`
	Size     int    `json:"vocab_size"`
}

func (k *goldenCase) checkTokenizers() {
	for _, name := range slices.Sorted(maps.Keys(k.Tokenizers)) {
		k.step("tokenizer " + name)
		if err := k.checkTokenizer(name, k.Tokenizers[name]); err != nil {
			k.fail(name, "tokens", err)
		}
	}
}

func (k *goldenCase) checkTokenizer(name string, v goldenTokenizer) error {
	model, err := k.file(v.Model)
	if err != nil {
		return err
	}
	t, err := tokenize.Load(model)
	if err != nil {
		return fmt.Errorf("%s: %w", v.Model, err)
	}
	expected, err := k.file(v.Expected)
	if err != nil {
		return err
	}
	lines, others, first := 0, 0, ""
	for line := range bytes.Lines(expected) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var want struct {
			Text string  `json:"text"`
			IDs  []int32 `json:"ids"`
		}
		lines++
		if err := json.Unmarshal(line, &want); err != nil {
			return fmt.Errorf("%s, line %d: %w", v.Expected, lines, err)
		}
		if got := t.Encode(nil, want.Text); !slices.Equal(got, want.IDs) {
			if others++; others == 1 {
				first = fmt.Sprintf("%q is %v, want %v", want.Text, got, want.IDs)
			}
		}
	}
	if lines == 0 {
		return errors.New(v.Expected + " has no lines")
	}
	k.results = append(k.results,
		Result{Run: name, Quantity: "tokens", Difference: float64(others), OK: others == 0, Note: first})
	if v.Lines > 0 {
		exact(k, name, "lines", lines, v.Lines)
	}
	if v.Size > 0 {
		exact(k, name, "vocabulary", t.Size(), v.Size)
	}
	return nil
}
