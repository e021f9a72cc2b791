package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// convertCase makes a bundle of a published model in the tests' data.
func (s *shell) convertCase(output string, args ...string) result {
	s.t.Helper()
	from, err := filepath.Abs("../../runtime/onnx/testdata/01-v2-tanh")
	if err != nil {
		s.t.Fatal(err)
	}
	return s.run(append([]string{"bundle", "convert", "--config", from + "/config.yaml", "--voice",
		"raj=" + from + "/voice.safetensors",
		"-o", output}, args...)...)
}

func TestBundlesOfEachScript(t *testing.T) {
	const text = "Aapka order aa gaya hai. Kal das baje milenge, theek hai?"
	s := bareShell(t)
	for name, tt := range map[string]struct {
		flags []string
		want  []string // the chunks that the engine is given
		shown string   // by inspect
	}{
		"unsaid": {nil, []string{"Aapka order aa gaya hai. Kal das baje milenge, theek hai?"}, ""},
		"mixed":  {[]string{"--text-script", "mixed"}, []string{"Aapka order aa gaya hai. Kal das baje milenge, theek hai?"}, "any script"},
		"latn":   {[]string{"--text-script", "deva+latn"}, []string{"आपका order आ गया है. कल दस बजे मिलेंगे, ठीक है?"}, "English in Latin letters"},
		"deva":   {[]string{"--text-script", "deva"}, []string{"आपका ऑर्डर आ गया है. कल दस बजे मिलेंगे, ठीक है?"}, "Devanagari, also for English"},
		"bare": {[]string{"--text-script", "deva", "--text-punctuation", "none", "--text-numbers", "words"},
			[]string{"आपका ऑर्डर आ गया है", "कल दस बजे मिलेंगे ठीक है"}, "no punctuation; numbers as words"},
		"stops": {[]string{"--text-punctuation", "."}, []string{"Aapka order aa gaya hai. Kal das baje milenge theek hai."}, "the marks ."},
	} {
		if r := s.convertCase(name, tt.flags...); r.code != 0 {
			t.Fatalf("%s: exit code %d, %s", name, r.code, r.err)
		}
		var chunks []struct {
			Text       string `json:"text"`
			EngineText string `json:"engine_text"`
			Tokens     int    `json:"tokens"`
		}
		if err := json.Unmarshal([]byte(s.ok("normalize", "--engine-text", "--json", "--bundle", name, text).out),
			&chunks); err != nil {
			t.Fatal(err)
		}
		var given, spoken []string
		for _, c := range chunks {
			given, spoken = append(given, c.EngineText), append(spoken, c.Text)
		}
		if !slices.Equal(given, tt.want) {
			t.Errorf("%s: the engine is given %q, want %q", name, given, tt.want)
		}
		if got := strings.Join(spoken, " "); got != text {
			t.Errorf("%s: the client is shown %q, want the text as it was normalised", name, got)
		}
		if out := s.ok("normalize", "--engine-text", "--bundle", name, text).out; !strings.Contains(out, tt.want[0]) {
			t.Errorf("%s: it prints %q", name, out)
		}
		out := s.ok("bundle", "inspect", name).out
		if !strings.Contains(out, tt.shown) || strings.Contains(out, "trained on") != (tt.shown != "") {
			t.Errorf("%s: inspect says %q, want %q", name, out, tt.shown)
		}
	}
	if out := s.ok("normalize", "--engine-text", "--json", "--bundle", "deva", "…").out; out != "[]\n" {
		t.Errorf("of nothing it prints %q", out)
	}
}

func TestABundleWithAJSONTokenizer(t *testing.T) {
	s := bareShell(t)
	pieces := [][]any{{"<unk>", 0}, {"▁", -1}, {".", -1}, {",", -1}, {"▁haan", -1}, {"H", -1}, {"h", -1},
		{"a", -1}, {"n", -1}}
	for len(pieces) < 400 { // as many as the model has
		pieces = append(pieces, []any{fmt.Sprintf("▁%d", len(pieces)), -3})
	}
	file, err := json.Marshal(map[string]any{
		"version":       "1.0",
		"normalizer":    map[string]any{"type": "Prepend", "prepend": "▁"},
		"pre_tokenizer": map[string]any{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
		"model":         map[string]any{"type": "Unigram", "unk_id": 0, "vocab": pieces},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.write("tokenizer.json", file)
	if r := s.convertCase("b", "--tokenizer", "tokenizer.json", "--text-script", "mixed"); r.code != 0 {
		t.Fatalf("exit code %d, %s", r.code, r.err)
	}
	if out := s.ok("normalize", "--bundle", "b",
		"haan haan").out; !strings.Contains(out, "    0       7  haan haan\n") {
		// ▁ H a a n ▁haan .
		t.Errorf("it prints %q, want seven tokens", out)
	}
	s.write("tokenizer.json", file[:len(file)/2])
	r := s.convertCase("c", "--tokenizer", "tokenizer.json")
	if r.code != 1 || lastLine(r.err) != "swar: tokenizer: tokenizer.json: tokenizer.json: the file is truncated" {
		t.Errorf("half of it: exit code %d, %q", r.code, r.err)
	}
}

func TestConvertRefusesOtherTexts(t *testing.T) {
	s := bareShell(t)
	for _, tt := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--text-script", "roman"}, "--text-script is \"roman\", want deva, deva+latn or mixed"},
		{[]string{"--text-punctuation", "abc"}, "--text-punctuation is \"abc\", want none or the marks"},
		{[]string{"--text-numbers", "digits"}, "--text-numbers is \"digits\", want words"},
	} {
		if r := s.convertCase("b", tt.flags...); r.code != 2 || !strings.Contains(r.err, tt.want) {
			t.Errorf("%v: exit code %d, %q; want 2 and %q", tt.flags, r.code, r.err, tt.want)
		}
	}
	if r := s.convertCase("b", "--frames-after-eos", "-1"); r.code != 1 ||
		!strings.Contains(r.err, "frames_after_eos is -1") {
		t.Errorf("-1 frames after the end: exit code %d, %q", r.code, r.err)
	}
	r := s.run("normalize", "--engine-text", "--server", "http://127.0.0.1:1", "namaste")
	if r.code != 2 || !strings.Contains(r.err, "--engine-text") {
		t.Errorf("of a server: exit code %d, %q", r.code, r.err)
	}
}
