package bundle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of nothing

func manifest() Manifest {
	file := func(name string) File { return File{File: name, SHA256: hash, Bytes: 1} }
	return Manifest{
		Format: Format, Model: Model{ID: "m", Languages: []string{"hi-IN"}, Weights: hash},
		Dims: Dims{
			Width: 32, Layers: 1, Heads: 2, HeadDim: 16, FFN: 64, Latent: 8, Vocab: 10, FlowWidth: 8,
			CodecWidth: 16, CodecHeads: 2, CodecWindow: 250, Upsample: 16, RoPE: 10000, CodecRoPE: 10000,
		},
		GELU: "tanh", Flow: Flow{Type: "lsd", Steps: 1},
		Tokenizer: Tokenizer{File: file("tokenizer.model"), Kind: "sentencepiece"},
		Sampling: Sampling{Temperature: .3, EOSThreshold: -4, MinFrames: 6, FramesAfterEOS: 3, FramesAfterEOSShort: 5,
			ShortWords: 4},
		Limits:    Limits{MaxTokens: 50, TokensPerSecond: 3, PaddingSeconds: 2, Positions: 386},
		Decode:    Decode{Plan: DecodePlan(), FadeIn: 120},
		Precision: "fp32", LM: Graph{File: file("lm.onnx")}, FlowHead: Graph{File: file("flow.onnx")},
		Codec: Graph{File: file("codec.onnx")},
		Host:  file("host.safetensors"),
		Voices: []Voice{{Name: "anjura", Language: "hi-IN", PromptFrames: 102, Weights: hash,
			File: file("voices/anjura.safetensors")}},
	}
}

func TestMaxFrames(t *testing.T) {
	l := manifest().Limits
	for tokens, want := range map[int]int{1: 30, 6: 50, 10: 67, 26: 134, 48: 225, 50: 234} {
		if got := l.MaxFrames(tokens); got != want {
			t.Errorf("MaxFrames(%d) = %d, want %d", tokens, got, want)
		}
	}
}

func TestManifestRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*Manifest)
		want   string
	}{
		"no layers":                   {func(m *Manifest) { m.Dims.Layers = 0 }, "dims.layers"},
		"heads that do not fill":      {func(m *Manifest) { m.Dims.Heads = 3 }, "width of 32"},
		"no model id":                 {func(m *Manifest) { m.Model.ID = "" }, "model.id"},
		"weights without a hash":      {func(m *Manifest) { m.Model.Weights = "e3b0" }, "weights_sha256"},
		"another GELU":                {func(m *Manifest) { m.GELU = "none" }, "gelu"},
		"another flow":                {func(m *Manifest) { m.Flow.Type = "flow_matching" }, "flow.type"},
		"no flow steps":               {func(m *Manifest) { m.Flow.Steps = 0 }, "flow.steps"},
		"another precision":           {func(m *Manifest) { m.Precision = "int3" }, "precision"},
		"a temperature above two":     {func(m *Manifest) { m.Sampling.Temperature = 2.01 }, "temperature"},
		"no time for the first frame": {func(m *Manifest) { m.Limits.PaddingSeconds = 0 }, "padding_seconds"},
		"no token rate":               {func(m *Manifest) { m.Limits.TokensPerSecond = 0 }, "tokens_per_second"},
		"a fade longer than a frame":  {func(m *Manifest) { m.Decode.FadeIn = 1921 }, "fade_in"},
		"no voices":                   {func(m *Manifest) { m.Voices = nil }, "voices"},
		"a voice twice":               {func(m *Manifest) { m.Voices = append(m.Voices, m.Voices[0]) }, "listed twice"},
		"one position too few":        {func(m *Manifest) { m.Limits.Positions-- }, "386"},
		"a file outside":              {func(m *Manifest) { m.Host.File = "../host" }, "not a file of the bundle"},
		"an absolute path":            {func(m *Manifest) { m.Host.File = "/etc/passwd" }, "not a file of the bundle"},
		"a file without a hash":       {func(m *Manifest) { m.Host.SHA256 = "" }, "SHA-256"},
		"a state without a size":      {func(m *Manifest) { m.Codec.States = []State{{Name: "s", Shape: []int{1, 0}}} }, "state s"},
		"a state of 64 GB":            {func(m *Manifest) { m.Codec.States = []State{{Name: "s", Shape: []int{1 << 17, 1 << 17}}} }, "state s"},
		"another decode plan":         {func(m *Manifest) { m.Decode.Plan = []int{3, 7} }, "decode.plan is [3 7]"},
		"drifting in two steps":       {func(m *Manifest) { m.Flow = Flow{Drifting, 2} }, "drifting draws in one step"},
		"a voice of other weights":    {func(m *Manifest) { m.Voices[0].Weights = strings.Repeat("ab", 32) }, "made with other weights"},
		"a codec without a hash":      {func(m *Manifest) { m.Model.Codec = "x" }, "codec_sha256"},
		"another script":              {func(m *Manifest) { m.Trained.Script = "roman" }, `trained.script is "roman"`},
		"a mark that is a letter":     {func(m *Manifest) { m.Trained.Punctuation = ".a" }, "trained.punctuation"},
		"marks with a space":          {func(m *Manifest) { m.Trained.Punctuation = ". ," }, "trained.punctuation"},
		"65 marks":                    {func(m *Manifest) { m.Trained.Punctuation = strings.Repeat(".", 65) }, "trained.punctuation"},
		"numbers of another kind":     {func(m *Manifest) { m.Trained.Numbers = "digits" }, "trained.numbers"},
		"an empty replacement":        {func(m *Manifest) { m.Text.Replace = []Replace{{To: "x"}} }, "replace[0]"},
	}
	good := manifest()
	if err := good.Check(); err != nil {
		t.Fatalf("a good manifest: %v", err)
	}
	for name, tt := range tests {
		m := manifest()
		tt.change(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestManifestSaysWhatAModelWasTrainedOn(t *testing.T) {
	m := manifest()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "trained") {
		t.Error("a manifest in which nothing is said of it names it")
	}
	for _, trained := range []Trained{
		{}, {Script: Mixed}, {Script: Devanagari, Punctuation: NoPunctuation, Numbers: NumbersAsWords},
		{Script: DevanagariLatin, Punctuation: ".,?!…।₹"}, {Punctuation: strings.Repeat(".", 64)},
	} {
		m.Trained = trained
		if text, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadManifest(text); err != nil || got.Trained != trained {
			t.Errorf("%+v became %+v, %v", trained, got.Trained, err)
		}
	}
}

func TestReadManifestIsStrict(t *testing.T) {
	text, err := json.Marshal(manifest())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(text); err != nil {
		t.Fatalf("a good manifest: %v", err)
	}
	tests := map[string]struct{ text, want string }{
		"another format":        {`{"format":2,"new":true}`, "format 2"},
		"another engine":        {`{"format":1,"engine":"kokoro"}`, `for the engine "kokoro"`},
		"an unknown key":        {strings.Replace(string(text), `"gelu"`, `"relu":1,"gelu"`, 1), "relu"},
		"something behind":      {string(text) + "{}", "after top-level"},
		"something that is not": {"[", "manifest"},
	}
	for name, tt := range tests {
		if _, err := ReadManifest([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestOpenAndVerifyCompareFiles(t *testing.T) {
	dir, m := t.TempDir(), manifest()
	if err := os.Mkdir(filepath.Join(dir, "voices"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range m.Files() {
		write(f.File, []byte("x"))
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	write(ManifestFile, text)
	got, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(dir, got); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("Verify of other content: %v, want an error about its hash", err)
	}
	write("host.safetensors", []byte("xy"))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "2 bytes") {
		t.Errorf("Open with a file that grew: %v, want its size", err)
	}
	if err := os.Remove(filepath.Join(dir, "host.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "host.safetensors is missing") {
		t.Errorf("Open without a file: %v, want its name", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("an empty folder was opened")
	}
}

func TestAManifestSaysWhereAVoiceComesFrom(t *testing.T) {
	hash := strings.Repeat("5c", 32)
	good := Recording{SHA256: hash, Seconds: 12.5, Format: "FLAC"}
	agreed := Consent{Text: "she agreed", Date: "2026-11-23"}
	for name, tt := range map[string]struct {
		recording Recording
		consent   Consent
		want      string // "" is read
	}{
		"nothing, as before":      {Recording{}, Consent{}, ""},
		"a recording":             {good, Consent{}, ""},
		"a consent":               {Recording{}, agreed, ""},
		"both":                    {good, agreed, ""},
		"a hash that is none":     {Recording{SHA256: "5c", Seconds: 1}, Consent{}, `voice anjura: its recording has 1 s and SHA-256 "5c"`},
		"no seconds":              {Recording{SHA256: hash}, Consent{}, "its recording has 0 s"},
		"the longest text":        {good, Consent{strings.Repeat("y", MaxConsent), "2026-11-23"}, ""},
		"a longer one":            {good, Consent{strings.Repeat("y", MaxConsent+1), "2026-11-23"}, "has 16385 bytes, want 1 to 16384"},
		"no text":                 {good, Consent{"", "2026-11-23"}, "has 0 bytes"},
		"a text that is not text": {good, Consent{"\xff", "2026-11-23"}, "of UTF-8"},
		"no date":                 {good, Consent{"yes", ""}, "want one such as 2026-11-23"},
		"a day that is none":      {good, Consent{"yes", "2026-02-30"}, `the date of a consent is "2026-02-30"`},
	} {
		m := manifest()
		m.Voices[0].Recording, m.Voices[0].Consent = tt.recording, tt.consent
		err := m.Check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if tt.want != "" {
			continue
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), `"consent"`); got != (tt.consent != Consent{}) {
			t.Errorf("%s: whether there is a consent in it: %v", name, got)
		}
		if read, err := ReadManifest(text); err != nil || read.Voices[0] != m.Voices[0] {
			t.Errorf("%s: %+v is read as %+v: %v", name, m.Voices[0], read.Voices[0], err)
		}
	}
}
