package dataplane

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	router "github.com/swar-tts/swar/runtime/dataplane"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/serve"
	"github.com/swar-tts/swar/runtime/speech"
)

// The test program is also the front end that it tests, when this variable tells it where the portal is.
const frontEndEnv = "DATAPLANE_TEST_FRONT_END"

// serveSpeech is a front end in a process of its own: keys by the dataplane, speech that never ends by itself. It says
// where it listens, and ends with its standard input.
func serveSpeech(portal string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "front end:", err)
			os.Exit(1)
		}
	}
	cache := access.NewKeyCache(access.KeyCacheConfig{})
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	client, err := router.NewClient(router.ClientConfig{Addr: portal, Credentials: grpcauthtest.Shared(testToken)},
		cache, log)
	fail(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- client.Run(ctx) }()
	<-cache.Ready()

	voice := endless{}
	s, err := serve.New(serve.Config{
		Speaker: voice, Keys: cache, Metrics: metrics.New().RegisterAPI(metrics.StreamsOf(voice.Capacity)),
		Log: slog.New(slog.DiscardHandler),
	})
	fail(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	h := &http.Server{Handler: s, ReadHeaderTimeout: testTimeout}
	go func() { _ = h.Serve(l) }()
	fmt.Println(l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	fail(<-ended)
	h.Close()
}

// endless speaks a frame every 80 ms until it is stopped.
type endless struct{}

func (endless) Speak(
	ctx context.Context, u speech.Utterance, _ speech.Turn, to speech.Sink,
) (st speech.Stats, err error) {
	st.Started = true
	if err := to.Start(speech.Start{Voice: u.Voice, Format: u.Format, Chunks: 1, Normalized: u.Text}); err != nil {
		return st, err
	}
	if err := to.ChunkStart(speech.Chunk{Text: u.Text}); err != nil {
		return st, err
	}
	tick := time.NewTicker(speech.FrameDuration)
	defer tick.Stop()
	for {
		st.Frames++
		if err := to.Audio(speech.Audio{Frames: 1, Data: make([]byte, speech.FrameBytes)}); err != nil {
			return st, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return st, context.Cause(ctx)
		}
	}
}

func (endless) Normalize(context.Context, speech.Utterance) (speech.Normalized, error) {
	return speech.Normalized{}, nil
}

func (endless) Model() speech.Model {
	return speech.Model{ID: "endless", Voices: []speech.Voice{{Name: speech.DefaultVoice}}}
}

func (e endless) Ready() error { return e.Capacity().Readiness() }

func (endless) Capacity() speech.Capacity { return speech.Capacity{Workers: 1000, Ready: 1000} }

// process starts a front end and returns where it listens.
func process(t *testing.T, portal string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), frontEndEnv+"="+portal)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("front end: %v", err)
		}
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the front end does not say where it listens: %v", err)
	}
	return strings.TrimSpace(addr)
}

// farewell is how a socket ended.
type farewell struct {
	at    time.Time
	err   error
	event string // the last one
}

// watchSocket connects with a key and reads until the connection ends. With speaking it has something spoken first.
func watchSocket(t *testing.T, addr, secret string, speaking bool) <-chan farewell {
	t.Helper()
	conn, res, err := websocket.DefaultDialer.Dial("ws://"+addr+"/v1/tts/stream?api_key="+secret, nil)
	if err != nil {
		t.Fatalf("connecting: %v (%+v)", err, res)
	}
	t.Cleanup(func() { conn.Close() })
	spoke := make(chan struct{})
	ended := make(chan farewell, 1)
	go func() {
		var c farewell
		heard := false
		for {
			kind, data, err := conn.ReadMessage()
			if err != nil {
				c.at, c.err = time.Now(), err
				ended <- c
				return
			}
			if kind == websocket.TextMessage {
				c.event = string(data)
			} else if !heard {
				heard = true
				close(spoke)
			}
		}
	}()
	if speaking {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"text":"Namaste","request_id":"a"}`)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-spoke:
		case <-time.After(testTimeout):
			t.Fatal("nothing is spoken")
		}
	}
	return ended
}

func statusOf(t *testing.T, addr, secret string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+addr+"/v1/voices", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestRevocationReachesTwoProcesses revokes keys as the portal does, and times until the sockets of two front ends are
// closed, from before the revocation is asked for: its commit is part of that.
func TestRevocationReachesTwoProcesses(t *testing.T) {
	const orgs, keysOfOne, speaking = 4, tenant.MaxActiveKeys, 20
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			store := open(t)
			rules := tenant.New(tenant.Config{Voices: func() []string { return []string{speech.DefaultVoice} }}, store)
			owner := tenant.User{ID: "user_1", Email: "owner@example.com"}
			var made []tenant.CreatedKey
			for i := range orgs {
				org, err := rules.CreateOrg(t.Context(), owner, fmt.Sprint("Organisation ", i), tenant.Idempotency{})
				if err != nil {
					t.Fatal(err)
				}
				for k := range keysOfOne {
					key, err := rules.CreateKey(t.Context(), owner, org.Projects[0].ID, fmt.Sprint("Key ", k), nil,
						tenant.Idempotency{})
					if err != nil {
						t.Fatal(err)
					}
					made = append(made, key)
				}
			}
			p := newPortal(t, store, func(p *portal) { p.cfg.Heartbeat = 0 })
			fronts := []string{process(t, p.addr), process(t, p.addr)}
			sockets := make([][]<-chan farewell, len(made))
			for i, key := range made {
				for _, addr := range fronts {
					sockets[i] = append(sockets[i], watchSocket(t, addr, key.Secret, i%(len(made)/speaking) == 0))
				}
			}

			var commits, took []time.Duration
			for i, key := range made {
				begin := time.Now()
				if _, err := rules.RevokeKey(t.Context(), owner, key.Key.ID); err != nil {
					t.Fatal(err)
				}
				commits = append(commits, time.Since(begin))
				for j, ended := range sockets[i] {
					select {
					case c := <-ended:
						took = append(took, c.at.Sub(begin))
						if !websocket.IsCloseError(c.err, websocket.ClosePolicyViolation) ||
							!strings.Contains(c.err.Error(), "invalid api key") {
							t.Errorf("a socket of a revoked key ended with %v", c.err)
						}
						if i%(len(made)/speaking) == 0 &&
							!strings.Contains(c.event, `"error":"invalid api key","status":401`) {
							t.Errorf("a running utterance ended with the event %s", c.event)
						}
					case <-time.After(testTimeout):
						t.Fatal("a socket of a revoked key goes on")
					}
					if got := statusOf(t, fronts[j], key.Secret); got != http.StatusUnauthorized {
						t.Errorf("a request with a revoked key is answered %d", got)
					}
				}
				if i+1 < len(made) {
					if got := statusOf(t, fronts[i%2], made[i+1].Secret); got != http.StatusOK {
						t.Errorf("a request with a good key is answered %d", got)
					}
				}
			}
			slices.Sort(commits)
			slices.Sort(took)
			at := func(d []time.Duration, share float64) time.Duration {
				return d[int(share*float64(len(d)-1))].Round(10 * time.Microsecond)
			}
			t.Logf("%d revocations seen by %d processes: p50 %v, p99 %v, longest %v (of it the commit: p50 %v, p99 %v)",
				len(made), len(fronts),
				at(took, .5), at(took, .99), at(took, 1), at(commits, .5), at(commits, .99))
			if p99 := at(took, .99); p99 >= time.Second {
				t.Errorf("p99 is %v, want less than a second", p99)
			}
		})
	}
}
