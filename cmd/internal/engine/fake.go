//go:build fake

package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// fake is an engine for tests of whole programs: flags choose its pace and faults. Its audio encodes its text. No
// released program contains it.
type fake struct {
	frame  time.Duration // that each frame takes
	faults float64       // share of frames that fail
	seed   uint64        // of the faults
}

var errFault = errors.New("a fault that was asked for")

func fakes() []string { return []string{"fake"} }

func (e *fake) define(f *pflag.FlagSet) {
	f.DurationVar(&e.frame, "fake-frame", 20*time.Millisecond, "how long the fake engine takes for a frame")
	f.Float64Var(&e.faults, "fake-faults", 0, "share of frames that fail in the fake engine")
	f.Uint64Var(&e.seed, "fake-seed", 1, "which frames those are")
}

func (e *fake) open(cacheBytes int64) (synth.Engine, error) {
	var mu sync.Mutex // guards faults, which all workers share
	faults := rand.New(rand.NewPCG(e.seed, 0))
	fails := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return faults.Float64() < e.faults
	}
	return synthtest.NewEngine(synthtest.Config{
		CacheBytes: cacheBytes,
		Before: func(ctx context.Context, o synth.Options, frame int) error {
			if o.WarmUp || frame < 0 {
				return nil
			}
			t := time.NewTimer(e.frame)
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if fails() {
				return errFault
			}
			return nil
		},
	}), nil
}
