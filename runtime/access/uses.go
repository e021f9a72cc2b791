package access

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"time"
)

const (
	reportInterval = 80 * time.Second // before last uses of keys are told again; 40 to 80 s of it, a minute on average
	reportTimeout  = 5 * time.Second  // for telling them
)

// ReportLastUsed tells about once a minute which keys of c were used when, until ctx ends, and then once more. What
// cannot be told is kept: it is a time for each key, however long that lasts. tell must not keep what it is given.
func (c *KeyCache) ReportLastUsed(
	ctx context.Context, tell func(context.Context, map[string]time.Time) error, log *slog.Logger,
) {
	used := make(map[string]time.Time)
	for more := true; more; {
		// No two waits are alike, so that processes that began together do not tell together.
		timer := time.NewTimer(reportInterval/2 + rand.N(reportInterval/2+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			more = false
		}
		maps.Copy(used, c.LastUsed()) // later than what is there
		if len(used) == 0 {
			continue
		}
		telling, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
		if err := tell(telling, used); err != nil {
			log.Warn("could not report last uses of keys; they are kept", "keys", len(used), "error", err)
		} else {
			clear(used)
		}
		cancel()
	}
}
