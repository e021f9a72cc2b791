package tenant

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/swar-tts/swar/runtime/lexicon"
)

// Lexicon has the pronunciations of a project's keys. A project has one, without entries at first.
type Lexicon struct {
	ProjectID string
	OrgID     string
	Version   int64 // counts the changes
	Entries   []lexicon.Entry
	UpdatedAt time.Time // zero for never
	UpdatedBy string    // e-mail, or "operator"
}

// ID is what requests for speech name the lexicon by.
func (l Lexicon) ID() string { return lexicon.IDOf(l.ProjectID) }

// Lexicon returns the lexicon of a project.
func (s *Service) Lexicon(ctx context.Context, actor User, projectID string) (Lexicon, error) {
	return view(ctx, s, func(r Reader) (Lexicon, error) {
		p, err := r.Project(projectID)
		if err != nil {
			return Lexicon{}, err
		}
		if err := ofObject(mayRead(r, actor, p.OrgID)); err != nil {
			return Lexicon{}, err
		}
		return lexiconOf(r, p)
	})
}

func lexiconOf(r Reader, p Project) (Lexicon, error) {
	l, err := r.Lexicon(p.ID)
	if errors.Is(err, ErrNotFound) {
		return Lexicon{ProjectID: p.ID, OrgID: p.OrgID}, nil
	}
	return l, err
}

// PutLexicon replaces the entries of the lexicon of a project. With version, which may be nil, it fails with
// [ErrLexiconChanged] unless that is the present one. The same entries again change nothing.
func (s *Service) PutLexicon(ctx context.Context, actor User, projectID string, entries []lexicon.Entry,
	version *int64) (Lexicon, error) {
	entries, err := lexicon.Clean(entries)
	if err != nil {
		return Lexicon{}, BadField("entries", err.Error())
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Lexicon, error) {
		p, err := writableProject(tx, actor, projectID)
		if err != nil {
			return Lexicon{}, err
		}
		l, err := lexiconOf(tx, p)
		if err != nil {
			return l, err
		}
		if version != nil && *version != l.Version {
			return l, ErrLexiconChanged
		}
		if slices.Equal(l.Entries, entries) {
			return l, nil
		}
		l.Version++
		l.Entries, l.UpdatedAt, l.UpdatedBy = entries, now, actor.Email
		tx.PutLexicon(l)
		log(tx, now, actor, LexiconChanged, p.OrgID, projectID,
			"entries", strconv.Itoa(len(entries)), "version", strconv.FormatInt(l.Version, 10))
		return l, nil
	})
}
