package link_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pod is a worker pod in this process.
type pod struct {
	address string
	engine  *synthtest.Engine
	pool    *pool.Pool
}

func newPod(t *testing.T, slots int) *pod {
	t.Helper()
	return newPodWith(t, slots, synthtest.Config{})
}

func newPodWith(t *testing.T, slots int, cfg synthtest.Config) *pod {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	p := &pod{engine: synthtest.NewEngine(cfg)}
	var err error
	if p.pool, err = pool.New(pool.Config{Workers: slots, QueueLen: -1}, p.engine, log); err != nil {
		t.Fatal(err)
	}
	speaker := pipeline.New(pipeline.Config{}, p.engine, p.pool)
	server := link.NewServer(link.ServerConfig{Metrics: metrics.New().RegisterPod(p.pool.Capacity)}, speaker,
		p.pool, log)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = p.pool.Run(ctx) })
	running.Go(func() { server.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	if err := p.pool.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.address = serve(t, server.Register)
	return p
}

// serve lets register answer on a loopback address until the test ends.
func serve(t *testing.T, register func(grpc.ServiceRegistrar)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(link.ServerOptions()...)
	register(g)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(l) })
	t.Cleanup(func() {
		g.Stop()
		serving.Wait()
	})
	return l.Addr().String()
}

// dialRaw is a connection of somebody who may say anything.
func dialRaw(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func dial(t *testing.T, address string) *link.Client {
	t.Helper()
	c, err := link.Dial(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func utterance() speech.Utterance {
	return speech.Utterance{
		RequestID: "req_test", Text: "Namaste! Aapka order kal tak deliver ho jayega.", Voice: "anjura",
		Format: speech.PCM16, Seed: 42,
	}
}

// speakOnce shows that a pod still serves everybody else.
func speakOnce(t *testing.T, address string) {
	t.Helper()
	r := &speechtest.Recorder{}
	o := dial(t, address).Speak(t.Context(), utterance(), speech.Turn{}, link.Attempt{Router: 7, Number: 1},
		r, func() {})
	if o.Err != nil || o.Stats.Frames == 0 || r.Frames() != o.Stats.Frames {
		t.Errorf("another router hears %d frames of %+v, and %v", r.Frames(), o.Stats, o.Err)
	}
}

func say(u *wire.Utterance) *wire.SpeakRequest {
	return &wire.SpeakRequest{Message: &wire.SpeakRequest_Utterance{Utterance: u}}
}

var taken = &wire.SpeakRequest{Message: &wire.SpeakRequest_Taken{Taken: &wire.Taken{}}}

func TestWhatARouterMustNotSay(t *testing.T) {
	newer := wire.NewUtterance(utterance())
	newer.Protocol = wire.Protocol + 1
	huge := wire.NewUtterance(utterance())
	huge.Text = strings.Repeat("a", 2<<20)
	for name, tt := range map[string]struct {
		says []*wire.SpeakRequest
		code codes.Code // of the call
		text string
	}{
		"nothing first":    {[]*wire.SpeakRequest{{}}, codes.InvalidArgument, "the first message of Speak must be an Utterance"},
		"taken first":      {[]*wire.SpeakRequest{taken}, codes.InvalidArgument, "the first message of Speak must be an Utterance"},
		"a newer protocol": {[]*wire.SpeakRequest{say(newer)}, codes.FailedPrecondition, "the router speaks protocol 2 of the fleet"},
		"a huge message":   {[]*wire.SpeakRequest{say(huge)}, codes.ResourceExhausted, "larger than max"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, 1)
			stream, err := wire.NewSpeechClient(dialRaw(t, p.address)).Speak(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range tt.says {
				_ = stream.Send(m) // the answer says whether it came
			}
			_, err = stream.Recv()
			if status.Code(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("answered with %v, want %v: %s", err, tt.code, tt.text)
			}
			speakOnce(t, p.address)
		})
	}
}

func TestARouterThatBreaksTheOrderEndsOnlyItsOwnUtterance(t *testing.T) {
	for name, second := range map[string]*wire.SpeakRequest{
		"a block is taken that was not sent": taken,
		"a second utterance":                 say(wire.NewUtterance(utterance())),
	} {
		t.Run(name, func(t *testing.T) {
			var held atomic.Int64
			p := newPodWith(t, 1, synthtest.Config{Before: func(ctx context.Context, o synth.Options, _ int) error {
				if !o.WarmUp && held.Add(1) == 1 { // the first real one, until it is ended
					<-ctx.Done()
					return context.Cause(ctx)
				}
				return nil
			}})
			stream, err := wire.NewSpeechClient(dialRaw(t, p.address)).Speak(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []*wire.SpeakRequest{say(wire.NewUtterance(utterance())), second} {
				if err := stream.Send(m); err != nil {
					t.Fatal(err)
				}
			}
			end := lastOf(t, stream)
			if _, ok := errors.AsType[*wire.ProtocolError](end.Failure.Err()); !ok {
				t.Errorf("it ended with %v, want to hear what was wrong", end.Failure.Err())
			}
			held.Store(1)
			speakOnce(t, p.address)
		})
	}
}

func lastOf(t *testing.T, stream grpc.BidiStreamingClient[wire.SpeakRequest, wire.SpeakReply]) *wire.End {
	t.Helper()
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatalf("the stream broke: %v", err)
		}
		if end := m.GetEnd(); end != nil {
			return end
		}
	}
}

func TestAPodDecodesNoFurtherThanTheRouterHasTaken(t *testing.T) {
	p := newPod(t, 1)
	before := p.engine.Frames()
	stream, err := wire.NewSpeechClient(dialRaw(t, p.address)).Speak(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(say(wire.NewUtterance(utterance()))); err != nil {
		t.Fatal(err)
	}
	for frames := 0; frames == 0; {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		frames = int(m.GetAudio().GetFrames())
	}
	o := dial(t, p.address).Speak(t.Context(), utterance(), speech.Turn{}, link.Attempt{Router: 7, Number: 1},
		&speechtest.Recorder{}, func() {})
	if !errors.Is(o.Err, speech.ErrBusy) || o.State == nil || o.State.Busy != 1 || o.State.Seen != 1 {
		t.Errorf("beside a router that takes nothing: %v, %+v; want busy, with fresh state", o.Err, o.State)
	}
	if got := p.engine.Frames() - before; got != 1 {
		t.Errorf("%d frames were decoded for a router that has taken none, want 1", got)
	}
	if err := stream.Send(&wire.SpeakRequest{Message: &wire.SpeakRequest_Cancel{Cancel: &wire.Cancel{}}}); err != nil {
		t.Fatal(err)
	}
	end := lastOf(t, stream)
	if end.Stats.GetFrames() != 1 || !errors.Is(end.Failure.Err(), wire.ErrCancelled) || end.State.GetBusy() != 0 {
		t.Errorf("a cancel is answered with %v", end)
	}
}

func TestWhatIsRefusedCountsForMoreThanWantOfASlot(t *testing.T) {
	p := newPod(t, 1)
	if err := p.pool.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := dial(t, p.address)
	u := utterance()
	u.Voice = "nobody"
	o := c.Speak(t.Context(), u, speech.Turn{}, link.Attempt{Router: 7, Number: 1}, &speechtest.Recorder{}, func() {})
	if !errors.Is(o.Err, speech.UnknownVoice("nobody")) || o.PodLost {
		t.Errorf("a draining pod says %v of an unknown voice", o.Err)
	}
	o = c.Speak(t.Context(), utterance(), speech.Turn{}, link.Attempt{Router: 7, Number: 2},
		&speechtest.Recorder{}, func() {})
	if !errors.Is(o.Err, speech.ErrDraining) || !o.State.Draining {
		t.Errorf("a draining pod says %v, %+v", o.Err, o.State)
	}
	if err := c.Check(t.Context(), u); !errors.Is(err, speech.UnknownVoice("nobody")) {
		t.Errorf("Check = %v", err)
	}
	if err := c.Check(t.Context(), utterance()); err != nil {
		t.Errorf("Check = %v of what could be spoken", err)
	}
}

func TestADeadlineIsATimeout(t *testing.T) {
	p := newPod(t, 1)
	q := wire.NewUtterance(utterance())
	q.Deadline = int64(time.Millisecond)
	stream, err := wire.NewSpeechClient(dialRaw(t, p.address)).Speak(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(say(q)); err != nil {
		t.Fatal(err)
	}
	if end := lastOf(t, stream); !errors.Is(end.Failure.Err(), speech.ErrTimeout) { // nothing is taken meanwhile
		t.Errorf("a deadline that passed is %v", end.Failure.Err())
	}
}

func TestWhatALinkMustNotSay(t *testing.T) {
	hello := func(protocol uint32, router uint64) *wire.RouterMessage {
		return &wire.RouterMessage{Message: &wire.RouterMessage_Hello{Hello: &wire.Hello{Protocol: protocol,
			Router: router}}}
	}
	for name, tt := range map[string]struct {
		says []*wire.RouterMessage
		code codes.Code
		text string
	}{
		"nothing first":         {[]*wire.RouterMessage{{}}, codes.InvalidArgument, "the first message of Follow must be a Hello"},
		"a router without name": {[]*wire.RouterMessage{hello(1, 0)}, codes.InvalidArgument, "names the router"},
		"a newer protocol":      {[]*wire.RouterMessage{hello(9, 1)}, codes.FailedPrecondition, "the router speaks protocol 9"},
		"a second hello":        {[]*wire.RouterMessage{hello(1, 1), hello(1, 1)}, codes.InvalidArgument, "a second Hello"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, 1)
			stream, err := wire.NewLinkClient(dialRaw(t, p.address)).Follow(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range tt.says {
				_ = stream.Send(m)
			}
			for err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("answered with %v, want %v: %s", err, tt.code, tt.text)
			}
			speakOnce(t, p.address)
		})
	}
}

func TestNonsenseOnALinkHarmsNobody(t *testing.T) {
	p := newPod(t, 1)
	stream, err := wire.NewLinkClient(dialRaw(t, p.address)).Follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ages := make([]int64, 5000)
	for i := range ages {
		ages[i] = int64(-i) * int64(time.Hour)
	}
	for _, m := range []*wire.RouterMessage{
		{Message: &wire.RouterMessage_Hello{Hello: &wire.Hello{Protocol: 1, Router: 9}}},
		{Message: &wire.RouterMessage_Waiting{Waiting: &wire.Waiting{Ages: ages, Granted: 1 << 60}}},
		{Message: &wire.RouterMessage_Decline{Decline: &wire.Decline{Grant: 1 << 60}}},
		{Message: &wire.RouterMessage_Cordon{Cordon: &wire.Cordon{Lease: -1}}},
		{}, // of a newer router
		{Message: &wire.RouterMessage_Waiting{Waiting: &wire.Waiting{}}},
	} {
		if err := stream.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	granted := 0
	for state := (*wire.State)(nil); state == nil || state.Reserved > 0 || granted == 0; {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if m.GetGrant() != nil {
			granted++
			state = nil // an older one
		}
		if m.GetState() != nil {
			state = m.GetState()
		}
	}
	speakOnce(t, p.address)
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if !errors.Is(err, io.EOF) && status.Code(err) != codes.Unknown {
		t.Errorf("a router that has said goodbye is answered with %v", err)
	}
}
