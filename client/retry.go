package client

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// How the API asks to be called again.
const (
	busyTries   = 3                      // calls in all that may end with 503
	failedTries = 2                      // calls in all that may end with 500
	jitter      = 250 * time.Millisecond // spreads retries of requests that were refused together
	longestWait = 10 * time.Second       // a longer Retry-After is for the caller to decide about
)

// Backoff decides whether and when to repeat one request. It follows the API's recommendation:
//
//   - status 503 (busy, warming up): after Retry-After and a random 0 to 250 ms, three tries in all;
//   - status 500: once, at once;
//   - anything else, above all 400 to 499, a time-out, and audio that was cut after it had begun: never.
//
// The zero value is ready; use one per request. [Options.Retry] applies it to every call; over a WebSocket it takes
// the Err of an [ErrorEvent]. It is not safe for concurrent use.
type Backoff struct{ busy, failed int }

// Next returns how long to wait before the retry of a request that failed with err. It returns false when a retry is
// useless.
func (b *Backoff) Next(err error) (wait time.Duration, again bool) {
	if _, cut := errors.AsType[*CutError](err); cut {
		return 0, false // a part may have been played
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return 0, false
	}
	switch e.Status {
	case http.StatusServiceUnavailable:
		b.busy++
		return e.RetryAfter + rand.N(jitter+1), b.busy < busyTries && e.RetryAfter <= longestWait
	case http.StatusInternalServerError:
		b.failed++
		return 0, b.failed < failedTries
	}
	return 0, false
}
