package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

const drainLimit = 120 * time.Second // the longest utterance

// drain finishes running utterances. It first stops new requests; what is needed to finish stays open.
func (s *site) drain(wyoming func(context.Context)) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), drainLimit,
		fmt.Errorf("not finished in %v", drainLimit))
	defer cancel()
	c := s.speaker.Capacity()
	s.log.Info("draining", "busy", c.Busy, "queued", c.Queued, "listeners", s.api.Listeners())
	stop := s.showDraining()
	defer stop()

	s.api.Drain()
	var finished sync.WaitGroup
	finished.Go(func() { wyoming(ctx) })
	var spoken, sockets error
	finished.Go(func() { spoken = s.speaker.Pool().Drain(ctx) })
	finished.Go(func() { sockets = s.api.Wait(ctx) })
	finished.Wait()
	// Only now the listener: probes and metrics were answered until here.
	rest := s.http.Shutdown(ctx)
	if rest != nil {
		rest = errors.Join(fmt.Errorf("requests cut: %w", context.Cause(ctx)), s.http.Close())
	}
	if err := errors.Join(spoken, sockets, rest, s.listener.Wait(ctx)); err != nil {
		return err
	}
	s.log.Info("drained")
	return nil
}

// showDraining prints the number of running utterances whenever it changes. The returned function stops that.
func (s *site) showDraining() (stop func()) {
	done := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		t := time.NewTicker(250 * time.Millisecond)
		defer t.Stop()
		shown := -1
		for {
			// The listener is a person at this machine.
			if left := s.api.Listeners() + s.speaker.Capacity().Queued; left != shown && left > 0 {
				shown = left
				s.printf("finishing %s; a second signal stops at once", launch.Plural(left, "utterance"))
			}
			select {
			case <-t.C:
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		showing.Wait()
	}
}
