package kokoro

import (
	"context"
	"maps"
	"math"

	"github.com/swar-tts/swar/runtime/synth"
)

// Again returns an engine of the same model with nothing in its cache. Closing it does nothing, and e must be open as
// long.
func (e *Engine) Again() *Engine {
	return &Engine{
		network: network{reader: e.reader, vocoder: e.vocoder, prosody: e.prosody}, manifest: e.manifest,
		voices: maps.Clone(e.voices),
		cache:  synth.NewCache[*prefill](defaultCacheBytes), memory: e.memory, threads: e.threads,
	}
}

// Break makes the energy of a text no number, as damaged weights would, for whoever speaks it next.
func (e *Engine) Break(ctx context.Context, o synth.Options) error {
	p, err := e.read(ctx, e.voices[o.Voice], o.Text, 1)
	if err != nil {
		return err
	}
	p.prosody.N[len(p.prosody.N)/2] = float32(math.NaN())
	e.cache.Add(synth.CacheKey{Voice: o.Voice, Text: o.Text, Speed: 1}, p, p.bytes())
	return nil
}
