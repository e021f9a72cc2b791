package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// limits are how long a pod may say nothing before it is given up.
type limits struct {
	minFirstFrame, maxFirstFrame time.Duration // the shortest and the longest wait for a first frame
	block                        time.Duration // for another block
	cancel                       time.Duration // for the end of what was cancelled
}

var defaultLimits = limits{time.Second, 10 * time.Second, 10 * time.Second, 2 * time.Second}

const (
	minDial = 50 * time.Millisecond // wait before a pod is dialled again; doubled after each failure
	maxDial = 2 * time.Second

	// dialLimit bounds TCP and TLS together. It is generous: when many routers meet many pods at once, an early timeout
	// leads to more dials for all.
	dialLimit = 15 * time.Second

	// Fixed windows: gRPC's own estimate would let megabytes lie between two processes. One stream has one block, of
	// 16 kB at most, under way.
	streamWindow = 64 << 10
	connWindow   = 1 << 20
	maxMessage   = 1 << 20

	// maxWords is how many messages without audio a pod may send for one utterance: two per chunk, and as many again
	// for future versions.
	maxWords = 4*speech.MaxChunks + 16
)

// ErrStalled is why an attempt, or a link, is cut whose pod gives no sign of life.
var ErrStalled = errors.New("the pod sent nothing for too long")

// errEndless is why a call is cut whose pod sends messages without end.
var errEndless = errors.New("the pod sent far more messages than an utterance has")

// Client is a router's half of the talk with one pod. It is safe for concurrent use.
type Client struct {
	address string
	audio   *grpc.ClientConn // separate from link, so that states do not wait behind audio
	link    *grpc.ClientConn
	speech  wire.SpeechClient
	limits  limits
}

// ServerOptions are the options of a pod's server, without those for authentication.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.StaticStreamWindowSize(streamWindow), grpc.StaticConnWindowSize(connWindow),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxConcurrentStreams(1024),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second,
			PermitWithoutStream: true}),
	}
}

// Endless are the calls to pods and routers that do not end by themselves.
func Endless() []string {
	return []string{wire.Link_Follow_FullMethodName, wire.Fleet_Watch_FullMethodName}
}

// Dial returns a client of the pod at address, which it connects to when it is used. access are credentials. The caller
// closes it.
func Dial(address string, access ...grpc.DialOption) (*Client, error) {
	options := append([]grpc.DialOption{
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), // what is tried again, the router decides
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: minDial, Multiplier: 2, Jitter: 0.2, MaxDelay: maxDial},
			MinConnectTimeout: dialLimit,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
	}, access...)
	audio, err := grpc.NewClient("passthrough:///"+address, options...)
	if err != nil {
		return nil, fmt.Errorf("pod %s: %w", address, err)
	}
	link, err := grpc.NewClient("passthrough:///"+address, options...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pod %s: %w", address, err), audio.Close())
	}
	return &Client{address: address, audio: audio, link: link, speech: wire.NewSpeechClient(audio),
		limits: defaultLimits}, nil
}

// Close ends the connections, and what runs on them.
func (c *Client) Close() error { return errors.Join(c.audio.Close(), c.link.Close()) }

// Describe returns what the pod speaks with. A pod that speaks a newer protocol is a [wire.ProtocolError].
func (c *Client) Describe(ctx context.Context) (speech.Model, error) {
	d, err := c.speech.Describe(ctx, &wire.DescribeRequest{Protocol: wire.Protocol})
	if err != nil {
		return speech.Model{}, err
	}
	if d.Protocol > wire.Protocol {
		return speech.Model{}, wire.NewerProtocol("the pod", d.Protocol)
	}
	return d.Value(), nil
}

// Normalize is that of [speech.Speaker].
func (c *Client) Normalize(ctx context.Context, u speech.Utterance) (speech.Normalized, error) {
	r, err := c.speech.Normalize(ctx, wire.NewNormalizeRequest(u))
	if err != nil {
		return speech.Normalized{}, podLost(err)
	}
	if err := r.Failure.Err(); err != nil {
		return r.Value(), err
	}
	if u.Disclosure != "" && r.Disclosure == "" && len(r.Chunks) > 0 {
		return speech.Normalized{}, errDisclosureMissing
	}
	return r.Value(), nil
}

// errDisclosureMissing is about a pod without disclosures, which would speak the text alone; that must not be played.
var errDisclosureMissing = &speech.EngineError{
	Text: "engine error", Err: errors.New("the pod is too old to speak a disclosure; update its swar-worker"),
}

// Check returns the refusal with which the pod would answer u, or nil.
func (c *Client) Check(ctx context.Context, u speech.Utterance) error {
	r, err := c.speech.Normalize(ctx, &wire.NormalizeRequest{Utterance: wire.NewUtterance(u)})
	if err != nil {
		return podLost(err)
	}
	return r.Failure.Err()
}

// Attempt is how an utterance is sent to a pod.
type Attempt struct {
	Router     uint64        // its sender
	Number     uint64        // of the router's attempts at this pod
	Grant      uint64        // of the slot that is kept for it; 0 for none
	FirstFrame time.Duration // that the pod measured, see [route.State]; 0 where unknown
}

// Outcome is what is known when an attempt is over.
type Outcome struct {
	Stats   speech.Stats // of a pod that was lost: frames that have come
	Err     error        // as [speech.Speaker] returns it; an error of wire if the pod refused
	PodLost bool         // the pod failed, not the utterance
	State   *route.State // nil where the pod did not say
	Grant   *wire.Grant  // the pod keeps the slot for the session; nil if not
}

// Speak has the pod speak u and passes its events to sink. The pod decodes no further than sink has read. When ctx ends
// the pod is cancelled, and the outcome has the frames decoded until then. answered is called before the first block is
// passed on.
func (c *Client) Speak(
	ctx context.Context, u speech.Utterance, turn speech.Turn, a Attempt, sink speech.Sink, answered func(),
) Outcome {
	calling, cut := context.WithCancelCause(context.WithoutCancel(ctx)) // or the end of ctx would lose the bill
	defer cut(nil)
	stream, err := c.speech.Speak(withTrace(calling))
	if err != nil {
		return Outcome{Err: podLost(err), PodLost: true}
	}
	t := &speakCall{ctx: ctx, turn: turn, sink: sink, stream: stream, cut: cut, answered: answered, limits: c.limits}
	t.disclosed = u.Disclosure != ""
	q := wire.NewUtterance(u)
	q.Router, q.Number, q.Grant, q.Session = a.Router, a.Number, a.Grant, turn.Session
	if deadline, ok := ctx.Deadline(); ok {
		q.Deadline = int64(max(time.Until(deadline), 1))
	}
	return t.run(q, min(max(8*a.FirstFrame, c.limits.minFirstFrame), c.limits.maxFirstFrame), calling)
}

// speakCall is one call of Speak.
type speakCall struct {
	ctx      context.Context
	turn     speech.Turn
	sink     speech.Sink
	stream   grpc.BidiStreamingClient[wire.SpeakRequest, wire.SpeakReply]
	cut      context.CancelCauseFunc
	answered func()
	limits   limits

	disclosed bool      // the utterance has a disclosure
	stall     *patience // cuts the call of a pod that says nothing

	started bool
	words   int   // messages without audio that have come
	frames  int   // that have come
	sinkErr error // nothing more is handed on

	mu        sync.Mutex // guards sending
	cancelled bool
}

func (t *speakCall) run(q *wire.Utterance, firstFrame time.Duration, calling context.Context) Outcome {
	t.stall = newPatience(firstFrame, func() { t.cut(ErrStalled) })
	defer t.stall.Stop()
	err := t.send(&wire.SpeakRequest{Message: &wire.SpeakRequest_Utterance{Utterance: q}})
	if err != nil && !errors.Is(err, io.EOF) { // which means that receiving says more
		return t.broken(calling, err)
	}
	stop := context.AfterFunc(t.ctx, t.cancel)
	defer stop()
	for {
		m, err := t.stream.Recv()
		if err != nil {
			return t.broken(calling, err)
		}
		if end := m.GetEnd(); end != nil {
			return t.end(end)
		}
		if m.GetAudio().GetFrames() <= 0 {
			if t.words++; t.words > maxWords {
				return t.broken(calling, errEndless)
			}
		}
		if err := t.take(m); err != nil && t.sinkErr == nil {
			t.sinkErr = err
			t.cancel()
		}
	}
}

// take passes a message on. After an error of the sink, or a disconnect, it only counts.
func (t *speakCall) take(m *wire.SpeakReply) error {
	isOver := t.sinkErr != nil || t.ctx.Err() != nil
	switch m := m.Message.(type) {
	case *wire.SpeakReply_Start:
		t.started = true
		if t.disclosed && m.Start.Disclosure == "" {
			return errDisclosureMissing
		}
		if !isOver {
			return t.sink.Start(m.Start.Value())
		}
	case *wire.SpeakReply_Chunk:
		if !isOver {
			return t.sink.ChunkStart(m.Chunk.Value())
		}
	case *wire.SpeakReply_ChunkEnd:
		if !isOver {
			return t.sink.ChunkEnd(m.ChunkEnd.Value())
		}
	case *wire.SpeakReply_Audio:
		t.frames += int(max(m.Audio.Frames, 0))
		if !isOver {
			return t.takeAudio(m.Audio.Value())
		}
	}
	return nil // also of what a newer pod says
}

// takeAudio hands a block on. While the sink takes it, the pod owes nothing.
func (t *speakCall) takeAudio(a speech.Audio) error {
	inTime := t.stall.Stop()
	if t.answered != nil {
		if !inTime { // the call is cut: another pod can still speak all of it
			return nil
		}
		t.answered()
		t.answered = nil
	}
	if err := t.sink.Audio(a); err != nil {
		return err
	}
	select {
	case <-t.ctx.Done(): // or the pod would decode on
		t.cancel()
		return nil
	default:
	}
	t.stall.Reset(t.limits.block)
	more := t.turn.More != nil && t.turn.More()
	// A broken stream returns its reason on the next read.
	_ = t.send(&wire.SpeakRequest{Message: &wire.SpeakRequest_Taken{Taken: &wire.Taken{More: more}}})
	return nil
}

func (t *speakCall) send(m *wire.SpeakRequest) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancelled {
		return nil
	}
	return t.stream.Send(m)
}

// cancel cancels the utterance at the pod, once, and waits a moment for the answer.
func (t *speakCall) cancel() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancelled {
		return
	}
	t.cancelled = true
	_ = t.stream.Send(&wire.SpeakRequest{Message: &wire.SpeakRequest_Cancel{Cancel: &wire.Cancel{}}})
	t.stall.Reset(t.limits.cancel)
}

// end is the outcome of what the pod has ended.
func (t *speakCall) end(e *wire.End) Outcome {
	o := Outcome{Stats: e.Stats.Value(), Err: e.Failure.Err(), Grant: e.Grant}
	if e.State != nil {
		state := e.State.Value()
		o.State = &state
	}
	o.Stats.Frames = max(o.Stats.Frames, t.frames) // a pod must not make audio free
	switch {
	case t.sinkErr != nil:
		o.Err = t.sinkErr
	case o.Err != nil && t.ctx.Err() != nil:
		o.Err = context.Cause(t.ctx)
	case errors.Is(o.Err, wire.ErrCancelled): // although it was not requested
		o.Err, o.PodLost = speech.ErrWorkerGone, true
	case errors.Is(o.Err, speech.ErrWorkerGone):
		o.PodLost = true
	}
	return o
}

// broken is the outcome of a call whose pod does not answer any more.
func (t *speakCall) broken(calling context.Context, err error) Outcome {
	o := Outcome{Stats: speech.Stats{Started: t.started, Frames: t.frames}}
	switch {
	case t.sinkErr != nil:
		o.Err = t.sinkErr
	case t.ctx.Err() != nil:
		o.Err = context.Cause(t.ctx)
	case errors.Is(context.Cause(calling), ErrStalled):
		o.Err, o.PodLost = podLost(ErrStalled), true
	default:
		o.Err, o.PodLost = podLost(err), true
	}
	return o
}

// PodLostError says why a pod did not answer. It is an [speech.ErrWorkerGone].
type PodLostError struct{ Err error }

func (e *PodLostError) Error() string { return "the pod did not answer: " + e.Err.Error() }

// Is lets [errors.Is] find what it means to clients.
func (e *PodLostError) Is(target error) bool { return target == speech.ErrWorkerGone }

// Unwrap returns the cause.
func (e *PodLostError) Unwrap() error { return e.Err }

func podLost(err error) error {
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		return speech.ErrTimeout
	case codes.FailedPrecondition: // such as a newer protocol
		return &PodLostError{errors.New(status.Convert(err).Message())}
	}
	return &PodLostError{err}
}
