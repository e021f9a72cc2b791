package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/swar-tts/swar/runtime/answer"
)

const samplePath = "/samples/{voice}.wav"

// samples lists the voices with a sample; it needs no key.
func (s *Server) samples(w http.ResponseWriter, _ *http.Request) error {
	voices := []string{}
	for _, v := range s.cfg.Speaker.Model().Voices {
		if _, ok := s.cfg.Samples(v.Name); ok {
			voices = append(voices, v.Name)
		}
	}
	answer.JSON(w, http.StatusOK, struct {
		Voices []string `json:"voices"`
	}{voices})
	return nil
}

// sample serves the sample of a voice without a key, once it was made.
func (s *Server) sample(w http.ResponseWriter, r *http.Request) error {
	audio, ok := s.cfg.Samples(mux.Vars(r)["voice"])
	if !ok {
		return errNotFound
	}
	setWriteDeadline(w, time.Now().Add(writeTime))
	h := w.Header()
	sum := sha256.Sum256(audio)
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", "audio/wav")
	s.setSynthetic(h)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(audio))
	return nil
}
