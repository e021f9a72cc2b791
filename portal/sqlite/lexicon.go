package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

const lexiconColumns = `project_id, org_id, version, entries, updated_at, updated_by`

func scanLexicon(rows scanner, l *tenant.Lexicon) error {
	return rows.Scan(&l.ProjectID, &l.OrgID, &l.Version, inJSON{&l.Entries}, instant{&l.UpdatedAt}, &l.UpdatedBy)
}

func (r *tenantReader) Lexicon(projectID string) (tenant.Lexicon, error) {
	return one(r, scanLexicon, `SELECT `+lexiconColumns+` FROM lexicons WHERE project_id = ?`, projectID)
}

func (tx *tenantTx) PutLexicon(l tenant.Lexicon) {
	tx.watched = true
	tx.write("a lexicon", [2]string{l.ProjectID, l.OrgID}, `INSERT OR REPLACE INTO lexicons (`+lexiconColumns+`, changed)
		VALUES (?, ?, ?, ?, ?, ?, (SELECT coalesce(max(changed), 0) + 1 FROM lexicons))`,
		l.ProjectID, l.OrgID, l.Version, tx.encode(l.Entries), moment(l.UpdatedAt), l.UpdatedBy)
}

// WatchLexicons implements [tenant.Store].
func (s *Store) WatchLexicons(ctx context.Context, update func(lexicons []tenant.Lexicon, full bool) error) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for seen := int64(-1); ; {
		changed := s.keysChanged() // before reading, so that no change falls in between
		lexicons, last, err := s.lexiconsSince(ctx, seen)
		if err != nil {
			return err
		}
		if full := seen < 0; full || len(lexicons) > 0 {
			if err := s.usable(ctx); err != nil {
				return err
			}
			if err := update(lexicons, full); err != nil {
				return err
			}
		}
		seen = last
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.closed:
			return tenant.ErrClosed
		case <-changed:
		case <-poll.C:
		}
	}
}

// lexiconsSince returns the lexicons that have changed since the change numbered seen, and the number of the last change.
func (s *Store) lexiconsSince(ctx context.Context, seen int64) (lexicons []tenant.Lexicon, last int64, err error) {
	last = max(seen, 0)
	err = s.read(ctx, func(c *conn) error {
		query := `SELECT ` + lexiconColumns + `, changed FROM lexicons WHERE changed > ? ORDER BY changed`
		return c.rows(ctx, query, []any{last}, func(rows *sql.Rows) error {
			var l tenant.Lexicon
			err := rows.Scan(&l.ProjectID, &l.OrgID, &l.Version, inJSON{&l.Entries}, instant{&l.UpdatedAt}, &l.UpdatedBy, &last)
			lexicons = append(lexicons, l)
			return err
		})
	})
	return lexicons, last, s.ended(ctx, err)
}
