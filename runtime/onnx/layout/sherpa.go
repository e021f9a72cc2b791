package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/swar-tts/swar/runtime/tokenize"
)

// readVocabulary makes the tokenizer of vocab.json, which numbers the pieces, and token_scores.json, which weighs them.
func readVocabulary(vocab, scores []byte) (*tokenize.SentencePiece, error) {
	ids, err := readNumbers(vocab)
	if err != nil {
		return nil, fmt.Errorf("vocab.json: %w", err)
	}
	weights, err := readNumbers(scores)
	if err != nil {
		return nil, fmt.Errorf("token_scores.json: %w", err)
	}
	pieces := make([]tokenize.Piece, len(ids))
	for _, text := range slices.Sorted(maps.Keys(ids)) {
		n := ids[text]
		id := int(n)
		inRange := float64(id) == n && 0 <= id && id < len(pieces)
		if text == "" || !inRange || pieces[id].Text != "" {
			return nil, fmt.Errorf("vocab.json: piece %q has the id %v, want each of 0 to %d once", text, n,
				len(pieces)-1)
		}
		score, ok := weights[text]
		if !ok {
			return nil, fmt.Errorf("token_scores.json: piece %q has no score", text)
		}
		pieces[id] = tokenize.Piece{Text: text, Score: float32(score)}
	}
	t, err := tokenize.FromPieces(pieces)
	if err != nil {
		return nil, fmt.Errorf("vocab.json: %w", err)
	}
	return t, nil
}

// readNumbers reads an object of numbers. A key that stands twice is an error, where a map would keep the last.
func readNumbers(data []byte) (map[string]float64, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("is not an object of numbers by piece")
	}
	numbers := map[string]float64{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if _, twice := numbers[name]; twice {
			return nil, fmt.Errorf("duplicate %q", name)
		}
		var n float64
		if err := d.Decode(&n); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		numbers[name] = n
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("is truncated")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its closing brace")
	}
	return numbers, nil
}
