package layout

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// maxJSON is the size of the largest text file that is read: a vocabulary of a million pieces.
const maxJSON = 64 << 20

// openDescribed reads a language folder of KevinAHM's second form.
func openDescribed(dir string) (*source, error) {
	text, err := readText(filepath.Join(dir, describedFile))
	if err != nil {
		return nil, err
	}
	d, err := readDescription(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", describedFile, err)
	}
	src := &source{
		dir: dir, id: d.Name, language: d.Language, bosWanted: d.BOS, padShort: d.PadShort,
		noSemicolons: d.NoSemicolons,
		maxTokens:    d.MaxTokens, framesAfterEOS: d.FramesAfterEOS, width: d.Width, latent: d.Latent,
	}
	if src.lmStates, err = states(d.LMStates); err != nil {
		return nil, fmt.Errorf("%s: flow_lm_state_manifest: %w", describedFile, err)
	}
	if src.codec, err = states(d.CodecStates); err != nil {
		return nil, fmt.Errorf("%s: mimi_state_manifest: %w", describedFile, err)
	}
	if d.BOS {
		src.bos = existing(filepath.Join(dir, d.BOSFile))
	}
	if src.id == "" {
		src.id = base(dir)
	}
	if src.tokenizer, err = readTokenizer(filepath.Join(dir, d.Tokenizer)); err != nil {
		return nil, err
	}
	return src, src.kevin(dir)
}

// openFlat reads KevinAHM's first form.
func openFlat(dir string) (*source, error) {
	graphs := flatGraphs(dir)
	src := &source{dir: dir, id: base(dir), lmStart: emptyCaches, codecStart: silence}
	var err error
	for _, path := range []string{filepath.Join(dir, "tokenizer.model"), filepath.Join(graphs, "tokenizer.model"),
		filepath.Join(dir, "..", "tokenizer.model")} {
		if existing(path) != "" {
			src.tokenizer, err = readTokenizer(path)
			break
		}
	}
	if err == nil && src.tokenizer == nil {
		err = errors.New("tokenizer.model is missing beside the graphs")
	}
	if err != nil {
		return nil, err
	}
	src.firstGeneration(dir, graphs)
	return src, src.kevin(graphs)
}

// openSherpa reads a folder of sherpa-onnx.
func openSherpa(dir string) (*source, error) {
	vocab, err := readText(filepath.Join(dir, "vocab.json"))
	if err != nil {
		return nil, err
	}
	scores, err := readText(filepath.Join(dir, "token_scores.json"))
	if err != nil {
		return nil, err
	}
	zeros := func(graph.Port) string { return "zeros" }
	src := &source{dir: dir, id: base(dir), lmStart: zeros, codecStart: zeros}
	if src.tokenizer, err = readVocabulary(vocab, scores); err != nil {
		return nil, err
	}
	src.firstGeneration(dir, dir)
	return src, src.graphs(dir, ".int8", "lm_main", "lm_flow", "decoder", "encoder")
}

// firstGeneration tells the generation of a model that nothing describes: only the second puts a row before its
// voices and has a file for it, and only the first wants short texts padded.
func (src *source) firstGeneration(dirs ...string) {
	for _, dir := range dirs {
		if path := existing(filepath.Join(dir, "bos_before_voice.npy")); path != "" {
			src.bos, src.bosWanted = path, true
		}
	}
	src.padShort = !src.bosWanted
}

// emptyCaches is what the states of a language model of the first form begin with.
func emptyCaches(p graph.Port) string {
	if p.Type == graph.F32 {
		return "nan"
	}
	return "zeros"
}

// silence is what the states of a codec of the first form begin with.
func silence(p graph.Port) string {
	if p.Type == graph.Bool {
		return "ones" // nothing was heard yet
	}
	return "zeros"
}

func (src *source) kevin(dir string) error {
	return src.graphs(dir, "_int8", "flow_lm_main", "flow_lm_flow", "mimi_decoder", "mimi_encoder")
}

// graphs finds the five files. Of the language model, the flow and the decoder, which run for every frame, the twin
// with integers is taken where there is one, as it is twice as fast. Text and recordings are read from floats, which
// costs nothing: one is a table, the other is used once.
func (src *source) graphs(dir, integers, lm, flow, decoder, encoder string) error {
	src.precision = bundle.FP32
	if existing(filepath.Join(dir, lm+integers+".onnx")) != "" {
		src.precision = bundle.Int8
	}
	for _, f := range []struct {
		to       *string
		name     string
		order    [2]string
		optional bool
	}{
		{&src.lm, lm, [2]string{integers, ""}, false},
		{&src.flow, flow, [2]string{integers, ""}, false},
		{&src.decoder, decoder, [2]string{integers, ""}, false},
		{&src.text, "text_conditioner", [2]string{"", integers}, false},
		{&src.encoder, encoder, [2]string{"", integers}, true},
	} {
		for _, suffix := range f.order {
			if *f.to == "" {
				*f.to = existing(filepath.Join(dir, f.name+suffix+".onnx"))
			}
		}
		if *f.to == "" && !f.optional {
			return fmt.Errorf("%s.onnx is missing, and so is %s%s.onnx", f.name, f.name, integers)
		}
	}
	return nil
}

// existing returns path if there is a file, and else nothing.
func existing(path string) string {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// base names a folder; the one that holds nothing but graphs takes the name of the one above it.
func base(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if name := filepath.Base(dir); name != "onnx" {
		return name
	}
	return filepath.Base(filepath.Dir(dir))
}

func readText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing", filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxJSON {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", filepath.Base(path), info.Size(), maxJSON)
	}
	file, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return file, nil
}

// readFile reads a file, and says so where a copy of a repository holds only a pointer to it.
func readFile(path string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err == nil && bytes.HasPrefix(file, []byte("version https://git-lfs.github.com/")) {
		err = errors.New("only Git LFS's pointer to the file is here: run git lfs pull")
	}
	return file, err
}

func readTokenizer(path string) (*tokenize.SentencePiece, error) {
	file, err := readText(path)
	if err != nil {
		return nil, err
	}
	t, err := tokenize.Load(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return t, nil
}
