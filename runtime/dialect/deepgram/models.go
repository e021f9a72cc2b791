package deepgram

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// model is a voice as Deepgram lists it.
type model struct {
	Name          string    `json:"name"`
	CanonicalName string    `json:"canonical_name"`
	Architecture  string    `json:"architecture"`
	Languages     []string  `json:"languages"`
	Version       string    `json:"version"`
	UUID          string    `json:"uuid"`
	Metadata      modelInfo `json:"metadata"`
}

type modelInfo struct {
	Sample string   `json:"sample"`
	Tags   []string `json:"tags"`
}

func models(c dialect.Call) []model {
	all := []model{}
	for _, v := range c.Model.Voices {
		if c.Allows(v.Name) {
			all = append(all, model{
				Name: v.Name, CanonicalName: v.Name, Architecture: "swar", Languages: strings.Split(v.Language, "+"),
				Version: modelVersion(c.Model), UUID: uuid(v.Name),
				Metadata: modelInfo{Sample: "/samples/" + v.Name + ".wav", Tags: []string{}},
			})
		}
	}
	return all
}

// listModels answers GET /v1/models with the voices that the key may use.
func listModels(c dialect.Call) (any, error) {
	return struct {
		STT []model `json:"stt"`
		TTS []model `json:"tts"`
	}{[]model{}, models(c)}, nil
}

// oneModel answers GET /v1/models/{id} for a name or a uuid of the list.
func oneModel(c dialect.Call) (any, error) {
	id := c.Var("id")
	for _, m := range models(c) {
		if strings.EqualFold(id, m.Name) || strings.EqualFold(id, m.UUID) {
			return m, nil
		}
	}
	return nil, &dialect.NotFoundError{Code: "model_not_found",
		Text: fmt.Sprintf("model '%.64s' does not exist; see /v1/models", id)}
}

func modelVersion(m speech.Model) string { return m.ID }

// uuid is always the same one for a voice.
func uuid(voice string) string {
	h := sha256.Sum256([]byte("swar voice " + voice))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // RFC 9562: version 8, of our own making
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
