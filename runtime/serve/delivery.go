package serve

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wav"
)

// delivery is one answer of POST /v1/tts or /v1/tts/words. A separate goroutine speaks into the queue, and the handler
// sends from there, so that the worker is free when the last frame is encoded, not when the client has read it.
type delivery struct {
	server *Server
	reply
	speaker speaking
	meter   *meter.Stream // through which the sink is spoken into
	stop    context.CancelCauseFunc
	queue   audioQueue

	// of an answer in text that is sent as a whole; nil: audio is sent as it is spoken
	frameAll func(audio []byte) []byte
	// of an answer in lines, which is complete with it; nil for one of bare audio
	lastLine  func(speech.Stats) []byte
	failLine  func(error) []byte            // of an answer in lines that has failed; nil: it just ends
	wavHeader func(dataBytes uint32) []byte // of samples that are spoken bare; nil where nothing goes before them

	setLengths bool // in the header of a WAV that is sent as a whole and was spoken as a stream

	sink restSink // of the goroutine that speaks

	speakDone chan struct{} // closed when speaking has ended, how is in the next two
	stats     speech.Stats
	speakErr  error

	// Of the handler.
	sending bool // audio is being sent, so that what is in the queue waits for the client
	writing bool // a piece is being written
}

// restSink puts audio into the queue of a delivery.
type restSink struct {
	*delivery
	done     <-chan struct{} // closed when delivery has ended
	buffered bool            // nothing is sent before everything is spoken, so sending frees no memory
	head     []byte          // what the container wrote ahead of the first frame

	listening bool // counted as one who listens

	// May be read after the first piece was taken, or after speaking has ended.
	start speech.Start
	first speech.Audio // without Data; Frames is 0 without a frame
}

// Start implements [speech.Sink].
func (k *restSink) Start(st speech.Start) error {
	k.start = st
	if k.buffered && k.server.budget.isFull() {
		return speech.ErrBusy
	}
	k.listening = true
	k.server.listening.Add(1)
	return nil
}

// ChunkStart implements [speech.Sink].
func (k *restSink) ChunkStart(speech.Chunk) error { return nil }

// ChunkEnd implements [speech.Sink].
func (k *restSink) ChunkEnd(end speech.ChunkEnd) error {
	k.server.cfg.Metrics.Prefill(end.PrefillCached)
	return nil
}

// Audio implements [speech.Sink].
func (k *restSink) Audio(a speech.Audio) error {
	if k.first.Frames == 0 && a.Frames == 0 {
		k.head = append(k.head, a.Data...) // sent with the first frame: until then an error is still a status
		return nil
	}
	var head []byte
	if k.first.Frames == 0 {
		k.first, head = a, k.head
		k.first.Data = nil
	}
	p := audioPiece{block: blockOf(head, a.Data), frames: a.Frames}
	if k.buffered {
		k.queue.spool.overdraw(p.size())
	} else if err := k.queue.spool.reserve(k.done, p.size()); err != nil {
		p.free()
		return err
	}
	k.queue.put(p)
	return nil
}

// run speaks u and delivers it, all at once if buffered, and returns when both are done. The error is the one that the
// client got or would have got, or the reason why the answer was cut off.
func (d *delivery) run(ctx context.Context, u speech.Utterance, turn speech.Turn, buffered bool) (speech.Stats, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d.stop = stop
	d.server.answers.add(d)
	defer d.server.answers.remove(d)
	d.sink.done, d.sink.buffered = ctx.Done(), buffered

	go d.speak(ctx, u, turn)
	err := d.deliver(ctx, buffered)
	d.sendFailure(err)
	stop(err)
	<-d.speakDone
	d.queue.drop()
	if d.sink.listening {
		d.server.listening.Add(-1)
	}
	d.meter.End(d.stats, err) // once: a complete answer has been counted before its end was sent
	return d.stats, err
}

// deliver sends what is spoken, and returns why the answer has ended, nil if it is complete.
func (d *delivery) deliver(ctx context.Context, buffered bool) error {
	send := d.stream
	if buffered {
		send = d.sendAll
	}
	defer d.cutOff(ctx)()
	err := answer.Try(func() error { return send(ctx) })
	if errors.Is(err, errStopped) {
		err = context.Cause(ctx)
	}
	waiting := d.writing || d.sending && d.queue.len() > 0
	if errors.Is(err, speech.ErrTimeout) && waiting {
		return speech.ErrUnreadAudio
	}
	return err
}

// sendFailure says why an answer in lines ends here, to a client that is still there.
func (d *delivery) sendFailure(err error) {
	if err == nil || !d.sending || d.failLine == nil || endedByClient(err) || errors.Is(err, speech.ErrUnreadAudio) {
		return
	}
	_ = d.control.SetWriteDeadline(time.Now().Add(failureTime))
	if _, err := d.w.Write(d.failLine(err)); err == nil {
		_ = d.control.Flush() // the answer is cut off next in any case
	}
}

// failureTime is for how long the reason of a failure waits for a client to take it.
const failureTime = time.Second

// speak is the goroutine that speaks.
func (d *delivery) speak(ctx context.Context, u speech.Utterance, turn speech.Turn) {
	defer close(d.speakDone)
	d.stats, d.speakErr = speakBy(ctx, d.speaker, u, turn, d.meter)
	if errors.Is(d.speakErr, speech.ErrClientSlow) {
		d.stop(d.speakErr) // what is being written is not waited for any longer
	}
	d.queue.end()
}

// stream sends audio as it comes. The answer begins with the first frame: until then an error is still a status.
func (d *delivery) stream(ctx context.Context) error {
	sum := sha256.New()
	for d.queue.next(ctx.Done()) {
		if !d.sending {
			if d.trailers {
				d.w.Header().Set("Trailer", "x-audio-s, x-frames, x-wall-ms, x-rtf, x-audio-sha256")
			}
			head := d.header(wav.Streaming)
			sum.Write(head)
			if err := d.begin(ctx, head); err != nil {
				return err
			}
		}
		p := d.queue.take()
		sum.Write(p.bytes)
		if err := d.sendPiece(ctx, p); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errStopped
	}
	<-d.speakDone
	switch {
	case d.speakErr != nil:
		return d.speakErr
	case !d.sending:
		return errNoAudio
	}
	if d.trailers {
		d.setProof(d.stats, sum)
	}
	d.meter.End(d.stats, nil) // before the client has seen the end: then it is on the bill
	if d.lastLine != nil {
		return d.write(ctx, d.lastLine(d.stats))
	}
	d.extend() // for the end of the body, which net/http writes when the handler has returned
	return nil
}

// headerOf returns what makes the header of a WAV of u, once its first frame is there.
func (d *delivery) headerOf(u speech.Utterance, metadata bool) func(dataBytes uint32) []byte {
	return func(dataBytes uint32) []byte {
		if metadata {
			m := speech.Metadata{Service: u.Service, Model: d.sink.start.Model, RequestID: u.RequestID}
			return wav.HeaderWithTags(dataBytes, m.Tags())
		}
		h := wav.Header(dataBytes)
		return h[:]
	}
}

// header is what precedes this many bytes of audio.
func (d *delivery) header(dataBytes uint32) []byte {
	if d.wavHeader == nil {
		return nil
	}
	return d.wavHeader(dataBytes)
}

// begin sends the headers, which describe the first frame, and the file header.
func (d *delivery) begin(ctx context.Context, head []byte) error {
	d.sending = true
	d.setHeaders(&d.sink)
	d.extend()
	d.w.WriteHeader(http.StatusOK)
	return d.write(ctx, head)
}

// sendPiece sends a piece of the queue, so that it leaves at once, and gives it back.
func (d *delivery) sendPiece(ctx context.Context, p audioPiece) error {
	defer d.queue.release(p)
	d.writing = true
	began := time.Now()
	data := p.bytes
	if d.frameAll != nil {
		data = d.frameAll(data)
	}
	if err := d.write(ctx, data); err != nil {
		return err
	}
	if err := d.flush(); err != nil {
		return err
	}
	d.writing = false
	d.paused.wrote(p.frames, began, time.Now())
	d.meter.Taken(p.frames)
	return nil
}

// sendAll waits until all is spoken, and sends it with its length.
func (d *delivery) sendAll(ctx context.Context) error {
	<-d.speakDone
	switch {
	case d.speakErr != nil:
		return d.speakErr
	case d.queue.len() == 0:
		return errNoAudio
	}
	length := d.queue.bytes()
	head := d.header(uint32(length)) // 120 s of work are far from 4 GiB
	length += len(head)
	if d.setLengths {
		wav.SetLengths(d.queue.first().bytes, length)
	}
	sum := sha256.New()
	sum.Write(head)
	for p := range d.queue.all {
		sum.Write(p.bytes)
	}
	d.setProof(d.stats, sum)
	if d.frameAll == nil {
		d.w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	if err := d.begin(ctx, head); err != nil {
		return err
	}
	for d.queue.len() > 0 {
		if d.queue.len() == 1 {
			d.meter.End(d.stats, nil) // before the client has seen the end: then it is on the bill
		}
		if err := d.sendPiece(ctx, d.queue.take()); err != nil {
			return err
		}
	}
	if d.lastLine != nil {
		return d.write(ctx, d.lastLine(d.stats))
	}
	return nil
}

// audioPiece is encoded audio in a queue.
type audioPiece struct {
	*block
	frames int
}

// audioQueue holds the audio of one answer that the client has not taken. One goroutine puts in, another takes out.
type audioQueue struct {
	spool spool
	wake  chan struct{} // has room for one: something has changed

	mu     sync.Mutex
	pieces fifo[audioPiece]
	ended  bool // nothing more is put in
}

func newAudioQueue(b *spoolBudget) audioQueue {
	return audioQueue{spool: spool{budget: b}, wake: make(chan struct{}, 1)}
}

// put adds a piece, for which room was reserved.
func (q *audioQueue) put(p audioPiece) {
	q.mu.Lock()
	q.pieces.push(p)
	q.mu.Unlock()
	q.awake()
}

// end marks the end of the queue.
func (q *audioQueue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.awake()
}

func (q *audioQueue) awake() {
	select {
	case q.wake <- struct{}{}:
	default: // it is awake, or will look anyway
	}
}

// next waits until a piece can be taken. It returns false when there is none to come, or done closes.
func (q *audioQueue) next(done <-chan struct{}) bool {
	for {
		select {
		case <-done: // also when there is always something to take
			return false
		default:
		}
		q.mu.Lock()
		some, ended := q.pieces.len() > 0, q.ended
		q.mu.Unlock()
		if some || ended {
			return some
		}
		select {
		case <-q.wake:
		case <-done:
			return false
		}
	}
}

// take removes the first piece. It must be given back with release.
func (q *audioQueue) take() audioPiece {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pieces.pop()
}

// release returns the memory of a piece that the client has read, or will never read.
func (q *audioQueue) release(p audioPiece) {
	q.spool.release(p.size(), true)
	p.free()
}

// drop returns the memory of everything that will not be sent.
func (q *audioQueue) drop() {
	for q.len() > 0 {
		q.release(q.take())
	}
}

func (q *audioQueue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pieces.len()
}

// first returns the piece that take would remove.
func (q *audioQueue) first() audioPiece {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pieces.items[q.pieces.head]
}

// all yields the queue, which must not change meanwhile.
func (q *audioQueue) all(yield func(audioPiece) bool) {
	for _, p := range q.pieces.items[q.pieces.head:] {
		if !yield(p) {
			return
		}
	}
}

// bytes returns the length of the queue, which must not change meanwhile.
func (q *audioQueue) bytes() (n int) {
	for p := range q.all {
		n += len(p.bytes)
	}
	return n
}
