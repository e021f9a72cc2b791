package lexicon

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The formats of files.
const (
	CSV = "csv" // word,spoken or word,spoken,lang; a first line that names these columns is passed over
	PLS = "pls" // Pronunciation Lexicon Specification 1.0, of which aliases count
)

// Dropped is what a file has and a lexicon cannot have.
type Dropped struct {
	Line   int    `json:"line"` // where it ends, from 1
	Word   string `json:"word"`
	Reason string `json:"reason"`
}

// Parse reads a file of a format. What it returns is not yet checked, as [Clean] does.
func Parse(format, text string) (entries []Entry, dropped []Dropped, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	switch format {
	case CSV:
		entries, err = parseCSV(text)
		return entries, nil, err
	case PLS:
		return parsePLS(text)
	}
	return nil, nil, errors.New("the format must be csv or pls")
}

func parseCSV(text string) (entries []Entry, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	for {
		record, err := r.Read()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading CSV: %w", err)
		}
		line, _ := r.FieldPos(0)
		isHead := len(entries) == 0 && strings.EqualFold(strings.TrimSpace(record[0]), "word")
		switch {
		case isHead:
			continue
		case len(record) < 2 || len(record) > 3:
			return nil, fmt.Errorf("line %d has %d columns; want word, spoken and maybe lang", line, len(record))
		case len(entries) == MaxEntries:
			return nil, fmt.Errorf("line %d: a lexicon has at most %d entries", line, MaxEntries)
		}
		e := Entry{Word: record[0], Spoken: record[1]}
		if len(record) == 3 {
			e.Lang = strings.TrimSpace(record[2])
		}
		entries = append(entries, e)
	}
}

// lexeme is an entry of PLS. Of several aliases the first is the preferred one.
type lexeme struct {
	Lang      string   `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	Graphemes []string `xml:"grapheme"`
	Aliases   []string `xml:"alias"`
	Phonemes  []string `xml:"phoneme"`
}

func parsePLS(text string) (entries []Entry, dropped []Dropped, err error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Entity = map[string]string{}
	var lang string
	isOpen := false
	for {
		t, err := d.Token()
		switch {
		case err == io.EOF && !isOpen:
			return nil, nil, errors.New("reading PLS: there is no <lexicon>")
		case err == io.EOF:
			return entries, dropped, nil
		case err != nil:
			return nil, nil, fmt.Errorf("reading PLS: %w", err)
		}
		if _, isDTD := t.(xml.Directive); isDTD {
			return nil, nil, errors.New("reading PLS: a DTD cannot be used")
		}
		start, ok := t.(xml.StartElement)
		switch {
		case !ok:
			continue
		case !isOpen && start.Name.Local != "lexicon":
			return nil, nil, fmt.Errorf("reading PLS: the root is <%s>, want <lexicon>", start.Name.Local)
		case !isOpen:
			isOpen = true
			for _, a := range start.Attr {
				if a.Name.Local == "lang" {
					lang = a.Value
				}
			}
			continue
		case start.Name.Local != "lexeme":
			if err := d.Skip(); err != nil {
				return nil, nil, fmt.Errorf("reading PLS: %w", err)
			}
			continue
		}
		var l lexeme
		if err := d.DecodeElement(&l, &start); err != nil {
			return nil, nil, fmt.Errorf("reading PLS: %w", err)
		}
		line, _ := d.InputPos()
		entries, dropped = l.add(entries, dropped, line, lang)
		if len(entries) > MaxEntries {
			return nil, nil, fmt.Errorf("reading PLS: a lexicon has at most %d entries", MaxEntries)
		}
	}
}

// add adds an entry for each spelling of l, or says why there is none.
func (l *lexeme) add(entries []Entry, dropped []Dropped, line int, lang string) ([]Entry, []Dropped) {
	word := strings.TrimSpace(strings.Join(l.Graphemes, ", "))
	switch {
	case len(l.Graphemes) == 0:
		return entries, append(dropped, Dropped{line, "", "it has no grapheme"})
	case len(l.Aliases) == 0 && len(l.Phonemes) > 0:
		return entries,
			append(dropped,
				Dropped{line, word, "it has phonemes and no alias; write how it sounds in Devanagari or Latin letters"})
	case len(l.Aliases) == 0:
		return entries, append(dropped, Dropped{line, word, "it has no alias"})
	}
	if l.Lang != "" {
		lang = l.Lang
	}
	code, _, _ := strings.Cut(strings.ToLower(lang), "-")
	if code != Hindi && code != English {
		code = ""
	}
	for _, g := range l.Graphemes {
		entries = append(entries, Entry{Word: g, Spoken: l.Aliases[0], Lang: code})
	}
	return entries, dropped
}
