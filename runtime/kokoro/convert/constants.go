package convert

import "github.com/swar-tts/swar/runtime/kokoro/bundle"

// Constants returns the statistics of the norms of a published voice, such as hf_beta, which were measured once. weights is
// the SHA-256 of the export, or of vocoder.safetensors as it is made of one: exports that differ in the names of their
// inputs alone have the same weights. The result must not be changed.
func Constants(weights, source string) (map[string]bundle.Norm, bool) {
	norms, ok := constants[weights][source]
	return norms, ok
}

// constants are by weights and voice.
var constants = map[string]map[string]map[string]bundle.Norm{}
