package serve

import "net/http"

// stream answers GET /v1/tts/stream.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.authenticate(r, true); err != nil {
		return err
	}
	return errUpgradeRequired
}
