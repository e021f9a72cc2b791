package call

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/swar-tts/swar/client"
)

// maxAnswer bounds what is read of an answer: the longest are lists of some thousand rows.
const maxAnswer = 64 << 20

// Understand reads a server's answer.
func Understand(answer []byte, v any) error {
	if json.Unmarshal(answer, v) != nil {
		return errors.New("unexpected response; the server may be another version, or not a Swar server")
	}
	return nil
}

// Exchange sends a request and returns the body of the response, or a [client.Error] for a status other than 2xx.
func Exchange(h *http.Client, req *http.Request) ([]byte, error) {
	resp, err := h.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return answer, nil
	}
	e := &client.Error{Status: resp.StatusCode, Code: client.Code(resp.Header.Get("X-Error-Code")),
		RequestID: resp.Header.Get("X-Request-Id")}
	var said struct{ Error string }
	if json.Unmarshal(answer, &said) == nil {
		e.Text = said.Error
	}
	if e.Text == "" {
		e.Text = resp.Status
	}
	return nil, e
}
