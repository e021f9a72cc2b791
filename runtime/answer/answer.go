// Package answer writes responses of HTTP APIs. All APIs of Swar share its errors, headers and compression.
package answer

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// How long clients may take.
const (
	BodyTime  = 30 * time.Second // a request body must have arrived after this time
	WriteTime = 10 * time.Second // and a short answer must have left after this time more
)

// Error is the only shape of an error.
type Error struct {
	Error string `json:"error"`
}

// JSON answers with v, which must be of a type of ours that JSON can say. If the client is gone by now, there is
// nobody to tell.
func JSON(w http.ResponseWriter, status int, v any) {
	// an error of an engine may hold anything
	body, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err)
	}
	Body(w, status, "application/json", body)
}

// Body answers with a whole body. JSON that is long is compressed for whoever accepts it, see [For].
func Body(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	if contentType == "application/json" && len(body) >= minGzip {
		h.Add("Vary", "Accept-Encoding")
		if wantsGzip(w) {
			h.Set("Content-Encoding", "gzip")
			body = compressed(body)
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	// net/http first reads what is left of the request. A writer without deadlines, in tests, is no server that needs
	// them.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(BodyTime + WriteTime))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Writer remembers whether an answer has begun, because from then on an error can no longer become a status.
type Writer struct {
	http.ResponseWriter
	Began bool
	gzip  bool // the client accepts it
}

// WriteHeader implements [http.ResponseWriter]. Informational statuses begin nothing.
func (w *Writer) WriteHeader(status int) {
	w.Began = w.Began || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *Writer) Write(p []byte) (int, error) {
	w.Began = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach deadlines, flushing and hijacking.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Try runs f and makes a panic a [PanicError]. A deliberate abort stays one.
func Try(f func() error) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			panic(v)
		default:
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return f()
}

// PanicError is a defect of ours that a request met.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
