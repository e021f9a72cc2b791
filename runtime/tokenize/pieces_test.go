package tokenize

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// spelling is a small vocabulary with all bytes.
func spelling() []Piece {
	pieces := []Piece{{"<unk>", 0}, {"<s>", 0}, {"</s>", 0}, {"<pad>", 0}}
	for b := range 256 {
		pieces = append(pieces, Piece{fmt.Sprintf("<0x%02X>", b), -5})
	}
	return append(pieces, Piece{"▁", -3}, Piece{"a", -3}, Piece{"b", -3}, Piece{"▁ab", -1}, Piece{"ba", -2})
}

func TestFromPieces(t *testing.T) {
	pieces := spelling()
	tokens, err := FromPieces(pieces)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"the best path, behind a space", "ab ba", []string{"▁ab", "▁", "ba"}},
		{"spaces are trimmed", "  ab  ", []string{"▁ab"}},
		{"what has no piece is spelt", "é", []string{"▁", "<0xC3>", "<0xA9>"}},
		{"the name of a mark is text", "<s>", []string{"▁", "<0x3C>", "<0x73>", "<0x3E>"}},
	} {
		var got []string
		for _, id := range tokens.Encode(nil, c.text) {
			got = append(got, pieces[id].Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q becomes %q, want %q", c.name, c.text, got, c.want)
		}
	}
	if tokens.Size() != len(pieces) {
		t.Errorf("%d pieces, want %d", tokens.Size(), len(pieces))
	}
}

func TestFromPiecesRefuses(t *testing.T) {
	with := func(p Piece) []Piece { return append(spelling(), p) }
	for _, c := range []struct {
		name   string
		pieces []Piece
		want   string
	}{
		{"nothing", nil, "no pieces"},
		{"no unknown piece", spelling()[1:], "no unknown piece"},
		{"a byte too few", slices.Delete(spelling(), 10, 11), "255 of 256"},
		{"an empty piece", with(Piece{"", -1}), "is empty"},
		{"a piece that is not text", with(Piece{"\xff", -1}), "not valid UTF-8"},
		{"a piece that is too long", with(Piece{strings.Repeat("a", maxPieceLength+1), -1}), "longer than"},
		{"the same piece twice", with(Piece{"a", -1}), "are both"},
		{"a score that is not a number", with(Piece{"c", float32(math.NaN())}), "not a finite number"},
		{"an endless score", with(Piece{"c", float32(math.Inf(-1))}), "not a finite number"},
	} {
		if _, err := FromPieces(c.pieces); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	if _, err := FromPieces(with(Piece{strings.Repeat("a", maxPieceLength), -1})); err != nil {
		t.Errorf("the longest piece: %v", err)
	}
}
