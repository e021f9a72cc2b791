package fleet_test

import (
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// countingListener counts what it accepts.
type countingListener struct {
	net.Listener
	accepted atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
	}
	return conn, err
}

// TestNoUtteranceNoticesThatConnectionsAreMadeAnew, with a single pod, of which the router must not lose sight for a
// moment.
func TestNoUtteranceNoticesThatConnectionsAreMadeAnew(t *testing.T) { synctest.Test(t, testRenewal) }

func testRenewal(t *testing.T) {
	creds := grpcauthtest.Shared(grpcauthtest.Token)
	access, err := creds.ServerOptions(true, slog.New(slog.DiscardHandler), grpcauth.Service{
		Accepts: []grpcauth.Role{grpcauth.Router}, Endless: link.Endless(), Age: 1200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	net := &memory{}
	l := &countingListener{Listener: net.listen(podA)}
	pod := newWorkerOn(t, l, 2, synthtest.Config{Before: paced(20 * time.Millisecond)}, access...)
	pod.address = podA
	s, _ := newRouter(t, fleet.Config{Dial: func(address string) (*link.Client, error) {
		options, err := creds.DialOptions("127.0.0.1", grpcauth.Worker)
		if err != nil {
			return nil, err
		}
		return net.dialWith(address, options...)
	}}, pod)
	var speaking sync.WaitGroup
	limit := time.Now().Add(time.Minute)
	for range 2 {
		speaking.Go(func() {
			for l.accepted.Load() < 20 { // ten times both connections
				if _, err := s.Speak(t.Context(), utterance("Namaste, kaise hain aap?"), speech.Turn{},
					&speechtest.Recorder{}); err != nil {
					t.Errorf("an utterance failed: %v", err)
					return
				}
				if time.Now().After(limit) {
					t.Errorf("only %d connections were made within a minute", l.accepted.Load())
					return
				}
			}
		})
	}
	speaking.Wait()
}
