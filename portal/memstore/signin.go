package memstore

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

// signinRecords implements [signin.Store]. The zero value is empty.
type signinRecords struct {
	mu      sync.Mutex
	records map[string]signinRecord
}

type signinRecord struct {
	bytes   []byte
	expires time.Time
}

var _ signin.Store = (*signinRecords)(nil)

// UpdateSignin implements [signin.Store].
func (s *signinRecords) UpdateSignin(ctx context.Context, id string,
	change func(old []byte) ([]byte, time.Time, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	record, expires, err := change(bytes.Clone(s.records[id].bytes))
	if err == nil {
		err = context.Cause(ctx)
	}
	switch {
	case err != nil:
		return err
	case len(record) == 0:
		delete(s.records, id)
	default:
		if s.records == nil {
			s.records = map[string]signinRecord{}
		}
		s.records[id] = signinRecord{bytes.Clone(record), exact(expires)}
	}
	return nil
}

// ReadSignin implements [signin.Store].
func (s *signinRecords) ReadSignin(ctx context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return bytes.Clone(s.records[id].bytes), nil
}

// SweepSignin implements [signin.Store].
func (s *signinRecords) SweepSignin(ctx context.Context, now time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	before := len(s.records)
	maps.DeleteFunc(s.records, func(_ string, r signinRecord) bool { return !now.Before(r.expires) })
	return before - len(s.records), nil
}
