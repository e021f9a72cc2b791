package serve

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// newKey is a key of org_1.
func newKey() (key string, e access.Entry) {
	key, hash := access.New(access.LivePrefix)
	return key, access.Entry{Hash: hash, OrgID: "org_1", ProjectID: "prj_1", KeyPrefix: access.KeyHint(key)}
}

func revoked(e access.Entry) []access.Entry { return []access.Entry{{Hash: e.Hash, Revoked: true}} }

func ringOf(entries ...access.Entry) *access.KeyCache {
	ring := access.NewKeyCache(access.KeyCacheConfig{})
	ring.Replace(entries)
	ring.PortalBack()
	return ring
}

// revoking is a server whose keys can end, and two of them.
type revoking struct {
	*wsRig
	ring       *access.KeyCache
	key, other string
	entry      access.Entry
}

// bubbleRevoking runs test in a synctest bubble.
func bubbleRevoking[S speech.Speaker](
	t *testing.T, speaker func() S, test func(t *testing.T, g revoking, speaker S), change ...func(*Config),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		key, entry := newKey()
		other, otherEntry := newKey()
		ring := ringOf(entry, otherEntry)
		s := speaker()
		g, closeRig := newBubbleRig(t, s, append(change, func(c *Config) { c.Keys = ring })...)
		defer closeRig()
		test(t, revoking{g, ring, key, other, entry}, s)
	})
}

func (g revoking) with(key string) *socket { return g.connect("X-Api-Key", key) }

func (g revoking) revoke() { g.ring.Apply(revoked(g.entry)) }

func TestARevokedKeyClosesIdleSockets(t *testing.T) {
	bubbleRevoking(t, newScript, func(t *testing.T, g revoking, _ *script) {
		s, same, other := g.with(g.key), g.with(g.key), g.with(g.other)
		defer s.conn.Close()
		defer same.conn.Close()
		begin := time.Now()
		g.revoke()
		s.wantClose(websocket.ClosePolicyViolation, "invalid api key")
		same.wantClose(websocket.ClosePolicyViolation, "invalid api key")
		if took := time.Since(begin); took != 0 {
			t.Errorf("the sockets closed after %v, want at once", took)
		}
		other.wantAlive()
		other.leave()
		_, res, err := g.tryConnect("", "X-Api-Key", g.key)
		if err == nil {
			t.Fatal("a revoked key opened a socket")
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("a handshake with a revoked key is answered %d, want 401", res.StatusCode)
		}
	})
}

func TestKeysWithoutSocketsAreNotWatched(t *testing.T) {
	bubbleRevoking(t, newScript, func(t *testing.T, g revoking, _ *script) {
		watched := func() int {
			synctest.Wait()
			g.server.sockets.mu.Lock()
			defer g.server.sockets.mu.Unlock()
			return len(g.server.sockets.keys)
		}
		first, second, other := g.with(g.key), g.with(g.key), g.with(g.other)
		for _, step := range []struct {
			leaves *socket
			want   int
		}{{first, 2}, {second, 1}, {other, 0}} {
			step.leaves.leave()
			if n := watched(); n != step.want {
				t.Errorf("%d keys are watched, want %d", n, step.want)
			}
		}
		again := g.with(g.key)
		defer again.conn.Close()
		g.revoke()
		again.wantClose(websocket.ClosePolicyViolation, "invalid api key")
		if n := watched(); n != 0 {
			t.Errorf("%d keys are watched, want none", n)
		}
	})
}

// endings reads until the server closes and returns the errors by utterance, and how many blocks of audio there were.
func (s *socket) endings() (errs map[string]string, audio int, closed error) {
	errs = map[string]string{}
	for {
		m, err := s.try()
		switch {
		case err != nil:
			return errs, audio, err
		case m.audio != nil:
			audio++
		case m.typ() == "error":
			errs[m.id()] += m.text
		}
	}
}

func TestARevokedKeyStopsWhatIsSpoken(t *testing.T) {
	bubbleRevoking(t, newStage, func(t *testing.T, g revoking, stage *stage) {
		s := g.with(g.key)
		defer s.conn.Close()
		s.speak("a", "first")
		s.speak("b", "second")
		s.speak("c", "third")
		s.until("first_audio_ms")
		synctest.Wait()
		g.revoke()
		errs, audio, closed := s.endings()
		for _, id := range []string{"a", "b", "c"} {
			if want := `{"type":"error","request_id":"` + id +
				`","error":"invalid api key","status":401,"code":"invalid_key"}`; errs[id] != want {
				t.Errorf("utterance %s ended with %s, want %s", id, errs[id], want)
			}
		}
		if audio != 0 {
			t.Errorf("%d blocks of audio came after the revocation", audio)
		}
		if !websocket.IsCloseError(closed, websocket.ClosePolicyViolation) {
			t.Errorf("the socket ended with %v, want close 1008", closed)
		}
		if err := <-stage.ended; !errors.Is(err, access.ErrInvalidKey) {
			t.Errorf("the speaker ended with %v, want %v", err, access.ErrInvalidKey)
		}
		if n := len(stage.spoke); n != 1 {
			t.Errorf("%d utterances were begun, want 1", n)
		}
		if got := g.counted("ws", 401); got != 3 {
			t.Errorf("counted %v times as 401, want 3", got)
		}
	})
}

func TestAKeyThatExpiresClosesSockets(t *testing.T) {
	bubbleRevoking(t, newStage, func(t *testing.T, g revoking, stage *stage) {
		entry := g.entry
		entry.ExpiresAt = time.Now().Add(time.Minute)
		g.ring.Apply([]access.Entry{entry})
		s := g.with(g.key)
		defer s.conn.Close()
		begin := time.Now()
		s.speak("a", "hello")
		s.until("first_audio_ms")
		s.wantError("a", 401, "invalid api key", "invalid_key")
		s.wantClose(websocket.ClosePolicyViolation, "invalid api key")
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("the socket closed after %v, want a minute", took)
		}
		<-stage.ended
	})
}

func TestARevokedKeyWhileDraining(t *testing.T) {
	bubbleRevoking(t, newStage, func(_ *testing.T, g revoking, stage *stage) {
		s := g.with(g.key)
		defer s.conn.Close()
		s.speak("a", "hello")
		s.until("first_audio_ms")
		g.server.Drain()
		g.revoke()
		s.wantError("a", 401, "invalid api key", "invalid_key")
		s.wantClose(websocket.ClosePolicyViolation, "invalid api key")
		<-stage.ended
	})
}

func TestAKeyThatIsRevokedDuringTheHandshake(t *testing.T) {
	bubbleRevoking(t, newScript, func(_ *testing.T, g revoking, _ *script) {
		ended := make(chan struct{})
		close(ended)
		g.server.cfg.Keys = grants{KeyID: "key_1", Ended: ended}
		s := g.connect()
		defer s.conn.Close()
		s.wantClose(websocket.ClosePolicyViolation, "invalid api key")
	})
}

// grants gives everybody the same grant.
type grants access.Grant

func (g grants) Grant(context.Context, access.Credentials) (access.Grant, error) {
	return access.Grant(g), nil
}

func TestARevokedClientThatDoesNotRead(t *testing.T) {
	bubbleRevoking(t, newStream, func(t *testing.T, g revoking, stream *stream) {
		s := g.with(g.key)
		defer s.conn.Close()
		s.speak("a", "hello")
		synctest.Wait() // its buffer is full
		g.revoke()
		synctest.Wait()
		select {
		case err := <-stream.ended:
			if !errors.Is(err, access.ErrInvalidKey) && !errors.Is(err, errStopped) {
				t.Errorf("the speaker ended with %v", err)
			}
		default:
			t.Error("the speaker goes on")
		}
		time.Sleep(closeGrace + 2*leaveGrace)
		synctest.Wait()
		if n := metricOf(t, g.server, "tts_websockets_open"); n != 0 {
			t.Errorf("%v sockets are open", n)
		}
	}, littleSpool)
}

func TestARevokedKeyLeavesAnswersThatHaveBegun(t *testing.T) {
	key, entry := newKey()
	ring := ringOf(entry)
	for name, stream := range map[string]string{"streamed": "true", "buffered": "false"} {
		t.Run(name, func(t *testing.T) {
			ring.Replace([]access.Entry{entry})
			stage := newStage()
			g := newRig(t, stage, func(c *Config) { c.Keys = ring })
			answers := make(chan answered, 1)
			go func() {
				a, _ := g.try(t.Context(), http.MethodPost, "/v1/tts",
					`{"text":"hello","format":"pcm16","stream":`+stream+`}`, "X-Api-Key", key)
				answers <- a
			}()
			<-stage.spoke
			ring.Apply(revoked(entry))
			g.do(http.MethodGet, "/v1/voices", "", "X-Api-Key", key).wantError(t, 401, "invalid api key", "invalid_key")
			stage.on <- struct{}{}
			if a := <-answers; a.Response == nil || a.StatusCode != http.StatusOK || a.cut != nil ||
				!slices.Equal(a.body, frames(0, 5)) {
				t.Errorf("the answer that had begun ended with %d bytes, %v", len(a.body), a.cut)
			}
			if err := <-stage.ended; err != nil {
				t.Errorf("the speaker ended with %v", err)
			}
		})
	}
}

func TestThePortalIsAway(t *testing.T) {
	known, entry := newKey()
	unknown, _ := newKey()
	ring := ringOf(entry)
	ring.PortalLost()
	g := newRig(t, &script{}, func(c *Config) { c.Keys = ring })
	if a := g.do(http.MethodGet, "/v1/voices", "", "X-Api-Key", known); a.StatusCode != http.StatusOK {
		t.Errorf("a known key is answered %d", a.StatusCode)
	}
	for _, path := range []string{"/v1/voices", "/v1/tts/stream"} {
		g.do(http.MethodGet, path, "", "X-Api-Key", unknown).wantError(t, 503, "portal unavailable",
			"portal_unavailable")
		g.do(http.MethodGet, path, "", "X-Api-Key", "junk").wantError(t, 401, "invalid api key", "invalid_key")
	}
}

func TestABoundKeyNeedsItsOrigin(t *testing.T) {
	key, entry := newKey()
	entry.Origin = "https://app.example"
	g := newWSRig(t, &script{}, func(c *Config) { c.Keys = ringOf(entry) })
	g.connect("X-Api-Key", key, "Origin", "https://app.example").leave()
	for _, origin := range []string{"", "https://evil.example"} {
		s, res, err := g.tryConnect("", "X-Api-Key", key, "Origin", origin)
		if err == nil {
			s.conn.Close()
			t.Errorf("a page of %q may connect", origin)
			continue
		}
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("a page of %q is answered %d, want 401", origin, res.StatusCode)
		}
		res.Body.Close()
	}
}

// TestGuessesAreHeldBackByAddress: the guard is told the client's address, also behind a proxy.
func TestGuessesAreHeldBackByAddress(t *testing.T) {
	var seen []access.Credentials
	s, _ := newServer(t, &script{}, func(c *Config) {
		c.Keys = keyringFunc(func(p access.Credentials) (access.Grant, error) {
			seen = append(seen, p)
			return access.Grant{}, access.ErrInvalidKey
		})
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/voices", nil)
	r.RemoteAddr = "203.0.113.7:999"
	r.Header.Set("X-Api-Key", "wrong")
	r.Header.Set("Origin", "https://app.example")
	s.ServeHTTP(httptest.NewRecorder(), r)
	if len(seen) != 1 || seen[0].Key != "wrong" || seen[0].Origin != "https://app.example" ||
		seen[0].IP.String() != "203.0.113.7" {
		t.Errorf("presented: %+v", seen)
	}
}

type keyringFunc func(access.Credentials) (access.Grant, error)

func (f keyringFunc) Grant(_ context.Context, p access.Credentials) (access.Grant, error) {
	return f(p)
}

// change gives the key of the rig other properties, as an owner does in the portal.
func (g revoking) change(change func(*access.Entry)) {
	changed := g.entry
	change(&changed)
	g.ring.Apply([]access.Entry{changed})
}

func TestANarrowedKeyHoldsFromTheNextUtteranceOn(t *testing.T) {
	bubbleRevoking(t, newScript, func(t *testing.T, g revoking, _ *script) {
		s := g.with(g.key)
		s.speak("a", "first")
		s.until("end")
		g.change(func(e *access.Entry) { e.Voices = []string{"raj"} })
		s.speak("b", "second")
		s.wantError("b", 403, "voice anjura not allowed for this key", "voice_not_allowed")
		s.send(`{"request_id":"c","text":"third","voice":"raj"}`)
		s.until("end")
		g.change(func(e *access.Entry) { e.Voices = nil })
		s.speak("d", "fourth") // it may become wider, too
		s.until("end")
		s.leave()
		if got := g.counted("ws", 403); got != 1 {
			t.Errorf("counted %v times as 403, want 1", got)
		}
	})
}

func TestANarrowedKeyHoldsForWhatWaits(t *testing.T) {
	bubbleRevoking(t, newStage, func(t *testing.T, g revoking, stage *stage) {
		s := g.with(g.key)
		defer s.conn.Close()
		s.speak("a", "first")
		s.speak("b", "second")
		s.until("first_audio_ms")
		synctest.Wait()
		g.change(func(e *access.Entry) { e.Voices = []string{"raj"} })
		stage.on <- struct{}{}
		<-stage.ended
		// What has begun goes on. What can be said of the other one without a worker may overtake its audio.
		for ended, refused := false, false; !ended || !refused; {
			switch m := s.next(); m.typ() {
			case "end":
				ended = m.id() == "a"
			case "error":
				refused = m.id() == "b" && m.event["code"] == "voice_not_allowed"
			}
		}
		s.wantAlive()
		if n := len(stage.spoke); n != 1 {
			t.Errorf("%d utterances were begun, want 1", n)
		}
	})
}

func TestAKeyThatIsBoundToAnotherOriginSpeaksNoMore(t *testing.T) {
	bubbleRevoking(t, newScript, func(_ *testing.T, g revoking, _ *script) {
		s := g.connect("X-Api-Key", g.key, "Origin", "https://app.example")
		defer s.conn.Close()
		s.speak("a", "first")
		s.until("end")
		g.change(func(e *access.Entry) { e.Origin = "https://other.example" })
		s.speak("b", "second")
		s.wantError("b", 401, "invalid api key", "invalid_key")
		g.change(func(e *access.Entry) { e.Origin = "https://app.example" })
		s.speak("c", "third")
		s.until("end")
	})
}

// An open socket is no way around the end of the grace: a key that was revoked meanwhile would speak on for ever.
func TestAnOpenSocketWhileThePortalIsAway(t *testing.T) {
	bubbleRevoking(t, newScript, func(_ *testing.T, g revoking, _ *script) {
		g.ring.PortalLost()
		time.Sleep(50 * time.Second)
		s := g.with(g.key)
		defer s.conn.Close()
		time.Sleep(10*time.Second - time.Nanosecond)
		s.speak("a", "first")
		s.until("end")
		time.Sleep(time.Nanosecond)
		s.speak("b", "second")
		s.wantError("b", 503, "portal unavailable", "portal_unavailable")
		g.ring.PortalBack()
		s.speak("c", "third")
		s.until("end")
	})
}

func TestUtterancesCountAsUsesOfTheKey(t *testing.T) {
	bubbleRevoking(t, newScript, func(t *testing.T, g revoking, _ *script) {
		s := g.with(g.key)
		defer s.conn.Close()
		g.ring.LastUsed()
		time.Sleep(10 * time.Second)
		s.speak("a", "first")
		s.until("end")
		if used := g.ring.LastUsed()[g.entry.Hash.KeyID()]; !used.Equal(time.Now()) {
			t.Errorf("the key was last used at %v, want now, %v", used, time.Now())
		}
	})
}
