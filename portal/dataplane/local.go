package dataplane

import (
	"context"
	"log/slog"
	"sync"

	"github.com/swar-tts/swar/runtime/access"
)

// Local runs feed and keeps cache up to date with it until ctx ends. It writes the last uses of keys to its store,
// once more at the end, and returns nil. It is for a portal that serves speech itself. Only a closed store is an
// error.
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
