package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/swar-tts/swar/hack/reading/accept"
)

// A message is one line of testdata/hinglish-reading.
type message struct {
	ID         string          `json:"id"`
	Class      string          `json:"class"`
	Difficulty int             `json:"difficulty"` // 1 plain, 2 usual, 3 careless or ambiguous
	Script     string          `json:"script"`     // latin, devanagari or mixed
	Language   accept.Language `json:"language"`
	Text       string          `json:"text"`
	Reading    string          `json:"reading"`

	reading *accept.Reading
}

// load reads messages from a file of JSON lines.
func load(path string) ([]message, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []message
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(out)+1, err)
		}
		if m.reading, err = accept.Compile(m.Reading, m.Language); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", path, m.ID, err)
		}
		out = append(out, m)
	}
	return out, lines.Err()
}
