package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// TestLocalTurns: what a program in this process has spoken is what the API speaks, whole and fed.
func TestLocalTurns(t *testing.T) {
	s, _ := newServer(t, newWarmLocal(t, 1, synthtest.Config{}))
	speakLocally := func(o LocalOrder, feed ...string) []byte {
		t.Helper()
		turn, err := s.NewLocalTurn(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range feed {
			if err := turn.Append(text); err != nil {
				t.Fatal(err)
			}
		}
		if o.Fed {
			turn.Finish()
		}
		var all []byte
		err = turn.Speak(t.Context(), func(samples []byte) error {
			all = append(all, samples...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	text, voice := heard(t, speakLocally(LocalOrder{Endpoint: dialect.Wyoming, Voice: "raj",
		Text: " Aapka OTP 407 hai. "}))
	if text != "Aapka ओ टी पी चार शून्य सात hai." || voice != "raj" {
		t.Errorf("%q by %s", text, voice)
	}
	text, _ = heard(t, speakLocally(LocalOrder{Endpoint: dialect.Wyoming, Voice: "anjura", Fed: true}, "Aap kaise",
		" hain? Main", " theek hoon"))
	if text != "Aap kaise hain?Main theek hoon" {
		t.Errorf("%q", text)
	}
	if got := speakLocally(LocalOrder{Endpoint: dialect.Wyoming, Voice: "anjura", Fed: true}, "..."); len(got) > 0 {
		t.Errorf("%d bytes of nothing", len(got))
	}
	if got := metricOf(t, s, `tts_requests_total{endpoint="wyoming",status="200"}`); got != 3 {
		t.Errorf("%v turns were counted, want 3", got)
	}
	if n := s.Listeners(); n != 0 {
		t.Errorf("%d listen", n)
	}
}

func TestLocalRefusals(t *testing.T) {
	s, _ := newServer(t, &script{})
	for name, tt := range map[string]struct {
		o      LocalOrder
		status int
		code   string
	}{
		"a wrong key":      {LocalOrder{Key: "wrong", Voice: "raj", Text: "Hi"}, 401, "invalid_key"},
		"a foreign voice":  {LocalOrder{Key: "raj-key", Voice: "anjura", Text: "Hi"}, 403, "voice_not_allowed"},
		"an unknown voice": {LocalOrder{Voice: "kaun", Fed: true}, 400, "unknown_voice"},
		"white space":      {LocalOrder{Voice: "raj", Text: " \n"}, 400, "text_empty"},
	} {
		tt.o.Endpoint = dialect.Wyoming
		_, err := s.NewLocalTurn(t.Context(), tt.o)
		if f, ok := FaultOf(err); err == nil || !ok || f.Code != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
		if got := metricOf(t, s, fmt.Sprintf(`tts_requests_total{endpoint="wyoming",status="%d"}`,
			tt.status)); got < 1 {
			t.Errorf("%s: it was not counted as %d", name, tt.status)
		}
	}
	for key, want := range map[string]int{"": 2, "raj-key": 1} {
		if m, err := s.LocalModel(t.Context(), key); err != nil || len(m.Voices) != want {
			t.Errorf("with the key %q there are %v, %v", key, m.Voices, err)
		}
	}
	if _, err := s.LocalModel(t.Context(), "wrong"); !errors.Is(err, access.ErrInvalidKey) {
		t.Errorf("a model for a wrong key: %v", err)
	}
}

// TestLocalTurnsEndEarly: with the client, with its connection, and with the engine.
func TestLocalTurnsEndEarly(t *testing.T) {
	boom := errors.New("boom")
	gone := errors.New("connection reset")
	for name, tt := range map[string]struct {
		cancel, fail bool
		take         error
		want         error
		status       string
	}{
		"cancelled before": {cancel: true, want: speech.ErrClientGone, status: "cancelled"},
		"nobody takes it":  {take: gone, want: gone, status: "cancelled"},
		"a broken engine":  {fail: true, want: boom, status: "500"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newServer(t, &script{SpeakFunc: func(ctx context.Context, u speech.Utterance,
				sink speech.Sink) (speech.Stats, error) {
				st, err := speakFrames(u, sink, 1, 4)
				switch {
				case err != nil:
				case tt.fail:
					err = boom
				default:
					<-ctx.Done()
					err = context.Cause(ctx)
				}
				return st, err
			}})
			turn, err := s.NewLocalTurn(t.Context(), LocalOrder{Endpoint: dialect.Wyoming, Voice: "raj", Text: "Hi"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if tt.cancel {
				cancel(speech.ErrClientGone)
			}
			err = turn.Speak(ctx, func(samples []byte) error {
				if !bytes.Equal(samples, frames(0, 1)) && tt.take != nil {
					t.Error("it is spoken on")
				}
				return tt.take
			})
			if _, ok := FaultOf(err); !errors.Is(err, tt.want) || ok != tt.fail {
				t.Errorf("ended with %v, want %v", err, tt.want)
			}
			if got := metricOf(t, s, `tts_requests_total{endpoint="wyoming",status="`+tt.status+`"}`); got != 1 {
				t.Errorf("%v were counted as %s", got, tt.status)
			}
			if n := s.Listeners(); n != 0 {
				t.Errorf("%d listen", n)
			}
		})
	}
}
