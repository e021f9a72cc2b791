package dataplane

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
)

// followLexicons follows the lexicons of the store until ctx ends. While the store is unreachable, the known ones stay:
// no key depends on them.
func (f *Feed) followLexicons(ctx context.Context) {
	for wait := minRetry; ctx.Err() == nil; wait = min(2*wait, maxRetry) {
		err := f.store.WatchLexicons(ctx, func(lexicons []tenant.Lexicon, full bool) error {
			wait = minRetry
			f.applyLexicons(lexicons, full)
			return nil
		})
		if ctx.Err() != nil || errors.Is(err, tenant.ErrClosed) {
			return
		}
		f.log.Warn("lost the watch on lexicons; retrying", "error", err)
		pause(ctx, wait)
	}
}

// applyLexicons applies records of the store. A lexicon is never deleted, only emptied.
func (f *Feed) applyLexicons(lexicons []tenant.Lexicon, full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := full && !f.lexiconsBegun
	f.lexiconsBegun = f.lexiconsBegun || full
	for _, l := range lexicons {
		if old, known := f.lexicons[l.ProjectID]; !known || old.Version != l.Version {
			f.lexicons[l.ProjectID] = access.ProjectLexicon{ProjectID: l.ProjectID, Version: l.Version,
				Entries: l.Entries}
			changed = true
		}
	}
	if changed {
		f.lexiconChange++
		f.notifyLocked()
	}
}

// readLexiconsLocked adds to u the lexicons that the reader does not know.
func (r *reader) readLexiconsLocked(u *wire.Update) {
	f := r.feed
	if r.lexiconChange == f.lexiconChange || !f.lexiconsBegun {
		return
	}
	if r.lexicons == nil {
		r.lexicons, u.AllLexicons = make(map[string]int64, len(f.lexicons)), true
	}
	for id, l := range f.lexicons {
		if version, known := r.lexicons[id]; !known || version != l.Version {
			r.lexicons[id] = l.Version
			u.Lexicons = append(u.Lexicons, l)
		}
	}
	r.lexiconChange = f.lexiconChange
}
