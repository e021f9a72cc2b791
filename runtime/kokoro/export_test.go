package kokoro

import (
	"maps"

	"github.com/swar-tts/swar/runtime/synth"
)

// Again returns an engine of the same model with nothing in its cache. Closing it does nothing, and e must be open as long.
func (e *Engine) Again() *Engine {
	return &Engine{
		network: network{reader: e.reader, vocoder: e.vocoder, prosody: e.prosody}, manifest: e.manifest, voices: maps.Clone(e.voices),
		cache: synth.NewCache[*prefill](defaultCacheBytes), memory: e.memory, threads: e.threads,
	}
}
