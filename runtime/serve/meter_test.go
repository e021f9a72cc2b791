package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
)

// books takes in what a server has recorded.
type books struct {
	t       *testing.T
	log     *meter.Log
	shipper *meter.Shipper
	events  []meter.Event
}

func newBooks(t *testing.T) *books {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	log, err := meter.OpenLog(meter.LogConfig{Folder: t.TempDir()}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	b := &books{t: t, log: log}
	b.shipper = meter.NewShipper(meter.ShipperConfig{}, log, b, quiet)
	return b
}

func (b *books) Send(_ context.Context, batch meter.Batch) error {
	b.events = append(b.events, batch.Events...)
	return nil
}

// next returns what has been recorded since the last call.
func (b *books) next() []meter.Event {
	b.t.Helper()
	b.events = nil
	if err := b.shipper.Drain(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return b.events
}

// want checks that one utterance has ended since the last call: like "rest raj wav 5/5 ok".
func (b *books) want(want string) meter.Event {
	b.t.Helper()
	all := b.next()
	if len(all) == 0 {
		b.t.Fatalf("nothing was recorded, want %s", want)
	}
	e := all[len(all)-1]
	for _, progress := range all[:len(all)-1] {
		if progress.Kind != meter.Progress || progress.ID != e.ID {
			b.t.Fatalf("%+v was recorded before %+v, want one utterance", progress, e)
		}
		e.Frames += progress.Frames
		e.Billed += progress.Billed
	}
	got := strings.TrimSpace(fmt.Sprintf("%s %s %s %d/%d %s %s", e.Endpoint, e.Voice, e.Format, e.Frames, e.Billed,
		e.Status, e.Error))
	if got != want || e.Kind != meter.Final {
		b.t.Errorf("recorded %q, want %q (%+v)", got, want, e)
	}
	if e.OrgID != "org_1" || e.ProjectID != "prj_1" || e.KeyID == "" || e.KeyPrefix == "" {
		b.t.Errorf("recorded %+v, want it to say for whom", e)
	}
	return e
}

// wantTotal is want, and returns how many seconds of audio were recorded.
func (b *books) wantTotal(want string) float64 {
	b.t.Helper()
	return speech.Seconds(int(b.want(want).Frames))
}

// everybody is a keyring that lets everybody in, on the bill of one organisation.
type everybody struct{ org string }

func (e everybody) Grant(context.Context, access.Credentials) (access.Grant, error) {
	return access.Grant{OrgID: e.org, ProjectID: "prj_1", KeyID: "key_1", KeyPrefix: "swar_live_aaaaaa"}, nil
}

func (b *books) wantNothing(after string) {
	b.t.Helper()
	if all := b.next(); len(all) > 0 {
		b.t.Errorf("%s was recorded: %+v", after, all)
	}
}

// TestWhoHasSeenTheEndIsBilled reads the books as soon as an answer is complete.
func TestWhoHasSeenTheEndIsBilled(t *testing.T) {
	key, entry := newKey()
	b := newBooks(t)
	g := newRig(t, &script{}, func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
	for _, tt := range []struct{ body, want string }{
		{`{"text":"hello","request_id":"r-1","seed":7}`, "rest anjura wav 5/5 ok"},
		{`{"text":"hello","format":"opus","voice":"raj"}`, "rest raj opus 5/5 ok"},
		{`{"text":"hello","format":"pcm16"}`, "rest anjura pcm16 5/5 ok"},
		{`{"text":"hello","stream":false}`, "rest anjura wav 5/5 ok"},
		{`{"text":"hello","format":"pcm16","stream":false}`, "rest anjura pcm16 5/5 ok"},
		{`{"text":"hello","format":"opus","stream":false}`, "rest anjura opus 5/5 ok"},
	} {
		if a := g.speak(tt.body, "X-Api-Key", key); a.StatusCode != http.StatusOK || a.cut != nil {
			t.Fatalf("%s: status %d, %v", tt.body, a.StatusCode, a.cut)
		}
		e := b.want(tt.want)
		if e.KeyID != entry.Hash.KeyID() || e.KeyPrefix != entry.KeyPrefix || e.Playground {
			t.Errorf("billed to %+v, want %+v", e, entry)
		}
		if strings.Contains(tt.body, "r-1") && (e.RequestID != "r-1" || e.Seed != 7) {
			t.Errorf("recorded as request %q with seed %d", e.RequestID, e.Seed)
		}
	}
}

func TestWhatIsNotBilled(t *testing.T) {
	key, entry := newKey()
	entry.Voices = []string{"anjura"}
	b := newBooks(t)
	var failure error
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		switch failure {
		case nil:
			return speakFrames(u, sink, 1, 4)
		case speech.ErrBusy, speech.ErrWarming, speech.ErrNothingToSay:
			return speech.Stats{}, failure
		}
		st, err := speakFrames(u, sink, 1, 4)
		return st, errors.Join(err, failure)
	}}
	g := newRig(t, speaker, func(c *Config) { c.Keys, c.Meter = both{ringOf(entry), c.Keys}, meter.NewRecorder(b.log) })
	const body = `{"text":"hello","format":"pcm16"}`
	for name, refused := range map[string]struct {
		key, body string
		err       error
		status    int
	}{
		"no key":                 {"", body, nil, 401},
		"a wrong key":            {"wrong", body, nil, 401},
		"a bad request":          {key, `{"text":""}`, nil, 400},
		"a voice out of bounds":  {key, `{"text":"hello","voice":"raj"}`, nil, 403},
		"nothing to say":         {key, body, speech.ErrNothingToSay, 400},
		"a server that is busy":  {key, body, speech.ErrBusy, 503},
		"a server that is new":   {key, body, speech.ErrWarming, 503},
		"a key that nobody pays": {testKey, body, nil, 200},
	} {
		failure = refused.err
		if a := g.speak(refused.body, "X-Api-Key", refused.key); a.StatusCode != refused.status {
			t.Errorf("%s: status %d, want %d", name, a.StatusCode, refused.status)
		}
		b.wantNothing(name)
	}
	g.do(http.MethodPost, "/v1/normalize", body, "X-Api-Key", key)
	g.do(http.MethodGet, "/v1/voices", "", "X-Api-Key", key)
	b.wantNothing("a preview")

	for _, stream := range []string{"true", "false"} {
		for want, err := range map[string]error{
			"rest anjura pcm16 5/0 error worker gone":  speech.ErrWorkerGone,
			"rest anjura pcm16 5/0 timeout timeout":    speech.ErrTimeout,
			"rest anjura pcm16 5/0 error engine error": errors.New("secret path"),
		} {
			failure = err
			g.speak(`{"text":"hello","format":"pcm16","stream":`+stream+`}`, "X-Api-Key", key)
			b.want(want)
		}
	}
}

// both is two keyrings, the one after the other.
type both [2]access.Keyring

func (k both) Grant(ctx context.Context, p access.Credentials) (access.Grant, error) {
	if g, err := k[0].Grant(ctx, p); err == nil {
		return g, nil
	}
	return k[1].Grant(ctx, p)
}

func TestADefectEndsItsEvent(t *testing.T) {
	key, entry := newKey()
	b := newBooks(t)
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		_, _ = speakFrames(u, sink, 1, 4)
		panic("a defect")
	}}
	change := func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) }
	newRig(t, speaker, change).speak(`{"text":"hello","format":"pcm16","stream":false}`, "X-Api-Key", key)
	b.want("rest anjura pcm16 5/0 error engine error")
	s := newWSRig(t, speaker, change).connect("X-Api-Key", key)
	s.speak("a", "hello")
	s.until("error")
	b.want("ws anjura pcm16 5/0 error engine error")
	s.leave()
}

func TestAClientThatLeavesIsBilledForWhatWasMade(t *testing.T) {
	key, entry := newKey()
	b := newBooks(t)
	stage := newStage()
	g := newRig(t, stage, func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = g.try(ctx, http.MethodPost, "/v1/tts", `{"text":"hello","format":"pcm16"}`, "X-Api-Key", key)
	}()
	<-stage.spoke
	leave()
	<-gone
	<-stage.ended
	g.logs.wait(t, 1) // which comes after the event
	b.want("rest anjura pcm16 1/1 cancelled client disconnected")
}

func TestSocketsAreBilledByUtterance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, entry := newKey()
		ring := ringOf(entry)
		b := newBooks(t)
		stage := newStage()
		g, closeRig := newBubbleRig(t, stage, func(c *Config) { c.Keys, c.Meter = ring, meter.NewRecorder(b.log) })
		defer closeRig()
		s := g.connect("X-Api-Key", key)
		defer s.conn.Close()

		s.speak("a", "complete")
		s.until("first_audio_ms")
		stage.on <- struct{}{}
		s.until("end")
		if e := b.want("ws anjura pcm16 5/5 ok"); e.RequestID != "a" {
			t.Errorf("recorded as %q", e.RequestID)
		}

		s.speak("b", "cancelled")
		s.speak("c", "never begun")
		s.until("first_audio_ms")
		s.send(`{"type":"cancel"}`)
		s.until("cancelled")
		s.until("cancelled")
		if e := b.want("ws anjura pcm16 1/1 cancelled"); e.RequestID != "b" {
			t.Errorf("recorded as %q", e.RequestID)
		}

		s.send(`{"text":"","request_id":"d"}`)
		s.until("error")
		b.wantNothing("a refused message")

		s.speak("e", "revoked")
		s.until("first_audio_ms")
		time.Sleep(time.Second)
		ring.Apply(revoked(entry))
		s.until("error")
		b.want("ws anjura pcm16 1/1 cancelled invalid api key")
	})
}

// TestNoSecretIsLogged does with keys whatever can be done, and looks for them in everything that was logged and
// answered.
func TestNoSecretIsLogged(t *testing.T) {
	good, entry := newKey()
	unknown, _ := newKey()
	gone, goneEntry := newKey()
	ring := ringOf(entry, goneEntry)
	ring.Apply(revoked(goneEntry))
	var logged, complaints bytes.Buffer
	var mu sync.Mutex
	speaker := newStage()
	s, _ := newServer(t, speaker, func(c *Config) {
		c.Keys = ring
		c.Log = slog.New(slog.NewJSONHandler(&locked{w: &logged, mu: &mu},
			&slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	h := httptest.NewUnstartedServer(s)
	h.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(&locked{w: &complaints, mu: &mu}, nil), slog.LevelError)
	h.Start()
	g := &rig{t: t, server: s, addr: h.Listener.Addr().String(), url: h.URL, client: h.Client()}
	ws := &wsRig{t: t, server: s, dial: h.Client().Transport.(*http.Transport).DialContext,
		url: "ws" + strings.TrimPrefix(h.URL, "http"), waitLimit: 30 * time.Second}

	var answers bytes.Buffer
	for _, key := range []string{good, unknown, gone, good[:len(good)-1]} {
		for _, how := range [][]string{{"X-Api-Key", key}, {"X-Api-Key", "", "Authorization", "Bearer " + key},
			{"X-Api-Key", key, "X-Request-Id", "r"}} {
			for _, path := range []string{"/v1/voices", "/v1/tts/stream", "/v1/tts/stream?api_key=" + key,
				"/v1/nothing?api_key=" + key} {
				a := g.do(http.MethodGet, path, "", how...)
				fmt.Fprintln(&answers, a.Header, string(a.body))
			}
		}
		socket, res, err := ws.tryConnect("?api_key="+key, "X-Api-Key", "")
		if err != nil {
			fmt.Fprintln(&answers, res.Header, err)
			res.Body.Close()
			continue
		}
		socket.speak("a", "hello")
		socket.until("first_audio_ms")
		ring.Apply(revoked(entry))
		socket.until("error")
		socket.conn.Close()
	}
	h.Close()
	waitFor(t, s)
	mu.Lock()
	defer mu.Unlock()
	if logged.Len() == 0 || !strings.Contains(logged.String(), entry.Hash.KeyID()) {
		t.Fatal("nothing was logged that could hold a key")
	}
	for where, text := range map[string]string{"the log": logged.String(), "the log of net/http": complaints.String(),
		"an answer": answers.String()} {
		for _, key := range []string{good, unknown, gone} {
			secret := key[len(access.KeyHint(key)):] // 26 random characters and a checksum
			for _, part := range []string{secret, secret[:12], access.HashOf(key).String()} {
				if strings.Contains(text, part) {
					t.Errorf("%s holds %q of a key", where, part)
				}
			}
		}
	}
}

// locked is a writer for several goroutines, with the lock that its reader takes.
type locked struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
