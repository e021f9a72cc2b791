package tokenize

import (
	"math"
	"unicode/utf8"
)

// Piece is an entry of a vocabulary that comes without its model file.
type Piece struct {
	Text  string
	Score float32
}

// FromPieces returns the unigram tokenizer of a vocabulary, whose ids are places in the list. It stands for the model file that the
// vocabulary was taken from and follows what the models of this family have in common: text is not normalised, spaces are trimmed, one
// is put in front, and what has no piece is spelt in bytes where all of these have one.
//
// The kinds of pieces are told by their names: <unk>, <s>, </s> and <pad> are marks, <0x00> to <0xFF> bytes.
func FromPieces(pieces []Piece) (*SentencePiece, error) {
	if len(pieces) > maxPieces {
		return nil, failure("more than %d pieces", maxPieces)
	}
	m := &model{algorithm: unigramModel, dummyPrefix: true, trimSpaces: true, escapeSpaces: true}
	spelt := 0
	for id, p := range pieces {
		entry := piece{text: p.Text, score: p.Score, typ: normalPiece}
		_, isByte := byteOf(p.Text)
		switch {
		case p.Text == "<unk>":
			entry.typ = unknownPiece
		case p.Text == "<s>" || p.Text == "</s>" || p.Text == "<pad>":
			entry.typ = controlPiece
		case isByte:
			entry.typ = bytePiece
			spelt++
		case p.Text == "" || len(p.Text) > maxPieceLength || !utf8.ValidString(p.Text):
			return nil, failure("piece %d is empty, longer than %d bytes or not valid UTF-8", id, maxPieceLength)
		}
		if math.IsNaN(float64(p.Score)) || math.IsInf(float64(p.Score), 0) {
			return nil, failure("the score of piece %d is not a finite number", id)
		}
		m.pieces = append(m.pieces, entry)
	}
	m.byteFallback = spelt > 0
	return build(m)
}
