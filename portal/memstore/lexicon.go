package memstore

import (
	"context"
	"slices"
	"strings"

	"github.com/swar-tts/swar/portal/tenant"
)

// WatchLexicons implements [tenant.Store].
func (t *tenancy) WatchLexicons(ctx context.Context, update func(lexicons []tenant.Lexicon, full bool) error) error {
	seen := make(map[string]int64) // the version of each project's
	for full := true; ; full = false {
		changed, more, err := t.lexiconsSince(ctx, seen)
		if err != nil {
			return err
		}
		if full || len(changed) > 0 {
			if err := update(changed, full); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.closed:
			return tenant.ErrClosed
		case <-more:
		}
	}
}

// lexiconsSince returns the lexicons that differ from seen, which it updates, and a channel that is closed at the next
// change.
func (t *tenancy) lexiconsSince(ctx context.Context,
	seen map[string]int64) (changed []tenant.Lexicon, more <-chan struct{}, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if err := t.usable(ctx); err != nil {
		return nil, nil, err
	}
	t.watching.Lock()
	defer t.watching.Unlock()
	for id, l := range t.tables.lexicons {
		if version, known := seen[id]; !known || version != l.Version {
			seen[id] = l.Version
			l.Entries = slices.Clone(l.Entries)
			changed = append(changed, l)
		}
	}
	slices.SortFunc(changed, func(a, b tenant.Lexicon) int { return strings.Compare(a.ProjectID, b.ProjectID) })
	return changed, t.lexicons, nil
}

func (t *tenancy) notifyLexicons() {
	t.watching.Lock()
	defer t.watching.Unlock()
	close(t.lexicons)
	t.lexicons = make(chan struct{})
}
