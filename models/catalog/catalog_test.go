package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestEmbeddedCatalogueIsRead(t *testing.T) {
	entries, err := Read(embedded)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("it is empty")
	}
	e, ok := Find("saryps-hindi")
	if !ok || e.EOSThreshold == nil || *e.EOSThreshold != -1 || e.Script != "deva" || e.Punctuation != "none" {
		t.Errorf("saryps-hindi is %+v", e)
	}
	if alias, ok := Find("saryps"); !ok || alias.Name != e.Name {
		t.Errorf("saryps is %q", alias.Name)
	}
	if _, ok := Find("Saryps-Hindi"); ok {
		t.Error("names have no capitals")
	}
	if text, err := json.Marshal(e); err != nil || !strings.Contains(string(text), `"checked":"2026-11-01"`) {
		t.Errorf("as JSON it is %s, %v", text, err)
	}
	if !slices.IsSorted(Names()) || len(Names()) != len(entries) {
		t.Errorf("names are %v", Names())
	}
}

// What is for people to read must be whole: a licence that is not known has a note that says so.
func TestEveryLicenceIsKnownOrNamed(t *testing.T) {
	for _, e := range All() {
		says := slices.ContainsFunc(e.Notes, func(n string) bool { return strings.Contains(n, "licence") })
		if e.Licence == "" && !says {
			t.Errorf("%s has no licence, and no note about that", e.Name)
		}
		for _, n := range e.Notes {
			if !strings.HasSuffix(n, ".") {
				t.Errorf("%s: a note is not a sentence: %s", e.Name, n)
			}
		}
	}
}

func TestRead(t *testing.T) {
	const whole = `models: [{name: a, title: A, repository: o/r, languages: [hi-IN], checked: 2026-11-01`
	exports := `, exports: [{precision: int8, file: f, bytes: 1, sha256: ` + strings.Repeat("0a", 32) +
		`, sources: [[f]]}]}`
	pinned := whole + `, engine: kokoro, revision: ` + strings.Repeat("0a", 20)
	for sentence, test := range map[string]struct{ text, want string }{
		"what is whole is read":        {whole + `}]`, ""},
		"a field nobody knows":         {whole + `, sha: 1}]`, "field sha not found"},
		"a name with a capital":        {strings.Replace(whole, "name: a", "name: A", 1) + `}]`, "is not a name"},
		"a name that leads elsewhere":  {strings.Replace(whole, "name: a", "name: ../a", 1) + `}]`, "is not a name"},
		"a name of 63 letters":         {strings.Replace(whole, "name: a", "name: "+strings.Repeat("a", 63), 1) + `}]`, ""},
		"a name of 64 letters":         {strings.Replace(whole, "name: a", "name: "+strings.Repeat("a", 64), 1) + `}]`, "is not a name"},
		"an alias that is taken":       {whole + `, aliases: [a]}]`, "are both called a"},
		"a repository without owner":   {strings.Replace(whole, "o/r", "r", 1) + `}]`, "want owner/name"},
		"a branch for a commit":        {whole + `, revision: main}]`, "want the 40 digits"},
		"a commit":                     {whole + `, revision: ` + strings.Repeat("0a", 20) + `}]`, ""},
		"a script nobody knows":        {whole + `, script: roman}]`, "want one of deva, deva+latn, mixed"},
		"a day that is none":           {strings.Replace(whole, "11-01", "13-01", 1) + `}]`, "month out of range"},
		"no day":                       {strings.Replace(whole, ", checked: 2026-11-01", "", 1) + `}]`, "checked is missing"},
		"a voice without a licence":    {whole + `, voices: [{name: v, file: f, attribution: x}]}]`, "are all wanted"},
		"a voice whose name is a path": {whole + `, voices: [{name: v/w, file: f, licence: l, attribution: x}]}]`, "voice"},
		"an engine without exports":    {whole + `, engine: kokoro}]`, "engine and exports go together"},
		"exports without a revision":   {whole + `, engine: kokoro, voice_bytes: 1` + exports + `]`, "wants its revision"},
		"exports without voice_bytes":  {pinned + exports + `]`, "wants its revision and voice_bytes"},
		"exports":                      {pinned + `, voice_bytes: 1` + exports + `]`, ""},
		"an export without a source":   {pinned + `, voice_bytes: 1` + strings.Replace(exports, "[[f]]", "[]", 1) + `]`, "want sources"},
		"an export of an empty source": {pinned + `, voice_bytes: 1` + strings.Replace(exports, "[f]", "[]", 1) + `]`, "want sources"},
		"an export of no precision":    {pinned + `, voice_bytes: 1` + strings.Replace(exports, "int8", "int4", 1) + `]`, "want fp32 or int8"},
		"an export of a short hash":    {pinned + `, voice_bytes: 1` + strings.Replace(exports, "0a", "", 1) + `]`, "are all wanted"},
		"a voice without a hash beside exports": {pinned + `, voice_bytes: 1, voices: [{name: v, file: f, licence: l, attribution: x}]` +
			exports + `]`, "sha256 and language"},
		"a voice that is there twice": {whole + `, voices: [{name: v, file: f, licence: l, attribution: x},
			{name: v, file: f, licence: l, attribution: x}]}]`, "voice v is there twice"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := Read([]byte(test.text))
			if test.want == "" && err != nil ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestLike(t *testing.T) {
	for name, want := range map[string]string{
		"sarips-hindi":                 "saryps-hindi",
		"saryps-labs/pocket-tts-hindi": "saryps-hindi",
		"jugnu-light":                  "jugnu-lite",
		"x":                            "",
		"":                             "",
	} {
		got := Like(name)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("like %q are %v, want %q", name, got, want)
		}
	}
}

func TestVoicesAreFoundByTheNameOfTheirPublisher(t *testing.T) {
	e, ok := Find("kokoro")
	if !ok {
		t.Fatal("there is no kokoro")
	}
	for name, want := range map[string]string{"anjura": "anjura", "hf_beta": "anjura", "hm_omega": "raj",
		"af_heart": "af_heart", "hf": "", "": ""} {
		if v, ok := e.VoiceNamed(name); v.Name != want || ok != (want != "") {
			t.Errorf("%q is the voice %q, want %q", name, v.Name, want)
		}
	}
	saryps, _ := Find("saryps-hindi")
	if v, ok := saryps.VoiceNamed("anjura"); ok {
		t.Errorf("a voice whose hash nobody knows is %+v", v)
	}
}

func TestVoicesOfKokoroHaveGains(t *testing.T) {
	e, _ := Find("kokoro")
	for _, v := range e.Voices {
		if v.GainDB == 0 || v.GainDB < -6 || v.GainDB > 8 {
			t.Errorf("%s has a gain of %g dB, want one that was measured", v.Name, v.GainDB)
		}
	}
}
