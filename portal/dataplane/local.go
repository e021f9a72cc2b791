package dataplane

import (
	"context"
	"log/slog"
	"sync"

	"github.com/swar-tts/swar/runtime/access"
)

// Local runs feed, keeps cache up to date with it, and tells its store when keys were used, until ctx ends; then it
// tells that once more and returns nil. It is for a portal that serves speech itself. Only a store that was closed is
// an error.
func Local(ctx context.Context, feed *Feed, cache *access.KeyCache, log *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	self := feed.follow("this process") // before the feed knows a key that could be awaited
	var err error
	var running sync.WaitGroup
	running.Go(func() {
		defer stop()
		err = feed.Run(ctx)
	})
	running.Go(func() { cache.ReportLastUsed(ctx, feed.store.Touch, log) })
	for r := (reader{feed: feed}); ; {
		u, ended := r.next(ctx)
		if ended != nil {
			break
		}
		u.ApplyTo(cache)
		feed.acknowledge(self.id, u.Position)
	}
	feed.unfollow(self)
	cache.PortalLost()
	running.Wait()
	return err
}
