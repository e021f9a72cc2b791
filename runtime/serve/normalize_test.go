package serve

import (
	"net/http"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestNormalize(t *testing.T) {
	var text string
	var enDigits bool
	g := newRig(t, &script{NormalizeFunc: func(u speech.Utterance) (speech.Normalized, error) {
		text, enDigits = u.Text, u.EnDigits
		return speech.Normalized{
			Text:       "ओ टी पी <चार> & शून्य सात",
			InputChars: 7,
			Chunks: []speech.Chunk{{Text: "ओ टी पी", Tokens: 3, CharEnd: 7},
				{Index: 1, Text: "<चार> & शून्य सात", Tokens: 9, CharStart: 8, CharEnd: 25}},
			Spans: []speech.Span{{Start: 0, End: 3, Kind: "acronym", Spoken: "ओ टी पी", OutEnd: 7}},
		}, nil
	}})
	got := g.do(http.MethodPost, "/v1/normalize", `{"text":" OTP 407\n","en_digits":true,"voice":5,"request_id":5}`)
	wantJSON(t, got, 200, `{"normalized":"ओ टी पी <चार> & शून्य सात","chars":25,
		"chunks":[{"text":"ओ टी पी","tokens":3,"char_start":0,"char_end":7},{"text":"<चार> & शून्य सात","tokens":9,"char_start":8,"char_end":25}],
		"input_chars":7,"spans":[{"start":0,"end":3,"kind":"acronym","spoken":"ओ टी पी","out_start":0,"out_end":7}]}`)
	if text != "OTP 407" || !enDigits {
		t.Errorf("normalised %q with en_digits %v", text, enDigits)
	}
	if strings.Contains(string(got.body), `\u`) {
		t.Errorf("the text is escaped beyond need: %s", got.body)
	}
	if id := got.Header.Get("X-Request-Id"); !strings.HasPrefix(id, "req_") {
		t.Errorf("x-request-id = %q", id)
	}
	g.do(http.MethodPost, "/v1/normalize", `{"text":"Hi"}`)
	if enDigits {
		t.Error("en_digits is not false by default")
	}
}

func TestNormalizeWithoutChunksOrSpans(t *testing.T) {
	g := newRig(t, &script{NormalizeFunc: func(speech.Utterance) (speech.Normalized,
		error) {
		return speech.Normalized{InputChars: 1}, nil
	}})
	got := g.do(http.MethodPost, "/v1/normalize", `{"text":"!"}`)
	wantJSON(t, got, 200, `{"normalized":"","chars":0,"chunks":[],"input_chars":1,"spans":[]}`)
}

func TestNormalizeRefuses(t *testing.T) {
	g := newRig(t, &script{})
	tests := []struct {
		sentence, body, key string
		status              int
		text, code          string
	}{
		{"no key", `{"text":"Hi"}`, "", 401, "missing x-api-key", "missing_key"},
		{"a wrong key", `{"text":"Hi"}`, "wrong", 401, "invalid api key", "invalid_key"},
		{"no text", `{}`, testKey, 400, "text is empty", "text_empty"},
		{"a blank text", `{"text":" \n"}`, testKey, 400, "text is empty", "text_empty"},
		{"a text that is too long", `{"text":"` + strings.Repeat("क", 4001) + `"}`, testKey, 413, "text longer than 4000 characters", "text_too_long"},
		{"a text of another type", `{"text":1}`, testKey, 400, "text: must be a string", "bad_text"},
		{"a text that is not UTF-8", "{\"text\":\"\xff\"}", testKey, 400, "text: not valid UTF-8", "bad_text"},
		{"a switch of another type", `{"text":"Hi","en_digits":"yes"}`, testKey, 400, "en_digits: must be a boolean", "bad_request"},
		{"what is not JSON", `Hi`, testKey, 400, "invalid JSON: invalid character 'H' at start of value at byte 0", "bad_request"},
		{"a body that is too large", strings.Repeat(" ", maxBody+1), testKey, 413, "request body larger than 1048576 bytes", "body_too_large"},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			g := *g
			g.t = t
			g.do(http.MethodPost, "/v1/normalize", tt.body, "X-Api-Key", tt.key).wantError(t, tt.status,
				tt.text, tt.code)
		})
	}
	if got := g.do(http.MethodPost, "/v1/normalize",
		`{"text":"`+strings.Repeat("क", 4000)+`"}`); got.StatusCode != http.StatusOK {
		t.Errorf("status = %d for 4000 characters, want 200", got.StatusCode)
	}
}

func TestNormalizeFails(t *testing.T) {
	g := newRig(t, &script{NormalizeFunc: func(speech.Utterance) (speech.Normalized,
		error) {
		return speech.Normalized{}, speech.ErrBusy
	}})
	g.do(http.MethodPost, "/v1/normalize", `{"text":"Hi"}`).wantError(t, 503, "busy", "busy")
}
