//go:build chaos

package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const frameBytes = 3840

// texts are what is spoken, from some seconds on.
func texts() (all []string) {
	for i, sentences := range speaking.sentences {
		text := ""
		for j := range sentences {
			text += fmt.Sprintf("Aapka order number %d kal tak %d baje deliver ho jayega. ", 100*i+j, j+3)
		}
		all = append(all, strings.TrimSpace(text))
	}
	return all
}

// message is what clients ask for.
type message struct {
	Text      string `json:"text"`
	Format    string `json:"format"`
	Seed      int    `json:"seed"`
	RequestID string `json:"request_id"`
}

func (m message) body() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and a number
	}
	return text
}

// listen hears every text in peace, so that whatever comes later can be compared.
func listen(t *testing.T, seed uint64) (audio map[string][]byte) {
	f := newFleet(t, seed, shape{workers: 1, slots: 1, routers: 1, frame: time.Millisecond}, make(map[string][]byte))
	client := f.restClient()
	for _, text := range texts() {
		if o := f.post(t.Context(), client, text, manner{}); o.end != complete {
			t.Fatalf("in peace an utterance was %s: %s", o.end, o.detail)
		}
	}
	return f.audio
}

// manner is how a client behaves.
type manner struct {
	slow    bool
	leaveAt int // bytes after which it goes; 0: it stays
	cancel  bool
}

// manners draws one. Most clients listen to the end.
func manners(r *rand.Rand) (m manner) {
	switch n := r.IntN(10); {
	case n < 2:
		m.slow = true
	case n < 4:
		m.leaveAt = 1 + r.IntN(40*frameBytes)
		m.cancel = n == 3
	}
	return m
}

// pace is what a slow client reads in a second: four times as fast as playback.
const pace = 4 * 48000

func (m manner) wait(ctx context.Context, bytes int) {
	if !m.slow {
		return
	}
	select {
	case <-time.After(time.Duration(bytes) * time.Second / pace):
	case <-ctx.Done():
	}
}

// dial connects through the balancer. Little is kept on the way, so that slow clients are felt.
func (f *fleet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", f.balancer.listener.Addr().String())
	if err == nil {
		_ = conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	}
	return conn, err
}

// restClient returns one that keeps its connection.
func (f *fleet) restClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: f.dial, MaxConnsPerHost: 1}, Timeout: 150 * time.Second}
}

// call is a request for audio by HTTP.
type call struct {
	path    string
	header  http.Header
	body    []byte
	refused func(status int, text string) end                          // what a status before any audio means
	ended   func(o outcome, trailer http.Header, heard []byte) outcome // checks what was heard
}

// post speaks by REST.
func (f *fleet) post(ctx context.Context, client *http.Client, text string, m manner) outcome {
	o := outcome{id: f.ledger.id(), text: text, billed: -1}
	return f.stream(ctx, client, m, o, call{
		path: "/v1/tts", header: http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {f.key}},
		body:    message{Text: text, Format: "pcm16", Seed: 1, RequestID: o.id}.body(),
		refused: refusal,
		ended: func(o outcome, trailer http.Header, heard []byte) outcome {
			if o.end == complete {
				o = proven(o, trailer, heard)
			}
			return f.checked(o, heard)
		},
	})
}

// stream sends a request and hears what comes, as m behaves.
func (f *fleet) stream(ctx context.Context, client *http.Client, m manner, o outcome, c call) outcome {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://fleet"+c.path, bytes.NewReader(c.body))
	if err != nil {
		panic(err)
	}
	req.Header = c.header
	resp, err := client.Do(req)
	if err != nil {
		o.end, o.detail = gone, err.Error()
		return o
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(resp.Body)
		o.end, o.detail = c.refused(resp.StatusCode, string(said)), fmt.Sprintf("%d %s", resp.StatusCode, said)
		return o
	}
	var heard bytes.Buffer
	for buffer := make([]byte, 8<<10); ; {
		n, err := resp.Body.Read(buffer)
		heard.Write(buffer[:n])
		o.frames = heard.Len() / frameBytes
		switch {
		case m.leaveAt > 0 && heard.Len() >= m.leaveAt && err == nil:
			o.end = left
			return c.ended(o, nil, heard.Bytes())
		case err == io.EOF:
			o.end = complete
			return c.ended(o, resp.Trailer, heard.Bytes())
		case err != nil:
			o.end, o.detail = cut, err.Error()
			return c.ended(o, nil, heard.Bytes())
		}
		m.wait(ctx, n)
	}
}

// refusal is what a status before any audio means.
func refusal(status int, text string) end {
	switch {
	case status != http.StatusServiceUnavailable:
		return failed
	case strings.Contains(text, `"busy"`):
		return busy
	case strings.Contains(text, `"workers warming up"`), strings.Contains(text, `"portal unavailable"`):
		return unready
	}
	return failed
}

// proven checks the trailers, without which a body was cut.
func proven(o outcome, trailer http.Header, heard []byte) outcome {
	sum := sha256.Sum256(heard)
	frames, err := strconv.Atoi(trailer.Get("X-Frames"))
	switch {
	case err != nil:
		o.end, o.detail = wrong, "the body ends in good order without trailers"
	case frames*frameBytes != len(heard) || trailer.Get("X-Audio-Sha256") != hex.EncodeToString(sum[:]):
		o.end, o.detail = wrong, fmt.Sprintf("the trailers say %v of %d bytes", trailer, len(heard))
	default:
		o.end = complete
	}
	return o
}

// checked compares what was heard with what was heard in peace.
func (f *fleet) checked(o outcome, heard []byte) outcome {
	peace, known := f.audio[o.text]
	switch {
	case !known && o.end == complete: // only in peace, where one speaks after the other
		f.audio[o.text] = heard
	case o.end == complete && !bytes.Equal(heard, peace), !bytes.HasPrefix(peace, heard):
		o.detail = fmt.Sprintf("%s with other audio than in peace: %d bytes, not %d", o.end, len(heard), len(peace))
		o.end = wrong
	}
	return o
}

// socket is a client's connection, and the utterances that are under way on it, oldest first.
type socket struct {
	fleet *fleet
	conn  *websocket.Conn
	reads chan read
	left  chan struct{} // closed when the client reads no more
	turns []*turn
}

// read is a message, or why there is none.
type read struct {
	kind int
	data []byte
	err  error
}

type turn struct {
	outcome
	manner
	starts    int
	chunks    int
	heard     bytes.Buffer
	cancelled bool
}

func (f *fleet) openSocket(ctx context.Context) (*socket, error) {
	dialer := websocket.Dialer{NetDialContext: f.dial, HandshakeTimeout: 10 * time.Second}
	conn, resp, err := dialer.DialContext(ctx, "ws://fleet/v1/tts/stream", http.Header{"X-Api-Key": {f.key}})
	if err != nil {
		if resp != nil {
			return nil, fmt.Errorf("%s: %w", resp.Status, err)
		}
		return nil, err
	}
	s := &socket{fleet: f, conn: conn, reads: make(chan read), left: make(chan struct{})}
	go s.read()
	return s, nil
}

// read reads all the time, and one message ahead: a client that is silent has to hear that its socket is closed.
func (s *socket) read() {
	for {
		_ = s.conn.SetReadDeadline(time.Now().Add(150 * time.Second))
		kind, data, err := s.conn.ReadMessage()
		select {
		case s.reads <- read{kind, data, err}:
		case <-s.left:
			return
		}
		if err != nil {
			return
		}
	}
}

func (s *socket) close() {
	close(s.left)
	s.conn.Close()
}

// say sends utterances at once and hears them. It reports whether the socket can be used further.
func (s *socket) say(ctx context.Context, r *rand.Rand, n int) (open bool) {
	select {
	case r := <-s.reads:
		if r.err == nil {
			s.fleet.t.Errorf("a message comes while nothing is under way: %s", r.data)
		}
		return false
	default:
	}
	all := texts()
	for range n {
		s.ask(all[r.IntN(len(all))], manners(r))
	}
	return s.hear(ctx)
}

func (s *socket) ask(text string, m manner) {
	t := &turn{manner: m, outcome: outcome{id: s.fleet.ledger.id(), text: text, billed: -1}}
	s.turns = append(s.turns, t)
	asked := message{Text: text, Format: "pcm16", Seed: 1, RequestID: t.id}
	_ = s.conn.WriteMessage(websocket.TextMessage, asked.body()) // what came of it is read
}

// hear reads until nothing is under way. It reports whether the socket can be used further.
func (s *socket) hear(ctx context.Context) (open bool) {
	for len(s.turns) > 0 {
		switch r := <-s.reads; {
		case r.err != nil:
			s.closed(r.err)
			return false
		case r.kind == websocket.TextMessage:
			s.event(r.data)
		case !s.audio(ctx, r.data):
			return false
		}
	}
	return true
}

// closed ends what was under way on a connection that is over.
func (s *socket) closed(err error) {
	for _, t := range s.turns {
		switch {
		case t.starts > 0:
			t.end = cut
		case websocket.IsCloseError(err, websocket.CloseGoingAway):
			t.end = unanswered
		default:
			t.end = gone
		}
		t.detail = err.Error()
		s.fleet.ledger.add(s.fleet.checked(t.outcome, t.heard.Bytes()))
	}
	s.turns = nil
}

// audio takes a binary message. It reports whether the client stays.
func (s *socket) audio(ctx context.Context, data []byte) (stays bool) {
	t := s.turns[0]
	t.heard.Write(data)
	t.frames = t.heard.Len() / frameBytes
	if t.starts != 1 {
		s.finish(t, wrong, "audio before its start")
		return true
	}
	t.wait(ctx, len(data))
	switch {
	case t.leaveAt == 0 || t.heard.Len() < t.leaveAt || t.cancelled:
		return true
	case t.cancel:
		t.cancelled = true
		_ = s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"cancel","request_id":"`+t.id+`"}`))
		return true
	}
	for i, t := range s.turns {
		t.end = left
		if i > 0 {
			t.detail = "with another one"
		}
		s.fleet.ledger.add(s.fleet.checked(t.outcome, t.heard.Bytes()))
	}
	s.turns = nil
	return false
}

// event takes a text message.
func (s *socket) event(data []byte) {
	var e struct {
		Type         string
		RequestID    string `json:"request_id"`
		Error        string
		Status       int
		Chunk        int
		Frames       int
		BilledFrames int `json:"billed_frames"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		s.finish(s.turns[0], wrong, fmt.Sprintf("%q: %v", data, err))
		return
	}
	var t *turn
	for _, other := range s.turns {
		if other.id == e.RequestID {
			t = other
		}
	}
	if t == nil {
		if e.Type != "cancelled" { // of an utterance that had ended in the same moment
			s.finish(s.turns[0], wrong, fmt.Sprintf("an event of an utterance that is over: %s", data))
		}
		return
	}
	switch e.Type {
	case "start":
		if t.starts++; t.starts > 1 {
			s.finish(t, wrong, "a second start")
		}
	case "chunk":
		if e.Chunk != t.chunks {
			s.finish(t, wrong, fmt.Sprintf("chunk %d comes after %d others", e.Chunk, t.chunks))
		}
		t.chunks++
	case "end":
		t.billed = e.BilledFrames
		if e.Frames != t.frames || t.heard.Len()%frameBytes != 0 {
			s.finish(t, wrong, fmt.Sprintf("%d bytes came before %s", t.heard.Len(), data))
			return
		}
		s.finish(t, complete, "")
	case "cancelled":
		t.billed = e.BilledFrames
		s.finish(t, cancelled, string(data))
	case "error":
		ended := refusal(e.Status, strconv.Quote(e.Error))
		if t.starts > 0 {
			ended = cut
		}
		s.finish(t, ended, string(data))
	}
}

// finish ends an utterance; the others on the socket go on.
func (s *socket) finish(t *turn, how end, detail string) {
	t.end, t.detail = how, detail
	s.fleet.ledger.add(s.fleet.checked(t.outcome, t.heard.Bytes()))
	for i, other := range s.turns {
		if other == t {
			s.turns = append(s.turns[:i:i], s.turns[i+1:]...)
		}
	}
}

// crowd speaks from so many clients until stop is called, which waits for the last word of each.
func (f *fleet) crowd(rest, sockets, others int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for range rest {
		r := rand.New(rand.NewPCG(f.rand.Uint64(), 0))
		clients.Go(func() { f.speakByREST(ctx, r) })
	}
	for range sockets {
		r := rand.New(rand.NewPCG(f.rand.Uint64(), 0))
		clients.Go(func() { f.speakBySocket(ctx, r) })
	}
	for range others {
		r := rand.New(rand.NewPCG(f.rand.Uint64(), 0))
		clients.Go(func() { f.speakByDialects(ctx, r) })
	}
	return func() {
		cancel()
		clients.Wait()
	}
}

// pause waits as a client does between two utterances: shortly, or so long as it was asked to.
func pause(ctx context.Context, r *rand.Rand) {
	select {
	case <-time.After(time.Duration(r.IntN(150)) * time.Millisecond):
	case <-ctx.Done():
	}
}

func (f *fleet) speakByREST(ctx context.Context, r *rand.Rand) {
	client, all := f.restClient(), texts()
	for ctx.Err() == nil {
		f.ledger.add(f.post(context.WithoutCancel(ctx), client, all[r.IntN(len(all))], manners(r)))
		pause(ctx, r)
	}
	client.CloseIdleConnections()
}

func (f *fleet) speakBySocket(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		s, err := f.openSocket(ctx)
		if err != nil {
			if ctx.Err() == nil {
				f.ledger.add(outcome{id: f.ledger.id(), end: gone, billed: -1,
					detail: "opening a socket: " + err.Error()})
			}
			pause(ctx, r)
			continue
		}
		for open := true; open && ctx.Err() == nil; {
			if open = s.say(ctx, r, 1+r.IntN(2)); open {
				pause(ctx, r)
			}
		}
		s.close()
	}
}

// speakOnce has n clients speak one utterance each, half of them by socket. The returned function waits for them.
func (f *fleet) speakOnce(n int) (wait func()) {
	text := texts()[0]
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			if i%2 == 0 {
				f.ledger.add(f.post(f.t.Context(), f.restClient(), text, manner{}))
				return
			}
			s, err := f.openSocket(f.t.Context())
			if err != nil {
				f.t.Errorf("opening a socket: %v", err)
				return
			}
			defer s.close()
			s.ask(text, manner{})
			s.hear(f.t.Context())
		})
	}
	return clients.Wait
}
