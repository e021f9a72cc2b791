package firestore

import (
	"context"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// sweepBatch is how many documents are deleted at once: Firestore takes 500 writes, and a key has two documents.
const sweepBatch = 200

// Sweep implements [tenant.Store].
func (s *Store) Sweep(ctx context.Context, now time.Time) (int, error) {
	ctx, end, err := s.begin(ctx, 0)
	if err != nil {
		return 0, err
	}
	defer end()
	now = exact(now)
	keys, err := s.sweep(ctx, s.in(expiredKeys, "").within("<=", now),
		func(key *firestore.DocumentRef) *firestore.DocumentRef {
			return s.client.Collection("uses").Doc(key.ID)
		})
	if err != nil {
		return keys, s.fault(ctx, "deleting expired keys", err)
	}
	answers, err := s.sweep(ctx, s.in(expiredAnswers, "").within("<=", now), nil)
	if err != nil {
		return keys + answers, s.fault(ctx, "deleting expired answers", err)
	}
	_, err = s.sweep(ctx, s.in(expiredMarks, "").within("<=", now), nil)
	return keys + answers, s.fault(ctx, "deleting expired marks of transactions", err)
}

// sweep deletes the documents that q finds, and with each the one that with names, if it is given. It deletes in
// batches, so that a failure leaves the rest for the next time, and returns how many that q has found it deleted. A
// document that has changed since it was found is left alone, because it may have got a longer life.
func (s *Store) sweep(ctx context.Context, q *query,
	with func(*firestore.DocumentRef) *firestore.DocumentRef) (n int, err error) {
	err = q.selected(q.shape.order...).pages(ctx, sweepBatch, func(docs []*firestore.DocumentSnapshot) error {
		deleted, err := s.deleteAll(ctx, docs, with)
		n += deleted
		return err
	})
	return n, err
}

func (s *Store) deleteAll(ctx context.Context, docs []*firestore.DocumentSnapshot,
	with func(*firestore.DocumentRef) *firestore.DocumentRef) (int, error) {
	if len(docs) == 0 {
		return 0, nil
	}
	batch := s.batch()
	for _, doc := range docs {
		batch.Delete(doc.Ref, firestore.LastUpdateTime(doc.UpdateTime))
		if with != nil {
			batch.Delete(with(doc.Ref))
		}
	}
	for attempt := 1; ; attempt++ {
		_, err := batch.Commit(ctx)
		code := status.Code(err)
		switch {
		case err == nil:
			return len(docs), nil
		case code == codes.FailedPrecondition ||
			code == codes.NotFound: // at least one was changed or deleted, perhaps by this very commit
			if len(docs) == 1 {
				return 0, nil
			}
			first, err := s.deleteAll(ctx, docs[:len(docs)/2], with)
			if err != nil {
				return first, err
			}
			second, err := s.deleteAll(ctx, docs[len(docs)/2:], with)
			return first + second, err
		case !passes(err) || attempt == maxAttempts || pause(ctx, attempt) != nil:
			return 0, err
		}
	}
}

// batch begins a list of atomic writes. Its replacement in the library is not atomic, or needs a transaction that reads
// nothing.
func (s *Store) batch() *firestore.WriteBatch { //nolint:staticcheck // see above
	return s.client.Batch() //nolint:staticcheck // see above
}
