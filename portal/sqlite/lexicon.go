package sqlite

import (
	"context"
	"database/sql"

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
	return watch(ctx, s, s.lexiconsSince, update)
}

// lexiconsSince is since of [watch].
func (s *Store) lexiconsSince(ctx context.Context, seen int64) (lexicons []tenant.Lexicon, last int64, err error) {
	err = s.read(ctx, func(c *conn) error {
		if err := c.row(`SELECT coalesce(max(changed), 0) FROM lexicons`, nil, &last); err != nil || seen == last {
			return err
		}
		if last < seen {
			seen = -1
		}
		query := `SELECT ` + lexiconColumns + ` FROM lexicons WHERE changed > ? ORDER BY changed`
		return c.rows(ctx, query, []any{seen}, func(rows *sql.Rows) error {
			var l tenant.Lexicon
			err := scanLexicon(rows, &l)
			lexicons = append(lexicons, l)
			return err
		})
	})
	return lexicons, last, s.ended(ctx, err)
}
