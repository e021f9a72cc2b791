package firestore

import (
	"bytes"
	"context"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type signinDoc struct {
	Record   []byte    `firestore:"record"`
	ExpireAt time.Time `firestore:"expire_at"`
}

// UpdateSignin implements [signin.Store].
func (s *Store) UpdateSignin(ctx context.Context, id string, change func(old []byte) ([]byte, time.Time, error)) error {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return err
	}
	defer end()
	give, err := s.turns.take(ctx, "signin "+id)
	if err != nil {
		return s.fault(ctx, "waiting for other changes", err)
	}
	defer give()
	ref := s.doc("signin", id)
	return s.transact(ctx, "changing a record of sign-in", func(ctx context.Context, tx *firestore.Transaction) error {
		var old signinDoc
		doc, err := tx.Get(ref)
		if err == nil {
			err = doc.DataTo(&old)
		} else if status.Code(err) == codes.NotFound && doc != nil {
			err = nil
		}
		if err != nil {
			return s.fault(ctx, "reading a record of sign-in", err)
		}
		record, expires, err := change(old.Record)
		switch {
		case err != nil:
			return err
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case len(record) == 0:
			return tx.Delete(ref)
		}
		return tx.Set(ref, signinDoc{bytes.Clone(record), exact(expires)})
	})
}

// ReadSignin implements [signin.Store].
func (s *Store) ReadSignin(ctx context.Context, id string) ([]byte, error) {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer end()
	var found signinDoc
	err = retry(ctx, func() error {
		doc, err := s.doc("signin", id).Get(ctx)
		if status.Code(err) == codes.NotFound && doc != nil {
			return nil
		}
		if err == nil {
			err = doc.DataTo(&found)
		}
		return err
	})
	if err != nil {
		return nil, s.fault(ctx, "reading a record of sign-in", err)
	}
	return found.Record, nil
}

// SweepSignin implements [signin.Store].
func (s *Store) SweepSignin(ctx context.Context, now time.Time) (int, error) {
	ctx, end, err := s.begin(ctx, 0)
	if err != nil {
		return 0, err
	}
	defer end()
	n, err := s.sweep(ctx, s.in(expiredSignins, "").within("<=", exact(now)), nil)
	return n, s.fault(ctx, "deleting expired records of sign-in", err)
}
