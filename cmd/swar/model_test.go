package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/models/hub/hubtest"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

const publishedCommit = "5a1e5c0ffee5a1e5c0ffee5a1e5c0ffee5a1e5c0"

// hubShell is a shell whose hub is a fake one, with a store of models of its own. env comes last.
func hubShell(t testing.TB, env ...string) (*shell, *hubtest.Hub) {
	t.Helper()
	h := hubtest.New(t)
	h.Change(func(h *hubtest.Hub) { h.Readers = []string{"hf_reader"} })
	dir := t.TempDir()
	return neuralShell(t, append([]string{"HF_ENDPOINT=" + h.URL, "SWAR_MODELS=" + dir,
		"HF_HOME=" + dir + "/cache of the hub"}, env...)...), h
}

// published is a model of the tests' data as its makers would publish it, with one voice.
func published(t testing.TB) *hubtest.Repository {
	t.Helper()
	files := make(map[string][]byte)
	for name, from := range map[string]string{
		"config.yaml": "config.yaml", "model.safetensors": "model.safetensors", "tokenizer.model": "tokenizer.model",
		"embeddings/raj.safetensors": "voice.safetensors",
	} {
		content, err := os.ReadFile("../../runtime/onnx/testdata/01-v2-tanh/" + from)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = content
	}
	return &hubtest.Repository{
		Commit: publishedCommit, Licence: "cc-by-4.0", Files: files,
		Large: []string{"model.safetensors", "embeddings/raj.safetensors"},
	}
}

func TestPullingAModel(t *testing.T) {
	s, h := hubShell(t)
	h.Publish("acme/Hinglish", published(t))
	r := s.ok("model", "pull", "hf://acme/Hinglish")
	for _, want := range []string{"licence  cc-by-4.0", "from     hf://acme/Hinglish@5a1e5c0ffee5", "to download"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("before it begins it says %q, want %q", r.err, want)
		}
	}
	for _, want := range []string{"hinglish@5a1e5c0ffee5: int8, 1 voice", "serve --model hinglish",
		"say --model hinglish"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("in the end it says %q, want %q", r.out, want)
		}
	}
	folder := strings.TrimSpace(s.ok("model", "pull", "hf://acme/Hinglish", "--quiet").out)
	from, err := filepath.Abs("../../runtime/onnx/testdata/01-v2-tanh")
	if err != nil {
		t.Fatal(err)
	}
	s.ok("bundle", "convert", "--config", from+"/config.yaml", "--voice", "raj="+from+"/voice.safetensors",
		"-o", "by hand",
		"--model-id", "hinglish", "--revision", publishedCommit, "--licence", "cc-by-4.0", "--precision", "int8", "--language", "hi-IN+en-IN",
		"--voice-seconds", "20")
	if err := os.CopyFS(s.path("pulled"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	pulled, byHand := s.tree("pulled"), s.tree("by hand")
	for name := range byHand {
		if pulled[name] != byHand[name] {
			t.Errorf("%s is another than `bundle convert` makes of the same files", name)
		}
	}
	if len(pulled) != len(byHand) {
		t.Errorf("%d files, want %d", len(pulled), len(byHand))
	}
	if out := s.ok("model", "list").out; !strings.Contains(out, "hinglish") || !strings.Contains(out, "saryps-hindi") {
		t.Errorf("the list is %q", out)
	}
	if out := s.ok("model", "show", "hinglish").out; !strings.Contains(out,
		"config     hf://acme/Hinglish/config.yaml@"+publishedCommit) {
		t.Errorf("show says %q", out)
	}
	s.ok("say", "--model", "hinglish@5a1e", "-o", "a.wav", "Namaste!")
	if v := s.serve("--model", "hinglish"); !strings.Contains(get(t, v.base+"/v1/voices"), `"raj"`) {
		t.Error("the voice is not served")
	}
	sent := h.Sent.Load()
	if out := s.ok("model", "pull", "hf://acme/Hinglish").out; !strings.Contains(out, "is installed already") {
		t.Errorf("once more: %q", out)
	}
	if again := h.Sent.Load() - sent; again != 0 {
		t.Errorf("once more: %d bytes of files were sent", again)
	}
	s.ok("model", "rm", "hinglish")
	if r := s.run("say", "--model", "hinglish", "-o", "b.wav", "x"); r.code != 1 ||
		!strings.Contains(r.err, "the model hinglish is not here") {
		t.Errorf("after rm: exit code %d, %q", r.code, r.err)
	}
}

func TestTwoPullsAtOnceAreOne(t *testing.T) {
	s, h := hubShell(t)
	repository := published(t)
	h.Publish("acme/hinglish", repository)
	both := []*exec.Cmd{s.command("model", "pull", "hf://acme/hinglish"),
		s.command("model", "pull", "hf://acme/hinglish")}
	outs := make([]strings.Builder, 2)
	for i, cmd := range both {
		cmd.Stdout = &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range both {
		if err := cmd.Wait(); err != nil {
			t.Errorf("pull %d: %v", i, err)
		}
	}
	if said := outs[0].String() + outs[1].String(); strings.Count(said, "is installed already") != 1 {
		t.Errorf("they say %q; want one that made it, and one that found it", said)
	}
	total := int64(0)
	for _, content := range repository.Files {
		total += int64(len(content))
	}
	if sent := h.Sent.Load(); sent > total+int64(len(repository.Files["config.yaml"])) {
		t.Errorf("%d bytes were sent of a model of %d", sent, total)
	}
}

func TestAPullThatIsKilledGoesOn(t *testing.T) {
	s, h := hubShell(t)
	repository := published(t)
	h.Publish("acme/hinglish", repository)
	want := strings.TrimSpace(s.ok("model", "pull", "hf://acme/hinglish", "--quiet").out)
	if err := os.CopyFS(s.path("whole"), os.DirFS(want)); err != nil {
		t.Fatal(err)
	}
	s.ok("model", "rm", "hinglish")
	for _, at := range []string{"model.safetensors", "tokenizer.model", "language model", "hashing the files",
		"loading the graphs", "speaking as raj"} {
		isKilled := false
		for try := 0; try < 10 && !isKilled; try++ { // one whose end is near may end before
			cmd := s.command("model", "pull", "hf://acme/hinglish")
			cmd.Stderr = killer{cmd, at}
			if isKilled = cmd.Run() != nil; !isKilled {
				s.ok("model", "rm", "hinglish")
			}
		}
		if !isKilled {
			t.Errorf("it was to be killed when it said %s, and ended before each time", at)
		}
		if out := s.ok("model", "list", "--json").out; strings.Contains(out, `"hinglish"`) {
			t.Errorf("killed when it said %s: a model is listed that is not whole", at)
		}
	}
	folder := strings.TrimSpace(s.ok("model", "pull", "hf://acme/hinglish", "--quiet").out)
	if err := os.CopyFS(s.path("resumed"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(s.tree("resumed")) != fmt.Sprint(s.tree("whole")) {
		t.Error("the bundle is another one")
	}
	entries, err := os.ReadDir(filepath.Dir(folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".new") {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

// killer kills a process as soon as it says something.
type killer struct {
	cmd *exec.Cmd
	at  string
}

func (k killer) Write(b []byte) (int, error) {
	if strings.Contains(string(b), k.at) {
		_ = k.cmd.Process.Kill()
	}
	return len(b), nil
}

func TestPullsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*hubtest.Hub, *hubtest.Repository)
		env    string
		args   []string
		code   int
		want   string
	}{
		"a gate":        {func(_ *hubtest.Hub, r *hubtest.Repository) { r.Gated = true }, "", nil, 1, "accept its terms"},
		"flipped":       {func(h *hubtest.Hub, _ *hubtest.Repository) { h.Flip = true }, "", nil, 1, "the download has the hash"},
		"a web page":    {func(h *hubtest.Hub, _ *hubtest.Repository) { h.Portal = true }, "", nil, 1, "is not a hub"},
		"unknown":       {nil, "", []string{"saryps-hindu"}, 1, "perhaps saryps-hindi is meant"},
		"no voice":      {func(_ *hubtest.Hub, r *hubtest.Repository) { delete(r.Files, "embeddings/raj.safetensors") }, "", nil, 1, "voice"},
		"precision":     {nil, "", []string{"hf://acme/hinglish", "--precision", "int4"}, 2, "want int8 or fp32"},
		"offline":       {nil, "HF_HUB_OFFLINE=1", nil, 1, "HF_HUB_OFFLINE"},
		"no such voice": {nil, "", []string{"hf://acme/hinglish", "--voice", "a=nowhere.wav"}, 1, "nowhere.wav"},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{}
			if tt.env != "" {
				env = append(env, tt.env)
			}
			s, h := hubShell(t, env...)
			repository := published(t)
			h.Publish("acme/hinglish", repository)
			if tt.change != nil {
				h.Change(func(h *hubtest.Hub) { tt.change(h, repository) })
			}
			if tt.args == nil {
				tt.args = []string{"hf://acme/hinglish"}
			}
			r := s.run(append([]string{"model", "pull"}, tt.args...)...)
			if r.code != tt.code || !strings.Contains(r.err, tt.want) || strings.Count(lastLine(r.err), "swar: ") != 1 {
				t.Errorf("exit code %d, %q; want %d and %q", r.code, r.err, tt.code, tt.want)
			}
			if out := s.ok("model", "list", "--json").out; strings.Contains(out, `"hinglish"`) {
				t.Error("a model is listed that was refused")
			}
		})
	}
}

// TestThreeCommandsToSpeech pulls a model of the catalogue that has the tensors and the configuration of the published
// one, in small, and no voice: it speaks with that which the catalogue names.
func TestThreeCommandsToSpeech(t *testing.T) {
	s, h := hubShell(t)
	dir := t.TempDir()
	r := convert.Tiny()
	r.Vocab = 400
	if err := r.Publish(dir, "hf://saryps-labs/pocket-tts-hindi"); err != nil {
		t.Fatal(err)
	}
	repository := &hubtest.Repository{
		Commit: "dbaa326069d20bfbdaeb625613736773741a24ea", Licence: "cc-by-4.0",
		Large: []string{convert.PublishedWeights},
		Files: make(map[string][]byte),
	}
	for _, name := range []string{convert.PublishedConfig, convert.PublishedWeights, convert.PublishedTokenizer} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		repository.Files[name] = content
	}
	h.Publish("saryps-labs/pocket-tts-hindi", repository)
	h.Publish("kyutai/tts-voices", &hubtest.Repository{
		Commit: "0123456789012345678901234567890123456789", Large: []string{"alba-mackenna/casual.wav"},
		Files: map[string][]byte{"alba-mackenna/casual.wav": wavOf(24000, 5*24000, 9000)},
	})
	if r := s.ok("model", "pull", "saryps-hindi"); !strings.Contains(r.err, "Scottish") {
		t.Errorf("whose voice it is stands not in %q", r.err)
	}
	s.ok("say", "--model", "saryps-hindi", "-o", "a.wav", "Namaste! Aapka order aa gaya hai.")
	if out := s.ok("normalize", "--engine-text", "--model", "saryps-hindi",
		"Namaste! Kya haal hai?").out; !strings.Contains(out, "नमस्ते") {
		t.Errorf("the model is given %q, want Devanagari", out)
	}
	s.write("asha.wav", wavOf(16000, 9*16000, 9000))
	if r := s.run("voice", "add", "asha=asha.wav", "--model", "saryps-hindi"); r.code != 2 ||
		!strings.Contains(r.err, "--consent") {
		t.Errorf("a voice without consent: exit code %d, %q", r.code, r.err)
	}
	s.ok("voice", "add", "asha=asha.wav", "--model", "saryps-hindi", "--consent", "Asha agreed on 1 November 2026.")
	s.ok("say", "--model", "saryps-hindi", "--voice", "asha", "-o", "b.wav", "Namaste!")
	s.ok("model", "verify", "saryps-hindi")
	if out := s.ok("model", "pull", "saryps-hindi").out; !strings.Contains(out, "is installed already") {
		t.Errorf("a model with one more voice is pulled again: %q", out)
	}
	s.ok("voice", "rm", "asha", "--model", "saryps-hindi")
	s.ok("model", "verify", "saryps-hindi")
}

// TestKokoroWithoutANetwork is what can be said of a model of the catalogue whose files are not here.
func TestKokoroWithoutANetwork(t *testing.T) {
	s, _ := hubShell(t, "HF_HUB_OFFLINE=1")
	for _, want := range []string{"voice anjura  hf_beta of Kokoro-82M, Apache-2.0",
		"more voices   hf_alpha, hm_psi, af_", "model pull kokoro"} {
		if out := s.ok("model", "show", "kokoro").out; !strings.Contains(out, want) {
			t.Errorf("show says %q, want %q", out, want)
		}
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 1, "kokoro-v1.0.int8.onnx: it is not on this machine, and HF_HUB_OFFLINE"},
		{[]string{"--voice", "af_heart"}, 1, "it is not on this machine"},
		{[]string{"--voice", "nobody"}, 2, "want NAME=FILE"},
		{[]string{"--voice", "asha=nobody"}, 1, "kokoro has no voice of that name"},
		{[]string{"--codec", "x"}, 1, "leave out --codec"},
	} {
		r := s.run(append([]string{"model", "pull", "kokoro"}, tt.args...)...)
		if r.code != tt.code || !strings.Contains(lastLine(r.err), tt.want) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", tt.args, r.code, r.err, tt.code, tt.want)
		}
	}
	if r := s.run("model", "pull", "kokoro@123"); r.code != 1 ||
		!strings.Contains(r.err, "kokoro has no revision 123: there are") {
		t.Errorf("another revision: exit code %d, %q", r.code, r.err)
	}
}
