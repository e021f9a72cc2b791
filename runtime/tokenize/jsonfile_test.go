package tokenize

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// asJSON returns the tokenizer.json that upstream's converter would make of a model. It writes byte_fallback into all
// of them.
func asJSON(t testing.TB, m *model) []byte {
	t.Helper()
	var normalizers, added []any
	if len(m.charsmap) > 0 {
		normalizers = append(normalizers, map[string]any{"type": "Precompiled", "precompiled_charsmap": m.charsmap})
	}
	if m.trimSpaces {
		normalizers = append(normalizers, map[string]any{"type": "Replace",
			"pattern": map[string]string{"Regex": " {2,}"}, "content": " "},
			map[string]any{"type": "Strip", "strip_left": true, "strip_right": true})
	}
	if m.dummyPrefix {
		normalizers = append(normalizers, map[string]any{"type": "Prepend", "prepend": spaceMark})
	}
	unknown := 0
	for id, p := range m.pieces {
		if p.typ == unknownPiece {
			unknown = id
		}
		if p.typ == unknownPiece || p.typ == controlPiece {
			added = append(added, map[string]any{"id": id, "content": p.text, "special": true, "single_word": false,
				"lstrip": false,
				"rstrip": false, "normalized": false})
		}
	}
	vocabulary := map[string]any{"type": "BPE", "dropout": nil, "unk_token": m.pieces[unknown].text, "fuse_unk": true,
		"byte_fallback": true,
		"ignore_merges": false, "vocab": vocabularyOf(m), "merges": mergesOf(m)}
	if m.algorithm == unigramModel {
		list := [][]any{}
		for _, p := range m.pieces {
			list = append(list, []any{p.text, float64(p.score)})
		}
		vocabulary = map[string]any{"type": "Unigram", "unk_id": unknown, "byte_fallback": true, "vocab": list}
	}
	file, err := json.Marshal(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
		"normalizer":     map[string]any{"type": "Sequence", "normalizers": normalizers},
		"pre_tokenizer":  map[string]any{"type": "Metaspace", "replacement": spaceMark, "prepend_scheme": "always", "split": true},
		"post_processor": nil, "decoder": map[string]any{"type": "Fuse"}, "model": vocabulary,
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func vocabularyOf(m *model) map[string]int {
	ids := map[string]int{}
	for id, p := range m.pieces {
		ids[p.text] = id
	}
	return ids
}

// mergesOf lists every way to make a piece of two others, the pieces with the highest scores first.
func mergesOf(m *model) [][]string {
	ids, pieces := vocabularyOf(m), slices.Clone(m.pieces)
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.score, a.score) })
	merges := [][]string{}
	for _, p := range pieces {
		for i := range p.text {
			left, right := p.text[:i], p.text[i:]
			if _, ok := ids[left]; !ok || i == 0 {
				continue
			}
			if _, ok := ids[right]; ok {
				merges = append(merges, []string{left, right})
			}
		}
	}
	return merges
}

func parsed(t testing.TB, file []byte) *model {
	t.Helper()
	m, err := readModel(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// jsonGoldens are the golden models that upstream's converter takes: a tokenizer.json cannot say that a piece is the
// user's.
var jsonGoldens = []string{"unigram_bytes", "bpe_bytes_spaces", "bpe_nmt_nfkc"}

// hindiLines are forms of Devanagari that are easily taken for one another.
var hindiLines = []string{
	"Hello, world!", "café", " Hello, world!", "  hello  ", " ", "", "14½-13½", "अ\u200dब", "क्\u200dष", "क्\u200cष", "१२३ ४५६",
	"\u095b", "\u091c\u093c", "क़लम ज़रा", "नमस्ते। कैसे हैं॥", "<s> नहीं </s>", "<unk>", "<0x41>", "▁क▁", "  दो  शब्द  ", "ॐ…", "₹499", "日本語", "£",
	"The quick brown fox jumps over the lazy dog, again and again, until the sun goes down and everybody has gone home.",
}

func TestAJSONGivesTheIDsOfItsModel(t *testing.T) {
	for _, name := range jsonGoldens {
		t.Run(name, func(t *testing.T) {
			sp, lines := golden(t, name)
			j := load(t, asJSON(t, parsed(t, modelFile(t, name))))
			if j.Size() != sp.Size() || j.ByteFallback() != sp.ByteFallback() {
				t.Fatalf("%d pieces, byte fallback %v; want %d, %v", j.Size(), j.ByteFallback(), sp.Size(),
					sp.ByteFallback())
			}
			for _, l := range lines {
				if got := j.Encode(nil, l.Text); !slices.Equal(got, l.IDs) {
					t.Errorf("Encode(%q) = %v, want %v", l.Text, got, l.IDs)
				}
			}
			for _, text := range hindiLines {
				if got, want := j.Encode(nil, text), sp.Encode(nil, text); !slices.Equal(got, want) {
					t.Errorf("Encode(%q) = %v, want %v", text, got, want)
				}
				if got, want := j.Knows(text), sp.Knows(text); got != want {
					t.Errorf("Knows(%q) = %v, want %v", text, got, want)
				}
			}
		})
	}
}

func TestAJSONEncodesWithoutAllocating(t *testing.T) {
	if raceEnabled {
		t.Skip("a pool drops what it holds at random under the race detector")
	}
	for _, name := range jsonGoldens {
		sp := load(t, asJSON(t, parsed(t, modelFile(t, name))))
		ids := sp.Encode(nil, sentence)
		if got := testing.AllocsPerRun(100, func() { ids = sp.Encode(ids[:0], sentence) }); got != 0 {
			t.Errorf("%s: Encode allocates %v times", name, got)
		}
	}
}

// Small files, as they are written by hand. Each %s of jsonForm is a part that differs.
const jsonForm = `{"version":"1.0","truncation":null,"padding":null,"added_tokens":[%s],"normalizer":%s,"pre_tokenizer":%s,"post_processor":%s,
	"decoder":null,"model":%s}`

const (
	metaspace   = `{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}`
	noPrefix    = `{"type":"Metaspace","replacement":"▁","prepend_scheme":"never","split":true}`
	unsplit     = `{"type":"Metaspace","replacement":"▁","add_prefix_space":true,"split":false}`
	smallBPE    = `{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":%s,"merges":[%s]}`
	smallVocab  = `{"<unk>":0,"▁":1,"a":2,"b":3,"c":4,"ab":5,"bc":6,"abc":7,"▁a":8,"a▁":9}`
	smallGram   = `{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["<unk>",0],["▁",-1],["a",-2],["b",-2],["a▁b",-1],["▁a",-1.5],["<s>",9]]}`
	prepend     = `{"type":"Prepend","prepend":"▁"}`
	trim        = `{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "},{"type":"Strip","strip_left":true,"strip_right":true}`
	startOfText = `{"id":6,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}`
)

func jsonWith(added, normalizer, pre, post, model string) []byte {
	return fmt.Appendf(nil, jsonForm, added, normalizer, pre, post, model)
}

func jsonBPE(merges string) string { return fmt.Sprintf(smallBPE, smallVocab, merges) }

func TestPiecesOfSmallJSONs(t *testing.T) {
	steps := func(s string) string { return `{"type":"Sequence","normalizers":[` + s + `]}` }
	tests := map[string]struct {
		file []byte
		text string
		want string
	}{
		"merges in their order":                 {jsonWith("", "null", metaspace, "null", jsonBPE(`"b c","a b","a bc"`)), "abc", "▁ abc"},
		"only merges join":                      {jsonWith("", "null", metaspace, "null", jsonBPE(`"b c","a b"`)), "abc", "▁ a bc"},
		"merges as pairs":                       {jsonWith("", "null", metaspace, "null", jsonBPE(`["a","b"],["ab","c"],["b","c"]`)), "abc", "▁ abc"},
		"no merge goes into the next word":      {jsonWith("", "null", metaspace, "null", jsonBPE(`"a ▁"`)), "a b", "▁ a ▁ b"},
		"unless words are not split":            {jsonWith("", "null", unsplit, "null", jsonBPE(`"a ▁"`)), "a b", "▁ a▁ b"},
		"unknown characters are one":            {jsonWith("", "null", metaspace, "null", jsonBPE("")), "xyz a", "▁ <unk> ▁ a"},
		"or one each":                           {jsonWith("", "null", metaspace, "null", strings.Replace(jsonBPE(""), `"fuse_unk":true,`, "", 1)), "xyz", "▁ <unk> <unk> <unk>"},
		"unigram":                               {jsonWith("", "null", metaspace, "null", smallGram), "ab", "▁a b"},
		"no piece goes into the next word":      {jsonWith("", "null", metaspace, "null", smallGram), "a b", "▁a ▁ b"},
		"unless words are not split, unigram":   {jsonWith("", "null", unsplit, "null", smallGram), "a b", "▁ a▁b"},
		"a special token is not found in text":  {jsonWith(startOfText, "null", metaspace, "null", smallGram), "<s>", "▁ <unk>"},
		"spaces are not trimmed":                {jsonWith("", steps(prepend), metaspace, "null", smallGram), " a", "▁ ▁a"},
		"spaces are trimmed":                    {jsonWith("", steps(trim+","+prepend), metaspace, "null", smallGram), "  a   b ", "▁a ▁ b"},
		"a space that is there is enough":       {jsonWith("", "null", metaspace, "null", smallGram), " a", "▁a"},
		"its mark too":                          {jsonWith("", "null", metaspace, "null", smallGram), "▁a", "▁a"},
		"no space in front":                     {jsonWith("", "null", noPrefix, "null", smallGram), "a", "a"},
		"a step that is not in a sequence":      {jsonWith("", prepend, noPrefix, "null", smallGram), "a", "▁a"},
		"unknown words are one unknown each":    {jsonWith("", "null", metaspace, "null", `{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-2]]}`), "x x", "<unk> <unk>"},
		"byte fallback needs bytes":             {jsonWith("", "null", metaspace, "null", smallGram), "x", "▁ <unk>"},
		"what looks like a byte is text, if so": {jsonWith("", "null", metaspace, "null", `{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁",-1],["<0x41>",-1]]}`), "<0x41>", "▁ <0x41>"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sp := load(t, tt.file)
			var got []string
			for _, id := range sp.Encode(nil, tt.text) {
				got = append(got, sp.Piece(int(id)))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestLoadRefusesJSONs(t *testing.T) {
	with := func(from, to string) []byte {
		file := string(jsonWith(startOfText, "null", metaspace, "null", smallGram))
		if !strings.Contains(file, from) {
			t.Fatalf("no %q to replace", from)
		}
		return []byte(strings.Replace(file, from, to, 1))
	}
	model := func(m string) []byte { return jsonWith("", "null", metaspace, "null", m) }
	normalizer := func(n string) []byte { return jsonWith("", n, metaspace, "null", smallGram) }
	bpe := func(from, to string) []byte { return model(strings.Replace(jsonBPE(`"a b"`), from, to, 1)) }
	gram := func(vocab string) []byte {
		return model(`{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[` + vocab + `]}`)
	}
	long := strings.Repeat("x", maxPieceLength)
	bytePieces := func(n int) []byte {
		var list strings.Builder
		for _, p := range allBytes()[:n] {
			fmt.Fprintf(&list, `,["%s",0]`, p.text)
		}
		return gram(`["<unk>",0],["a",-1]` + list.String())
	}
	tests := map[string]struct {
		file []byte
		want string // "" is accepted
	}{
		"a small file":                 {with("1.0", "1.0"), ""},
		"white space before it":        {append([]byte(" \n\t"), with("1.0", "1.0")...), ""},
		"an open brace":                {[]byte("{"), "truncated"},
		"half a file":                  {with("1.0", "1.0")[:200], "truncated"},
		"something behind it":          {append(with("1.0", "1.0"), '}'), "follows its closing brace"},
		"another version":              {with("1.0", "2.0"), `version "2.0" is not supported`},
		"a key of the future":          {with(`"version"`, `"vibe":1,"version"`), `unknown field "vibe"`},
		"a key without end":            {with(`"version"`, `"`+strings.Repeat("k", 1<<16)+`":1,"version"`), "unknown field"},
		"truncation":                   {with(`"truncation":null`, `"truncation":{"max_length":5}`), "truncation is not supported"},
		"padding":                      {with(`"padding":null`, `"padding":{}`), "padding is not supported"},
		"a post processor":             {jsonWith("", "null", metaspace, `{"type":"TemplateProcessing"}`, smallGram), "post_processor TemplateProcessing"},
		"an added token of its own":    {with(`"id":6`, `"id":7`), `added token "<s>" is not piece 7`},
		"with a negative id":           {with(`"id":6`, `"id":-1`), `added token "<s>" is not piece -1`},
		"by another name":              {with(`"content":"<s>"`, `"content":"<t>"`), `added token "<t>" is not piece 6`},
		"a token that takes spaces":    {with(`"lstrip":false`, `"lstrip":true`), "lstrip"},
		"a token that is a word":       {with(`"single_word":false`, `"single_word":true`), "single_word"},
		"a token that is found":        {with(`"special":true`, `"special":false`), "is not special"},
		"lower case":                   {normalizer(`{"type":"Lowercase"}`), "normalizer: Lowercase is not supported"},
		"NFC behind the rest":          {normalizer(`{"type":"Sequence","normalizers":[` + prepend + `,{"type":"NFC"}]}`), "normalizer: NFC is not supported"},
		"steps in another order":       {normalizer(`{"type":"Sequence","normalizers":[` + prepend + `,` + trim + `]}`), "normalizer: Replace is not supported here"},
		"one end":                      {normalizer(`{"type":"Sequence","normalizers":[` + strings.Replace(trim, `"strip_left":true`, `"strip_left":false`, 1) + `]}`), "Strip of one end"},
		"spaces alone":                 {normalizer(`{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}`), "Replace without Strip"},
		"another replacement":          {normalizer(`{"type":"Replace","pattern":{"String":"a"},"content":"b"}`), `Replace of "a"`},
		"another prefix":               {normalizer(`{"type":"Prepend","prepend":"_"}`), `Prepend of "_"`},
		"a normalizer without type":    {normalizer(`{}`), "a step without a type"},
		"a bad character map":          {normalizer(`{"type":"Precompiled","precompiled_charsmap":"AQID"}`), "character map is truncated"},
		"no base64":                    {normalizer(`{"type":"Precompiled","precompiled_charsmap":"?"}`), "normalizer: "},
		"no pre-tokenizer":             {jsonWith("", "null", "null", "null", smallGram), "pre_tokenizer: a step without a type"},
		"bytes as letters":             {jsonWith("", "null", `{"type":"ByteLevel"}`, "null", smallGram), "pre_tokenizer: ByteLevel is not supported"},
		"another space":                {with(`"replacement":"▁"`, `"replacement":"_"`), `Metaspace with "_"`},
		"a space before the first":     {with(`"always"`, `"first"`), `prepend_scheme "first"`},
		"no model":                     {model("null"), "model: a step without a type"},
		"word pieces":                  {model(`{"type":"WordPiece"}`), "model: WordPiece is not supported"},
		"no unk_id":                    {model(`{"type":"Unigram","vocab":[["a",0]]}`), "no unk_id"},
		"unk_id behind the end":        {model(`{"type":"Unigram","unk_id":1,"vocab":[["a",0]]}`), "no unk_id"},
		"no vocabulary":                {model(`{"type":"Unigram","unk_id":0}`), "missing or of another form"},
		"a vocabulary of another form": {model(`{"type":"Unigram","unk_id":0,"vocab":{"a":0}}`), "missing or of another form"},
		"an entry without a score":     {gram(`["<unk>"]`), "1 parts"},
		"an entry of three":            {gram(`["<unk>",0,0]`), "3 parts"},
		"a piece that is a number":     {gram(`[7,0]`), "cannot unmarshal"},
		"an empty piece":               {gram(`["<unk>",0],["",0]`), "piece 1 is empty"},
		"a piece at the limit":         {gram(`["<unk>",0],["` + long + `",0]`), ""},
		"a piece beyond the limit":     {gram(`["<unk>",0],["` + long + `x",0]`), "longer than 1024 bytes"},
		"a piece twice":                {gram(`["<unk>",0],["a",0],["a",0]`), `pieces 1 and 2 are both "a"`},
		"a score that is not a number": {gram(`["<unk>",0],["a",NaN]`), "invalid character"},
		"an infinite score":            {gram(`["<unk>",0],["a",1e300]`), "not a finite number"},
		"a score beyond all":           {gram(`["<unk>",0],["a",1e999]`), "cannot unmarshal"},
		"only unknown":                 {gram(`["<unk>",0]`), "no normal piece"},
		"all bytes":                    {bytePieces(256), ""},
		"one byte missing":             {bytePieces(255), "byte fallback with 255 of 256"},
		"dropout":                      {bpe(`"fuse_unk"`, `"dropout":0.1,"fuse_unk"`), "dropout"},
		"no dropout":                   {bpe(`"fuse_unk"`, `"dropout":0.0,"fuse_unk"`), ""},
		"a prefix":                     {bpe(`"fuse_unk"`, `"continuing_subword_prefix":"##","fuse_unk"`), "continuing_subword_prefix"},
		"a suffix":                     {bpe(`"fuse_unk"`, `"end_of_word_suffix":"</w>","fuse_unk"`), "end_of_word_suffix"},
		"merges that are not asked":    {bpe(`"fuse_unk"`, `"ignore_merges":true,"fuse_unk"`), "ignore_merges"},
		"no unk_token":                 {bpe(`"unk_token":"<unk>",`, ""), "no unk_token"},
		"an unk_token of its own":      {bpe(`"unk_token":"<unk>"`, `"unk_token":"<u>"`), `unk_token "<u>"`},
		"a piece with two ids":         {bpe(`"a":2`, `"a":2,"a":10`), `pieces 2 and 10 are both "a"`},
		"an id for two pieces":         {bpe(`"a":2`, `"a":3`), `are both 3`},
		"a gap in the ids":             {bpe(`"a▁":9`, `"a▁":10`), "no piece has the id 9"},
		"a negative id":                {bpe(`"a▁":9`, `"a▁":-1`), "no piece has the id 9"},
		"an id that is not a number":   {bpe(`"a▁":9`, `"a▁":"9"`), "cannot unmarshal"},
		"no merges":                    {bpe(`,"merges":["a b"]`, ""), "missing or of another form"},
		"a merge of one":               {bpe(`"a b"`, `"ab"`), `merge "ab" is not two pieces`},
		"a merge of three":             {bpe(`"a b"`, `["a","b","c"]`), "a merge of 3 pieces"},
		"a merge of the unknown":       {bpe(`"a b"`, `"a x"`), `a merge of "x"`},
		"a merge into nothing":         {bpe(`"a b"`, `"b a"`), `the merge of "b" and "a"`},
		"a merge twice":                {bpe(`"a b"`, `"a b","b c","a b"`), `"a" and "b" are merged twice`},
		"a merge that is null":         {bpe(`"a b"`, `null`), "a merge of 0 pieces"},
		"depth":                        {[]byte(`{"decoder":` + strings.Repeat("[", 1<<20)), "exceeded max depth"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sp, err := Load(tt.file)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want == "":
			case err == nil || sp != nil:
				t.Errorf("accepted, want an error with %q", tt.want)
			case !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "tokenizer.json: ") ||
				len(err.Error()) > 300:
				t.Errorf("got %q, want one with %q", err, tt.want)
			}
		})
	}
}

func TestAVocabularyHasALimit(t *testing.T) {
	m := &model{pieces: make([]piece, maxPieces-1)}
	if err := m.addPiece("the last", 0); err != nil {
		t.Errorf("a piece at the limit: %v", err)
	}
	if err := m.addPiece("one more", 0); err == nil || !strings.Contains(err.Error(), "more than 1048576 pieces") {
		t.Errorf("a piece beyond the limit: %v", err)
	}
}
