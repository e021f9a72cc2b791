package layout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// Model is a public model with its graphs and voices. Its rules come from its folder, or are defaults. It is safe for
// concurrent use.
type Model struct {
	// Manifest holds Model, Dims.Width, Latent, Vocab and Layers, Flow, BOS, Text, Sampling, Limits, Decode,
	// Precision and Voices. It names no files.
	Manifest  bundle.Manifest
	Tokenizer *tokenize.SentencePiece

	text, flow, lm, codec *network
	caches, counters      []int // which states of the language model are keys and values, and which count positions
	prompts               map[string]*snapshot
}

// source is a folder, put down to what the layouts differ in.
type source struct {
	dir                              string // of the graphs
	text, lm, flow, decoder, encoder string // paths; encoder is empty where there is none
	precision                        string

	id, language        string
	lmStates, codec     []state                 // nil where the graphs themselves must tell
	lmStart, codecStart func(graph.Port) string // what a state begins with that nothing describes
	tokenizer           *tokenize.SentencePiece
	bos                 string // file of the row before a voice; empty for none
	bosWanted, padShort bool
	noSemicolons        bool
	maxTokens           int
	framesAfterEOS      *int
	width, latent       int // 0 where nothing says so
}

// Open loads the folder that [Find] has recognised. ONNX Runtime must be loaded. It reads every file, runs what has
// to be run once and checks every graph against what the layout promises. The caller closes the model, after its
// sequences and decoders.
func Open(dir string, kind Kind) (*Model, error) {
	var src *source
	var err error
	switch kind {
	case Described:
		src, err = openDescribed(dir)
	case Flat:
		src, err = openFlat(dir)
	case Sherpa:
		src, err = openSherpa(dir)
	default:
		err = errors.New("has none of the layouts that can be read")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	m := &Model{Tokenizer: src.tokenizer, prompts: map[string]*snapshot{}}
	if err := m.load(src); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), m.Close())
	}
	return m, nil
}

func (m *Model) load(src *source) error {
	if err := m.loadLM(src); err != nil {
		return err
	}
	d := &m.Manifest.Dims
	var err error
	if m.text, _, err = open(src.text, nil,
		[]graph.Port{wantPort("token_ids", graph.I64, 1, varies)},
		[]graph.Port{wantPort("embeddings", graph.F32, 1, varies, d.Width)}); err != nil {
		return err
	}
	if m.flow, _, err = open(src.flow, nil,
		[]graph.Port{wantPort("c", graph.F32, varies, d.Width), wantPort("s", graph.F32, varies, 1),
			wantPort("t", graph.F32, varies, 1), wantPort("x", graph.F32, varies, d.Latent)},
		[]graph.Port{wantPort("flow_dir", graph.F32, varies, d.Latent)}); err != nil {
		return err
	}
	if m.codec, _, err = open(src.decoder, withStates(src.codec, src.codecStart),
		[]graph.Port{wantPort("latent", graph.F32, 1, varies, d.Latent)},
		[]graph.Port{wantPort("audio_frame", graph.F32, varies, varies, varies)}); err != nil {
		return err
	}
	m.describe(src)
	if err := m.try(); err != nil {
		return err
	}
	return m.loadVoices(src)
}

// withStates returns what gives out the states of a graph: those that are described, or those that can be read off
// the graph.
func withStates(described []state, start func(graph.Port) string) func(*graph.Signature) ([]state, error) {
	return func(g *graph.Signature) ([]state, error) {
		if described == nil {
			return deriveStates(g, start)
		}
		return described, checkStates(described, g)
	}
}

// open reads, checks and loads a graph. states may be nil for a graph without.
func open(path string, states func(*graph.Signature) ([]state, error), inputs,
	outputs []graph.Port) (n *network, g graph.Signature, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}()
	file, err := readFile(path)
	if err != nil {
		return nil, g, err
	}
	if g, err = graph.ReadSignature(file); err != nil {
		return nil, g, err
	}
	if err := foreign(&g); err != nil {
		return nil, g, err
	}
	var list []state
	if states != nil {
		if list, err = states(&g); err != nil {
			return nil, g, err
		}
	}
	if err := checkPorts(&g, list, inputs, outputs); err != nil {
		return nil, g, err
	}
	n, err = openNetwork(file, list, inputs, outputs)
	return n, g, err
}

// loadLM loads the language model, whose states and sizes all else must fit.
func (m *Model) loadLM(src *source) error {
	var g graph.Signature
	var err error
	m.lm, g, err = open(src.lm, withStates(src.lmStates, src.lmStart),
		[]graph.Port{wantPort("sequence", graph.F32, 1, varies, varies),
			wantPort("text_embeddings", graph.F32, 1, varies, varies)},
		[]graph.Port{wantPort("conditioning", graph.F32, varies, varies),
			wantPort("eos_logit", graph.F32, varies, varies)})
	if err != nil {
		return err
	}
	if err = m.sortStates(); err == nil {
		err = m.measure(&g, src)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(src.lm), err)
	}
	return nil
}

// sortStates finds out which states of the language model are what.
func (m *Model) sortStates() error {
	capacity := 0
	for i := range m.lm.states {
		switch s := &m.lm.states[i]; {
		case s.still:
		case s.typ == graph.F32 && len(s.shape) == 5 && s.shape[0] == 2 && s.shape[1] == 1:
			if len(m.caches) > 0 && s.shape[2] != capacity {
				return fmt.Errorf("state %s has %d positions, the others %d", s.input, s.shape[2], capacity)
			}
			capacity = s.shape[2]
			m.caches = append(m.caches, i)
			if s.path == "" {
				s.path = fmt.Sprintf("transformer.layers.%d.self_attn/cache", len(m.caches)-1)
			}
		case s.typ == graph.I64 && s.count() == 1:
			m.counters = append(m.counters, i)
		default:
			return fmt.Errorf("state %s, %v %v, is neither keys and values nor a counter", s.input, s.typ, s.shape)
		}
	}
	if len(m.caches) == 0 || len(m.counters) == 0 {
		return errors.New("its states hold no keys and values, or no counter of positions")
	}
	m.Manifest.Limits.Positions = capacity
	return nil
}

// measure finds out how large the language model is.
func (m *Model) measure(g *graph.Signature, src *source) error {
	sequence, _ := g.Input("sequence")
	text, _ := g.Input("text_embeddings")
	first := m.lm.states[m.caches[0]].shape
	d := &m.Manifest.Dims
	d.Layers, d.Heads, d.HeadDim = len(m.caches), first[3], first[4]
	d.Latent, d.Width = sequence.Shape[2], text.Shape[2]
	if d.Latent == varies {
		d.Latent = src.latent
	}
	if d.Width == varies {
		d.Width = src.width
	}
	switch {
	case d.Latent < 1 || d.Width < 1:
		return errors.New("it does not say how wide latents and rows are")
	case src.latent > 0 && src.latent != d.Latent || src.width > 0 && src.width != d.Width:
		return fmt.Errorf("the graph expects latent size %d and row width %d; %s declares %d and %d", d.Latent,
			d.Width, describedFile, src.latent, src.width)
	case d.Heads*d.HeadDim != d.Width:
		return fmt.Errorf("%d heads of %d are not a width of %d", d.Heads, d.HeadDim, d.Width)
	}
	for _, i := range m.caches[1:] {
		if s := &m.lm.states[i]; s.shape[3] != d.Heads || s.shape[4] != d.HeadDim {
			return fmt.Errorf("state %s has shape %v, the first one %v", s.input, s.shape, first)
		}
	}
	return nil
}

// describe fills in the manifest. What a layout does not say is as upstream has it.
func (m *Model) describe(src *source) {
	config := convert.Config{PadWithSpacesForShortInputs: src.padShort, RemoveSemicolons: src.noSemicolons,
		RecommendedFramesAfterEOS: src.framesAfterEOS}
	limits := convert.DefaultLimits()
	limits.MaxTokens, limits.Positions = cmp.Or(src.maxTokens, limits.MaxTokens), m.Manifest.Limits.Positions
	if !m.Tokenizer.Knows("A") { // what has learnt no capitals does not know them
		config.CapitalizeFirstLetter = new(bool)
	}
	dims := m.Manifest.Dims
	dims.Vocab = m.Tokenizer.Size()
	m.Manifest = bundle.Manifest{
		Format: bundle.Format, Model: bundle.Model{ID: src.id, Languages: strings.Split(tag(src.language), "+")},
		Dims: dims,
		Flow: bundle.Flow{Type: "lsd", Steps: 1}, BOS: src.bosWanted,
		Text:     convert.TextRules(config, m.Tokenizer, bundle.Trained{}),
		Sampling: convert.DefaultSampling(config), Limits: limits,
		Decode: bundle.Decode{Plan: bundle.DecodePlan(), FadeIn: convert.DefaultFadeIn}, Precision: src.precision,
	}
}

// try reads the last token of the vocabulary, to find out before anybody speaks whether the graphs do what their
// layout promises.
func (m *Model) try() (err error) {
	s, err := m.NewSequence()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ctx := context.Background()
	rows, err := m.embed(ctx, []int32{int32(m.Manifest.Dims.Vocab - 1)})
	if err != nil {
		return fmt.Errorf("the model has fewer tokens than the tokenizer, which has %d: %w", m.Manifest.Dims.Vocab, err)
	}
	if err := s.readRows(ctx, rows); err != nil {
		return fmt.Errorf("trying the language model: %w", err)
	}
	for _, i := range m.counters {
		if n := s.memory.now(i).ints[0]; n != 1 {
			return fmt.Errorf("state %s counts %d positions after one", m.lm.states[i].input, n)
		}
	}
	if slices.ContainsFunc(s.h, broken) {
		return errors.New("the language model answers with something that is not a number")
	}
	return nil
}

// embed returns the rows of tokens.
func (m *Model) embed(ctx context.Context, tokens []int32) ([]float32, error) {
	ids := make([]int64, len(tokens))
	for i, id := range tokens {
		if id < 0 || int(id) >= m.Manifest.Dims.Vocab {
			return nil, fmt.Errorf("token %d of a vocabulary of %d", id, m.Manifest.Dims.Vocab)
		}
		ids[i] = int64(id)
	}
	in, err := ort.Int64s(ids, 1, len(ids))
	if err != nil {
		return nil, err
	}
	rows := make([]float32, len(ids)*m.Manifest.Dims.Width)
	out, err := ort.Floats(rows, 1, len(ids), m.Manifest.Dims.Width)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	err = m.text.session.Run(ctx, []*ort.Tensor{in}, []*ort.Tensor{out})
	return rows, errors.Join(err, in.Close(), out.Close())
}

func (m *Model) loadVoices(src *source) (err error) {
	files, err := voiceFiles(src.dir, src.language)
	if err != nil {
		return err
	}
	start := func() ([]float32, error) { return src.startRow(m.Manifest.Dims.Width) }
	var encoder *network // once there is a recording
	defer func() { err = errors.Join(err, encoder.close()) }()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := files[name]
		var p *snapshot
		if slices.Contains(recorded, filepath.Ext(path)) {
			if encoder == nil {
				encoder, err = m.openEncoder(src.encoder)
			}
			if err == nil {
				p, err = m.encodeVoice(encoder, start, path)
			}
		} else {
			p, err = m.readVoice(path, start)
		}
		if err != nil {
			return fmt.Errorf("voice %s: %w", name, err)
		}
		l := m.Manifest.Limits
		if need := p.count + l.MaxTokens + l.MaxFrames(l.MaxTokens); need > l.Positions {
			return fmt.Errorf("voice %s: %d positions; with text and frames that is %d, and the model was exported for %d", name, p.count, need, l.Positions)
		}
		m.prompts[name] = p
		m.Manifest.Voices = append(m.Manifest.Voices,
			bundle.Voice{Name: name, Language: tag(src.language), PromptFrames: p.count})
	}
	return nil
}

// startRow returns the row that stands before every voice, or nothing for a model of the first generation.
func (src *source) startRow(width int) ([]float32, error) {
	switch {
	case !src.bosWanted:
		return nil, nil
	case src.bos == "":
		return nil, errors.New("the row that stands before every voice is missing: bos_before_voice.npy")
	}
	return readStart(src.bos, width)
}

// Bytes is the memory of the graphs and of the voice prompts. ONNX Runtime keeps the weights and, of some, a second
// copy.
func (m *Model) Bytes() (weights, prompts int64) {
	for _, n := range []*network{m.text, m.flow, m.lm, m.codec} {
		weights += n.bytes
	}
	for _, p := range m.prompts {
		prompts += p.bytes()
	}
	return weights, prompts
}

// StreamBytes is the memory of one sequence and one decoder together.
func (m *Model) StreamBytes() int64 { return m.lm.memoryBytes() + m.codec.memoryBytes() }

// Close releases the graphs.
func (m *Model) Close() error {
	return errors.Join(m.text.close(), m.flow.close(), m.lm.close(), m.codec.close())
}
