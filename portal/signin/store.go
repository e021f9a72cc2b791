package signin

import (
	"context"
	"time"
)

// Store keeps the records of the built-in issuer. It is safe for concurrent use, also by several processes on one
// database.
//
// Everything about one e-mail address is one record, so are a family of refresh tokens and the issuer's keys, and
// every rule changes one record at a time. So a store needs no more than an atomic change of one record.
//
// An id is 1 to 100 characters out of a-z, 0-9, '-' and ':'. A record has at least one byte and at most 200,000.
type Store interface {
	// UpdateSignin atomically replaces the record id by the result of change. old is nil without a record. When change
	// returns no bytes the record is deleted; when it fails the record stays as it is, and its error is returned as it
	// is. change owns old, and the store copies what change returns. After a conflict change is called again with the
	// new record, so it must set its results anew each time. It must not use the store otherwise.
	//
	// From expires on the record may be swept, or deleted by the database itself. Until that happens it is still
	// read: change looks at the times that the record holds.
	UpdateSignin(ctx context.Context, id string,
		change func(old []byte) (record []byte, expires time.Time, err error)) error

	// ReadSignin returns the record id as it was stored last, by whichever process; nil where there is none. The
	// caller owns it.
	ReadSignin(ctx context.Context, id string) ([]byte, error)

	// SweepSignin deletes the records whose time has come, expires being now or before, and returns how many. It may
	// delete in several steps.
	SweepSignin(ctx context.Context, now time.Time) (int, error)
}
