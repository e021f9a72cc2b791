package launch

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Interrupt is the cause of a context that a signal has ended.
type Interrupt struct{ Signal os.Signal }

func (i Interrupt) Error() string { return "interrupted by " + i.Signal.String() }

// echo is the time after the first signal in which another one counts as the same: a wrapper such as timeout or make
// sends it to the process and to its group, and Ctrl-C reaches both as well.
const echo = 200 * time.Millisecond

// Signals returns a context that the first SIGINT or SIGTERM ends, with an [Interrupt] as its cause. Each later
// one, except an echo of the first, calls again in a separate goroutine; again may end the process. The caller must
// call stop, which restores the default handling of signals.
func Signals(ctx context.Context, again func(os.Signal)) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGINT, syscall.SIGTERM)
	var watching sync.WaitGroup
	watching.Go(func() { watch(received, cancel, again) })
	return ctx, sync.OnceFunc(func() {
		signal.Stop(received)
		close(received)
		watching.Wait()
		cancel(nil)
	})
}

func watch(received <-chan os.Signal, first context.CancelCauseFunc, again func(os.Signal)) {
	var came time.Time
	for s := range received {
		switch {
		case came.IsZero():
			came = time.Now()
			first(Interrupt{s})
		case time.Since(came) > echo:
			again(s)
		}
	}
}
