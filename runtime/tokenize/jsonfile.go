package tokenize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonFile is a tokenizer.json. It describes a chain of steps, of which those are read that a SentencePiece model
// consists of: the same pieces, and the steps that its rules of normalisation amount to. A step that is not known
// would change ids, and is an error.
type jsonFile struct {
	Version       string          `json:"version"`
	Truncation    json.RawMessage `json:"truncation"`
	Padding       json.RawMessage `json:"padding"`
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"` // from ids to text, which nobody asks for here
	Model         json.RawMessage `json:"model"`
}

// addedToken is a piece with a meaning of its own, such as the beginning of a text. The library that the format comes
// from finds such pieces in text; here, as in SentencePiece, what somebody types never is one.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// IsJSON reports whether the file of a tokenizer is a tokenizer.json. A SentencePiece model never begins with a
// brace.
func IsJSON(file []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(file, " \t\r\n"), []byte("{")) }

func readJSON(file []byte) (*model, error) {
	var f jsonFile
	if err := decodeStrictly(file, &f); err != nil {
		return nil, err
	}
	switch {
	case f.Version != "1.0":
		return nil, fmt.Errorf("version %.20q is not supported, only 1.0", f.Version)
	case isPresent(f.Truncation):
		return nil, errors.New("truncation is not supported")
	case isPresent(f.Padding):
		return nil, errors.New("padding is not supported")
	case isPresent(f.PostProcessor):
		return nil, fmt.Errorf("post_processor %s is not supported: it adds tokens", typeOf(f.PostProcessor))
	}
	m := &model{escapeSpaces: true, byWord: true}
	for _, part := range []struct {
		name string
		data json.RawMessage
		read func(*model, json.RawMessage) error
	}{
		{"model", f.Model, readVocabulary},
		{"normalizer", f.Normalizer, readNormalizer},
		{"pre_tokenizer", f.PreTokenizer, readPreTokenizer},
	} {
		if err := part.read(m, part.data); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return m, m.addTokens(f.AddedTokens)
}

func (m *model) addTokens(tokens []addedToken) error {
	for _, t := range tokens {
		switch {
		case t.ID < 0 || t.ID >= len(m.pieces) || m.pieces[t.ID].text != t.Content:
			return fmt.Errorf("added token %.40q is not piece %d of the vocabulary", t.Content, t.ID)
		case t.SingleWord || t.LStrip || t.RStrip:
			return fmt.Errorf("added token %.40q: single_word, lstrip and rstrip are not supported", t.Content)
		case !t.Special:
			return fmt.Errorf("added token %.40q is not special: tokens that are looked for in text are not supported",
				t.Content)
		case m.pieces[t.ID].typ == normalPiece:
			m.pieces[t.ID].typ = controlPiece
		}
	}
	return nil
}

// The steps in front of the model, by the names of the format.
type (
	charsmapStep struct {
		Type string `json:"type"`
		Map  []byte `json:"precompiled_charsmap"`
	}
	replaceStep struct {
		Type    string `json:"type"`
		Pattern struct {
			Regex  string `json:"Regex"`
			String string `json:"String"`
		} `json:"pattern"`
		Content string `json:"content"`
	}
	stripStep struct {
		Type  string `json:"type"`
		Left  bool   `json:"strip_left"`
		Right bool   `json:"strip_right"`
	}
	prependStep struct {
		Type    string `json:"type"`
		Prepend string `json:"prepend"`
	}
	metaspaceStep struct {
		Type           string `json:"type"`
		Replacement    string `json:"replacement"`
		PrependScheme  string `json:"prepend_scheme"`
		AddPrefixSpace *bool  `json:"add_prefix_space"` // in place of prepend_scheme in older files
		StrRep         string `json:"str_rep"`
		Split          *bool  `json:"split"` // absent means true
	}
)

const spaceMark = "\u2581"

// readNormalizer reads the steps that a SentencePiece model can have, each of which may be missing, in their order:
// the character map, no spaces at the ends and one between words, a space in front.
func readNormalizer(m *model, data json.RawMessage) error {
	steps, err := sequence(data)
	if err != nil {
		return err
	}
	next := func() string {
		if len(steps) == 0 {
			return ""
		}
		return typeOf(steps[0])
	}
	if next() == "Precompiled" {
		var s charsmapStep
		if err := decodeStrictly(steps[0], &s); err != nil {
			return err
		}
		m.charsmap, steps = s.Map, steps[1:]
	}
	if next() == "Replace" {
		var s replaceStep
		if err := decodeStrictly(steps[0], &s); err != nil {
			return err
		}
		if s.Pattern.Regex != " {2,}" || s.Content != " " {
			return fmt.Errorf("a Replace of %.40q is not supported, only of several spaces by one",
				s.Pattern.Regex+s.Pattern.String)
		}
		if steps = steps[1:]; next() != "Strip" {
			return errors.New("a Replace without Strip is not supported")
		}
		var strip stripStep
		if err := decodeStrictly(steps[0], &strip); err != nil {
			return err
		}
		if !strip.Left || !strip.Right {
			return errors.New("a Strip of one end is not supported")
		}
		m.trimSpaces, steps = true, steps[1:]
	}
	if next() == "Prepend" {
		var s prependStep
		if err := decodeStrictly(steps[0], &s); err != nil {
			return err
		}
		if s.Prepend != spaceMark {
			return fmt.Errorf("a Prepend of %.40q is not supported, only of %q", s.Prepend, spaceMark)
		}
		m.dummyPrefix, steps = true, steps[1:]
	}
	if len(steps) > 0 {
		return fmt.Errorf("%s is not supported here, only Precompiled, Replace with Strip, and Prepend, in this order",
			next())
	}
	return nil
}

// sequence returns the steps of a Sequence, or data itself as the only step; none for null.
func sequence(data json.RawMessage) ([]json.RawMessage, error) {
	switch {
	case !isPresent(data):
		return nil, nil
	case typeOf(data) != "Sequence":
		return []json.RawMessage{data}, nil
	}
	var s struct {
		Type        string            `json:"type"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	return s.Normalizers, decodeStrictly(data, &s)
}

func readPreTokenizer(m *model, data json.RawMessage) error {
	if t := typeOf(data); t != "Metaspace" {
		return fmt.Errorf("%s is not supported, only Metaspace", t)
	}
	var s metaspaceStep
	if err := decodeStrictly(data, &s); err != nil {
		return err
	}
	scheme := s.PrependScheme
	if scheme == "" && s.AddPrefixSpace != nil {
		scheme = map[bool]string{true: "always", false: "never"}[*s.AddPrefixSpace]
	}
	switch {
	case s.Replacement != spaceMark || s.StrRep != "" && s.StrRep != spaceMark:
		return fmt.Errorf("a Metaspace with %.40q for a space is not supported, only %q", s.Replacement, spaceMark)
	case scheme != "always" && scheme != "never":
		return fmt.Errorf("a Metaspace with prepend_scheme %.40q is not supported, only always and never", scheme)
	case s.Split != nil && !*s.Split:
		m.byWord = false
	}
	if scheme == "always" && !m.dummyPrefix {
		m.dummyPrefix, m.prefixOnce = true, true
	}
	return nil
}

// typeOf returns the type that a step names, for errors at most a line of it.
func typeOf(step json.RawMessage) string {
	var s struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(step, &s); err != nil || s.Type == "" {
		return "a step without a type"
	}
	return fmt.Sprintf("%.40s", s.Type)
}

func isPresent(data json.RawMessage) bool { return len(data) > 0 && string(data) != "null" }

// decodeStrictly is [json.Unmarshal] but for keys that are not known, which are errors.
func decodeStrictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows its closing brace")
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file is truncated")
	}
	return fmt.Errorf("%.200s", err.Error()) // which may hold a key of any length
}
