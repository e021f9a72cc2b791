package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Voice is a voice of the server's model.
type Voice struct {
	Name         string `json:"name"`
	Language     string `json:"language"`
	SampleRate   int    `json:"sample_rate"`
	PromptFrames int    `json:"prompt_frames"` // length of the prompt that the model was conditioned on
}

// Voices are the voices that the key may use.
type Voices struct {
	Voices []Voice `json:"voices"`
	Model  string  `json:"model"`
}

// Voices lists the voices that the key may use.
func (c *Client) Voices(ctx context.Context) (Voices, error) {
	var v Voices
	return v, c.get(ctx, "/v1/voices", &v)
}

// Normalized is a text as it will be spoken.
type Normalized struct {
	Text string `json:"normalized"`
	// what Text begins with that is not the client's; a space follows it
	Disclosure string  `json:"disclosure,omitempty"`
	Unspoken   string  `json:"unspoken,omitempty"` // what the model cannot speak and Text leaves out
	Chars      int     `json:"chars"`              // code points of Text
	InputChars int     `json:"input_chars"`        // code points of the trimmed input
	Chunks     []Chunk `json:"chunks"`
	Spans      []Span  `json:"spans"`
}

// Chunk is a piece of Text that is synthesised at once.
type Chunk struct {
	Text   string `json:"text"`
	Tokens int    `json:"tokens"` // at most 50

	CharStart int `json:"char_start"` // code points into Normalized.Text
	CharEnd   int `json:"char_end"`   // exclusive
}

// Span is a rewritten piece of the input: "₹5" → "five rupees".
type Span struct {
	Start  int    `json:"start"` // code points into the trimmed input
	End    int    `json:"end"`   // exclusive
	Kind   string `json:"kind"`  // amount, date, code, phone, acronym, …; docs/normaliser.md has the list
	Spoken string `json:"spoken"`

	OutStart int `json:"out_start"` // of Spoken, in code points into Normalized.Text
	OutEnd   int `json:"out_end"`   // exclusive
}

// Normalize shows how text will be read and split, without speaking it. It is free. enDigits reads codes with English
// digit names.
func (c *Client) Normalize(ctx context.Context, text string, enDigits bool) (Normalized, error) {
	return c.Preview(ctx, Request{Text: text, EnDigits: enDigits})
}

// Preview is [Client.Normalize] for a request: what [Client.Speak] would speak for its Text, SSML, EnDigits and
// Lexicon. Its other fields change nothing. Words of the project's lexicon are spans of kind "lexicon".
func (c *Client) Preview(ctx context.Context, r Request) (Normalized, error) {
	var n Normalized
	if err := checkText(r.Text); err != nil {
		return n, err
	}
	body := struct {
		Text      string `json:"text"`
		InputType string `json:"input_type,omitempty"`
		EnDigits  bool   `json:"en_digits,omitempty"`
		Lexicon   string `json:"lexicon,omitempty"`
	}{r.Text, "", r.EnDigits, r.Lexicon}
	if r.SSML {
		body.InputType = "ssml"
	}
	return n, c.json(ctx, http.MethodPost, "/v1/normalize", body, &n)
}

// Health is the state of a server, as GET /healthz returns it.
type Health struct {
	Status       string
	Uptime       time.Duration
	Workers      int // one utterance each
	WorkersReady int // warmed up
	WorkersBusy  int // speaking now
	QueueDepth   int
	QueueLimit   int
	Model        string
	Version      string
}

// UnmarshalJSON reads the answer of GET /healthz.
func (h *Health) UnmarshalJSON(b []byte) error {
	var w struct {
		Status       string  `json:"status"`
		UptimeS      float64 `json:"uptime_s"`
		Workers      int     `json:"workers"`
		WorkersReady int     `json:"workers_ready"`
		WorkersBusy  int     `json:"workers_busy"`
		QueueDepth   int     `json:"queue_depth"`
		QueueLimit   int     `json:"queue_limit"`
		Model        string  `json:"model"`
		Version      string  `json:"version"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*h = Health{w.Status, seconds(w.UptimeS), w.Workers, w.WorkersReady, w.WorkersBusy, w.QueueDepth, w.QueueLimit,
		w.Model, w.Version}
	return nil
}

// Health asks how the server is. It answers while it lives, also before it is ready, and needs no key.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	return h, c.get(ctx, "/healthz", &h)
}

// Ready returns nil when every worker of the server is warm. Otherwise it returns an [Error] with status 503: the
// server is warming up or shutting down. It needs no key. With [Options.Retry] it waits a few seconds for a server
// that has just started.
func (c *Client) Ready(ctx context.Context) error {
	var answer struct{}
	return c.get(ctx, "/readyz", &answer)
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond)
}
func millis(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}
