package fleet_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// TestARefusalDoesNotWaitForAPod that does not say whether the text can be spoken.
func TestARefusalDoesNotWaitForAPod(t *testing.T) {
	const hangs = time.Hour
	for name, tt := range map[string]struct {
		wait     time.Duration // of the router
		queue    int
		asked    time.Duration // ago
		answers  time.Duration // of the pod, after it was asked
		again    time.Duration // and when it is asked once more; 0: the same
		unspoken bool          // the text cannot be spoken
		want     error
		after    time.Duration
	}{
		"the whole wait":                        {answers: hangs, want: speech.ErrBusy, after: 2 * time.Second},
		"a short wait":                          {wait: 400 * time.Millisecond, answers: hangs, want: speech.ErrBusy, after: 450 * time.Millisecond},
		"what is left of the wait":              {asked: 1500 * time.Millisecond, answers: hangs, want: speech.ErrBusy, after: 500 * time.Millisecond},
		"the wait was over before":              {asked: time.Minute, answers: hangs, want: speech.ErrBusy, after: 50 * time.Millisecond},
		"no queue":                              {queue: -1, answers: hangs, want: speech.ErrBusy, after: time.Second},
		"no queue, little left":                 {queue: -1, asked: 1750 * time.Millisecond, answers: hangs, want: speech.ErrBusy, after: 250 * time.Millisecond},
		"it answers in the last moment":         {asked: time.Minute, answers: 49 * time.Millisecond, unspoken: true, want: speech.ErrNothingToSay, after: 49 * time.Millisecond},
		"it answers a moment after that":        {asked: time.Minute, answers: 51 * time.Millisecond, unspoken: true, want: speech.ErrBusy, after: 50 * time.Millisecond},
		"it answers when it is asked once more": {answers: hangs, again: 49 * time.Millisecond, unspoken: true, want: speech.ErrNothingToSay, after: 1999 * time.Millisecond},
		"it answers within a second":            {answers: 999 * time.Millisecond, again: hangs, unspoken: true, want: speech.ErrNothingToSay, after: 999 * time.Millisecond},
		"it says that the text can be spoken":   {answers: 999 * time.Millisecond, again: hangs, want: speech.ErrBusy, after: 1950 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held, net := newGate(1), &memory{}
				var asked atomic.Int32
				slow := func(ctx context.Context, q any, info *grpc.UnaryServerInfo,
					next grpc.UnaryHandler) (any, error) {
					if strings.HasSuffix(info.FullMethod, "/Normalize") {
						wait := tt.answers
						if asked.Add(1) > 1 && tt.again > 0 {
							wait = tt.again
						}
						select {
						case <-time.After(wait):
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					}
					return next(ctx, q)
				}
				w := net.worker(t, podA, synthtest.Config{Before: held.before}, grpc.UnaryInterceptor(slow))
				cfg := fleet.Config{Dial: net.dial, QueueWait: tt.wait, Route: route.Config{QueueLen: tt.queue}}
				s, _ := newRouter(t, cfg, w)
				done := make(chan error)
				go func() {
					_, err := s.Speak(t.Context(), utterance("Namaste! Kya haal hai?"), speech.Turn{},
						&speechtest.Recorder{})
					done <- err
				}()
				<-held.reached
				text := "Hi."
				if tt.unspoken {
					text = "。"
				}
				begin := time.Now()
				turn := speech.Turn{QueuedSince: begin.Add(-tt.asked)}
				_, err := s.Speak(t.Context(), utterance(text), turn, &speechtest.Recorder{})
				if took := time.Since(begin); !errors.Is(err, tt.want) || took != tt.after {
					t.Errorf("%v after %v, want %v after %v", err, took, tt.want, tt.after)
				}
				close(held.open)
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
