package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/translit"
)

// An ownList is measured with Swar alone: texts of several lines, which other normalisers do not take line by line, and
// words in Devanagari, which are no readings.
type ownList struct {
	file    string
	heldOut bool
	genre   int // place in ownGenres
}

var ownGenres = [...]genre{
	{name: "answers of language models", by: "a writer of rules, before they were read"},
	{name: "Roman Hindi in Devanagari, words", by: "the same"},
}

var ownLists = [...]ownList{
	{"held-out-models.jsonl", true, 0}, {"models.jsonl", false, 0}, {"held-out-roman.jsonl", true, 1}, {"roman.jsonl", false, 1},
}

// measureOwn measures the lists for Swar alone and prints what fails of those for development.
func (o options) measureOwn(ctx context.Context, out, progress io.Writer) ([]genreRate, error) {
	rates := make([]genreRate, len(ownGenres))
	for k, g := range ownGenres {
		rates[k].genre = g
	}
	for _, l := range ownLists {
		if l.heldOut && !o.heldOut {
			continue
		}
		path := filepath.Join(o.data, l.file)
		var r rate
		var failures string
		var err error
		if l.genre == 1 {
			r, failures, err = measureRoman(path)
		} else {
			r, failures, err = o.measureModels(ctx, path, progress)
		}
		if err != nil {
			return nil, err
		}
		if l.heldOut {
			rates[l.genre].heldOut = r
			continue
		}
		rates[l.genre].development = r
		if o.failures {
			_, _ = fmt.Fprintf(out, "\nNot accepted of Swar, %s:\n%s", ownGenres[l.genre].name, failures)
		}
	}
	return rates, nil
}

func (o options) measureModels(ctx context.Context, path string, progress io.Writer) (rate, string, error) {
	messages, err := load(path)
	if err != nil {
		return rate{}, "", err
	}
	r, err := measure(ctx, normaliser{"Swar", swar}, messages, o.timeout, progress)
	if err != nil {
		return rate{}, "", err
	}
	var failures strings.Builder
	r.printFailures(&failures)
	return r.rate(), failures.String(), nil
}

// measureRoman counts the words of Roman Hindi that are written as they should be. A reading has them with | between
// spellings that are both right; the dot below a letter and the two signs of a nasal vowel do not count.
func measureRoman(path string) (r rate, failures string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return r, "", err
	}
	defer func() { _ = f.Close() }()
	var b strings.Builder
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var m struct{ ID, Text, Reading string }
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return r, "", fmt.Errorf("%s: %w", path, err)
		}
		want := strings.Fields(m.Reading)
		got := strings.Fields(translit.Devanagari(normalize.Text(m.Text, normalize.Options{}), translit.Options{}))
		r.all += len(want)
		right := 0
		for i := range min(len(want), len(got)) {
			if isSpelling(got[i], want[i]) {
				right++
			} else if len(got) == len(want) {
				fmt.Fprintf(&b, "%s: %s, want %s\n", m.ID, got[i], want[i])
			}
		}
		if len(got) != len(want) {
			right = min(right, len(want)-1)
			fmt.Fprintf(&b, "%s: %s\n    want %s\n", m.ID, strings.Join(got, " "), m.Reading)
		}
		r.accepted += right
	}
	return r, b.String(), lines.Err()
}

// isSpelling reports whether got is one of the spellings of want.
func isSpelling(got, want string) bool {
	for one := range strings.SplitSeq(want, "|") {
		if withoutMarks(got) == withoutMarks(one) {
			return true
		}
	}
	return false
}

var marks = strings.NewReplacer("\u093c", "", "\u0901", "\u0902", ",", "", ".", "", "?", "")

func withoutMarks(word string) string { return marks.Replace(word) }
