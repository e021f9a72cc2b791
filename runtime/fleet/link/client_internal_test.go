package link

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
)

// badPod answers Speak as a test wants it to.
type badPod struct {
	wire.UnimplementedSpeechServer
	speak func(stream speakStream) error
}

func (b *badPod) Speak(stream speakStream) error { return b.speak(stream) }

// dialBad is a client of a pod that answers with speak, and is given up soon. It runs in a bubble of synctest: a
// machine that is busy does not make a pod late.
func dialBad(t *testing.T, speak func(speakStream) error) *Client {
	t.Helper()
	l := bufconn.Listen(64 << 10)
	g := grpc.NewServer(ServerOptions()...)
	wire.RegisterSpeechServer(g, &badPod{speak: speak})
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(l) })
	c, err := Dial("pod", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	const soon = 100 * time.Millisecond
	c.limits = limits{soon, soon, soon, soon}
	t.Cleanup(func() {
		c.Close()
		g.Stop()
		serving.Wait()
	})
	return c
}

func reply(m any) *wire.SpeakReply {
	switch m := m.(type) {
	case *wire.Start:
		return &wire.SpeakReply{Message: &wire.SpeakReply_Start{Start: m}}
	case *wire.Chunk:
		return &wire.SpeakReply{Message: &wire.SpeakReply_Chunk{Chunk: m}}
	case *wire.Audio:
		return &wire.SpeakReply{Message: &wire.SpeakReply_Audio{Audio: m}}
	case *wire.End:
		return &wire.SpeakReply{Message: &wire.SpeakReply_End{End: m}}
	}
	return &wire.SpeakReply{} // of a newer pod
}

var (
	start    = reply(&wire.Start{Model: "fake"})
	oneFrame = reply(&wire.Audio{Frames: 1, Data: make([]byte, speech.FrameBytes)})
)

func TestPodsThatMisbehave(t *testing.T) {
	hang := func(stream speakStream) error {
		<-stream.Context().Done()
		return nil
	}
	for name, tt := range map[string]struct {
		speak  func(speakStream) error
		err    string
		frames int
	}{
		"it says nothing": {hang, "the pod sent nothing for too long", 0},
		"it begins, and says nothing more": {func(s speakStream) error {
			_ = s.Send(start)
			return hang(s)
		}, "the pod sent nothing for too long", 0},
		"it stops in the middle": {func(s speakStream) error {
			_, _ = s.Send(start), s.Send(reply(&wire.Chunk{}))
			_ = s.Send(oneFrame)
			return hang(s)
		}, "the pod sent nothing for too long", 1},
		"it goes without a word":   {func(speakStream) error { return nil }, "the pod did not answer: EOF", 0},
		"it dies":                  {func(speakStream) error { return errors.New("out of memory") }, "out of memory", 0},
		"a block is far too large": {func(s speakStream) error { return s.Send(reply(&wire.Audio{Data: make([]byte, 2<<20)})) }, "larger than max", 0},
		"audio without end or frame": {func(s speakStream) error {
			for {
				if err := s.Send(reply(&wire.Audio{Data: []byte{1}})); err != nil {
					return err
				}
			}
		}, "far more messages than an utterance has", 0},
		"messages of nothing without end": {func(s speakStream) error {
			for {
				if err := s.Send(reply(nil)); err != nil {
					return err
				}
			}
		}, "far more messages than an utterance has", 0},
		"it says that we cancelled": {func(s speakStream) error {
			return s.Send(reply(&wire.End{Failure: wire.NewFailure(wire.ErrCancelled)}))
		}, "worker gone", 0},
		"its worker died": {func(s speakStream) error {
			return s.Send(reply(&wire.End{Failure: wire.NewFailure(speech.ErrWorkerGone)}))
		}, "worker gone", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dialBad(t, tt.speak)
				u := speech.Utterance{Text: "Hi.", Format: speech.PCM16}
				o := c.Speak(t.Context(), u, speech.Turn{}, Attempt{}, lenient{&speechtest.Recorder{}}, func() {})
				if !o.PodLost || !errors.Is(o.Err, speech.ErrWorkerGone) || !strings.Contains(o.Err.Error(), tt.err) {
					t.Errorf("lost %v: %v; want it lost: %s", o.PodLost, o.Err, tt.err)
				}
				if o.Stats.Frames != tt.frames {
					t.Errorf("%d frames, want the %d that came", o.Stats.Frames, tt.frames)
				}
			})
		})
	}
}

// lenient is a sink that takes blocks in any order, as that of a client does.
type lenient struct{ *speechtest.Recorder }

func (l lenient) Audio(a speech.Audio) error {
	l.Blocks = append(l.Blocks, a)
	return nil
}

// TestAListenerThatTakesLongIsNotThePodsFault holds the sink for longer than a pod may be silent.
func TestAListenerThatTakesLongIsNotThePodsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialBad(t, func(s speakStream) error {
			_, _ = s.Send(start), s.Send(reply(&wire.Chunk{}))
			if err := s.Send(oneFrame); err != nil {
				return err
			}
			for {
				m, err := s.Recv()
				if err != nil {
					return err
				}
				if m.GetTaken() != nil {
					return s.Send(reply(&wire.End{Stats: &wire.Stats{Started: true, Frames: 1}}))
				}
			}
		})
		r := &speechtest.Recorder{OnAudio: func(speech.Audio) error {
			<-time.After(3 * c.limits.block)
			return nil
		}}
		o := c.Speak(t.Context(), speech.Utterance{}, speech.Turn{}, Attempt{}, r, func() {})
		if o.Err != nil || o.PodLost || o.Stats.Frames != 1 {
			t.Errorf("%+v, want what was spoken", o)
		}
	})
}

func TestACancelThatIsNotAnsweredEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the client has gone")
		heard := make(chan struct{})
		c := dialBad(t, func(s speakStream) error {
			_, _ = s.Send(start), s.Send(reply(&wire.Chunk{}))
			_ = s.Send(oneFrame)
			close(heard)
			<-s.Context().Done()
			return nil
		})
		c.limits.block = time.Minute
		ctx, cancel := context.WithCancelCause(t.Context())
		r := &speechtest.Recorder{OnAudio: func(speech.Audio) error {
			cancel(gone)
			return nil
		}}
		o := c.Speak(ctx, speech.Utterance{}, speech.Turn{}, Attempt{}, r, func() {})
		<-heard
		if !errors.Is(o.Err, gone) || o.PodLost || o.Stats.Frames != 1 {
			t.Errorf("%+v, want the cause, and the frame that came", o)
		}
	})
}

// TestWhyAPodCannotBeAskedIsToldAtOnce asks where nobody listens: whoever waited for a connection would hear only that
// time is over.
func TestWhyAPodCannotBeAskedIsToldAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	c, err := Dial(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := c.Describe(ctx); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Describe = %v, want why", err)
	}
	if err := c.Follow(ctx, 1, &RouterUpdates{}, func() {}, nil); err == nil ||
		!strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Follow = %v, want why", err)
	}
}

// TestAPodThatKnowsNoDisclosures: what it would speak alone is heard by nobody.
func TestAPodThatKnowsNoDisclosures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan bool, 1)
		c := dialBad(t, func(s speakStream) error {
			_, _ = s.Recv()
			_ = s.Send(start)
			_ = s.Send(oneFrame)
			m, err := s.Recv()
			stopped <- err == nil && m.GetCancel() != nil
			return s.Send(reply(&wire.End{Failure: wire.NewFailure(wire.ErrCancelled)}))
		})
		r := &speechtest.Recorder{}
		u := speech.Utterance{Disclosure: "AI hai.", Text: "Hi.", Format: speech.PCM16}
		o := c.Speak(t.Context(), u, speech.Turn{}, Attempt{}, lenient{r}, func() {})
		if !errors.Is(o.Err, errDisclosureMissing) || o.PodLost || len(r.Started) > 0 || r.Frames() > 0 {
			t.Errorf("Speak = %+v after %d starts and %d frames; want it refused, with nothing heard", o,
				len(r.Started), r.Frames())
		}
		if !<-stopped {
			t.Error("the pod was not told to stop")
		}
	})
}
