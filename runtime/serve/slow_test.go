package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// inBubble serves speaker in virtual time.
func inBubble(t *testing.T, speaker speech.Speaker, test func(t *testing.T, g *rig, dial func() net.Conn),
	change ...func(*Config)) {
	synctest.Test(t, func(t *testing.T) { serveInBubble(t, speaker, test, change...) })
}

// serveInBubble is [inBubble] for a test that is in a bubble already. Its connections have no buffer: what is written
// waits until it is read.
func serveInBubble(t *testing.T, speaker speech.Speaker, test func(t *testing.T, g *rig, dial func() net.Conn),
	change ...func(*Config)) {
	s, logs := newServer(t, speaker, change...)
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	h := &http.Server{Handler: s, ErrorLog: log.New(failOnWrite{t}, "", 0)}
	var wg sync.WaitGroup
	wg.Go(func() { _ = h.Serve(l) })
	defer wg.Wait()
	defer h.Close()
	test(t, &rig{t: t, server: s, logs: logs}, func() net.Conn {
		conn, err := l.dial(t.Context(), "", "")
		if err != nil {
			t.Error(err)
		}
		return conn
	})
}

// post sends a whole request.
func post(t *testing.T, conn net.Conn, body string) {
	t.Helper()
	_, err := fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		testKey, len(body), body)
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, r *bufio.Reader) answered {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	a := answered{Response: res}
	a.body, a.cut = io.ReadAll(res.Body)
	return a
}

// forever speaks a frame every pause until somebody stops it.
func forever(pause time.Duration) *script {
	return &script{SpeakFunc: func(ctx context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		st.Started = true
		if err := sink.Start(startOf(u)); err != nil {
			return st, err
		}
		for {
			st.Frames++
			if err := sink.Audio(speech.Audio{Frames: 1, Data: frames(st.Frames-1, 1)}); err != nil {
				return st, err
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return st, context.Cause(ctx)
			}
		}
	}}
}

func TestBodyThatDoesNotCome(t *testing.T) {
	tests := []struct{ sentence, headers, body string }{
		{"nothing of it", "Content-Length: 100\r\n", ""},
		{"a part of it", "Content-Length: 100\r\n", `{"text":`},
		{"a part of it, chunked", "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			inBubble(t, &script{}, func(t *testing.T, _ *rig, dial func() net.Conn) {
				conn, begin := dial(), time.Now()
				defer conn.Close()
				fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n%s\r\n%s", testKey,
					tt.headers, tt.body)
				r := bufio.NewReader(conn)
				got := read(t, r)
				got.wantError(t, 408, "request body was not received in time", "timeout")
				if took := time.Since(begin); took != bodyTime {
					t.Errorf("answered after %v, want %v", took, bodyTime)
				}
				if _, err := r.ReadByte(); !got.Close || err != io.EOF {
					t.Errorf("close = %v and then %v; want the connection closed", got.Close, err)
				}
			})
		})
	}
}

// TestRefusalDoesNotWaitForTheBody for ever, although net/http wants to read it first.
func TestRefusalDoesNotWaitForTheBody(t *testing.T) {
	inBubble(t, &script{}, func(t *testing.T, _ *rig, dial func() net.Conn) {
		conn, begin := dial(), time.Now()
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
		read(t, bufio.NewReader(conn)).wantError(t, 401, "missing x-api-key", "missing_key")
		if took := time.Since(begin); took > bodyTime {
			t.Errorf("answered after %v", took)
		}
	})
}

func TestBodyInTimeHasNoDeadlineAfterwards(t *testing.T) {
	inBubble(t, &script{SpeakFunc: func(ctx context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		select {
		case <-time.After(80 * time.Second): // far beyond the time for the body
			return speakFrames(u, sink, 1)
		case <-ctx.Done():
			return speech.Stats{}, context.Cause(ctx)
		}
	}}, func(t *testing.T, _ *rig, dial func() net.Conn) {
		conn := dial()
		defer conn.Close()
		const body = `{"text":"Hi"}`
		fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n",
			testKey, len(body))
		time.Sleep(bodyTime - time.Second - time.Nanosecond)
		io.WriteString(conn, body[:5])
		time.Sleep(time.Second)
		io.WriteString(conn, body[5:])
		if got := read(t, bufio.NewReader(conn)); got.StatusCode != http.StatusOK || got.cut != nil {
			t.Errorf("status %d, %v: %s", got.StatusCode, got.cut, got.body)
		}
	})
}

// smallSpool is full after a block of four frames.
func smallSpool(c *Config) { c.Spool = groupBlock }

// spokenAt notes when each utterance has been spoken and its worker is free again.
func spokenAt(speaker *script) (_ *script, ended chan time.Time) {
	ended = make(chan time.Time, 64)
	return &script{SpeakFunc: func(ctx context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		defer func() { ended <- time.Now() }()
		return speaker.Speak(ctx, u, speech.Turn{}, sink)
	}}, ended
}

// TestReaderThatNeverReads is given up, in every format alike: after 10 s while a worker waits for it, else after 30
// s, and the worker has been free for long.
func TestReaderThatNeverReads(t *testing.T) {
	for name, tt := range map[string]struct {
		speaker      *script
		change       func(*Config)
		worker, gone time.Duration // when they are free, and given up
	}{
		"while the spool takes all": {newScript(), func(*Config) {}, 0, stallLimit},
		"while the spool is full": {forever(time.Millisecond), smallSpool,
			holdLimit + 2*time.Millisecond, holdLimit + 2*time.Millisecond},
		"while it is just not full": {forever(100 * time.Second), smallSpool, stallLimit, stallLimit},
		"where there is no spool": {forever(time.Millisecond), func(c *Config) { c.Spool = -1 },
			holdLimit + time.Millisecond, holdLimit + time.Millisecond},
		"the spool is full later on": {forever(5 * time.Second), smallSpool,
			holdLimit + 10*time.Second, holdLimit + 10*time.Second},
	} {
		for _, format := range []speech.Format{speech.PCM16, speech.WAV, speech.Opus} {
			t.Run(name+", "+string(format), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					watched, ended := spokenAt(tt.speaker)
					serveInBubble(t, watched, func(t *testing.T, g *rig, dial func() net.Conn) {
						conn, begin := dial(), time.Now()
						defer conn.Close()
						post(t, conn, fmt.Sprintf(`{"text":"Hi","format":%q}`, format))
						line := g.logs.wait(t, 1)[0]
						if took := time.Since(begin); took != tt.gone {
							t.Errorf("the client was given up after %v, want %v", took, tt.gone)
						}
						if held := (<-ended).Sub(begin); held != tt.worker {
							t.Errorf("the worker was held for %v, want %v", held, tt.worker)
						}
						why := fmt.Sprint(line["error"])
						if line["status"] != "cancelled" || !strings.Contains(why, "client too slow") {
							t.Errorf("logged %v", line)
						}
						if got := g.metric(`tts_requests_total{endpoint="rest",status="cancelled"}`); got != 1 {
							t.Errorf("cancelled = %v, want 1", got)
						}
						if use := g.server.budget.use(); use.bytes != 0 {
							t.Errorf("%d bytes stay in the spool", use.bytes)
						}
					}, tt.change)
				})
			})
		}
	}
}

func TestReaderThatStopsReading(t *testing.T) {
	inBubble(t, forever(0), func(t *testing.T, g *rig, dial func() net.Conn) {
		conn := dial()
		defer conn.Close()
		post(t, conn, `{"text":"Hi"}`)
		if _, err := io.CopyN(io.Discard, conn, 100_000); err != nil {
			t.Fatal(err)
		}
		if line := g.logs.wait(t, 1)[0]; line["status"] != "cancelled" {
			t.Errorf("logged %v", line)
		}
		if rest, err := io.ReadAll(conn); len(rest) > 0 || err != nil {
			t.Errorf("%d more bytes, %v; want a cut", len(rest), err)
		}
	}, smallSpool)
}

func TestReaderOfABufferedAnswerThatNeverReads(t *testing.T) {
	inBubble(t, &script{}, func(t *testing.T, g *rig, dial func() net.Conn) {
		conn, begin := dial(), time.Now()
		defer conn.Close()
		post(t, conn, `{"text":"Hi","stream":false}`)
		line := g.logs.wait(t, 1)[0]
		if took := time.Since(begin); took != stallLimit || line["status"] != "cancelled" {
			t.Errorf("ended after %v, logged %v", took, line)
		}
	})
}

// TestSlowButSteadyReader takes each block in time, although all of them take long. A pipe has no buffer, so a block is
// only gone when the reader comes back for the next one.
func TestSlowButSteadyReader(t *testing.T) {
	const blocks = 12
	inBubble(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		ones := make([]int, blocks)
		for i := range ones {
			ones[i] = 1
		}
		return speakFrames(u, sink, ones...)
	}}, func(t *testing.T, _ *rig, dial func() net.Conn) {
		conn := dial()
		defer conn.Close()
		post(t, conn, `{"text":"Hi"}`)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var body []byte
		for range blocks {
			time.Sleep(stallLimit/4 - time.Millisecond)
			frame := make([]byte, speech.FrameBytes)
			if _, err := io.ReadFull(res.Body, frame); err != nil {
				t.Fatal(err)
			}
			body = append(body, frame...)
		}
		if _, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(body, frames(0, blocks)) {
			t.Errorf("%d bytes, %v", len(body), err)
		}
	})
}

// TestLimitOf120Seconds is end to end: the time that the body took counts.
func TestLimitOf120Seconds(t *testing.T) {
	mute := &script{SpeakFunc: func(ctx context.Context, _ speech.Utterance, _ speech.Sink) (speech.Stats, error) {
		<-ctx.Done()
		return speech.Stats{Started: true}, context.Cause(ctx)
	}}
	tests := []struct {
		sentence, body string
		speaker        *script
		frames         int // that arrive before the cut; 0: an answer of 504
	}{
		{"a stream is cut", `{"text":"Hi"}`, forever(time.Second), 101},
		{"a stream without a frame is refused", `{"text":"Hi"}`, mute, 0},
		{"a buffered answer is refused", `{"text":"Hi","stream":false}`, forever(time.Second), 0},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			inBubble(t, tt.speaker, func(t *testing.T, g *rig, dial func() net.Conn) {
				conn, begin := dial(), time.Now()
				defer conn.Close()
				fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n",
					testKey, len(tt.body))
				time.Sleep(19*time.Second + time.Millisecond)
				io.WriteString(conn, tt.body)
				got := read(t, bufio.NewReader(conn))
				if took := time.Since(begin); took != speech.UtteranceTimeout {
					t.Errorf("ended after %v, want %v", took, speech.UtteranceTimeout)
				}
				if tt.frames == 0 {
					got.wantError(t, 504, "timeout", "timeout")
				} else if got.StatusCode != http.StatusOK || len(got.body) != tt.frames*speech.FrameBytes ||
					!errors.Is(got.cut, io.ErrUnexpectedEOF) {
					t.Errorf("status %d, %d bytes, %v; want %d frames and a cut", got.StatusCode, len(got.body),
						got.cut, tt.frames)
				}
				g.logs.wait(t, 1)
				if got := g.metric(`tts_requests_total{endpoint="rest",status="504"}`); got != 1 {
					t.Errorf("requests with status 504 = %v, want 1", got)
				}
			})
		})
	}
}

// TestWriteNeverOutlastsTheLimit: a reader that stops just before the limit has until then, not ten seconds.
func TestWriteNeverOutlastsTheLimit(t *testing.T) {
	inBubble(t, forever(time.Second), func(t *testing.T, g *rig, dial func() net.Conn) {
		conn, begin := dial(), time.Now()
		defer conn.Close()
		post(t, conn, `{"text":"Hi"}`)
		go func() {
			conn.SetReadDeadline(begin.Add(115 * time.Second))
			io.Copy(io.Discard, conn)
		}()
		line := g.logs.wait(t, 1)[0]
		if took := time.Since(begin); took != speech.UtteranceTimeout {
			t.Errorf("ended after %v, want %v", took, speech.UtteranceTimeout)
		}
		if line["status"] != 504.0 {
			t.Errorf("logged %v", line)
		}
	})
}

// TestDeadlinesDoNotOutliveTheirRequest: a connection that rests for minutes serves the next request as well as the
// first.
func TestDeadlinesDoNotOutliveTheirRequest(t *testing.T) {
	inBubble(t, &script{}, func(t *testing.T, _ *rig, dial func() net.Conn) {
		conn := dial()
		defer conn.Close()
		r := bufio.NewReader(conn)
		for _, body := range []string{`{"text":"Hi"}`, `{`, `{"text":"Hi","stream":false}`, `{"text":"Hi"}`} {
			post(t, conn, body)
			if got := read(t, r); got.cut != nil || got.StatusCode == http.StatusRequestTimeout {
				t.Errorf("%s: status %d, %v", body, got.StatusCode, got.cut)
			}
			time.Sleep(5 * time.Minute)
		}
	})
}
