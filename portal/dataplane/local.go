package dataplane

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/access"
)

const (
	touchPause = 80 * time.Second // before last uses of keys are told again; pause makes 40 to 80 s of it, a minute on average
	touchLimit = 5 * time.Second  // for telling them
)

// Local runs feed, keeps cache up to date with it, and tells its store when keys were used, until ctx ends; then it
// tells that once more and returns nil. It is for a portal that serves speech itself. Only a store that was closed is
// an error.
func Local(ctx context.Context, feed *Feed, cache *access.KeyCache, log *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var err error
	var running sync.WaitGroup
	running.Go(func() {
		defer stop()
		err = feed.Run(ctx)
	})
	running.Go(func() { touch(ctx, cache, feed.store.Touch, log) })
	for r := (reader{feed: feed}); ; {
		u, ended := r.next(ctx)
		if ended != nil {
			break
		}
		take(cache, u)
	}
	cache.Away()
	running.Wait()
	return err
}

// touch tells about once a minute which keys of cache were used when, until ctx ends, and then once more. What cannot
// be told is kept: it is a time for each key, however long that lasts.
func touch(
	ctx context.Context, cache *access.KeyCache, tell func(context.Context, map[string]time.Time) error, log *slog.Logger,
) {
	used := make(map[string]time.Time)
	for more := true; more; {
		more = pause(ctx, touchPause)
		maps.Copy(used, cache.Touched()) // later than what is there
		if len(used) == 0 {
			continue
		}
		telling, cancel := context.WithTimeout(context.WithoutCancel(ctx), touchLimit)
		if err := tell(telling, used); err != nil {
			log.Warn("the last uses of keys could not be told and are kept", "keys", len(used), "error", err)
		} else {
			clear(used)
		}
		cancel()
	}
}
