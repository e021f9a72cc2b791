package access

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"time"
)

const (
	reportInterval = 80 * time.Second // between reports of last uses; 40 to 80 s, a minute on average
	reportTimeout  = 5 * time.Second  // for telling them
)

// ReportLastUsed reports about once a minute when keys of c were last used, until ctx ends, and then once more. After a
// failure it keeps them: one time per key, however long that lasts. tell must not keep its argument.
func (c *KeyCache) ReportLastUsed(
	ctx context.Context, tell func(context.Context, map[string]time.Time) error, log *slog.Logger,
) {
	used := make(map[string]time.Time)
	for more := true; more; {
		// Waits are random, so that processes that began together do not report together.
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
