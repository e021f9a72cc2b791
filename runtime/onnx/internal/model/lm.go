package model

import (
	"context"
	"errors"
	"fmt"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// languageModel is the language model with its flow head: what all streams share. It is safe for concurrent use.
type languageModel struct {
	dims            bundle.Dims
	steps           int // of the flow
	host            bundle.Host
	voices          *voices
	graph, flowHead *ort.Session
	times           []*ort.Tensor // one for each flow step
}

// openLanguageModel loads the two graphs.
func openLanguageModel(
	m *bundle.Manifest, openGraph opener, host bundle.Host, voices *voices, lmGraph, flowGraph []byte,
) (*languageModel, error) {
	names := func(values []bundle.Value) []string {
		var list []string
		for _, v := range values {
			list = append(list, v.Name)
		}
		return list
	}
	l := &languageModel{dims: m.Dims, steps: m.Flow.Steps, host: host, voices: voices}
	var err error
	if l.graph, err = openGraph(lmGraph, names(m.LM.Inputs), names(m.LM.Outputs)); err != nil {
		return nil, fmt.Errorf("loading %s: %w", m.LM.File.File, err)
	}
	if l.flowHead, err = openGraph(flowGraph, names(m.FlowHead.Inputs), names(m.FlowHead.Outputs)); err != nil {
		return nil, errors.Join(fmt.Errorf("loading %s: %w", m.FlowHead.File.File, err), l.close())
	}
	for i := range l.steps {
		t, err := ort.Floats(host.Times[i*m.Dims.FlowWidth:(i+1)*m.Dims.FlowWidth], 1, m.Dims.FlowWidth)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the flow's times: %w", err), l.close())
		}
		l.times = append(l.times, t)
	}
	return l, nil
}

func (l *languageModel) close() error {
	var err error
	for _, t := range l.times {
		err = errors.Join(err, t.Close())
	}
	for _, s := range []*ort.Session{l.graph, l.flowHead} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// drawLatent moves noise along the flow of h to latent. The tensors are those of h, noise and latent; noise is
// overwritten.
func (l *languageModel) drawLatent(tensors []*ort.Tensor, noise, latent []float32) error {
	for i, t := range l.times {
		if i > 0 {
			copy(noise, latent)
		}
		if err := l.flowHead.Run(context.Background(), []*ort.Tensor{tensors[0], tensors[1], t},
			tensors[2:]); err != nil {
			return err
		}
	}
	return nil
}

// Stream is one voice, text and frames in the language model. Its keys and values lie in a slot of a cache, from
// Begin until Release. It is not safe for concurrent use.
//
// Begin, then Prefill or Restore, then Draw for the first latent and Step for each one after it.
type Stream struct {
	model          *languageModel
	cache          *KVCache
	alone          bool      // in a cache of its own
	slot           int       // -1 for none
	length         int       // positions in use
	text           int       // the first position behind the voice prompt
	voiceEmbedding []float32 // the embedding of the voice: [bundle.Prompt]

	// What the last run returned, and the noise that the next one starts from.
	h           []float32 // state after the last row
	eos         []float32 // its logit, one value
	latent      []float32 // what was drawn from it
	noise       []float32
	flowTensors []*ort.Tensor // h, noise, latent
}

// newLoneStream returns a stream in a cache of its own, which it closes.
func (l *languageModel) newLoneStream(capacity int) (*Stream, error) {
	c, err := l.newKVCache(1, capacity)
	if err != nil {
		return nil, err
	}
	s, err := c.newStream()
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	s.alone = true
	return s, nil
}

// newStream returns a stream that is assigned slots of c, which must have room.
func (c *KVCache) newStream() (*Stream, error) {
	d := c.model.dims
	c.attach()
	s := &Stream{
		model: c.model, cache: c, slot: -1,
		h: make([]float32, d.Width), eos: make([]float32, 1), latent: make([]float32, d.Latent),
		noise: make([]float32, d.Latent),
	}
	for _, values := range [][]float32{s.h, s.noise, s.latent} {
		t, err := ort.Floats(values, 1, len(values))
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.flowTensors = append(s.flowTensors, t)
	}
	return s, nil
}

// Close gives up its slot, and its cache if that is its own.
func (s *Stream) Close() error {
	s.Release()
	s.cache.detach()
	var err error
	for _, t := range s.flowTensors {
		err = errors.Join(err, t.Close())
	}
	if s.alone {
		err = errors.Join(err, s.cache.close())
	}
	return err
}

// Release gives up the slot: nothing more is to be drawn until Begin.
func (s *Stream) Release() {
	if s.slot >= 0 {
		s.cache.unassign(s.slot)
		s.slot = -1
	}
}

// Begin forgets everything and starts behind the voice's prompt.
func (s *Stream) Begin(voice string) error {
	return s.model.voices.use(voice, s.begin)
}

func (s *Stream) begin(p *bundle.Prompt) error {
	s.Release()
	s.length = 0
	if err := s.checkRoom(p.Positions); err != nil {
		return err
	}
	s.slot = s.cache.assign(s)
	defer s.cache.unlock(s.slot)
	for i := range p.K {
		s.write(2*i, p.K[i], p.Positions, 0, p.Positions)
		s.write(2*i+1, p.V[i], p.Positions, 0, p.Positions)
	}
	s.length, s.text, s.voiceEmbedding = p.Positions, p.Positions, p.VoiceEmbedding
	return nil
}

// Room returns how many positions are left.
func (s *Stream) Room() int { return s.cache.capacity - s.length }

// checkRoom refuses what would not fit behind what is there: the graph would write over the end.
func (s *Stream) checkRoom(positions int) error {
	if positions > s.Room() {
		return fmt.Errorf("%d positions do not fit %d", s.length+positions, s.cache.capacity)
	}
	return nil
}

// write puts count positions of all heads at the given position of one of the key or value arrays. from has each
// positions of a head, of which the first ones are taken.
func (s *Stream) write(i int, from []float32, each, at, count int) {
	n := s.model.dims.HeadDim
	for h := range s.model.dims.Heads {
		copy(s.slotValues(i)[(h*s.cache.capacity+at)*n:], from[h*each*n:(h*each+count)*n])
	}
}

// read copies count positions of all heads from the given one on.
func (s *Stream) read(to []float32, i, at, count int) {
	n := s.model.dims.HeadDim
	for h := range s.model.dims.Heads {
		from := (h*s.cache.capacity + at) * n
		copy(to[h*count*n:(h+1)*count*n], s.slotValues(i)[from:])
	}
}

// slotValues returns one of the key or value arrays of the slot: [heads, capacity, head_dim].
func (s *Stream) slotValues(i int) []float32 {
	size := s.cache.capacity * s.model.dims.Width
	return s.cache.kv[i][s.slot*size : (s.slot+1)*size]
}

// Prefill reads the text, or what follows of it behind [Stream.RestorePrefix], and the start row. It is always one
// run of two rows and more: those come out the same in every grouping, a single one does not. An error, the cause of
// ctx included, leaves nothing: Begin again.
func (s *Stream) Prefill(ctx context.Context, tokens []int32) error {
	d, count := s.model.dims, len(tokens)+1
	if err := s.checkRoom(count); err != nil {
		return err
	}
	rows := make([]float32, 0, count*d.Width)
	for _, id := range tokens {
		if id < 0 || int(id) >= d.Vocab {
			return fmt.Errorf("token %d of a vocabulary of %d", id, d.Vocab)
		}
		rows = append(rows, s.model.host.Embedding[int(id)*d.Width:(int(id)+1)*d.Width]...)
	}
	rows = append(rows, s.model.host.Start...)
	s.addVoiceEmbedding(rows[len(rows)-d.Width:])
	t, err := ort.Floats(rows, 1, count, d.Width)
	if err != nil {
		return err
	}
	return errors.Join(s.prefill(ctx, t, count), t.Close())
}

func (s *Stream) prefill(ctx context.Context, rows *ort.Tensor, count int) error {
	if err := s.lock(); err != nil {
		return err
	}
	defer s.cache.unlock(s.slot)
	v, err := s.cache.slotView(s.slot, 1)
	if err != nil {
		return err
	}
	inputs := append([]*ort.Tensor{rows}, v.inputs[1:]...)
	v.lengths[0], v.total[0] = int32(s.length+count-1), int32(s.length+count)
	clear(v.noise)
	if err := s.model.graph.Run(ctx, inputs, v.outputs); err != nil {
		return err
	}
	s.length += count
	copy(s.h, v.h)
	s.eos[0] = v.eos[0]
	return nil
}

// addVoiceEmbedding adds to a row of audio what belongs to the voice.
func (s *Stream) addVoiceEmbedding(row []float32) {
	for i, v := range s.voiceEmbedding {
		row[i] += v
	}
}

// lock locks the stream's own slot.
func (s *Stream) lock() error {
	if s.slot < 0 {
		return errors.New("no voice: Begin comes first")
	}
	s.cache.lock(s.slot)
	return nil
}

// State returns the state after the last row and the logit of the end. They are valid until the next call.
func (s *Stream) State() (h []float32, eos float32) { return s.h, s.eos[0] }

// Latent returns the normalised latent, which is valid until the next call.
func (s *Stream) Latent() []float32 { return s.latent }

// Step reads Latent, then draws the next one from noise. Several streams are stepped at once by [KVCache.Step] instead.
func (s *Stream) Step(_ context.Context, noise []float32) error {
	copy(s.noise, noise)
	if err := s.lock(); err != nil {
		return err
	}
	defer s.cache.unlock(s.slot)
	// No context: a step is shorter than the time in which a cancel must take effect.
	return s.cache.Step(s.slot, 1, []*Stream{s})
}

// Draw moves noise along the flow from the present state to Latent.
func (s *Stream) Draw(noise []float32) error {
	copy(s.noise, noise)
	return s.model.drawLatent(s.flowTensors, s.noise, s.latent)
}

// Cache returns the cache that the stream's slots are in.
func (s *Stream) Cache() *KVCache { return s.cache }

// Slot returns the slot that is assigned to the stream, -1 for none.
func (s *Stream) Slot() int { return s.slot }

// SetNoise takes the noise of the next step, which [KVCache.Step] makes. It refuses a stream that is full: it must
// not fail those beside it.
func (s *Stream) SetNoise(noise []float32) error {
	copy(s.noise, noise)
	return s.checkRoom(1)
}

// Feed replaces the latent that the next step reads by the first values of the given ones.
func (s *Stream) Feed(latent []float32) { copy(s.latent, latent) }

// KeysAndValues returns those of the first n positions as the reference stores them: [layers, 2, positions, heads,
// head_dim].
func (s *Stream) KeysAndValues(n int) []float32 {
	var all []float32
	d := s.model.dims
	byHead := make([]float32, n*d.Width)
	for i := range s.cache.kv {
		s.read(byHead, i, 0, n)
		for p := range n {
			for h := range d.Heads {
				at := (h*n + p) * d.HeadDim
				all = append(all, byHead[at:at+d.HeadDim]...)
			}
		}
	}
	return all
}
