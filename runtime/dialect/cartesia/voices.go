package cartesia

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

const (
	created = "2026-11-25T00:00:00Z" // of every voice
	maxPage = 100
)

type voiceShape struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Language    string `json:"language"`
	IsPublic    bool   `json:"is_public"`
	Description string `json:"description"`
	CreatedAt   string `json:"created_at"`
}

// shapeVoice describes v under an id, which may be an id of Cartesia that means v.
func shapeVoice(id string, v speech.Voice) voiceShape {
	language, _, _ := strings.Cut(v.Language, "-") // hi-IN+en-IN → hi
	return voiceShape{id, v.Name, language, true, "A voice of Swar", created}
}

type voiceList struct {
	Data     []voiceShape `json:"data"`
	HasMore  bool         `json:"has_more"`
	NextPage *string      `json:"next_page"`
}

// listVoices answers GET /voices: the voices that the key may use. Clients ask for what follows the last one until the
// list is empty.
func listVoices(c dialect.Call) (any, error) {
	limit := maxPage
	if text := c.Query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return nil, dialect.Refuse("limit", speech.CodeBadRequest, fmt.Sprintf("limit must be in [1, %d]", maxPage))
		}
		limit = n
	}
	list := voiceList{Data: []voiceShape{}}
	for _, v := range c.Model.Voices {
		if c.Allows(v.Name) {
			list.Data = append(list.Data, shapeVoice(v.Name, v))
		}
	}
	if after := c.Query.Get("starting_after"); after != "" {
		at := slices.IndexFunc(list.Data, func(v voiceShape) bool { return v.ID == after })
		if at < 0 {
			at = len(list.Data) - 1 // nothing follows a voice that is not there
		}
		list.Data = list.Data[at+1:]
	}
	if list.HasMore = len(list.Data) > limit; list.HasMore {
		list.Data = list.Data[:limit]
		list.NextPage = &list.Data[limit-1].ID
	}
	return list, nil
}

// voiceOf answers GET /voices/{voice}.
func voiceOf(c dialect.Call) (any, error) {
	id := c.Var("voice")
	if name, ok := dialect.Voice(dialect.Cartesia, c.Model, id); ok && c.Allows(name) {
		if v, ok := c.Model.Voice(name); ok {
			return shapeVoice(id, v), nil
		}
	}
	return nil, &dialect.NotFoundError{Code: "voice_not_found",
		Text: fmt.Sprintf("unknown voice '%.64s'; see /voices", id), Field: "voice"}
}
