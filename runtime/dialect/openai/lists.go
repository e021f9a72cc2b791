package openai

import (
	"fmt"

	"github.com/swar-tts/swar/runtime/dialect"
)

// models are the listed models. A request may name any other.
var models = []string{defaultModel, "tts-1", "tts-1-hd", "gpt-4o-mini-tts"}

const created = 1_795_564_800 // of every model: 25 November 2026

type modelShape struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func shapeModel(id string) modelShape { return modelShape{id, "model", created, "swar"} }

// listModels answers GET /v1/models.
func listModels(dialect.Call) (any, error) {
	list := struct {
		Object string       `json:"object"`
		Data   []modelShape `json:"data"`
	}{Object: "list"}
	for _, id := range models {
		list.Data = append(list.Data, shapeModel(id))
	}
	return list, nil
}

// model answers GET /v1/models/{id}.
func model(c dialect.Call) (any, error) {
	id := c.Var("id")
	for _, known := range models {
		if id == known {
			return shapeModel(id), nil
		}
	}
	return nil, &dialect.NotFoundError{Code: "model_not_found",
		Text: fmt.Sprintf("The model '%.64s' does not exist", id), Field: "model"}
}

// named is an entry of the lists that clients have invented: what they call it, and what people see.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// listVoices answers GET /v1/audio/voices: the voices that the key may use, and then OpenAI's names for them.
func listVoices(c dialect.Call) (any, error) {
	var all []named
	for _, v := range c.Model.Voices {
		if c.Allows(v.Name) {
			all = append(all, named{v.Name, v.Name})
		}
	}
	aliases, voiceOf := dialect.Aliases(dialect.OpenAI, c.Model)
	for _, name := range aliases {
		if c.Allows(voiceOf(name)) {
			all = append(all, named{name, name})
		}
	}
	type list struct {
		Object string `json:"object"`
		Voices any    `json:"voices"`
		Data   any    `json:"data"`
	}
	if c.Query.Get("legacy") != "true" {
		return list{"list", all, all}, nil
	}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.ID
	}
	return list{"list", names, names}, nil
}

// listSpeechModels answers GET /v1/audio/models.
func listSpeechModels(dialect.Call) (any, error) {
	all := make([]named, len(models))
	for i, id := range models {
		all[i] = named{id, id}
	}
	return struct {
		Models []named `json:"models"`
		Data   []named `json:"data"`
	}{all, all}, nil
}
