package answer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Why the body of a request cannot be had. The texts are part of the APIs.
var (
	ErrEncodedBody = errors.New("Content-Encoding of requests is not supported")
	ErrBodyTimeout = errors.New("request body was not received in time")
	ErrBodyBroken  = errors.New("request body could not be read") // its HTTP framing is broken
	ErrBodyCut     = errors.New("the client left before the end of its request body")
)

// BodyTooLargeError refuses a body of more than Most bytes.
type BodyTooLargeError struct{ Most int }

func (e BodyTooLargeError) Error() string {
	return fmt.Sprintf("request body larger than %d bytes", e.Most)
}

// LimitBody limits the time in which the body of a request must arrive to [BodyTime]. That holds for unread bodies,
// too: net/http reads on before it answers, and would wait for ever.
func LimitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		setReadDeadline(w, time.Now().Add(BodyTime))
	}
}

// ReadBody reads the whole body of at most so many bytes. Nothing else may come first: net/http notices that a client
// has left only after that. The errors are those above.
func ReadBody(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, ErrEncodedBody
	}
	if r.ContentLength > int64(most) && r.Header.Get("Expect") != "" {
		return nil, BodyTooLargeError{most} // the client asks before it sends
	}
	const guess = 64 << 10 // what a client announces is not what it sends
	known := int(min(max(r.ContentLength, 0), guess))
	buf := bytes.NewBuffer(make([]byte, 0, known+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(r.Body, int64(most)+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, ErrBodyTimeout
	case errors.Is(err, io.ErrUnexpectedEOF) || isNetError(err):
		return nil, fmt.Errorf("%w: %w", ErrBodyCut, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBodyBroken, err)
	case buf.Len() > most:
		// Many clients read the answer only when they have sent everything.
		_, _ = io.CopyN(io.Discard, r.Body, 4*int64(most))
		return nil, BodyTooLargeError{most}
	}
	setReadDeadline(w, time.Time{}) // from here on, reading is only to notice a disconnect
	return buf.Bytes(), nil
}

func isNetError(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// setReadDeadline is best effort: a writer that has no deadlines, in tests, is no server that needs them.
func setReadDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(t)
}
