package serve

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
)

// ofProject is a keyring whose keys belong to a project with a lexicon.
type ofProject struct{ grant access.Grant }

func (k ofProject) Grant(context.Context, access.Credentials) (access.Grant, error) {
	return k.grant, nil
}

// TestWhichLexiconIsUsed asks by every way that a text comes in.
func TestWhichLexiconIsUsed(t *testing.T) {
	own := lexicon.Compile("lex_1", 7, []lexicon.Entry{{Word: "a", Spoken: "b"}})
	var got []*lexicon.Lexicon
	speaker := &script{
		SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
			got = append(got, u.Lexicon)
			return speakFrames(u, sink, 1)
		},
		NormalizeFunc: func(u speech.Utterance) (speech.Normalized, error) {
			got = append(got, u.Lexicon)
			return speech.Normalized{}, nil
		},
	}
	keys := ofProject{access.Grant{KeyID: "key_1", OrgID: "org_1", ProjectID: "prj_1", Lexicon: own}}
	g := newRig(t, speaker, withDialects, func(c *Config) { c.Keys = keys })
	for body, want := range map[string]*lexicon.Lexicon{
		`{"text":"a"}`: own, `{"text":"a","lexicon":"lex_1"}`: own, `{"text":"a","lexicon":"none"}`: nil,
		`{"text":"a","lexicon":null}`: own,
	} {
		for _, path := range []string{"/v1/tts", "/v1/tts/words", "/v1/normalize"} {
			got = nil
			if a := g.do(http.MethodPost, path, body); a.StatusCode != http.StatusOK || len(got) != 1 ||
				got[0] != want {
				t.Errorf("%s of %s: status %d, spoken with %v, want %v", path, body, a.StatusCode, got, want)
			}
		}
	}
	for id, want := range map[string]*lexicon.Lexicon{"": own, "lex_1": own, "none": nil} {
		got = nil
		locators := `[{"pronunciation_dictionary_id":"` + id + `"}]`
		if id == "" {
			locators = "[]"
		}
		a := g.toElevenLabs("raj", `{"text":"a","pronunciation_dictionary_locators":`+locators+`}`)
		if a.StatusCode != http.StatusOK || len(got) != 1 || got[0] != want {
			t.Errorf("the dictionary %s: status %d, spoken with %v, want %v", id, a.StatusCode, got, want)
		}
	}
	for _, path := range []string{"/v1/tts", "/v1/normalize"} {
		a := g.do(http.MethodPost, path, `{"text":"a","lexicon":"lex_2"}`)
		a.wantError(t, http.StatusBadRequest, "unknown lexicon; this key can use lex_1 and none", "unknown_lexicon")
	}
	server := lexicon.Compile("lex_server", 1, []lexicon.Entry{{Word: "a", Spoken: "c"}})
	for name, keys := range map[string]access.Keyring{"no keys": nil,
		"a key of no project": ofProject{access.Grant{KeyID: "static_1"}}} {
		g := newRig(t, speaker, withDialects, func(c *Config) { c.Keys, c.Lexicon = keys, server })
		for body, want := range map[string]*lexicon.Lexicon{
			`{"text":"a"}`: server, `{"text":"a","lexicon":"lex_server"}`: server, `{"text":"a","lexicon":"none"}`: nil,
		} {
			got = nil
			if a := g.do(http.MethodPost, "/v1/tts", body); a.StatusCode != http.StatusOK || len(got) != 1 ||
				got[0] != want {
				t.Errorf("%s, %s: status %d, spoken with %v, want %v", name, body, a.StatusCode, got, want)
			}
		}
		g.do(http.MethodPost, "/v1/tts", `{"text":"a","lexicon":"lex_1"}`).wantError(t, http.StatusBadRequest,
			"unknown lexicon; this key can use lex_server and none", "unknown_lexicon")
	}
	g = newRig(t, speaker, func(c *Config) { c.Keys, c.Lexicon = keys, server })
	got = nil
	if a := g.do(http.MethodPost, "/v1/tts", `{"text":"a"}`); a.StatusCode != http.StatusOK || got[0] != own {
		t.Errorf("a project beside the server's lexicon: status %d, spoken with %v", a.StatusCode, got)
	}
	none := newRig(t, speaker)
	none.do(http.MethodPost, "/v1/tts", `{"text":"a","lexicon":"lex_1"}`).wantError(t, http.StatusBadRequest,
		"unknown lexicon; this key has no project with one, so that only none can be asked for", "unknown_lexicon")
}

func TestMarkupIsCheckedBeforeItIsSpoken(t *testing.T) {
	var got []speech.Utterance
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		got = append(got, u)
		return speakFrames(u, sink, 1)
	}}
	g := newRig(t, speaker)
	body := func(document, more string) string {
		return `{"input_type":"ssml","text":"` + strings.ReplaceAll(document, `"`, `\"`) + `"` + more + `}`
	}
	for name, tt := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"a document":          {body(`<speak>a <break/> b</speak>`, ""), 200, ""},
		"the longest":         {body(`<speak>`+strings.Repeat("क", 4000)+`</speak>`, ""), 200, ""},
		"one longer":          {body(`<speak>`+strings.Repeat("क", 4001)+`</speak>`, ""), 413, "text_too_long"},
		"a long alias":        {body(`<speak><sub alias="`+strings.Repeat("क", 4001)+`">a</sub></speak>`, ""), 413, "text_too_long"},
		"tags do not count":   {body(`<speak>`+strings.Repeat("<break/>", 600)+`a</speak>`, ""), 200, ""},
		"too large":           {body(`<speak>`+strings.Repeat("<break/>", 9000)+`a</speak>`, ""), 413, "text_too_long"},
		"no document":         {body(`a`, ""), 400, "bad_text"},
		"an unknown element":  {body(`<speak><voice>a</voice></speak>`, ""), 400, "unsupported_ssml"},
		"raw":                 {body(`<speak>a</speak>`, `,"raw":true`), 400, "bad_request"},
		"another input type":  {`{"input_type":"html","text":"a"}`, 400, "bad_request"},
		"a text stays a text": {`{"input_type":"text","text":"<speak>a</speak>"}`, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got = nil
			a := g.do(http.MethodPost, "/v1/tts", tt.body)
			if a.StatusCode != tt.status || a.Header.Get("X-Error-Code") != tt.code {
				t.Errorf("status %d, code %q, want %d and %q", a.StatusCode, a.Header.Get("X-Error-Code"),
					tt.status, tt.code)
			}
			if len(got) == 1 && got[0].SSML != strings.Contains(tt.body, `"ssml"`) {
				t.Errorf("spoken as markup: %v", got[0].SSML)
			}
		})
	}
	ws := newWSRig(t, speaker)
	s := ws.connect()
	defer s.leave()
	s.send(`{"type":"append","request_id":"a","input_type":"ssml","text":"<speak>a</speak>"}`)
	s.wantError("a", http.StatusBadRequest, "input_type: ssml cannot be appended; send the document in one speak",
		"bad_request")
	s.send(`{"type":"speak","request_id":"b","input_type":"ssml","text":"<speak>a</speak>"}`)
	s.until("end")
}

// TestSocketsOfDialectsUseTheLexicon: that of the project, unless the first message of a context names another.
func TestSocketsOfDialectsUseTheLexicon(t *testing.T) {
	own := lexicon.Compile("lex_1", 7, []lexicon.Entry{{Word: "a", Spoken: "b"}})
	got := make(chan *lexicon.Lexicon, 1)
	g := newWSRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		got <- u.Lexicon
		return speakFrames(u, sink, 1)
	}}, withDialects, func(c *Config) {
		c.Keys = ofProject{access.Grant{KeyID: "key_1", OrgID: "org_1", ProjectID: "prj_1", Lexicon: own}}
	})
	s := g.toMulti("")
	defer s.conn.Close()
	for id, want := range map[string]*lexicon.Lexicon{"": own, "lex_1": own, "none": nil} {
		locators := ""
		if id != "" {
			locators = `,"pronunciation_dictionary_locators":[{"pronunciation_dictionary_id":"` + id + `"}]`
		}
		s.send(`{"text":"Namaste ji. ","flush":true,"context_id":"c` + id + `"` + locators + `}`)
		if l := <-got; l != want {
			t.Errorf("the dictionary %q: spoken with %v, want %v", id, l, want)
		}
	}
	s.send(`{"text":"Namaste ji. ","context_id":"x","pronunciation_dictionary_locators":[{"pronunciation_dictionary_id":"y"}]}`)
	if c := s.untilFinal("x")["x"]; c.failed != "invalid_request" {
		t.Errorf("an unknown one is answered with %+v", c)
	}
}
