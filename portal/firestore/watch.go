package firestore

import (
	"context"
	"time"

	"cloud.google.com/go/firestore"

	"github.com/swar-tts/swar/portal/tenant"
)

// WatchKeys implements [tenant.Store]. It listens to the keys that are not revoked. A key that leaves them is read
// again to see why.
func (s *Store) WatchKeys(ctx context.Context, update func(keys []tenant.Key, full bool) error) error {
	return s.watch(ctx, "keys", func(ctx context.Context) (bool, error) { return s.listen(ctx, update) })
}

// watch listens until that fails for good. delivered is whether listen had what there is.
//
// Firestore's client listens again when the connection is lost. When it gives up, listening begins anew, with all
// documents.
func (s *Store) watch(ctx context.Context, what string,
	listen func(context.Context) (delivered bool, err error)) error {
	ctx, end, err := s.begin(ctx, 0)
	if err != nil {
		return err
	}
	defer end()
	for attempt := 1; ; attempt++ {
		delivered, err := listen(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if failed, ok := err.(updateError); ok { //nolint:errorlint // listen does not wrap it
			return failed.error
		}
		if delivered {
			attempt = 1
		}
		s.cfg.Log.Warn("watching "+what+" was interrupted; it begins again with all of them", "error",
			s.fault(ctx, "watching "+what, err))
		select {
		case <-time.After(min(listenPause<<min(attempt, 8), longestListenPause)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

const (
	listenPause        = 50 * time.Millisecond
	longestListenPause = 5 * time.Second
)

// updateError is an error of the one who watches.
type updateError struct{ error }

// listen watches until something fails. delivered is whether it had the keys.
func (s *Store) listen(ctx context.Context, update func([]tenant.Key, bool) error) (delivered bool, err error) {
	found := s.in(activeKeys, "").with("revoked", false).q.Snapshots(ctx)
	defer found.Stop()
	for {
		snapshot, err := found.Next()
		if err != nil {
			return delivered, err
		}
		keys, err := s.changed(ctx, snapshot.Changes)
		if err != nil {
			return delivered, err
		}
		if ctx.Err() != nil {
			return delivered, context.Cause(ctx)
		}
		if len(keys) == 0 && delivered {
			continue
		}
		if err := update(keys, !delivered); err != nil {
			return delivered, updateError{err}
		}
		delivered = true
	}
}

// changed returns the keys that changes are about, as they are now or were a moment ago.
func (s *Store) changed(ctx context.Context, changes []firestore.DocumentChange) ([]tenant.Key, error) {
	var docs []*firestore.DocumentSnapshot
	var gone []*firestore.DocumentRef
	for _, c := range changes {
		if c.Kind == firestore.DocumentRemoved {
			gone = append(gone, c.Doc.Ref)
		} else {
			docs = append(docs, c.Doc)
		}
	}
	if len(gone) > 0 {
		now, err := s.client.GetAll(ctx, gone)
		if err != nil {
			return nil, err
		}
		for _, doc := range now {
			if doc.Exists() { // else it was swept
				docs = append(docs, doc)
			}
		}
	}
	found, err := read[keyDoc](docs)
	if err != nil {
		return nil, err
	}
	keys := make([]tenant.Key, len(found))
	for i, d := range found {
		keys[i] = d.key()
	}
	return keys, nil
}
