package tokenize

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits on model files. Real ones stay far below; the limits bound memory and the time that a text can take.
const (
	maxPieces      = 1 << 20
	maxPieceLength = 1024 // bytes
)

// pieceType says what a piece is for; the numbers are those of the file.
type pieceType uint64

const (
	normalPiece  pieceType = 1
	unknownPiece pieceType = 2
	controlPiece pieceType = 3
	userPiece    pieceType = 4
	unusedPiece  pieceType = 5
	bytePiece    pieceType = 6
)

// ordinary reports whether the piece can be found in text. Control, unknown and byte pieces only have a name.
func (t pieceType) ordinary() bool { return t == normalPiece || t == userPiece || t == unusedPiece }

type piece struct {
	text  string
	score float32
	typ   pieceType
}

// model is the part of a file that decides about ids. Everything else in the file is about training and decoding.
type model struct {
	pieces       []piece
	algorithm    uint64
	byteFallback bool
	spaceSuffix  bool
	charsmap     []byte
	dummyPrefix  bool
	trimSpaces   bool
	escapeSpaces bool

	// What only a tokenizer.json can ask for.
	merges      map[neighbours]merge // of BPE; nil means that scores of pieces decide
	prefixOnce  bool                 // dummyPrefix only where text does not begin with a space
	byWord      bool                 // no piece reaches from one word into the next
	eachUnknown bool                 // unknown characters side by side are not one unknown piece
}

// The algorithms of the file format.
const (
	unigramModel = 1
	bpeModel     = 2
)

var errDamaged = errors.New("the file is truncated or not a SentencePiece model")

func readModel(file []byte) (*model, error) {
	// the format's defaults
	m := &model{algorithm: unigramModel, dummyPrefix: true, trimSpaces: true, escapeSpaces: true}
	var trainer, normalizer bool
	err := fields(file, func(f field) error {
		switch f.number {
		case 1:
			if len(m.pieces) == maxPieces {
				return fmt.Errorf("more than %d pieces", maxPieces)
			}
			p, err := readPiece(f, len(m.pieces))
			m.pieces = append(m.pieces, p)
			return err
		case 2:
			trainer = true
			return f.message(func(f field) (err error) {
				switch f.number {
				case 3:
					m.algorithm, err = f.varint()
				case 24:
					m.spaceSuffix, err = f.boolean()
				case 35:
					m.byteFallback, err = f.boolean()
				}
				return err
			})
		case 3:
			normalizer = true
			return f.message(func(f field) (err error) {
				switch f.number {
				case 2:
					m.charsmap, err = f.text()
				case 3:
					m.dummyPrefix, err = f.boolean()
				case 4:
					m.trimSpaces, err = f.boolean()
				case 5:
					m.escapeSpaces, err = f.boolean()
				}
				return err
			})
		}
		return nil
	})
	if err == nil && len(m.pieces) > 0 && !(trainer && normalizer) {
		err = errDamaged // cut behind the pieces, where it would read as another kind of model
	}
	return m, err
}

func readPiece(f field, id int) (piece, error) {
	p := piece{typ: normalPiece}
	err := f.message(func(f field) (err error) {
		switch f.number {
		case 1:
			var text []byte
			text, err = f.text()
			if len(text) > maxPieceLength {
				return fmt.Errorf("piece %d is longer than %d bytes", id, maxPieceLength)
			}
			p.text = string(text)
		case 2:
			p.score, err = f.float()
		case 3:
			var n uint64
			n, err = f.varint()
			p.typ = pieceType(n)
		}
		return err
	})
	switch {
	case err != nil:
		return p, err
	case p.text == "":
		return p, fmt.Errorf("piece %d is empty", id)
	case !utf8.ValidString(p.text):
		return p, fmt.Errorf("piece %d is not valid UTF-8", id)
	case math.IsNaN(float64(p.score)) || math.IsInf(float64(p.score), 0):
		return p, fmt.Errorf("the score of piece %d is not a finite number", id)
	case p.typ < normalPiece || p.typ > bytePiece:
		return p, fmt.Errorf("piece %d is of unknown type %d", id, p.typ)
	}
	return p, nil
}

// build checks what the file says and prepares it for encoding.
func build(m *model) (*SentencePiece, error) {
	switch {
	case len(m.pieces) == 0:
		return nil, errors.New("no pieces")
	case m.spaceSuffix:
		return nil, errors.New("white space as a suffix (treat_whitespace_as_suffix) is not supported")
	}
	t := &SentencePiece{pieces: m.pieces, byWord: m.byWord, eachUnknown: m.eachUnknown}
	ordinary, err := t.index(m.byteFallback)
	if err != nil {
		return nil, err
	}
	if m.byWord {
		maps.DeleteFunc(ordinary, func(text string, _ int32) bool { return strings.LastIndex(text, spaceMark) > 0 })
	}
	user := prefixes(m.pieces, ordinary, func(p piece) bool { return p.typ == userPiece })
	switch m.algorithm {
	case unigramModel:
		t.segment, err = newUnigram(t, ordinary)
	case bpeModel:
		t.segment = newBPE(t, ordinary, user, m.merges)
	case 3:
		err = errors.New("model type word is not supported, only unigram and bpe")
	case 4:
		err = errors.New("model type char is not supported, only unigram and bpe")
	default:
		err = fmt.Errorf("model type %d is not supported, only unigram and bpe", m.algorithm)
	}
	if err != nil {
		return nil, err
	}
	if t.normal, err = newNormaliser(m, user); err != nil {
		return nil, err
	}
	return t, nil
}

// index fills in the tables from piece to id, and returns the one of the pieces that text can contain.
func (t *SentencePiece) index(byteFallback bool) (ordinary map[string]int32, err error) {
	t.ids = make(map[string]int32, len(t.pieces))
	ordinary = make(map[string]int32, len(t.pieces))
	t.unknown = -1
	var bytes [256]int32
	found := 0
	for i, p := range t.pieces {
		id := int32(i)
		if first, twice := t.ids[p.text]; twice {
			return nil, fmt.Errorf("pieces %d and %d are both %q", first, id, p.text)
		}
		t.ids[p.text] = id
		if p.typ.ordinary() {
			ordinary[p.text] = id
		}
		switch p.typ {
		case unknownPiece:
			if t.unknown >= 0 {
				return nil, fmt.Errorf("pieces %d and %d are both the unknown piece", t.unknown, id)
			}
			t.unknown = id
		case bytePiece:
			b, ok := byteOf(p.text)
			if !ok {
				return nil, fmt.Errorf("%q is not a name of a byte piece", p.text)
			}
			if !byteFallback {
				return nil, fmt.Errorf("byte piece %s in a model without byte fallback", p.text)
			}
			bytes[b] = id
			found++
		}
	}
	if t.unknown < 0 {
		return nil, errors.New("no unknown piece")
	}
	if byteFallback {
		if found != len(bytes) {
			return nil, fmt.Errorf("byte fallback with %d of 256 byte pieces", found)
		}
		t.bytes = &bytes
	}
	return ordinary, nil
}

// byteOf reads the name of a byte piece, such as <0x0A>.
func byteOf(name string) (b byte, ok bool) {
	_, err := fmt.Sscanf(name, "<0x%02X>", &b)
	return b, err == nil && name == fmt.Sprintf("<0x%02X>", b)
}

// field is one field of a message. Its accessors refuse a value that is not of their kind.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  []byte // as it stands in the file, without the tag
}

// fields calls f with each field of a message until one fails.
func fields(message []byte, f func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errDamaged
		}
		message = message[n:]
		n = protowire.ConsumeFieldValue(number, kind, message)
		if n < 0 {
			return errDamaged
		}
		if err := f(field{number, kind, message[:n]}); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

func (f field) message(each func(field) error) error {
	b, err := f.text()
	if err != nil {
		return err
	}
	return fields(b, each)
}

func (f field) text() ([]byte, error) {
	if f.kind != protowire.BytesType {
		return nil, errDamaged
	}
	b, _ := protowire.ConsumeBytes(f.value)
	return b, nil
}

func (f field) varint() (uint64, error) {
	if f.kind != protowire.VarintType {
		return 0, errDamaged
	}
	n, _ := protowire.ConsumeVarint(f.value)
	return n, nil
}

func (f field) boolean() (bool, error) {
	n, err := f.varint()
	return n != 0, err
}

func (f field) float() (float32, error) {
	if f.kind != protowire.Fixed32Type {
		return 0, errDamaged
	}
	bits, _ := protowire.ConsumeFixed32(f.value)
	return math.Float32frombits(bits), nil
}
