package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// The limits of a socket. docs/websocket.md promises them.
const (
	maxMessage     = 1 << 20   // bytes of one message of the client; a longer one closes the socket with 1009
	maxWaiting     = 32        // utterances that may wait behind the current one
	maxWaitingText = 256 << 10 // bytes of the texts of those that are not spoken yet
	answerRoom     = 64 << 10  // bytes of answers to messages that may wait, before no more messages are read

	pingEvery  = 20 * time.Second
	pongWait   = 20 * time.Second // a client that sends nothing for this long after a ping is disconnected
	writeGrace = 10 * time.Second // between giving up a client and ending a write to it that knows nothing of that
	closeGrace = 5 * time.Second  // for the client's answer to a close
	leaveGrace = time.Second      // for the last messages before the close
)

// The reasons that closes give beside their codes.
const (
	tooManySockets = "too many sockets"
	goingAway      = "draining"
	pongMissing    = "no pong"
	notUTF8        = "not valid UTF-8"
	tooSlow        = "client too slow"
	ownDefect      = "internal error"
)

// subprotocol is the only one that is ever selected. A key may be offered next to it, and must not be sent back.
const subprotocol = "tts.v1"

// upgrader leaves compression off: audio does not shrink, and every deflater costs a socket hundreds of kilobytes.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 10 * time.Second,
	ReadBufferSize:   1 << 10,  // what an idle socket holds; longer messages are read past it
	WriteBufferSize:  16 << 10, // four frames of pcm16 and a header: every message leaves in one write
	WriteBufferPool:  &sync.Pool{},
	Subprotocols:     []string{subprotocol},
	CheckOrigin:      func(*http.Request) bool { return true },                // no cookie, so any page may
	Error:            func(http.ResponseWriter, *http.Request, int, error) {}, // connect returns it
}

// stream answers GET /v1/tts/stream.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	return s.connect(w, r, socketKind{
		endpoint: metrics.WS, creds: s.credentials(r, true), upgrader: &upgrader,
		accept: func(access.Grant) (func(*connection) protocol, error) {
			return func(c *connection) protocol { return newSession(c) }, nil
		},
	})
}

// socketKind is what differs between the sockets of protocols.
type socketKind struct {
	endpoint    metrics.Endpoint
	creds       access.Credentials
	upgrader    *websocket.Upgrader
	subprotocol string // that is selected, if it is not for the upgrader to select one

	// accept returns what is spoken on a connection with a grant, or why there is none.
	accept func(access.Grant) (func(*connection) protocol, error)
}

// connect turns the connection of a request into one that speaks a protocol, which lives on after connect has returned.
// An idle socket would otherwise hold the buffers and the goroutine that net/http has for a request.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, kind socketKind) error {
	grant, err := s.grant(r.Context(), kind.creds)
	refused := func(err error) {
		s.record(r.Context(), &outcome{
			endpoint: kind.endpoint, requestID: w.Header().Get("X-Request-Id"), keyID: grant.KeyID, err: err,
		})
	}
	if err != nil { // clients without a key get no details
		refused(err)
		return err
	}
	conn, speak, err := s.handshake(w, r, kind, grant)
	if err != nil {
		refused(err)
		return err
	}
	if conn == nil {
		return nil
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(r.Context())) // r's ends when we return
	c := newConnection(s, conn, kind.endpoint, kind.creds, grant, stop)
	c.protocol = speak(c)
	if err := s.sockets.add(c, s.cfg.MaxSockets); err != nil {
		stop(err)
		refused(err)
		rejectSocket(conn, err)
		return nil
	}
	go c.run(ctx) // Wait waits for it
	return nil
}

// handshake upgrades the connection of a request. A nil connection means that the client left during the handshake.
func (s *Server) handshake(
	w http.ResponseWriter, r *http.Request, kind socketKind, grant access.Grant,
) (*websocket.Conn, func(*connection) protocol, error) {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		return nil, nil, errUpgradeRequired
	}
	if s.isDraining() {
		return nil, nil, speech.ErrDraining
	}
	speak, err := kind.accept(grant)
	if err != nil {
		return nil, nil, err
	}
	mark := make(http.Header)
	s.setSynthetic(mark)
	if kind.subprotocol != "" {
		mark.Set("Sec-Websocket-Protocol", kind.subprotocol)
	}
	conn, err := kind.upgrader.Upgrade(frameHijacker{w}, r, mark)
	if e, ok := errors.AsType[websocket.HandshakeError](err); ok {
		w.Header().Set("Sec-Websocket-Version", "13")
		text := "websocket handshake: " + strings.TrimPrefix(e.Error(), "websocket: ")
		return nil, nil, &speech.Refusal{Code: speech.CodeBadRequest, Text: text}
	}
	return conn, speak, nil
}

// vendorUpgrader is upgrader for dialects, which select subprotocols themselves.
var vendorUpgrader = func() websocket.Upgrader {
	u := upgrader
	u.Subprotocols = nil
	return u
}()

// rejectSocket closes a connection that may not become a session. It waits for the client's answer, because a
// connection that is dropped with unread bytes in it is reset, and a reset can overtake the close frame.
func rejectSocket(conn *websocket.Conn, err error) {
	defer conn.Close()
	code, reason := websocket.CloseTryAgainLater, tooManySockets
	if errors.Is(err, speech.ErrDraining) {
		code, reason = websocket.CloseGoingAway, goingAway
	}
	by := time.Now().Add(leaveGrace)
	if conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), by) != nil {
		return
	}
	conn.SetReadDeadline(by)
	for {
		if _, _, err := conn.NextReader(); err != nil {
			return
		}
	}
}
