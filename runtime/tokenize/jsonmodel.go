package tokenize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// maxMerges bounds the merges of a file. A vocabulary of 4000 pieces has some 20,000.
const maxMerges = 1 << 22

// A merge joins two neighbours to the piece id. Of two merges the one with the higher score comes first.
type merge struct {
	score float32
	id    int32
}

// neighbours are the ids of two pieces side by side.
type neighbours [2]int32

type unigramVocabulary struct {
	Type         string          `json:"type"`
	Unknown      *int            `json:"unk_id"`
	Vocabulary   json.RawMessage `json:"vocab"`
	ByteFallback bool            `json:"byte_fallback"`
}

type bpeVocabulary struct {
	Type         string          `json:"type"`
	Dropout      *float64        `json:"dropout"`
	Unknown      *string         `json:"unk_token"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	Suffix       *string         `json:"end_of_word_suffix"`
	FuseUnknown  bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
	Vocabulary   json.RawMessage `json:"vocab"`
	Merges       json.RawMessage `json:"merges"`
}

func readVocabulary(m *model, data json.RawMessage) error {
	switch t := typeOf(data); t {
	case "Unigram":
		return readUnigram(m, data)
	case "BPE":
		return readBPE(m, data)
	default:
		return fmt.Errorf("%s is not supported, only Unigram and BPE", t)
	}
}

func readUnigram(m *model, data json.RawMessage) error {
	var v unigramVocabulary
	if err := decodeStrictly(data, &v); err != nil {
		return err
	}
	m.algorithm = unigramModel
	err := elements(v.Vocabulary, '[', func(d *json.Decoder) error {
		var text string
		var score float64
		entry := []any{&text, &score}
		if err := d.Decode(&entry); err != nil {
			return err
		}
		if len(entry) != 2 {
			return fmt.Errorf("an entry of the vocabulary has %d parts, want a piece and its score", len(entry))
		}
		return m.addPiece(text, float32(score))
	})
	if err != nil {
		return err
	}
	if v.Unknown == nil || *v.Unknown < 0 || *v.Unknown >= len(m.pieces) {
		return errors.New("no unk_id, or one outside the vocabulary")
	}
	m.pieces[*v.Unknown].typ = unknownPiece
	if v.ByteFallback {
		m.nameBytes()
	}
	return nil
}

func readBPE(m *model, data json.RawMessage) error {
	var v bpeVocabulary
	if err := decodeStrictly(data, &v); err != nil {
		return err
	}
	switch {
	case v.Dropout != nil && *v.Dropout != 0:
		return errors.New("dropout is not supported: it gives other ids each time")
	case v.Prefix != nil && *v.Prefix != "":
		return errors.New("continuing_subword_prefix is not supported")
	case v.Suffix != nil && *v.Suffix != "":
		return errors.New("end_of_word_suffix is not supported")
	case v.IgnoreMerges:
		return errors.New("ignore_merges is not supported")
	case v.Unknown == nil:
		return errors.New("no unk_token")
	}
	m.algorithm, m.eachUnknown = bpeModel, !v.FuseUnknown
	ids, err := m.readIDs(v.Vocabulary)
	if err != nil {
		return err
	}
	unknown, ok := ids[*v.Unknown]
	if !ok {
		return fmt.Errorf("unk_token %.40q is not in the vocabulary", *v.Unknown)
	}
	m.pieces[unknown].typ = unknownPiece
	if v.ByteFallback {
		m.nameBytes()
	}
	m.merges = make(map[neighbours]merge)
	return elements(v.Merges, '[', func(d *json.Decoder) error {
		left, right, err := readMerge(d)
		if err != nil {
			return err
		}
		return m.addMerge(ids, left, right)
	})
}

// readIDs reads a vocabulary that says the id of each piece.
func (m *model) readIDs(vocabulary json.RawMessage) (ids map[string]int32, err error) {
	byID := map[int32]string{}
	ids = map[string]int32{}
	err = elements(vocabulary, '{', func(d *json.Decoder) error {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var id int32
		if err := d.Decode(&id); err != nil {
			return err
		}
		text, _ := key.(string)
		if first, twice := ids[text]; twice {
			return fmt.Errorf("pieces %d and %d are both %.40q", first, id, text)
		}
		if first, twice := byID[id]; twice {
			return fmt.Errorf("pieces %.40q and %.40q are both %d", first, text, id)
		}
		if len(ids) == maxPieces {
			return fmt.Errorf("more than %d pieces", maxPieces)
		}
		ids[text], byID[id] = id, text
		return nil
	})
	for id := range int32(len(byID)) {
		text, ok := byID[id]
		if err == nil && !ok {
			err = fmt.Errorf("no piece has the id %d", id)
		}
		if err == nil {
			err = m.addPiece(text, 0)
		}
	}
	return ids, err
}

func (m *model) addPiece(text string, score float32) error {
	id := len(m.pieces)
	switch {
	case id == maxPieces:
		return fmt.Errorf("more than %d pieces", maxPieces)
	case text == "" || len(text) > maxPieceLength || !utf8.ValidString(text):
		return fmt.Errorf("piece %d is empty, longer than %d bytes or not valid UTF-8", id, maxPieceLength)
	case math.IsNaN(float64(score)) || math.IsInf(float64(score), 0):
		return fmt.Errorf("the score of piece %d is not a finite number", id)
	}
	m.pieces = append(m.pieces, piece{text: text, score: score, typ: normalPiece})
	return nil
}

// nameBytes finds the byte pieces by their names. Where there is none, nothing falls back to bytes, whatever the file
// says: what converts SentencePiece models writes byte_fallback into every file.
func (m *model) nameBytes() {
	for i := range m.pieces {
		if _, isByte := byteOf(m.pieces[i].text); isByte {
			m.pieces[i].typ, m.byteFallback = bytePiece, true
		}
	}
}

// readMerge reads a merge in one of its forms, "a b" and ["a", "b"].
func readMerge(d *json.Decoder) (left, right string, err error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return "", "", err
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", "", err
		}
		left, right, ok := strings.Cut(text, " ")
		if !ok || strings.Contains(right, " ") {
			return "", "", fmt.Errorf("merge %.40q is not two pieces", text)
		}
		return left, right, nil
	}
	var pair []string
	if err := json.Unmarshal(raw, &pair); err != nil {
		return "", "", err
	}
	if len(pair) != 2 {
		return "", "", fmt.Errorf("a merge of %d pieces, want 2", len(pair))
	}
	return pair[0], pair[1], nil
}

func (m *model) addMerge(ids map[string]int32, left, right string) error {
	var pair neighbours
	for i, text := range []string{left, right} {
		id, ok := ids[text]
		if !ok {
			return fmt.Errorf("a merge of %.40q, which is not in the vocabulary", text)
		}
		pair[i] = id
	}
	joined, ok := ids[left+right]
	if !ok {
		return fmt.Errorf("the merge of %.40q and %.40q is not in the vocabulary", left, right)
	}
	if _, twice := m.merges[pair]; twice {
		return fmt.Errorf("%.40q and %.40q are merged twice", left, right)
	}
	if len(m.merges) == maxMerges {
		return fmt.Errorf("more than %d merges", maxMerges)
	}
	m.merges[pair] = merge{score: -float32(len(m.merges)), id: joined}
	return nil
}

// elements calls each with a decoder that stands before each element of an array, or before each key of an object.
func elements(data json.RawMessage, opening json.Delim, each func(*json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if first, err := d.Token(); err != nil || first != opening {
		return errors.New("the vocabulary or the merges are missing or of another form")
	}
	for d.More() {
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}
