package tokenize

import "fmt"

// Piece is an entry of a vocabulary that comes without its model file.
type Piece struct {
	Text  string
	Score float32
}

// FromPieces returns the unigram tokenizer of a vocabulary, whose ids are places in the list. It stands for the model
// file that the vocabulary was taken from and follows what the models of this family have in common: text is not
// normalised, spaces are trimmed, one is put in front, and what has no piece is spelt in bytes where all of these
// have one.
//
// The kinds of pieces are told by their names: <unk>, <s>, </s> and <pad> are marks, <0x00> to <0xFF> bytes.
func FromPieces(pieces []Piece) (*SentencePiece, error) {
	m := &model{algorithm: unigramModel, dummyPrefix: true, trimSpaces: true, escapeSpaces: true}
	for _, p := range pieces {
		if err := m.addPiece(p.Text, p.Score); err != nil {
			return nil, fmt.Errorf("vocabulary: %w", err)
		}
		switch added := &m.pieces[len(m.pieces)-1]; p.Text {
		case "<unk>":
			added.typ = unknownPiece
		case "<s>", "</s>", "<pad>":
			added.typ = controlPiece
		}
	}
	m.nameBytes()
	t, err := build(m)
	if err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	return t, nil
}
