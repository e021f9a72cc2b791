package firestore

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// An index is what a query needs: fields in order, "-" meaning descending and "[]" a list that holds values.
type index struct {
	collection string
	group      bool
	fields     []string
}

func (i index) String() string {
	scope := "collection"
	if i.group {
		scope = "collection group"
	}
	var fields []string
	for _, f := range i.fields {
		name, descending := strings.CutPrefix(f, "-")
		name, list := strings.CutPrefix(name, "[]")
		switch {
		case descending:
			name += " descending"
		case list:
			name += " array-contains"
		default:
			name += " ascending"
		}
		fields = append(fields, name)
	}
	return fmt.Sprintf("%s %s: %s", scope, i.collection, strings.Join(fields, ", "))
}

// indexes are those of queries of one shape. Optional filters do not multiply them: Firestore joins indexes that begin
// with one field each and end in the same order.
func (sh shape) indexes() (all []index) {
	one := func(fields ...string) {
		all = append(all, index{sh.collection, sh.group, append(fields, sh.order...)})
	}
	for _, f := range sh.equal {
		one(f)
	}
	if len(sh.equal) == 0 && len(sh.order) > 0 {
		one()
	}
	for _, f := range sh.optional {
		one(f)
	}
	if sh.contains != "" {
		one("[]" + sh.contains)
	}
	return all
}

// Check sends one query of each kind to Firestore. It fails if Firestore is unreachable, refuses the credentials, or
// lacks an index for a query, which the error names. Call it when a server starts.
func (s *Store) Check(ctx context.Context) error {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return err
	}
	defer end()
	for _, sh := range shapes {
		for _, i := range sh.indexes() {
			if err := s.checkIndex(ctx, sh, i); err != nil {
				return err
			}
		}
		if len(sh.indexes()) == 0 {
			if err := s.checkIndex(ctx, sh, index{collection: sh.collection}); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkIndex makes the query of a shape that needs the index, and as little else as can be.
func (s *Store) checkIndex(ctx context.Context, sh shape, i index) error {
	q := s.in(sh, "check").limit(1)
	for _, f := range sh.equal {
		q = q.with(f, "check")
	}
	if first := len(i.fields) - len(sh.order); first > 0 {
		if f := strings.TrimPrefix(i.fields[0], "[]"); f == sh.contains || len(sh.equal) == 0 || f != sh.equal[0] {
			q = q.with(f, "check")
		}
	}
	_, err := q.collect(ctx, nil)
	if status.Code(err) == codes.FailedPrecondition {
		return fmt.Errorf("firestore: the database has no index for the %s (%s), or is still building it; deploy firestore.indexes.json with: firebase deploy --only firestore: %w", sh.name, i, err)
	}
	return s.fault(ctx, "checking the database", err)
}
