package serve

import (
	"net/http"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/speech"
)

// normalize answers POST /v1/normalize: what POST /v1/tts would speak for the same text and key.
func (s *Server) normalize(w http.ResponseWriter, r *http.Request, grant access.Grant, o *outcome) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	req, err := decode(body, fromNormalize)
	if err != nil {
		return err
	}
	req.Utterance.Disclosure = s.disclosureFor(grant)
	if err := req.validateText(); err != nil {
		return err
	}
	if req.badInputType {
		return errInputType
	}
	if err := req.useLexicon(grant); err != nil {
		return err
	}
	n, err := s.cfg.Speaker.Normalize(r.Context(), req.Utterance)
	if err != nil {
		return err
	}
	type chunk struct {
		Text   string `json:"text"`
		Tokens int    `json:"tokens"`

		CharStart int `json:"char_start"` // code points into normalized
		CharEnd   int `json:"char_end"`   // exclusive
	}
	preview := struct {
		Normalized string        `json:"normalized"`
		Disclosure string        `json:"disclosure,omitzero"` // what normalized begins with
		Unspoken   string        `json:"unspoken,omitzero"`
		Chars      int           `json:"chars"` // code points of normalized
		Chunks     []chunk       `json:"chunks"`
		InputChars int           `json:"input_chars"`
		Spans      []speech.Span `json:"spans"`
	}{n.Text, n.Disclosure, n.Unspoken, utf8.RuneCountInString(n.Text), make([]chunk, len(n.Chunks)), n.InputChars,
		n.Spans}
	for i, c := range n.Chunks {
		preview.Chunks[i] = chunk{c.Text, c.Tokens, c.CharStart, c.CharEnd}
	}
	o.chars = preview.Chars
	answer.JSON(w, http.StatusOK, preview)
	return nil
}
