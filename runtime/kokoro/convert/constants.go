package convert

import (
	"bytes"
	"embed"
	"fmt"

	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// constants are the statistics of published voices as Measure finds them, in the files of safetensors, without styles.
// They are of the weights that measuredModel names. TestMeasureConstants of package kokoro measures them again.
//
//go:embed constants/*.safetensors
var constants embed.FS

// measuredModel is the SHA-256 of the export that the constants belong to: the one in integers of kokoro-onnx.
const measuredModel = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"

// measuredVocoder is the SHA-256 of vocoder.safetensors as it is made of measuredModel. Another export with the same
// weights, such as one whose inputs have other names, makes the same file.
const measuredVocoder = "b2ac49a30da4afe1037379509907681cc6bded57a46be79881d4c9cf24fc6d02"

// Constants returns the statistics of the norms of a published voice, such as hf_beta, which were measured once.
// weights is the SHA-256 of the export or of the vocoder that is made of it. It reports whether there are any.
func Constants(weights, source string) (map[string]bundle.Norm, bool) {
	if weights != measuredModel && weights != measuredVocoder {
		return nil, false
	}
	file, err := constants.ReadFile("constants/" + source + ".safetensors")
	if err != nil {
		return nil, false
	}
	norms, err := readConstants(file)
	if err != nil {
		panic(fmt.Sprintf("constants/%s.safetensors: %v", source, err)) // a test reads it
	}
	return norms, true
}

func readConstants(file []byte) (map[string]bundle.Norm, error) {
	t, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	norms := map[string]bundle.Norm{}
	for _, n := range Norms() {
		var norm bundle.Norm
		if norm.Mean, err = t.Floats(n.Name+".mean", n.Channels); err != nil {
			return nil, err
		}
		if norm.Variance, err = t.Floats(n.Name+".variance", n.Channels); err != nil {
			return nil, err
		}
		norms[n.Name] = norm
	}
	return norms, nil
}
