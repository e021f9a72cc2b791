package firestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"
)

// A shape is a sort of query. All queries of this package have one of the shapes below, so that a test can hold them
// against the index file, and Check can ask Firestore for each of them.
type shape struct {
	name       string
	collection string // its last part: "requests" of orgs/{org}/requests
	group      bool   // over all collections of that name
	nested     bool   // below an organisation

	equal    []string // fields that must have a value, all of them
	optional []string // fields that a query may filter by in addition
	contains string   // optional, too: a list that must hold a value
	// in this order and direction, "-" meaning descending; a range may be asked of the first one, or a place in all
	order []string
}

// The shapes. Lists that are short by a rule, or asked for as a whole, are ordered where they arrive and need no
// index for that.
var (
	orgsByID      = shape{name: "organisations by id", collection: "orgs", order: []string{"id"}}
	projectsOfOrg = shape{name: "projects of an organisation", collection: "projects", equal: []string{"org_id"}}
	membersOfOrg  = shape{name: "members of an organisation", collection: "members", nested: true}
	memberships   = shape{name: "memberships of an e-mail address", collection: "members", group: true,
		equal: []string{"email"}}
	voicesOfOrg = shape{name: "voice requests of an organisation", collection: "voice_requests",
		equal: []string{"org_id"}}
	auditOfOrg = shape{name: "audit log", collection: "audit", nested: true, order: []string{"-at", "-id"}}
	keysOfOrg  = shape{name: "keys of an organisation", collection: "keys", equal: []string{"org_id"},
		optional: []string{"project_id", "kind", "created_by", "revoked"}, order: []string{"-created", "-id"}}
	allLexicons    = shape{name: "all lexicons", collection: "lexicons"}
	activeKeys     = shape{name: "keys that are not revoked", collection: "keys", equal: []string{"revoked"}}
	expiredKeys    = shape{name: "expired keys", collection: "keys", order: []string{"expire_at"}}
	expiredAnswers = shape{name: "expired answers", collection: "answers", order: []string{"expire_at"}}
	expiredSignins = shape{name: "expired records of sign-in", collection: "signin", order: []string{"expire_at"}}
	expiredMarks   = shape{name: "expired marks of transactions", collection: "commits", order: []string{"expire_at"}}

	shardsOfOrg  = shape{name: "shards of an organisation", collection: "shards", nested: true, order: []string{"date"}}
	shardsOfDay  = shape{name: "shards of a day", collection: "shards", group: true, equal: []string{"date"}}
	requestsPage = shape{
		name: "request log", collection: "requests", nested: true, order: []string{"-start", "-id"},
		optional: []string{"project_id", "key_id", "voice", "endpoint", "status", "request_id"},
		contains: "slower_than_ms",
	}
	requestsOfDay = shape{name: "requests of a day", collection: "requests", group: true, equal: []string{"date"}}
	oldRequests   = shape{name: "requests before a day", collection: "requests", group: true, order: []string{"date"}}
	allShards     = shape{name: "all shards", collection: "shards", group: true}
	allRequests   = shape{name: "all requests", collection: "requests", group: true}
	closedMonths  = shape{name: "closed months", collection: "months"}
	allSources    = shape{name: "all sources", collection: "sources"}
)

var shapes = []shape{
	orgsByID, projectsOfOrg, membersOfOrg, memberships, voicesOfOrg, auditOfOrg, keysOfOrg, allLexicons, activeKeys,
	expiredKeys, expiredAnswers,
	expiredSignins, expiredMarks, shardsOfOrg, shardsOfDay, requestsPage, requestsOfDay, oldRequests, allShards,
	allRequests, closedMonths,
	allSources,
}

// query is a shape in the making.
type query struct {
	shape shape
	q     firestore.Query
	err   error
}

// in begins a query of a shape. orgID is needed where the collection lies below an organisation.
func (s *Store) in(sh shape, orgID string) *query {
	q := &query{shape: sh}
	switch {
	case sh.group:
		q.q = s.client.CollectionGroup(sh.collection).Query
	case sh.nested:
		q.q = s.org(orgID).Collection(sh.collection).Query
	default:
		q.q = s.client.Collection(sh.collection).Query
	}
	for _, field := range sh.order {
		field, descending := strings.CutPrefix(field, "-")
		direction := firestore.Asc
		if descending {
			direction = firestore.Desc
		}
		q.q = q.q.OrderBy(field, direction)
	}
	return q
}

// with asks for documents whose field has a value; the shape must allow it.
func (q *query) with(field string, value any) *query {
	switch {
	case slices.Contains(q.shape.equal, field), slices.Contains(q.shape.optional, field):
		q.q = q.q.Where(field, "==", value)
	case q.shape.contains == field:
		q.q = q.q.Where(field, "array-contains", value)
	default:
		q.err = fmt.Errorf("firestore: the shape of %s has no field %s", q.shape.name, field)
	}
	return q
}

// like is with for a filter that may be empty.
func (q *query) like(field, value string) *query {
	if value == "" {
		return q
	}
	return q.with(field, value)
}

// within bounds the first field of the order.
func (q *query) within(op string, value any) *query {
	if len(q.shape.order) == 0 {
		q.err = fmt.Errorf("firestore: the shape of %s has no order", q.shape.name)
		return q
	}
	q.q = q.q.Where(strings.TrimPrefix(q.shape.order[0], "-"), op, value)
	return q
}

// behind begins after a place in the order.
func (q *query) behind(values ...any) *query {
	q.q = q.q.StartAfter(values...)
	return q
}

func (q *query) limit(n int) *query {
	if n > 0 {
		q.q = q.q.Limit(n)
	}
	return q
}

// selected reads only some fields. Pages begin after a document, so the fields of the order must be among them.
func (q *query) selected(fields ...string) *query {
	q.q = q.q.Select(fields...)
	return q
}

// collect reads all that q finds; tx may be nil.
func (q *query) collect(ctx context.Context,
	tx *firestore.Transaction) (docs []*firestore.DocumentSnapshot, err error) {
	if q.err != nil {
		return nil, q.err
	}
	err = retry(ctx, func() (err error) {
		found := q.q.Documents(ctx)
		if tx != nil {
			found = tx.Documents(q.q)
		}
		docs, err = found.GetAll()
		return err
	})
	return docs, err
}

// each calls handle with one document after the other in a transaction, without holding them all.
func (q *query) each(tx *firestore.Transaction, handle func(*firestore.DocumentSnapshot) error) error {
	if q.err != nil {
		return q.err
	}
	found := tx.Documents(q.q)
	defer found.Stop()
	for {
		doc, err := found.Next()
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := handle(doc); err != nil {
			return err
		}
	}
}

// pages calls each with all that q finds, in pages of n, until it fails.
func (q *query) pages(ctx context.Context, n int, each func([]*firestore.DocumentSnapshot) error) error {
	next := *q.limit(n)
	for {
		docs, err := next.collect(ctx, nil)
		if err != nil {
			return err
		}
		if len(docs) > 0 {
			if err := each(docs); err != nil {
				return err
			}
		}
		if len(docs) < n {
			return nil
		}
		next.q = q.q.Limit(n).StartAfter(docs[len(docs)-1])
	}
}

// read decodes documents.
func read[D any](docs []*firestore.DocumentSnapshot) ([]D, error) {
	all := make([]D, len(docs))
	for i, doc := range docs {
		if err := doc.DataTo(&all[i]); err != nil {
			return nil, fmt.Errorf("firestore: document %s is not what it should be: %w", doc.Ref.Path, err)
		}
	}
	return all, nil
}
