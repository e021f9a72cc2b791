package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestWhoseDisclosureIsSpoken(t *testing.T) {
	off, own := speech.Disclosure{Set: true}, speech.Disclosure{Set: true, Text: "own"}
	for name, tt := range map[string]struct {
		server   string
		required bool
		key      speech.Disclosure
		want     string
	}{
		"nobody has one":                      {"", false, speech.Disclosure{}, ""},
		"the server's":                        {"server", false, speech.Disclosure{}, "server"},
		"the key's wins":                      {"server", false, own, "own"},
		"the key's alone":                     {"", false, own, "own"},
		"the key switches it off":             {"server", false, off, ""},
		"the key may not switch it off":       {"server", true, off, "server"},
		"the key may say it in its own words": {"server", true, own, "own"},
		"required where the key says nothing": {"server", true, speech.Disclosure{}, "server"},
	} {
		s, _ := newServer(t, &script{}, func(c *Config) { c.Disclosure, c.DisclosureRequired = tt.server, tt.required })
		if got := s.disclosureFor(access.Grant{Disclosure: tt.key}); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	_, err := New(Config{
		Speaker: &script{}, Metrics: metrics.New().RegisterAPI(metrics.StreamsOf((&script{}).Capacity)),
		Log: slog.New(slog.DiscardHandler), DisclosureRequired: true,
	})
	if err == nil {
		t.Error("a disclosure is required, and there is none; want an error")
	}
}

// TestADisclosureCountsToTheCharacters, wherever a text comes in.
func TestADisclosureCountsToTheCharacters(t *testing.T) {
	disclosure := strings.Repeat("क", 100)
	g := newRig(t, &script{}, func(c *Config) { c.Disclosure = disclosure })
	const text = "text longer than 3900 characters; the spoken disclosure takes 100 of 4000"
	for n, long := range map[int]bool{3899: false, 3900: false, 3901: true} {
		body := `{"text":"` + strings.Repeat("ख", n) + `"}`
		for _, path := range []string{"/v1/tts", "/v1/normalize"} {
			got := g.do(http.MethodPost, path, body)
			if long {
				got.wantError(t, http.StatusRequestEntityTooLarge, text, "text_too_long")
			} else if got.StatusCode != http.StatusOK {
				t.Errorf("%s: status %d for %d characters, want 200", path, got.StatusCode, n)
			}
		}
	}
	ws := newWSRig(t, &script{}, func(c *Config) { c.Disclosure = disclosure })
	s := ws.connect()
	defer s.leave()
	s.speak("a", strings.Repeat("ख", 3900))
	s.until("end")
	s.speak("b", strings.Repeat("ख", 3901))
	s.wantError("b", http.StatusRequestEntityTooLarge, text, "text_too_long")
}

func TestNormalizeShowsTheDisclosure(t *testing.T) {
	speaker := &script{NormalizeFunc: func(u speech.Utterance) (speech.Normalized, error) {
		return speech.Normalized{Text: u.Disclosure + " " + u.Text, Disclosure: u.Disclosure, InputChars: len(u.Text)},
			nil
	}}
	g := newRig(t, speaker, func(c *Config) { c.Disclosure = "AI hai." })
	got := g.do(http.MethodPost, "/v1/normalize", `{"text":"Hi"}`)
	wantJSON(t, got, 200, `{"normalized":"AI hai. Hi","disclosure":"AI hai.","chars":10,"chunks":[],"input_chars":2,"spans":[]}`)
}

func TestAChangedDisclosureHoldsFromTheNextUtteranceOn(t *testing.T) {
	var asked []string
	speaker := func() *script {
		return &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
			asked = append(asked, u.Disclosure)
			return speakFrames(u, sink, 1)
		}}
	}
	set := func(text string) func(*access.Entry) {
		return func(e *access.Entry) { e.Disclosure = speech.Disclosure{Set: true, Text: text} }
	}
	bubbleRevoking(t, speaker, func(t *testing.T, g revoking, _ *script) {
		s := g.with(g.key)
		for i, change := range []func(*access.Entry){
			func(*access.Entry) {}, set("own"), set(""), func(e *access.Entry) { e.Disclosure = speech.Disclosure{} },
		} {
			g.change(change)
			s.speak(fmt.Sprint(i), "text")
			told, _ := s.until("start")[0].event["disclosure"].(string)
			if s.until("end"); told != asked[i] {
				t.Errorf("utterance %d was spoken after %q, and its start event says %q", i, asked[i], told)
			}
		}
		s.leave()
		if got := strings.Join(asked, ","); got != "server,own,,server" {
			t.Errorf("spoken before the texts: %s", got)
		}
	}, func(c *Config) { c.Disclosure = "server" })
}

// TestADisclosureThatGrewWhileATextWaited: what would be too long is refused, and not spoken without it.
func TestADisclosureThatGrewWhileATextWaited(t *testing.T) {
	bubbleRevoking(t, newStage, func(t *testing.T, g revoking, stage *stage) {
		s := g.with(g.key)
		defer s.conn.Close()
		s.speak("a", "first")
		s.speak("b", strings.Repeat("ख", 3999))
		s.until("first_audio_ms")
		synctest.Wait()
		g.change(func(e *access.Entry) { e.Disclosure = speech.Disclosure{Set: true, Text: "AI"} })
		stage.on <- struct{}{}
		<-stage.ended
		for refused := false; !refused; {
			if m := s.next(); m.typ() == "error" {
				refused = m.id() == "b" && m.event["code"] == "text_too_long"
			}
		}
		if n := len(stage.spoke); n != 1 {
			t.Errorf("%d utterances were begun, want 1", n)
		}
	})
}
