package tokenize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The tests in this file hold Load and Encode against the libraries that tokenizer.json and .model files come from,
// where SWAR_TEST_PYTHON, or else python3, has them (python3 -m venv DIR && DIR/bin/pip install tokenizers
// sentencepiece).

const peerLines = 100_000 // for each golden model

// peerProgram answers each line of its input, a JSON string, with a line: the ids that tokenizers gives for it, and
// those of sentencepiece if there is a model.
const peerProgram = `
import json, sys
from tokenizers import Tokenizer
import sentencepiece
hf = Tokenizer.from_file(sys.argv[1])
sp = sentencepiece.SentencePieceProcessor(model_file=sys.argv[2]) if len(sys.argv) > 2 else None
for line in sys.stdin:
    text = json.loads(line)
    print(json.dumps([hf.encode(text).ids, sp.encode(text) if sp else None]))
`

// python returns the Python that has both libraries.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SWAR_TEST_PYTHON")
	if path == "" {
		path = "python3"
	}
	if err := exec.CommandContext(t.Context(), path, "-c", "import tokenizers, sentencepiece").Run(); err != nil {
		t.Skipf("NOT COMPARED with Hugging Face's tokenizers: %s has no tokenizers and sentencepiece (pip install both into a venv, and "+
			"name its python in SWAR_TEST_PYTHON): %v", path, err)
	}
	return path
}

// answer is what the libraries make of a line.
type answer struct{ hf, sp []int32 }

func peerAnswers(t *testing.T, python string, lines []string, files ...string) []answer {
	t.Helper()
	var input bytes.Buffer
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(text, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{"-c", peerProgram}, files...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = &input, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var answers []answer
	for line := range bytes.Lines(out) {
		var a answer
		if err := json.Unmarshal(line, &[]any{&a.hf, &a.sp}); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(lines) {
		t.Fatalf("%d answers for %d lines", len(answers), len(lines))
	}
	return answers
}

// peerText makes a line one that both libraries are made for: valid, with no name of a special token or byte, which
// the one finds in text, and with no white space that only the other trims.
func peerText(line string) string {
	line = strings.ToValidUTF8(line, "")
	for _, name := range []string{"<unk>", "<s>", "</s>", "<0x41>", spaceMark, "\ufffd"} {
		line = strings.ReplaceAll(line, name, "")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, line)
}

// TestJSONsAgreeWithTokenizersAndSentencePiece: where the libraries agree, both forms of a model must agree with
// them. Where they do not, in the rules of a character map, SentencePiece is right, as the model was trained with it.
func TestJSONsAgreeWithTokenizersAndSentencePiece(t *testing.T) {
	python := python(t)
	for _, name := range jsonGoldens {
		t.Run(name, func(t *testing.T) {
			file := asJSON(t, parsed(t, modelFile(t, name)))
			path := filepath.Join(t.TempDir(), "tokenizer.json")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			lines := oddLines(rand.New(rand.NewPCG(5, 6)), peerLines)
			for i := range lines {
				lines[i] = peerText(lines[i])
			}
			fromJSON, fromModel := load(t, file), load(t, modelFile(t, name))
			wrong, disagreed := 0, 0
			for i, a := range peerAnswers(t, python, lines, path, filepath.Join("testdata", name+".model")) {
				if !slices.Equal(a.hf, a.sp) {
					disagreed++
				}
				j, m := fromJSON.Encode(nil, lines[i]), fromModel.Encode(nil, lines[i])
				if slices.Equal(j, a.sp) && slices.Equal(m, a.sp) || len(j)+len(m)+len(a.sp) == 0 {
					continue
				}
				if wrong++; wrong <= 5 {
					t.Errorf("Encode(%q) = %v, of the model %v; want %v (tokenizers: %v)", lines[i], j, m, a.sp, a.hf)
				}
			}
			if wrong > 0 || disagreed > peerLines/3 {
				t.Errorf("%d of %d lines differ", wrong, len(lines))
			}
			t.Logf("%d lines compared; the libraries differ from each other in %d", len(lines), disagreed)
		})
	}
}

// TestCraftedJSONsAgreeWithTokenizers: merges that no SentencePiece model has, because they are not all there are.
func TestCraftedJSONsAgreeWithTokenizers(t *testing.T) {
	python := python(t)
	rng := rand.New(rand.NewPCG(7, 8))
	letters := []string{"a", "b", "क", "ि", spaceMark, "c"}
	for n := range 12 {
		vocab, texts := map[string]int{"<unk>": 0}, []string{}
		for _, l := range letters {
			vocab[l] = len(vocab)
			texts = append(texts, l)
		}
		var merges [][]string
		for range 60 {
			left, right := pick(rng, texts), pick(rng, texts)
			if _, ok := vocab[left+right]; !ok && len(left+right) < 20 {
				vocab[left+right] = len(vocab)
				texts = append(texts, left+right)
				merges = append(merges, []string{left, right})
			}
		}
		rng.Shuffle(len(merges), func(i, j int) { merges[i], merges[j] = merges[j], merges[i] })
		model, err := json.Marshal(map[string]any{"type": "BPE", "unk_token": "<unk>", "fuse_unk": n%2 == 0,
			"vocab": vocab, "merges": merges})
		if err != nil {
			t.Fatal(err)
		}
		pre := []string{metaspace, noPrefix, strings.Replace(metaspace, `"split":true`, `"split":false`, 1)}[n%3]
		file := jsonWith("", "null", pre, "null", string(model))
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.json", n))
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		lines := make([]string, 500)
		for i := range lines {
			for range rng.IntN(30) {
				lines[i] += pick(rng, append(letters, " ", "z"))
			}
		}
		sp := load(t, file)
		for i, a := range peerAnswers(t, python, lines, path) {
			if got := sp.Encode(nil, lines[i]); !slices.Equal(got, a.hf) && len(got)+len(a.hf) > 0 {
				t.Errorf("file %d: Encode(%q) = %v, want %v", n, lines[i], got, a.hf)
				break
			}
		}
	}
}
