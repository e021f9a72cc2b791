//go:build e2ecluster

package e2ecluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const (
	bytesPerSecond = 48000
	// pace is how fast clients read: four times as fast as playback, so that streams last while things happen to pods.
	pace = 4 * bytesPerSecond
)

// tally counts what clients hear. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	whole  int
	busy   int
	cut    []string // streams that began and did not end well
	silent []string // connections without an answer for long, as those to a node that is lost
	failed []string // requests without an answer, or with another one than audio or busy
	frames int      // of whole streams
	moved  int      // sockets that were closed between utterances, and opened again
}

func (c *tally) add(f func(*tally)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

// clients speak by REST and on sockets until they are stopped.
type clients struct {
	tally
	address string
	key     string
	pace    int // bytes a second that they read; 0: as fast as they come, and they ask for long texts
	stop    context.CancelFunc
	running sync.WaitGroup
}

func startClients(address, key string, streams, sockets int) *clients {
	c := &clients{address: address, key: key, pace: pace}
	c.start(streams, sockets)
	return c
}

func (c *clients) start(streams, sockets int) {
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	for i := range streams {
		c.running.Go(func() {
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, DialContext: dial}}
			for n := 0; ctx.Err() == nil; n++ {
				sentences := 1 + (n+i)%6
				if c.pace == 0 {
					sentences = 40
				}
				c.post(ctx, client, text(sentences))
			}
		})
	}
	for range sockets {
		c.running.Go(func() {
			for ctx.Err() == nil {
				c.socket(ctx)
			}
		})
	}
}

// dial gives up sooner than the kernel, as clients do that have somebody waiting.
var dial = (&net.Dialer{Timeout: 3 * time.Second}).DialContext

// patience is how long clients bear to hear nothing.
const patience = 20 * time.Second

// end stops the clients when their last stream has ended, and returns what they heard.
func (c *clients) end() *tally {
	c.stop()
	c.running.Wait()
	return &c.tally
}

// text is of so many sentences, some two seconds each.
func text(sentences int) string {
	return strings.Repeat("Aapka order kal tak deliver ho jayega. ", sentences)
}

func (c *clients) request(ctx context.Context, text string) *http.Request {
	body, err := json.Marshal(map[string]any{"text": text, "format": "pcm16", "seed": 1})
	if err != nil {
		panic(err) // strings and a number
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+"/v1/tts", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		r.Header.Set("X-Api-Key", c.key)
	}
	return r
}

func (c *clients) post(ctx context.Context, client *http.Client, text string) {
	// A stream that has begun is heard to its end, also when the clients are to stop.
	hearing, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	bored := time.AfterFunc(patience, func() { giveUp(errSilent) })
	answer, err := client.Do(c.request(hearing, text))
	if err != nil {
		c.lost(hearing, err)
		rest(ctx)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(answer.Body)
		refused := fmt.Sprintf("%d %s", answer.StatusCode, said)
		isBusy := answer.StatusCode == http.StatusServiceUnavailable &&
			(strings.Contains(refused, "busy") || strings.Contains(refused, "warming"))
		c.add(func(t *tally) {
			if isBusy {
				t.busy++
			} else {
				t.failed = append(t.failed, refused)
			}
		})
		rest(ctx)
		return
	}
	audio, err := listen(heard{answer.Body, bored}, c.pace)
	if context.Cause(hearing) != nil {
		err = errSilent
	}
	sum := sha256.Sum256(audio)
	if err == nil && answer.Trailer.Get("X-Audio-Sha256") != hex.EncodeToString(sum[:]) {
		err = fmt.Errorf("the trailers %v do not fit %d bytes", answer.Trailer, len(audio))
	}
	frames, _ := strconv.Atoi(answer.Trailer.Get("X-Frames"))
	c.add(func(t *tally) {
		if err != nil {
			t.cut = append(t.cut, fmt.Sprintf("%s: after %d bytes: %v", clock(), len(audio), err))
			return
		}
		t.whole++
		t.frames += frames
	})
}

// errSilent ends what nothing is heard of any more.
var errSilent = errors.New("nothing was heard for " + patience.String())

// heard tells a timer that something came.
type heard struct {
	io.Reader
	bored *time.Timer
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.bored.Reset(patience)
	return n, err
}

// lost counts a request that got no answer.
func (c *clients) lost(ctx context.Context, err error) {
	var timeout net.Error
	isSilent := errors.As(err, &timeout) && timeout.Timeout() || context.Cause(ctx) != nil
	c.add(func(t *tally) {
		if isSilent {
			t.silent = append(t.silent, clock()+": "+err.Error())
		} else {
			t.failed = append(t.failed, clock()+": "+err.Error())
		}
	})
}

// clock is the time as logs have it.
func clock() string { return time.Now().UTC().Format("15:04:05.000") }

// rest waits before a client that was refused comes again.
func rest(ctx context.Context) {
	select {
	case <-time.After(250 * time.Millisecond):
	case <-ctx.Done():
	}
}

// listen reads so many bytes a second, or 0 for as fast as they come.
func listen(r io.Reader, pace int) ([]byte, error) {
	var heard bytes.Buffer
	for buffer := make([]byte, 8<<10); ; {
		n, err := r.Read(buffer)
		heard.Write(buffer[:n])
		if err == io.EOF {
			return heard.Bytes(), nil
		}
		if err != nil {
			return heard.Bytes(), err
		}
		if pace > 0 {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(pace))
		}
	}
}

// socket speaks now and then on one connection until the server closes it, or the clients are stopped.
func (c *clients) socket(ctx context.Context) {
	dialer := websocket.Dialer{NetDialContext: dial, HandshakeTimeout: patience}
	conn, _, err := dialer.DialContext(ctx, "ws://"+c.address+"/v1/tts/stream", http.Header{"X-Api-Key": {c.key}})
	if err != nil {
		if ctx.Err() == nil {
			c.lost(ctx, fmt.Errorf("socket: %w", err))
			rest(ctx)
		}
		return
	}
	defer func() { _ = conn.Close() }()
	for ctx.Err() == nil {
		begun, err := c.utter(conn)
		if err != nil {
			isAway := websocket.IsCloseError(err, websocket.CloseGoingAway) && !begun
			c.add(func(t *tally) {
				if isAway {
					t.moved++
				} else {
					t.cut = append(t.cut, fmt.Sprintf("%s: socket, audio had begun: %v: %v", clock(), begun, err))
				}
			})
			return
		}
		rest(ctx)
	}
}

// utter speaks once on a socket.
func (c *clients) utter(conn *websocket.Conn) (begun bool, err error) {
	if err := conn.WriteJSON(map[string]any{"text": text(2), "format": "pcm16", "request_id": "a"}); err != nil {
		if _, _, readErr := conn.ReadMessage(); readErr != nil {
			return false, readErr // says why the server closed it
		}
		return false, err
	}
	for {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return begun, err
		}
		kind, data, err := conn.ReadMessage()
		if err != nil {
			return begun, err
		}
		if kind == websocket.BinaryMessage {
			time.Sleep(time.Duration(len(data)) * time.Second / pace)
			continue
		}
		var event struct {
			Type   string `json:"type"`
			Error  string `json:"error"`
			Frames int    `json:"frames"`
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return begun, err
		}
		switch event.Type {
		case "start":
			begun = true
		case "end":
			c.add(func(t *tally) { t.whole, t.frames = t.whole+1, t.frames+event.Frames })
			return false, nil
		case "error":
			if begun {
				return begun, errors.New(event.Error)
			}
			c.add(func(t *tally) { t.busy++ })
			return false, nil
		}
	}
}

// sounds checks that something is speech by its figures: as long as the text wants it, loud, and not silent for long.
func sounds(t *testing.T, pcm []byte, sentences int) {
	t.Helper()
	seconds := float64(len(pcm)) / bytesPerSecond
	if low, high := 1.2*float64(sentences), 6*float64(sentences); seconds < low || seconds > high {
		t.Errorf("%d sentences last %.1f s", sentences, seconds)
	}
	var sum float64
	quiet, longest := 0, 0
	for i := 0; i+1 < len(pcm); i += 2 {
		v := float64(int16(uint16(pcm[i]) | uint16(pcm[i+1])<<8))
		sum += v * v
		if quiet++; math.Abs(v) > 200 {
			quiet = 0
		}
		longest = max(longest, quiet)
	}
	if rms := math.Sqrt(sum / float64(max(len(pcm)/2, 1))); rms < 300 {
		t.Errorf("the speech has an RMS of %.0f", rms)
	}
	if longest > 24000 {
		t.Errorf("the speech is silent for %.1f s", float64(longest)/24000)
	}
}
