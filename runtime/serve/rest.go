package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/encode"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// maxBody is the largest request in bytes. The longest legal text takes 48,000 when each of its characters is escaped.
const maxBody = 1 << 20

// tts answers POST /v1/tts.
func (s *Server) tts(w http.ResponseWriter, r *http.Request, grant access.Grant, o *outcome) error {
	limit := time.Now().Add(speech.UtteranceTimeout) // end to end, so the body's time counts
	ctx, cancel := context.WithDeadlineCause(r.Context(), limit, speech.ErrTimeout)
	defer cancel()
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	asked := time.Now()
	req, err := decode(body, fromREST)
	u := &req.Utterance
	u.Asked = asked
	if u.RequestID == "" {
		u.RequestID = w.Header().Get("X-Request-Id")
	}
	w.Header().Set("X-Request-Id", u.RequestID)
	if err != nil {
		return err
	}
	if err := req.validate(s.cfg.Speaker.Model(), grant); err != nil {
		return err
	}
	if !req.HasSeed {
		u.Seed = newSeed()
	}
	o.voice, o.format = u.Voice, u.Format
	base := reply{w: w, control: http.NewResponseController(w), format: u.Format, limit: limit,
		trailers: r.ProtoAtLeast(1, 1), speaker: s.cfg.Speaker, metrics: s.cfg.Metrics}
	var to audioSink = &buffered{reply: base}
	if req.Stream {
		to = &streamed{reply: base, hash: sha256.New()}
	}
	metered := s.cfg.Meter.Begin(grant, string(o.endpoint), *u, to)
	if !req.Stream && u.Format == speech.WAV {
		u.Format = speech.PCM16 // its header needs the length, so it comes last
	}
	err = answer.Try(func() (err error) {
		o.stats, err = s.cfg.Speaker.Speak(ctx, *u, metered)
		return err
	})
	o.chars = o.stats.Chars
	if err == nil {
		err = to.end(o.stats)
	}
	metered.End(o.stats, err) // before the client has seen the end: then it is on the bill
	if err == nil {
		err = to.last()
	}
	if err != nil {
		base.setConcurrency()
	}
	return err
}

// audioSink is where the audio of a request goes. When all of it was spoken, end sends what is left but the very end, and last sends
// that. Otherwise it just stops.
type audioSink interface {
	speech.Sink
	end(speech.Stats) error
	last() error
}

// reply is what a streamed and a buffered answer have in common.
type reply struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	format   speech.Format // what the client asked for
	limit    time.Time     // end of the request, whatever happens
	trailers bool          // the client's HTTP has them
	speaker  speech.Speaker
	metrics  *metrics.Metrics
	start    speech.Start
}

func (a *reply) Start(st speech.Start) error {
	a.start = st
	return nil
}

func (a *reply) ChunkStart(speech.Chunk) error { return nil }

func (a *reply) ChunkEnd(end speech.ChunkEnd) error {
	a.metrics.Prefill(end.PrefillCached)
	return nil
}

// setHeaders tells what is known when the first frame is there.
func (a *reply) setHeaders(first speech.Audio) {
	h := a.w.Header()
	h.Set("Content-Type", contentType(a.format))
	h.Set("X-Accel-Buffering", "no") // reverse proxies would hold the audio back
	h.Set("X-Seed", strconv.FormatInt(a.start.Seed, 10))
	h.Set("X-Model", a.start.Model)
	h.Set("X-Voice", a.start.Voice)
	h.Set("X-Queue-Ms", decimal(millis(a.start.Queue)))
	h.Set("Server-Timing", fmt.Sprintf("queue;dur=%s, normalise;dur=%s, prefill;dur=%s, first_frame;dur=%s",
		decimal(millis(a.start.Queue)), decimal(millis(a.start.Normalize)), decimal(millis(first.Prefill)), decimal(millis(first.FirstFrame))))
	a.setConcurrency()
}

func (a *reply) setConcurrency() {
	h, c := a.w.Header(), a.speaker.Capacity()
	h.Set("X-Concurrency-Active", strconv.Itoa(c.Busy))
	h.Set("X-Concurrency-Limit", strconv.Itoa(c.Workers))
}

// setProof tells how much was spoken, which only a complete answer can: a streamed one as trailers, a buffered one as headers.
func (a *reply) setProof(st speech.Stats, sum []byte) {
	h := a.w.Header()
	h.Set("X-Audio-S", decimal(speech.Seconds(st.Frames)))
	h.Set("X-Frames", strconv.Itoa(st.Frames))
	h.Set("X-Wall-Ms", decimal(millis(st.Wall)))
	h.Set("X-Rtf", decimal(thousandths(st.RTF())))
	h.Set("X-Audio-Sha256", hex.EncodeToString(sum))
}

// write sends a piece of the body, waiting for the client no longer than writeTime or opusTime, and never beyond the limit of the request.
func (a *reply) write(p []byte) error {
	a.extend()
	_, err := a.w.Write(p)
	return a.writeError(err)
}

func (a *reply) flush() error { return a.writeError(a.control.Flush()) }

func (a *reply) extend() {
	wait := writeTime
	if a.format == speech.Opus {
		wait = opusTime
	}
	by := time.Now().Add(wait)
	if by.After(a.limit) {
		by = a.limit
	}
	_ = a.control.SetWriteDeadline(by) // best effort: a test's writer may have none
}

func (a *reply) writeError(err error) error {
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", speech.ErrClientGone, err)
	case time.Now().Before(a.limit):
		return speech.ErrClientSlow
	default:
		return speech.ErrTimeout
	}
}

// streamed sends audio as it comes. The answer begins with the first frame: until then an error is still a status.
type streamed struct {
	reply
	hash  hash.Hash
	began bool
	head  []byte // what the container wrote ahead of the first frame
}

func (a *streamed) Audio(audio speech.Audio) error {
	if !a.began {
		if audio.Frames == 0 {
			a.head = append(a.head, audio.Data...)
			return nil
		}
		if err := a.begin(audio); err != nil {
			return err
		}
	}
	a.hash.Write(audio.Data)
	if err := a.write(audio.Data); err != nil {
		return err
	}
	return a.flush()
}

func (a *streamed) begin(first speech.Audio) error {
	a.began = true
	a.setHeaders(first)
	if a.trailers {
		a.w.Header().Set("Trailer", "x-audio-s, x-frames, x-wall-ms, x-rtf, x-audio-sha256")
	}
	a.extend()
	a.w.WriteHeader(http.StatusOK)
	if len(a.head) == 0 {
		return nil
	}
	a.hash.Write(a.head)
	return a.write(a.head)
}

func (a *streamed) end(st speech.Stats) error {
	if !a.began {
		return errNoAudio
	}
	if a.trailers {
		var sum [sha256.Size]byte
		a.setProof(st, a.hash.Sum(sum[:0]))
	}
	return nil
}

// last leaves the end of the body to net/http, which writes it when the handler has returned.
func (a *streamed) last() error {
	a.extend()
	return nil
}

// buffered keeps all audio until it is complete. For WAV it is fed PCM16.
type buffered struct {
	reply
	first  speech.Audio
	bytes  int
	pieces [][]byte // of pieceBytes, so that growing copies nothing and each can have a deadline of its own
}

const pieceBytes = 64 << 10

func (a *buffered) Audio(audio speech.Audio) error {
	if a.first.Frames == 0 {
		a.first = audio
	}
	a.bytes += len(audio.Data)
	for data := audio.Data; len(data) > 0; {
		last := len(a.pieces) - 1
		if last < 0 || len(a.pieces[last]) == pieceBytes {
			a.pieces = append(a.pieces, make([]byte, 0, pieceBytes))
			last++
		}
		n := min(len(data), pieceBytes-len(a.pieces[last]))
		a.pieces[last] = append(a.pieces[last], data[:n]...)
		data = data[n:]
	}
	return nil
}

func (a *buffered) end(st speech.Stats) error {
	if a.first.Frames == 0 {
		return errNoAudio
	}
	body := a.pieces
	length := a.bytes
	if a.format == speech.WAV {
		header := encode.WAVHeader(uint32(a.bytes)) // 120 s of work are far from 4 GiB
		body = append([][]byte{header[:]}, body...)
		length += len(header)
	}
	sum := sha256.New()
	for _, p := range body {
		sum.Write(p)
	}
	a.setHeaders(a.first)
	a.setProof(st, sum.Sum(nil))
	a.w.Header().Set("Content-Length", strconv.Itoa(length))
	a.extend()
	a.w.WriteHeader(http.StatusOK)
	a.pieces = body[len(body)-1:]
	for _, p := range body[:len(body)-1] {
		if err := a.write(p); err != nil {
			return err
		}
	}
	return nil
}

func (a *buffered) last() error {
	if err := a.write(a.pieces[0]); err != nil {
		return err
	}
	return a.flush()
}

// errNoAudio is an engine that ended without a frame: an answer of 200 without audio would look like success.
var errNoAudio = &speech.EngineError{Text: "engine error", Err: errors.New("no audio came out")}

func contentType(f speech.Format) string {
	switch f {
	case speech.WAV:
		return "audio/wav"
	case speech.Opus:
		return "audio/ogg"
	default:
		return "audio/L16;rate=24000;channels=1"
	}
}

// readBody reads the whole body. Nothing else may come first: net/http notices that a client has left only after that.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, errEncodedBody
	}
	if r.ContentLength > maxBody && r.Header.Get("Expect") != "" {
		return nil, errBodyTooLarge // the client asks before it sends
	}
	known := min(max(r.ContentLength, 0), pieceBytes) // what a client announces is not what it sends
	buf := bytes.NewBuffer(make([]byte, 0, known+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errBodyTimeout
	case errors.Is(err, io.ErrUnexpectedEOF) || isNetError(err):
		return nil, fmt.Errorf("%w: %w", speech.ErrClientGone, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errBodyBroken, err)
	case buf.Len() > maxBody:
		_, _ = io.CopyN(io.Discard, r.Body, 4*maxBody) // many clients read the answer only when they have sent everything
		return nil, errBodyTooLarge
	}
	setReadDeadline(w, time.Time{}) // from here on, reading is only to notice a disconnect
	return buf.Bytes(), nil
}

func isNetError(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}
