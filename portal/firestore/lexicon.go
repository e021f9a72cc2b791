package firestore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"time"

	"cloud.google.com/go/firestore"

	"github.com/swar-tts/swar/portal/tenant"
)

// lexiconDoc is the lexicon of a project. The largest one takes 0.9 MB of the 1 MiB that a document may have.
type lexiconDoc struct {
	ProjectID string     `firestore:"project_id"`
	OrgID     string     `firestore:"org_id"`
	Version   int64      `firestore:"version"`
	Entries   []byte     `firestore:"entries"` // JSON
	UpdatedAt *time.Time `firestore:"updated_at"`
	UpdatedBy string     `firestore:"updated_by"`
}

func newLexiconDoc(l tenant.Lexicon) (lexiconDoc, error) {
	var entries bytes.Buffer
	e := json.NewEncoder(&entries)
	e.SetEscapeHTML(false) // which would make signs six times as long
	err := e.Encode(l.Entries)
	return lexiconDoc{l.ProjectID, l.OrgID, l.Version, entries.Bytes(), stored(l.UpdatedAt), l.UpdatedBy}, err
}

func (d lexiconDoc) lexicon() (tenant.Lexicon, error) {
	l := tenant.Lexicon{
		ProjectID: d.ProjectID, OrgID: d.OrgID, Version: d.Version, UpdatedAt: timeOf(d.UpdatedAt),
		UpdatedBy: d.UpdatedBy,
	}
	if len(d.Entries) == 0 {
		return l, nil
	}
	return l, json.Unmarshal(d.Entries, &l.Entries)
}

func (r *reader) Lexicon(projectID string) (tenant.Lexicon, error) {
	d, err := get[lexiconDoc](r, r.s.doc("lexicons", projectID))
	if err != nil {
		return tenant.Lexicon{}, err
	}
	return d.lexicon()
}

func (t *transaction) PutLexicon(l tenant.Lexicon) {
	d, err := newLexiconDoc(l)
	t.put("a lexicon", []string{l.ProjectID, l.OrgID},
		func() *firestore.DocumentRef { return t.s.doc("lexicons", l.ProjectID) }, d)
	t.failed = cmp.Or(t.failed, err)
}

// WatchLexicons implements [tenant.Store].
func (s *Store) WatchLexicons(ctx context.Context, update func(lexicons []tenant.Lexicon, full bool) error) error {
	return s.watch(ctx, "lexicons", func(ctx context.Context) (bool, error) { return s.listenToLexicons(ctx, update) })
}

// listenToLexicons is listen for lexicons, which are never deleted.
func (s *Store) listenToLexicons(ctx context.Context,
	update func([]tenant.Lexicon, bool) error) (delivered bool, err error) {
	found := s.in(allLexicons, "").q.Snapshots(ctx)
	defer found.Stop()
	for {
		snapshot, err := found.Next()
		if err != nil {
			return delivered, err
		}
		var docs []*firestore.DocumentSnapshot
		for _, c := range snapshot.Changes {
			if c.Kind != firestore.DocumentRemoved {
				docs = append(docs, c.Doc)
			}
		}
		changed, err := read[lexiconDoc](docs)
		if err != nil {
			return delivered, err
		}
		lexicons := make([]tenant.Lexicon, len(changed))
		for i, d := range changed {
			if lexicons[i], err = d.lexicon(); err != nil {
				return delivered, err
			}
		}
		if ctx.Err() != nil {
			return delivered, context.Cause(ctx)
		}
		if len(lexicons) == 0 && delivered {
			continue
		}
		if err := update(lexicons, !delivered); err != nil {
			return delivered, updateError{err}
		}
		delivered = true
	}
}
