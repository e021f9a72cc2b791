package tokenize

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// builder writes .model files, good and bad.
type builder struct{ file []byte }

func (b *builder) bytes(number protowire.Number, value []byte) *builder {
	b.file = protowire.AppendBytes(protowire.AppendTag(b.file, number, protowire.BytesType), value)
	return b
}

func (b *builder) varint(number protowire.Number, value uint64) *builder {
	b.file = protowire.AppendVarint(protowire.AppendTag(b.file, number, protowire.VarintType), value)
	return b
}

func (b *builder) float(number protowire.Number, value float32) *builder {
	b.file = protowire.AppendFixed32(protowire.AppendTag(b.file, number, protowire.Fixed32Type),
		math.Float32bits(value))
	return b
}

func (b *builder) message(number protowire.Number, fill func(*builder)) *builder {
	var m builder
	fill(&m)
	return b.bytes(number, m.file)
}

func (b *builder) piece(p piece) *builder {
	return b.message(1, func(b *builder) { b.bytes(1, []byte(p.text)).float(2, p.score).varint(3, uint64(p.typ)) })
}

// crafted is a model with the unknown piece as id 0 and the others after it.
func crafted(algorithm string, charsmap []byte, pieces ...piece) []byte {
	var b builder
	b.piece(piece{"<unk>", 0, unknownPiece})
	for _, p := range pieces {
		b.piece(p)
	}
	typ := uint64(slices.Index([]string{"", "unigram", "bpe", "word", "char"}, algorithm))
	bytes := slices.ContainsFunc(pieces, func(p piece) bool { return p.typ == bytePiece })
	b.message(2, func(b *builder) {
		b.varint(3, typ)
		if bytes {
			b.varint(35, 1)
		}
	})
	b.message(3, func(b *builder) {
		if charsmap != nil {
			b.bytes(2, charsmap)
		}
	})
	return b.file
}

// allBytes are the 256 pieces of byte fallback.
func allBytes() []piece {
	var pieces []piece
	for b := range 256 {
		pieces = append(pieces, piece{fmt.Sprintf("<0x%02X>", b), 0, bytePiece})
	}
	return pieces
}

var ab = []piece{{"a", -1, normalPiece}, {"b", -2, normalPiece}}

// mapBlob is a character map as it stands in a model.
func mapBlob(units []uint32, texts string) []byte {
	blob := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		blob = binary.LittleEndian.AppendUint32(blob, u)
	}
	return append(blob, texts...)
}

// chain is the double array with the single key of n times 0x01, and value as what it stands for. Each node has a block
// of its own.
func chain(n int, value uint32) []uint32 {
	units := make([]uint32, (n+1)*256)
	for i := range units {
		units[i] = 1 << 31 // reached by no byte
	}
	units[0] = 0
	at := 0
	for i := range n {
		ways := (i + 1) * 256
		units[at] |= uint32(at^ways) << 10
		at = ways + 1
		units[at] = 1
	}
	units[at] |= 1<<8 | 3<<10 // a key ends here, and its value is near
	units[at^3] = 1<<31 | value
	return units
}

func TestRulesOfACharacterMap(t *testing.T) {
	blob := mapBlob(chain(3, 2), "x\x00ab\x00")
	sp := load(t, crafted("unigram", blob, ab...))
	for text, want := range map[string]string{"\x01\x01\x01": "▁ab", "\x01\x01": "▁\x01\x01",
		"a\x01\x01\x01\x01b": "▁aab\x01b"} {
		if got := string(sp.normal.normalise(nil, text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	long := strings.Repeat("x", maxPieceLength)
	with := func(p ...piece) []byte { return crafted("unigram", nil, append(slices.Clone(ab), p...)...) }
	charsmap := func(units []uint32, texts string) []byte { return crafted("unigram", mapBlob(units, texts), ab...) }
	good := chain(3, 0)
	outside, cyclic := slices.Clone(good), slices.Clone(good)
	outside[0] = 1<<9 | 0x3fff<<10
	cyclic[256+1] = 1 | uint32(1)<<10 // back to where it was reached from
	tests := map[string]struct {
		file []byte
		want string // "" is accepted
	}{
		"a small model":                         {with(), ""},
		"nothing":                               {nil, "no pieces"},
		"no pieces":                             {new(builder).varint(9, 1).file, "no pieces"},
		"text":                                  {[]byte("this is not a model"), "truncated or not"},
		"a length beyond the end":               {[]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 'x'}, "truncated or not"},
		"the greatest length":                   {append([]byte{0x0a}, protowire.AppendVarint(nil, math.MaxUint64)...), "truncated or not"},
		"a piece with a length beyond its end":  {new(builder).bytes(1, []byte{0x0a, 0x7f}).file, "truncated or not"},
		"a piece that is a number":              {new(builder).varint(1, 1).file, "truncated or not"},
		"a score that is a string":              {new(builder).message(1, func(b *builder) { b.bytes(2, nil) }).file, "truncated or not"},
		"a model type that is a string":         {new(builder).message(2, func(b *builder) { b.bytes(3, nil) }).file, "truncated or not"},
		"an empty piece":                        {with(piece{"", 0, normalPiece}), "piece 3 is empty"},
		"a piece at the limit":                  {with(piece{long, 0, normalPiece}), ""},
		"a piece beyond the limit":              {with(piece{long + "x", 0, normalPiece}), "piece 3 is longer than 1024 bytes"},
		"a piece that is not UTF-8":             {with(piece{"\xff", 0, normalPiece}), "piece 3 is not valid UTF-8"},
		"a piece of an unknown type":            {with(piece{"c", 0, 7}), "piece 3 is of unknown type 7"},
		"a piece of type 0":                     {with(piece{"c", 0, 0}), "piece 3 is of unknown type 0"},
		"a score that is not a number":          {with(piece{"c", float32(math.NaN()), normalPiece}), "score of piece 3 is not a finite"},
		"an infinite score":                     {with(piece{"c", float32(math.Inf(-1)), normalPiece}), "score of piece 3 is not a finite"},
		"a piece twice":                         {with(ab[0]), `pieces 1 and 3 are both "a"`},
		"a control piece twice":                 {with(piece{"<s>", 0, controlPiece}, piece{"<s>", 0, controlPiece}), `pieces 3 and 4 are both "<s>"`},
		"a control piece named as a normal one": {with(piece{"a", 0, controlPiece}), `pieces 1 and 3 are both "a"`},
		"two unknown pieces":                    {with(piece{"<u>", 0, unknownPiece}), "pieces 0 and 3 are both the unknown piece"},
		"no unknown piece":                      {new(builder).piece(ab[0]).message(2, func(*builder) {}).message(3, func(*builder) {}).file, "no unknown piece"},
		"a file cut behind its pieces":          {new(builder).piece(piece{"<unk>", 0, unknownPiece}).message(2, func(*builder) {}).file, "truncated"},
		"no normal piece":                       {crafted("unigram", nil), "no normal piece"},
		"no normal piece, but bpe":              {crafted("bpe", nil), ""},
		"words":                                 {crafted("word", nil, ab...), "model type word is not supported"},
		"characters":                            {crafted("char", nil, ab...), "model type char is not supported"},
		"a model type of the future":            {append(with(), new(builder).message(2, func(b *builder) { b.varint(3, 9) }).file...), "model type 9 is not supported"},
		"white space as a suffix":               {append(with(), new(builder).message(2, func(b *builder) { b.varint(24, 1) }).file...), "white space as a suffix"},
		"all bytes":                             {with(allBytes()...), ""},
		"one byte missing":                      {with(allBytes()[1:]...), "byte fallback with 255 of 256 byte pieces"},
		"a byte by another name":                {with(piece{"<0xaa>", 0, bytePiece}), `"<0xaa>" is not a name of a byte piece`},
		"bytes without byte fallback":           {append(with(allBytes()...), new(builder).message(2, func(b *builder) { b.varint(35, 0) }).file...), "byte piece <0x00> in a model without"},

		"a small character map":                     {charsmap(good, "x\x00"), ""},
		"a character map of three bytes":            {crafted("unigram", []byte{1, 2, 3}, ab...), "character map is truncated"},
		"a character map without texts":             {crafted("unigram", mapBlob(good, ""), ab...), "character map is truncated"},
		"a character map with a huge array":         {crafted("unigram", []byte{0xff, 0xff, 0xff, 0xff, 0}, ab...), "character map is truncated"},
		"a character map without array":             {crafted("unigram", mapBlob(nil, "x\x00"), ab...), "has 0 bytes"},
		"a character map of broken units":           {crafted("unigram", []byte{3, 0, 0, 0, 1, 2, 3, 0}, ab...), "has 3 bytes"},
		"texts without an end":                      {charsmap(good, "x"), "has no end"},
		"a rule without text":                       {charsmap(chain(3, 2), "x\x00"), "has no text"},
		"a rule far outside the texts":              {charsmap(chain(3, math.MaxInt32), "x\x00"), "has no text"},
		"a text at the limit":                       {charsmap(good, strings.Repeat("x", maxRuleText)+"\x00"), ""},
		"a text beyond the limit":                   {charsmap(good, strings.Repeat("x", maxRuleText+1)+"\x00"), "longer than 512 bytes"},
		"a text that is not UTF-8":                  {charsmap(good, "\xff\x00"), "not valid UTF-8"},
		"a rule at the limit":                       {charsmap(chain(maxRuleKey, 0), "x\x00"), ""},
		"a rule beyond the limit":                   {charsmap(chain(maxRuleKey+1, 0), "x\x00"), "longer than 256 bytes"},
		"a double array that points outside":        {charsmap(outside, "x\x00"), "points outside itself"},
		"a double array shorter than a block":       {charsmap(good[:255], "x\x00"), "points outside itself"},
		"a double array that goes round":            {charsmap(cyclic, "x\x00"), "cyclic"},
		"a double array of zeros, which goes round": {charsmap(make([]uint32, 256), "x\x00"), "cyclic"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sp, err := Load(tt.file)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || sp != nil):
				t.Errorf("accepted, want an error with %q", tt.want)
			case tt.want != "" && (!strings.Contains(err.Error(), tt.want) ||
				!strings.HasPrefix(err.Error(), "sentencepiece model: ")):
				t.Errorf("got %q, want one with %q", err, tt.want)
			}
		})
	}
}

func TestLoadRefusesEveryTruncation(t *testing.T) {
	file := modelFile(t, "unigram_bytes")
	for n := range file {
		if _, err := Load(file[:n]); err == nil {
			if rest := file[n:]; len(rest) > 16 { // what describes training and decoding, behind all that counts
				t.Errorf("%d bytes of %d are accepted", n, len(file))
			}
		}
	}
}

func TestLoadKeepsNothingOfTheFile(t *testing.T) {
	for _, name := range goldens {
		file := modelFile(t, name)
		sp := load(t, file)
		want := sp.Encode(nil, sentence)
		clear(file)
		if got := sp.Encode(nil, sentence); !slices.Equal(got, want) {
			t.Errorf("%s: %v, and %v when the file was overwritten", name, want, got)
		}
	}
}

// FuzzLoad holds Load to its promise: whatever the file is, an error or a tokenizer that gives ids of its pieces.
func FuzzLoad(f *testing.F) {
	for _, seed := range loadSeeds(f) {
		f.Add(seed, sentence)
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		sp, err := Load(file)
		if err != nil {
			named := strings.HasPrefix(err.Error(), "sentencepiece model: ") ||
				strings.HasPrefix(err.Error(), "tokenizer.json: ")
			if sp != nil || !named {
				t.Errorf("%v with error %q", sp, err)
			}
			return
		}
		checkIDs(t, sp, text)
	})
}

// FuzzEncode feeds any text to all four kinds of model.
func FuzzEncode(f *testing.F) {
	for _, seed := range encodeSeeds {
		f.Add(seed)
	}
	var sps []*SentencePiece
	for _, name := range goldens {
		sps = append(sps, load(f, modelFile(f, name)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, sp := range sps {
			checkIDs(t, sp, text)
		}
	})
}

func checkIDs(t *testing.T, sp *SentencePiece, text string) {
	ids := sp.Encode(nil, text)
	for _, id := range ids {
		if id < 0 || int(id) >= sp.Size() {
			t.Fatalf("Encode(%q) gave id %d of %d", text, id, sp.Size())
		}
	}
	if got := sp.Count(text); got != len(ids) {
		t.Fatalf("Count(%q) = %d, want %d", text, got, len(ids))
	}
	if again := sp.Encode(nil, text); !slices.Equal(again, ids) {
		t.Fatalf("Encode(%q) = %v, then %v", text, ids, again)
	}
	// Nothing of the text is lost: what the known pieces stand for is in the normalised text, in order.
	rest := string(sp.normal.normalise(nil, text))
	for _, id := range ids {
		if p := sp.pieces[id]; p.typ.ordinary() {
			_, after, ok := strings.Cut(rest, p.text)
			if !ok {
				t.Fatalf("Encode(%q) = %v, but piece %q is not in %q", text, ids, p.text, rest)
			}
			rest = after
		}
	}
}

func loadSeeds(t testing.TB) [][]byte {
	return [][]byte{
		crafted("unigram", nil, ab...),
		crafted("bpe", nil, append(slices.Clone(ab), piece{"ab", -1, unusedPiece}, piece{"aba", -1, userPiece})...),
		crafted("unigram", mapBlob(chain(3, 0), "x\x00"), ab...),
		crafted("unigram", nil, append(allBytes(), ab...)...),
		crafted("word", nil, ab...),
		modelFile(t, "bpe_bytes_spaces"),
		jsonWith(startOfText, "null", metaspace, "null", smallGram),
		jsonWith("", prepend, noPrefix, "null", jsonBPE(`"a b",["ab","c"]`)),
		asJSON(t, parsed(t, modelFile(t, "bpe_bytes_spaces"))),
	}
}

var encodeSeeds = append([]string{"▁▁", " ▁ ", "<unk><s><0x41>", "\xe0\xa4", "ﷺ①Ⅷ", "क़ ख़ ज़", "\u00a0\u200b\u3000"},
	seeds...)

func TestSentencePieceSeedsAreThere(t *testing.T) {
	if len(encodeSeeds) <= len(seeds) {
		t.Error("FuzzEncode has no seeds of its own")
	}
	accepted := 0
	for _, file := range loadSeeds(t) {
		if _, err := Load(file); err == nil {
			accepted++
		}
	}
	if accepted < 8 {
		t.Errorf("Load accepts %d seeds of FuzzLoad, want 8", accepted)
	}
}
