package tenant

import (
	"context"
	"errors"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
)

// Faults of a store. They are not refusals: nothing is wrong with what was asked for. Stores wrap them.
var (
	ErrClosed         = errors.New("the store is closed")
	ErrReadAfterWrite = errors.New("a transaction must read everything before it writes")
	// out of reach, or too many conflicts; nothing is half done
	ErrUnavailable = errors.New("the store is unavailable; try again")
)

// Store keeps tenancy. It is safe for concurrent use, also by several processes on one database.
//
// A Store holds no rule. Puts create or replace a whole record; a record without its identifier is an error. The store
// copies what is put, and the caller owns what is read. Times come back in UTC as whole microseconds, cut and not
// rounded, and zero times as zero; strings come back unchanged; empty and nil lists are the same.
type Store interface {
	// View calls read with a reader of one state of the store: no change is seen by half, and none made since. It
	// returns what read returns. read must not use the store otherwise.
	View(ctx context.Context, read func(Reader) error) error

	// Update calls change in a transaction and makes its writes visible at once, or none of them when change fails or
	// panics, when ctx ends or when the store does. Transactions, with the queries in them, happen as if one after
	// the other; change is called again after a conflict, so it must set what it hands out anew each time. It reads
	// first and writes then: a read after a write fails with ErrReadAfterWrite, and so does Update, whatever change
	// makes of it. change must not use the store otherwise.
	//
	// An error of change is returned as it is, so that refusals stay refusals.
	Update(ctx context.Context, change func(Tx) error) error

	// Touch notes when keys were last used, by key id. The latest time wins in whatever order Touch is called. Keys
	// that are not known are ignored. It conflicts with no transaction.
	Touch(ctx context.Context, used map[string]time.Time) error

	// WatchKeys calls update with every usable key, full being true, and then with created or changed ones, also by
	// other processes, as soon as they are stored. Unusable keys may be among the first ones. States between may be
	// left out, and keys repeated, but a key never returns to an older state. LastUsedAt need not be up to date, and
	// deletions are not reported: deleted keys have expired long ago. update may be called with full true again, when
	// the store has lost track.
	//
	// It returns when ctx ends, with its cause, or when update fails, with that error. update is never called again
	// after that.
	WatchKeys(ctx context.Context, update func(keys []Key, full bool) error) error

	// WatchLexicons is [Store.WatchKeys] for lexicons: it calls update with every lexicon, full being true, and then
	// with changed ones, also by other processes.
	WatchLexicons(ctx context.Context, update func(lexicons []Lexicon, full bool) error) error

	// Sweep deletes what expired: answers, and playground keys a day after their end. It returns how many records it
	// deleted.
	Sweep(ctx context.Context, now time.Time) (int, error)

	// Close ends watching with ErrClosed and releases what the store holds. Everything else fails with ErrClosed
	// after it. Closing again does nothing.
	Close() error
}

// Reader reads records. Without a record, methods that return one fail with ErrNotFound; lists are empty. Lists are
// sorted by CreatedAt and then ID, both in the same direction, unless a method says otherwise.
type Reader interface {
	Org(id string) (Org, error)
	Orgs(after string, limit int) ([]Org, error) // in order of id, those greater than after

	Project(id string) (Project, error)
	Projects(orgID string) ([]Project, error) // oldest first

	Lexicon(projectID string) (Lexicon, error)

	Member(orgID, email string) (Member, error)
	Members(orgID string) ([]Member, error)     // in order of e-mail
	Memberships(email string) ([]Member, error) // in order of organisation id

	Key(id string) (Key, error)
	Keys(q KeyQuery) ([]Key, error) // newest first

	VoiceRequest(id string) (VoiceRequest, error)
	VoiceRequests(orgID string) ([]VoiceRequest, error) // newest first

	Audit(q AuditQuery) ([]Audit, error) // newest first

	Answer(scope, key string) (Answer, error) // also when expired, until swept
}

// Tx reads and then writes. Writes return nothing: the first one that fails makes Update fail.
type Tx interface {
	Reader

	PutOrg(Org)
	PutProject(Project)
	PutLexicon(Lexicon)
	PutMember(Member)
	DeleteMember(orgID, email string) // that is not there: nothing happens
	PutKey(Key)                       // never lowers the stored LastUsedAt, which moves beside transactions
	PutVoiceRequest(VoiceRequest)
	AppendAudit(Audit)
	PutAnswer(Answer)
}

// KeyQuery selects keys. Empty fields select all.
type KeyQuery struct {
	OrgID     string // required
	ProjectID string
	Kind      KeyKind
	CreatedBy string
	Active    bool // not revoked and not expired
	Limit     int  // 0 means all
}

// AuditQuery selects a page of the audit log of an organisation.
type AuditQuery struct {
	OrgID  string
	Before cursor.Cursor // only entries after this one in the list; zero means from the newest
	Limit  int           // at least 1
}

// Answer is what a request with an idempotency key was answered with.
type Answer struct {
	Scope     string   // whose key it is
	Key       string   // as the client chose it
	Body      [32]byte // hash of the request
	JSON      []byte
	ExpiresAt time.Time
}
