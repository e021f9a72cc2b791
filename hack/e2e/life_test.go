//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// longText is spoken for a minute or two, so that there is time to do something meanwhile.
var longText = strings.Repeat("Aapka order kal tak deliver ho jayega, aap please ghar par rahiye. ", 40)

// speakSlowly starts a long stream and stops reading after its first frame.
func speakSlowly(t *testing.T, s *server) *http.Response {
	t.Helper()
	return beginToSpeak(t, s, longText)
}

func beginToSpeak(t *testing.T, s *server, text string) *http.Response {
	t.Helper()
	resp, err := s.post(t.Context(), "/v1/tts", body(t, map[string]any{"text": text, "format": "pcm16"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 3840)); err != nil {
		t.Fatalf("first frame: %v (status %s)", err, resp.Status)
	}
	return resp
}

func eventually(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	deadline := time.After(within)
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		if ok() {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("not within %v: %s", within, what)
			return
		}
	}
}

// espeaks is how many espeak-ng processes the server has.
func (s *server) espeaks(t *testing.T) (n int) {
	t.Helper()
	for _, pid := range s.pids() {
		n += len(espeaks(t, pid))
	}
	return n
}

func TestKillLeavesNoEspeakBehind(t *testing.T) {
	s := start(t, "--workers", "2")
	resp := speakSlowly(t, s)
	defer resp.Body.Close()
	if s.espeaks(t) == 0 {
		t.Fatal("no espeak-ng is running: the test tests nothing")
	}
	orphans := len(espeaks(t, 1))
	s.kill(t)
	eventually(t, "every espeak-ng of the killed server is gone", 3*time.Second, func() bool {
		return s.espeaks(t) == 0 && len(espeaks(t, 1)) <= orphans
	})
}

func TestTermDrains(t *testing.T) {
	s := start(t, "--workers", "1")
	resp := speakSlowly(t, s)
	defer resp.Body.Close()
	s.term(t)
	eventually(t, "new work is refused or the door is closed", 5*time.Second, func() bool {
		r, err := s.post(t.Context(), "/v1/tts", `{"text":"naya"}`)
		if err != nil {
			return true
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusServiceUnavailable
	})
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.Trailer.Get("x-audio-s") == "" {
		t.Errorf("the running stream ended after %d more bytes with %v, trailers %v; want it complete", n, err,
			resp.Trailer)
	}
	s.wait(t)
}

func TestDisconnectFreesTheWorker(t *testing.T) {
	s := start(t, "--workers", "1", "--spool", "0") // so that the worker waits for its listener
	resp := speakSlowly(t, s)
	_ = resp.Body.Close()
	eventually(t, "the worker speaks again", 2*time.Second, func() bool {
		r, err := s.post(t.Context(), "/v1/tts", `{"text":"phir se","stream":false}`)
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	eventually(t, "what spoke is gone but for one process that waits for the next text", 2*time.Second, func() bool {
		return s.espeaks(t) <= 1
	})
}

// TestSaturation fills one worker and its queue: everything else is refused as busy, and what was accepted is complete.
func TestSaturation(t *testing.T) {
	s := start(t, "--workers", "1", "--spool", "0") // so that one listener holds the worker
	held := speakSlowly(t, s)
	var mu sync.Mutex
	count := map[string]int{}
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			began := time.Now()
			resp, err := s.post(context.WithoutCancel(t.Context()), "/v1/tts", `{"text":"ek do teen","format":"pcm16"}`)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			got := fmt.Sprint(resp.StatusCode)
			if resp.StatusCode == http.StatusServiceUnavailable {
				got += " " + strings.TrimSpace(string(b)) + " " + resp.Header.Get("Retry-After")
				if took := time.Since(began); took > 2500*time.Millisecond {
					t.Errorf("refused after %v", took)
				}
			} else if err != nil || resp.Trailer.Get("x-audio-s") == "" {
				t.Errorf("an accepted stream was cut: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			count[got]++
		})
	}
	eventually(t, "22 requests are refused at once", 5*time.Second, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return count[`503 {"error":"busy"} 1`] >= 22
	})
	_ = held.Body.Close() // the worker is free now, and the eight that wait get it one by one
	all.Wait()
	if count["200"]+count[`503 {"error":"busy"} 1`] != 30 || count["200"] == 0 || count["200"] > 8 {
		t.Errorf("answers: %v; want at most eight 200 and the rest busy", count)
	}
}

func TestHostileClients(t *testing.T) {
	s := start(t, "--workers", "1")
	address := strings.TrimPrefix(s.base, "http://")
	speaks := func(when string) {
		t.Helper()
		resp, err := s.post(t.Context(), "/v1/tts", `{"text":"theek hai","stream":false}`)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %s", when, resp.Status)
		}
	}

	resp, err := http.Post(s.base+"/v1/tts", "application/json", bytes.NewReader(make([]byte, 20<<20)))
	if err == nil {
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("20 MB: %s, want 413", resp.Status)
		}
		_ = resp.Body.Close()
	} else if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("20 MB: %v", err)
	}
	speaks("after 20 MB")

	for _, text := range []string{`"\u0000"`, `"\ud800"`, `"a\u0001\u0002"`, `[`, `{}`, `null`,
		strings.Repeat("[", 5000)} {
		resp, err := s.post(t.Context(), "/v1/tts", `{"text":`+text+`}`)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode >= 500 {
			t.Errorf("text %.20s: %s", text, resp.Status)
		}
	}
	resp, err = s.post(t.Context(), "/v1/tts", `{"text":"hello","request_id":"a\r\nx-evil: 1"}`)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("x-evil") != "" {
		t.Errorf("CR LF in a request id: %s, headers %v", resp.Status, resp.Header)
	}

	var slow []net.Conn
	for range 200 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nContent-Le"); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	speaks("with 200 half-sent requests")
	if err := slow[0].SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(slow[0]); errors.Is(err, context.DeadlineExceeded) {
		t.Error("a half-sent request was never closed")
	}

	neverReads(t, address)
	speaks("with a reader that never reads")
}

// neverReads asks for a long text and reads nothing of it.
func neverReads(t *testing.T, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	b := body(t, map[string]any{"text": longText, "format": "pcm16"})
	fmt.Fprintf(c, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(b), b)
}

// TestAReaderThatNeverReadsLosesItsWorker after ten seconds, where there is no spool that lets the worker go at once.
func TestAReaderThatNeverReadsLosesItsWorker(t *testing.T) {
	s := start(t, "--workers", "1", "--spool", "0")
	neverReads(t, strings.TrimPrefix(s.base, "http://"))
	s.until(t, "it is spoken to", func(h health) bool { return h.Busy == 1 })
	time.Sleep(8 * time.Second)
	if busy := s.health(t).Busy; busy != 1 {
		t.Errorf("%d workers are busy after 8 s, want the one that waits", busy)
	}
	eventually(t, "the worker of a reader that never reads is free", 20*time.Second, func() bool {
		resp, err := s.post(t.Context(), "/v1/tts", `{"text":"theek hai","stream":false}`)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}
