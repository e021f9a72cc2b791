//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// How an utterance ended, as its client knows it.
const (
	complete = "complete"
	busy     = "busy"
	cut      = "cut"
)

// heard is what a client has got of an utterance.
type heard struct {
	how    string
	frames int
	says   string // about another end than that
}

// hearTurn reads an utterance in pcm16 that was asked for on a socket to its end.
func hearTurn(conn *websocket.Conn) (h heard) {
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			return heard{cut, h.frames, err.Error()}
		}
		if kind == websocket.BinaryMessage {
			h.frames += len(message) / bytesOfFrame
			continue
		}
		var event struct {
			Type   string
			Status int
		}
		if err := json.Unmarshal(message, &event); err != nil {
			return heard{"nonsense", h.frames, err.Error()}
		}
		switch {
		case event.Type == "end":
			h.how = complete
			return h
		case event.Type == "error" && event.Status == http.StatusServiceUnavailable && h.frames == 0:
			return heard{how: busy}
		case event.Type == "error" && event.Status == http.StatusInternalServerError:
			return heard{cut, h.frames, string(message)}
		case event.Type == "error" || event.Type == "cancelled":
			return heard{event.Type, h.frames, string(message)}
		}
	}
}

// hearCurl is the same with curl over REST.
func hearCurl(base, key, folder string, fields []byte) (h heard) {
	file := filepath.Join(folder, "audio")
	_ = os.Remove(file)
	out, err := exec.Command("curl", "-sS", "-H", "x-api-key: "+key, "-d", string(fields), "-o", file, "-w",
		"%{http_code}",
		base+"/v1/tts").CombinedOutput()
	audio, _ := os.ReadFile(file)
	h.frames = len(audio) / bytesOfFrame
	const partial = 18 // of curl's exit codes: the body was cut
	switch {
	case err == nil && string(out) == "200":
		h.how = complete
	case err == nil && string(out) == "503":
		return heard{how: busy}
	case err != nil && exitCode(err) == partial:
		h.how = cut
	default:
		return heard{"error", 0, fmt.Sprintf("%s %v %s", out, err, audio[:min(len(audio), 200)])}
	}
	return h
}

func exitCode(err error) int {
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	return -1
}

// crowd is curl and a WebSocket client on each router, which speak all the time, and what they got.
type crowd struct {
	t     *testing.T
	fleet *wholeFleet
	pause [2]sync.RWMutex // held for reading while somebody speaks on that router

	mu   sync.Mutex
	got  map[string]heard // by request id
	ends map[string]int   // by router and end, since the last look

	held int // streams that were held on to
}

// run has everybody speak until done closes.
func (c *crowd) run(done <-chan struct{}) {
	var all sync.WaitGroup
	for i, site := range c.fleet.sites {
		folder := c.t.TempDir()
		all.Go(func() {
			for n := 0; !isClosed(done); n++ {
				c.turn(i, fmt.Sprint("curl-", i, "-", n), func(fields []byte) heard {
					return hearCurl(site.base, c.fleet.key, folder, fields)
				})
			}
		})
		all.Go(func() {
			var conn *websocket.Conn
			var to *exec.Cmd // the router that conn leads to
			for n := 0; !isClosed(done); n++ {
				c.turn(i, fmt.Sprint("socket-", i, "-", n), func(fields []byte) heard {
					if to != site.router.cmd {
						conn, to = site.socket(c.t, c.fleet.key), site.router.cmd
					}
					if err := conn.WriteMessage(websocket.TextMessage, fields); err != nil {
						return heard{how: "error", says: err.Error()}
					}
					return hearTurn(conn)
				})
			}
		})
	}
	all.Wait()
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// turn speaks once and notes what came of it. Nobody may hear anything but a whole utterance, one that was cut, or that
// everybody is busy.
func (c *crowd) turn(router int, id string, speak func([]byte) heard) {
	fields, err := json.Marshal(map[string]any{"text": lines(3), "format": "pcm16", "request_id": id})
	if err != nil {
		c.t.Error(err)
	}
	c.pause[router].RLock()
	defer c.pause[router].RUnlock()
	h := speak(fields)
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.how != complete && h.how != busy && h.how != cut {
		c.t.Errorf("%s: %+v", id, h)
	}
	c.got[id] = h
	c.ends[fmt.Sprint(h.how, " ", router)]++
}

// look returns how utterances have ended since it was last called: by how, and on which router.
func (c *crowd) look() (ends map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ends, c.ends = c.ends, map[string]int{}
	return ends
}

// during does something while clients speak, and waits until that has shown: on either router somebody has heard so
// many whole utterances.
func (c *crowd) during(what string, do func()) (ends map[string]int) {
	c.t.Helper()
	const enough = 8
	c.look()
	do()
	eventually(c.t, "clients of both routers are served, "+what, 30*time.Second, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.ends[complete+" 0"] >= enough && c.ends[complete+" 1"] >= enough
	})
	ends = c.look()
	c.t.Logf("%s: %v", what, ends)
	return ends
}

// TestFleetWhileEachProcessIsKilled kills each in turn and starts it again, while curl and a WebSocket client speak on
// either router. In the end the portal knows of every frame that a client has got, and of no other.
func TestFleetWhileEachProcessIsKilled(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	f := startWholeFleet(t, "--spool", "0") // so that what nobody listens to is still being spoken
	token, org, _ := f.owner()
	c := &crowd{t: t, fleet: f, got: map[string]heard{}, ends: map[string]int{}}
	done := make(chan struct{})
	var speaking sync.WaitGroup
	speaking.Go(func() { c.run(done) })
	stop := sync.OnceFunc(func() {
		close(done)
		speaking.Wait()
	})
	defer stop()

	nothingCut := func(what string, ends map[string]int) {
		t.Helper()
		if ends[cut+" 0"]+ends[cut+" 1"] > 0 {
			t.Errorf("%s: streams were cut: %v", what, ends)
		}
	}
	nothingCut("all is well", c.during("all is well", func() {}))
	for i, w := range f.sites[0].workers {
		c.during(fmt.Sprint("worker ", i, " was killed"), func() {
			finish := c.holdOn(w)
			w.kill(t)
			finish()
		})
		nothingCut("it is back", c.during("it is back", func() {
			w.restart(t)
			for _, site := range f.sites {
				site.waitReady(t)
			}
			c.look()
		}))
	}
	nothingCut("the portal was killed", c.during("the portal was killed", func() { f.sites[0].portal.kill(t) }))
	nothingCut("it is back", c.during("it is back", func() {
		f.sites[0].portal.restart(t)
		f.sites[0].portal.waitReady(t)
	}))
	for i, site := range f.sites {
		// Of a stream that its router takes along, the bill has what progress records tell: another test looks at that.
		nothingCut("a router was killed", c.during(fmt.Sprint("router ", i, " was killed and is back"), func() {
			c.pause[i].Lock()
			defer c.pause[i].Unlock()
			c.look()
			site.router.kill(t)
			eventually(t, "clients of the other router are served", 30*time.Second, func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return c.ends[fmt.Sprint(complete, " ", 1-i)] >= 8
			})
			site.router.restart(t)
			site.waitReady(t)
		}))
	}
	stop()
	f.settled()
	c.compare(token, org)
}

// holdOn has the worker speak to a client that does not listen, and returns when it does. The returned function listens
// to what there is, which must have been cut.
func (c *crowd) holdOn(w *process) (finish func()) {
	c.t.Helper()
	for i := range c.pause {
		c.pause[i].Lock() // so that nobody else keeps a worker busy
		defer c.pause[i].Unlock()
	}
	const tries = 20 // each text has its own worker to go to first
	for n := range tries {
		c.held++
		id := fmt.Sprint("held-", c.held)
		text := fmt.Sprint("Number ", c.held, ". ", longText)
		site := c.fleet.sites[n%2]
		conn := slowSocket(c.t, site, c.fleet.key)
		if err := conn.WriteJSON(map[string]any{"text": text, "format": "pcm16", "request_id": id}); err != nil {
			c.t.Fatal(err)
		}
		first := 0 // frames, before which a death would show in nothing: another worker would speak
		for first == 0 {
			kind, message, err := conn.ReadMessage()
			if err != nil {
				c.t.Fatal(err)
			}
			if kind == websocket.BinaryMessage {
				first = len(message) / bytesOfFrame
			}
		}
		busy, _ := w.metric(c.t, "tts_slots_busy")
		finish := func(want string) {
			h := hearTurn(conn)
			h.frames += first
			if h.how != want {
				c.t.Errorf("%s: %+v, want it %s", id, h, want)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.got[id] = h
		}
		if busy == 1 {
			return func() { finish(cut) }
		}
		finish(complete)
	}
	c.t.Fatalf("%s does not speak in %d tries", w.name, tries)
	return nil
}

// slowSocket is a socket on which less than a long text waits for its client. With an even smaller buffer it would be
// slow to listen, too.
func slowSocket(t *testing.T, site *portal, key string) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{NetDial: func(network, address string) (net.Conn, error) {
		conn, err := net.Dial(network, address)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(128 << 10)
		}
		return conn, err
	}}
	conn, _, err := dialer.Dial("ws"+strings.TrimPrefix(site.base, "http")+"/v1/tts/stream",
		http.Header{"X-Api-Key": {key}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// compare looks up at the portal what was spoken: each request, and the sums.
func (c *crowd) compare(token, org string) {
	c.t.Helper()
	p := c.fleet.sites[0]
	received, paid, rows := 0, 0, 0
	for _, h := range c.got {
		received += h.frames
		if h.how == complete {
			paid += h.frames
		}
	}
	next := ""
	for more := true; more; more = next != "" {
		page := p.want(http.MethodGet, "/portal/v1/requests?limit=100&org_id="+org+"&cursor="+url.QueryEscape(next),
			token, nil)
		for _, r := range page["requests"].([]any) {
			row := r.(map[string]any)
			rows++
			h, known := c.got[row["request_id"].(string)]
			billed := 0
			if h.how == complete {
				billed = h.frames
			}
			if !known || int(row["frames"].(float64)) != h.frames || int(row["billed_frames"].(float64)) != billed {
				c.t.Errorf("the portal has %v, the client of %v %+v", row, row["request_id"], h)
			}
			delete(c.got, row["request_id"].(string))
		}
		next, _ = page["next_cursor"].(string)
	}
	for id, h := range c.got {
		if h.frames > 0 {
			c.t.Errorf("the portal does not know of %s: %+v", id, h)
		}
	}
	totals := p.want(http.MethodGet, "/portal/v1/usage?org_id="+org, token, nil)["totals"].(map[string]any)
	if int(totals["frames"].(float64)) != received || int(totals["billed_frames"].(float64)) != paid {
		c.t.Errorf("usage says %v; clients got %d frames, %d of them in whole utterances", totals, received, paid)
	}
	if requests, billed := p.billed(); requests != rows || billed != paid {
		c.t.Errorf("%d requests and %d frames are billed; want %d and %d", requests, billed, rows, paid)
	}
	c.t.Logf("%d requests, %d frames received, %d paid for", rows, received, paid)
}
