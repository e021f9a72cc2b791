package layout

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// described is a small bundle.json.
const described = `{"schema_version":2,"bundle_name":"b","language":"hindi","sample_rate":24000,"frame_rate":12.5,
"samples_per_frame":1920,"latent_dim":32,"conditioning_dim":1024,"max_token_per_chunk":50,
"model_recommended_frames_after_eos":null,"insert_bos_before_voice":true,"tokenizer_file":"tokenizer.model",
"bos_before_voice_file":"bos_before_voice.npy","predefined_voices":["raj"],
"flow_lm_state_manifest":[
{"index":1,"input_name":"b","output_name":"c","module":"m","key":"step","shape":[1],"dtype":"int64","fill":"zeros"},
{"index":0,"input_name":"a","output_name":"d","module":"m","key":"cache","path":"m/cache","shape":[2,1,9,1,4],"dtype":"float32","fill":"nan"}],
"mimi_state_manifest":[{"index":0,"input_name":"f","output_name":"g","module":"m","key":"first","shape":[1],"dtype":"bool","fill":"ones"}],
"added_later":{"x":1}}`

func TestDescriptionIsRead(t *testing.T) {
	d, err := readDescription([]byte(described))
	if err != nil {
		t.Fatal(err)
	}
	lm, err := states(d.LMStates)
	if err != nil {
		t.Fatal(err)
	}
	if len(lm) != 2 {
		t.Fatalf("states %+v, want two", lm)
	}
	if lm[0].path != "m/cache" || lm[0].fill != "nan" || !slices.Equal(lm[0].shape, []int{2, 1, 9, 1, 4}) {
		t.Errorf("state %+v, want the cache", lm[0])
	}
	if lm[1].path != "m/step" || lm[1].typ != graph.I64 || lm[1].input != "b" || lm[1].output != "c" {
		t.Errorf("state %+v, want the step", lm[1])
	}
	if !d.BOS || d.MaxTokens != 50 || d.Language != "hindi" || d.FramesAfterEOS != nil {
		t.Errorf("description %+v", d)
	}
}

func TestLanguagesHaveTags(t *testing.T) {
	for name, want := range map[string]string{
		"english": "en", "english_2026-04": "en", "Hindi": "hi-IN", "hinglish": "hi-IN+en-IN", "eu": "eu", "pt-BR": "pt-br", "klingon": "und", "": "und",
	} {
		if got := tag(name); got != want {
			t.Errorf("%q has the tag %q, want %q", name, got, want)
		}
	}
}

// descriptions are a good one and what may be wrong with one.
func descriptions() []string {
	return []string{
		described, `{}`, `[]`, `null`, `{"schema_version":2}`, described[:200],
		strings.Replace(described, "[2,1,9,1,4]", "[4611686018427387904,4]", 1),
		strings.Replace(described, `"index":1`, `"index":-1`, 1), strings.Replace(described, "[1]", "[0,1e3]", 1),
		strings.Replace(described, "nan", "empty", 1),
	}
}

// vocabularies are pairs of ids and scores, good and bad.
func vocabularies() [][2]string {
	const scores = `{"<unk>":0,"a":-1,"b":-2,"▁":-1}`
	return [][2]string{
		{`{"<unk>":0,"a":1,"b":2,"▁":3}`, scores}, {`{"<unk>":0,"a":1}`, scores}, {`{"<unk>":0,"a":1,"a":1}`, scores}, {`{"<unk>":1e9}`, scores},
		{`{`, scores}, {``, scores}, {`{"<0x00>":0,"<unk>":1}`, scores}, {`{"<unk>":0,"a":1}`, `{"<unk>":"0"}`},
	}
}

// graphs are a whole file and parts of it.
func graphs() [][]byte {
	whole := small()
	return [][]byte{whole, {}, whole[:1], whole[:20], whole[:len(whole)/2], whole[:len(whole)-1]}
}

func TestFuzzSeedsReachTheReaders(t *testing.T) {
	good := map[string]int{}
	count := func(name string, err error) {
		if err == nil {
			good[name]++
		}
	}
	for _, s := range descriptions() {
		d, err := readDescription([]byte(s))
		if err == nil {
			_, err = states(d.LMStates)
		}
		count("descriptions", err)
	}
	for _, s := range vocabularies() {
		_, err := readVocabulary([]byte(s[0]), []byte(s[1]))
		count("vocabularies", err)
	}
	for _, s := range graphs() {
		_, err := graph.ReadSignature(s)
		count("graphs", err)
	}
	if want := map[string]int{"descriptions": 2, "vocabularies": 2, "graphs": 1}; !maps.Equal(good, want) {
		t.Errorf("good seeds %v, want %v and others that are bad", good, want)
	}
}

func FuzzDescription(f *testing.F) {
	for _, seed := range descriptions() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := readDescription(data)
		if err != nil {
			return
		}
		if d.Latent < 1 || d.Width < 1 || d.MaxTokens < 1 || strings.HasPrefix(d.Tokenizer, "/") {
			t.Fatalf("was accepted: %+v", d)
		}
		list, err := states(d.LMStates)
		if err != nil {
			return
		}
		for _, s := range list {
			if n := s.bytes(); n < 0 || n > 8*maxStateBytes {
				t.Fatalf("%+v takes %d bytes", s, n)
			}
		}
	})
}

func TestVocabularyRefuses(t *testing.T) {
	const scores = `{"<unk>":0,"a":-1,"b":-2}`
	for _, c := range []struct{ name, vocab, scores, want string }{
		{"no object", `[]`, scores, "not an object"},
		{"nothing", ``, scores, "not an object"},
		{"a list for an id", `{"<unk>":0,"a":[1]}`, scores, `"a"`},
		{"an id twice", `{"<unk>":0,"a":1,"b":1}`, scores, "want each of 0 to 2 once"},
		{"a piece twice", `{"<unk>":0,"a":1,"a":2}`, scores, `duplicate "a"`},
		{"half an id", `{"<unk>":0,"a":0.5}`, scores, "want each of 0 to 1 once"},
		{"an id below zero", `{"<unk>":0,"a":-1}`, scores, "want each of 0 to 1 once"},
		{"an endless id", `{"<unk>":0,"a":1e300}`, scores, "want each of 0 to 1 once"},
		{"no end", `{"<unk>":0,"a":1`, scores, "truncated"},
		{"something behind it", `{"<unk>":0,"a":1}{}`, scores, "follows"},
		{"an empty piece", `{"<unk>":0,"":1}`, scores, `""`},
		{"a score too few", `{"<unk>":0,"c":1}`, scores, "no score"},
		{"an endless score", `{"<unk>":0,"a":1}`, `{"<unk>":0,"a":-1e200}`, "finite"},
		{"no unknown piece", `{"a":0,"b":1}`, scores, "no unknown piece"},
	} {
		if _, err := readVocabulary([]byte(c.vocab), []byte(c.scores)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	v, err := readVocabulary([]byte(`{"b":2,"<unk>":0,"a":1,"▁":3}`),
		[]byte(`{"a":-1,"b":-2,"<unk>":0,"▁":-1,"more":-7}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.Encode(nil, "ab ?"), []int32{3, 1, 2, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
}

func FuzzVocabulary(f *testing.F) {
	for _, seed := range vocabularies() {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, vocab, scores []byte) {
		v, err := readVocabulary(vocab, scores)
		if err != nil {
			return
		}
		for _, id := range v.Encode(nil, "ab ▁ é <unk> \xff") {
			if id < 0 || int(id) >= v.Size() {
				t.Fatalf("id %d of %d", id, v.Size())
			}
		}
	})
}

// small is a graph with a state that changes, one that is handed through and one that holds nothing.
func small() []byte {
	b := graph.New("small")
	x := b.Input("x", graph.F32, 1, "frames", 4)
	s, u, v := b.Input("state_0", graph.F32, 1, 4), b.Input("state_1", graph.F32, 3),
		b.Input("state_2", graph.F32, "none")
	b.Output("y", b.Op("Add", []graph.Value{x, s}), graph.F32, 1, "frames", 4)
	b.Output("out_state_0", b.Op("Elu", []graph.Value{s}), graph.F32, 1, 4)
	b.Output("out_state_1", b.Op("Identity", []graph.Value{b.Op("Identity", []graph.Value{u})}), graph.F32, 3)
	b.Output("out_state_2", b.Op("Identity", []graph.Value{v}), graph.F32, "none")
	return b.Bytes()
}

func TestSignatureIsReadFromTheFile(t *testing.T) {
	g, err := graph.ReadSignature(small())
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := g.Input("x"); !ok || p.Type != graph.F32 || !slices.Equal(p.Shape, []int{1, varies, 4}) {
		t.Errorf("input %v, want x float32 [1 -1 4]", p)
	}
	states, err := deriveStates(&g, func(graph.Port) string { return "zeros" })
	if err != nil {
		t.Fatal(err)
	}
	var still []bool
	for _, s := range states {
		still = append(still, s.still)
	}
	if want := []bool{false, true, true}; !slices.Equal(still, want) {
		t.Errorf("states that never change: %v, want %v", still, want)
	}
	if n := states[2].count(); n != 0 {
		t.Errorf("a list of any length has %d values, want none", n)
	}
}

func FuzzSignature(f *testing.F) {
	for _, seed := range graphs() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		g, err := graph.ReadSignature(file)
		if err != nil {
			return
		}
		states, err := deriveStates(&g, func(graph.Port) string { return "zeros" })
		if err != nil {
			return
		}
		total := int64(0)
		for i := range states {
			total += states[i].bytes()
		}
		if total < 0 || total > maxStateBytes {
			t.Fatalf("states of %d bytes", total)
		}
	})
}
