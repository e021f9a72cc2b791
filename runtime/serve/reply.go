package serve

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// reply writes an answer with audio: its headers, and its body with a limit of time for each piece.
type reply struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	limit    time.Time // end of the request, whatever happens
	trailers bool      // the client's HTTP has them

	contentType string

	paused pause
	by     time.Time // what is being written must have left then
}

// setHeaders sets the values that are known with the first frame.
func (d *delivery) setHeaders(k *restSink) {
	h := d.w.Header()
	queue, normalise := decimal(millis(k.start.Queue)), decimal(millis(k.start.Normalize))
	h.Set("Content-Type", d.contentType)
	d.server.setSynthetic(h)
	h.Set("X-Accel-Buffering", "no") // reverse proxies would hold the audio back
	h.Set("X-Seed", strconv.FormatInt(k.start.Seed, 10))
	h.Set("X-Model", k.start.Model)
	h.Set("X-Voice", k.start.Voice)
	h.Set("X-Queue-Ms", queue)
	setUnspoken(h, k.start.Unspoken)
	h.Set("Server-Timing", fmt.Sprintf("queue;dur=%s, normalise;dur=%s, prefill;dur=%s, first_frame;dur=%s",
		queue, normalise, decimal(millis(k.first.Prefill)), decimal(millis(k.first.FirstFrame))))
	d.server.setConcurrency(h)
}

// setSynthetic marks what is answered as synthetic speech, also where its format has no room for that.
func (s *Server) setSynthetic(h http.Header) {
	h.Set("X-Synthetic", "1")
	h.Set("X-Service", s.cfg.Service)
}

// setConcurrency sets the headers of the server's load.
func (s *Server) setConcurrency(h http.Header) {
	c := s.cfg.Speaker.Capacity()
	h.Set("X-Concurrency-Active", strconv.Itoa(c.Busy))
	h.Set("X-Concurrency-Limit", strconv.Itoa(c.Workers))
	h.Set("X-Concurrency-Listeners", strconv.FormatInt(s.listening.Load(), 10))
}

// setProof sets the totals of a complete answer: as trailers of a streamed one, as headers of a buffered one.
func (a *reply) setProof(st speech.Stats, sum hash.Hash) {
	h := a.w.Header()
	h.Set("X-Audio-S", decimal(speech.Seconds(st.Frames)))
	h.Set("X-Frames", strconv.Itoa(st.Frames))
	h.Set("X-Wall-Ms", decimal(millis(st.Wall)))
	h.Set("X-Rtf", decimal(thousandths(st.RTF())))
	h.Set("X-Audio-Sha256", hex.EncodeToString(sum.Sum(nil)))
}

// write sends a piece of the body, waiting for the client no longer than it may pause, and never beyond the limit of
// the request. It returns errStopped when ctx has ended.
func (a *reply) write(ctx context.Context, p []byte) error {
	a.extend()
	if ctx.Err() != nil { // and cutOff may have come too early for this write
		return errStopped
	}
	_, err := a.w.Write(p)
	return a.writeError(err)
}

func (a *reply) flush() error { return a.writeError(a.control.Flush()) }

func (a *reply) extend() {
	now := time.Now()
	a.by = now.Add(a.paused.limit(now))
	if a.by.After(a.limit) {
		a.by = a.limit
	}
	_ = a.control.SetWriteDeadline(a.by) // best effort: a test's writer may have none
}

func (a *reply) writeError(err error) error {
	now := time.Now()
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", speech.ErrClientGone, err)
	case now.Before(a.by): // by cutOff
		return errStopped
	case now.Before(a.limit):
		return speech.ErrClientSlow
	default:
		return speech.ErrTimeout
	}
}

// cutOff ends a write that is under way when ctx ends. The returned function must be called before the handler
// returns, when the connection serves the next request.
func (a *reply) cutOff(ctx context.Context) (ended func()) {
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = a.control.SetWriteDeadline(time.Unix(1, 0)) // long ago
	})
	return func() {
		if !stop() {
			<-cut
		}
	}
}
