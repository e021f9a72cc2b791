// Package firestore keeps the portal in Google Cloud Firestore (Native mode), for portals that run in several
// processes.
//
// # Data
//
// Everything is found under its own identifier or under its organisation's. Document ids are random or hashes,
// because ids that rise would put all writes of a moment on one server of Firestore's.
//
//	orgs/{org}                    an organisation, with its counters
//	orgs/{org}/members/{e-mail}   a member
//	orgs/{org}/audit/{id}         an entry of the audit log
//	orgs/{org}/shards/{hash}      usage of one day as one source reported it: totals, and all the rest in one field of bytes
//	orgs/{org}/requests/{hash}    a row of the request log
//	projects/{id}                 a project
//	keys/{id}                     a key; its id comes from its hash
//	uses/{key id}                 when a key was last used: apart from the key, so that uses wake no watcher and meet no transaction
//	voice_requests/{id}           a wanted voice
//	answers/{hash}                what a request with an idempotency key was answered with
//	sources/{id}                  how far a source of usage has been booked
//	months/{month}                a closed month
//	signin/{id}                   a record of the built-in issuer
//	commits/{random}              the mark of a transaction, for an hour; see [Store.transact]
//
// firestore.indexes.json and firestore.rules must be deployed with the database: queries need the indexes, and other
// fields have none. Clients are denied everything; only the server has access, by its service account. Documents that
// expire carry expire_at, for which the file sets a deletion policy. Firestore deletes a day or more late, so every
// read checks the times itself.
package firestore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

// Config selects the database and how to use it.
type Config struct {
	Project  string // of Google Cloud; required
	Database string // empty means the project's default database

	// Emulator is the address of an emulator, as in FIRESTORE_EMULATOR_HOST; empty means Google's servers, with the
	// credentials of the environment. With an emulator that variable must be set or unset for the whole process, not
	// changed.
	Emulator string

	CallTimeout time.Duration // longest wait for one answer of Firestore; 0 means 10 s
	Timeout     time.Duration // longest time that one call of the store tries; 0 means 30 s
	// days after which Firestore may delete request rows; 0 means 35; at least what maintenance keeps
	Retention int

	Log  *slog.Logger      // nil means slog.Default()
	Dial []grpc.DialOption // added to every connection; for tests
}

// Store keeps everything that the portal stores. It is safe for concurrent use, also by several processes on one
// database.
type Store struct {
	cfg    Config
	client *firestore.Client

	turns turns // of transactions in this process

	closing   context.Context // ends with the store
	close     context.CancelFunc
	closeOnce sync.Once
	closeErr  error
}

var (
	_ tenant.Store = (*Store)(nil)
	_ usage.Store  = (*Store)(nil)
	_ usage.Dumper = (*Store)(nil)
	_ signin.Store = (*Store)(nil)
)

// New returns the store in the database that cfg names. It does not speak to Firestore yet: [Store.Check] does.
func New(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Project == "" {
		return nil, errors.New("firestore: name the project of Google Cloud that holds the database")
	}
	if cfg.Database == "" {
		cfg.Database = firestore.DefaultDatabaseID
	}
	if cfg.CallTimeout == 0 {
		cfg.CallTimeout = 10 * time.Second
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.Retention == 0 {
		cfg.Retention = 35
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	client, err := dial(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("firestore: connecting to project %s: %w", cfg.Project, err)
	}
	s := &Store{cfg: cfg, client: client}
	s.closing, s.close = context.WithCancel(context.WithoutCancel(ctx))
	return s, nil
}

func dial(ctx context.Context, cfg Config) (*firestore.Client, error) {
	deadlines := deadlines{cfg.CallTimeout}
	dials := append([]grpc.DialOption{
		grpc.WithChainUnaryInterceptor(deadlines.unary),
		grpc.WithChainStreamInterceptor(deadlines.stream),
	}, cfg.Dial...)
	var opts []option.ClientOption
	if cfg.Emulator == "" {
		dials = append(dials,
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}))
		for _, d := range dials {
			opts = append(opts, option.WithGRPCDialOption(d))
		}
	} else {
		dials = append(dials,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithPerRPCCredentials(emulatorOwner{}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
		conn, err := grpc.NewClient("passthrough:///"+cfg.Emulator, dials...)
		if err != nil {
			return nil, err
		}
		opts = append(opts, option.WithGRPCConn(conn))
	}
	if cfg.Database == firestore.DefaultDatabaseID {
		return firestore.NewClient(ctx, cfg.Project, opts...)
	}
	return firestore.NewClientWithDatabase(ctx, cfg.Project, cfg.Database, opts...)
}

// Close implements [tenant.Store].
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.close()
		s.closeErr = s.client.Close()
	})
	return s.closeErr
}

// begin bounds a call of the store: by its context, by the store's end, and by limit if there is one. end must be
// called.
func (s *Store) begin(ctx context.Context, limit time.Duration) (_ context.Context, end func(), err error) {
	if s.closing.Err() != nil {
		return nil, nil, tenant.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.closing, func() { cancel(tenant.ErrClosed) })
	release := func() {}
	if limit > 0 {
		ctx, release = context.WithTimeoutCause(ctx, limit, errTimeout)
	}
	return ctx, func() {
		stop()
		release()
		cancel(nil)
	}, nil
}

// errTimeout distinguishes the store's own limit from a deadline of the caller.
var errTimeout = errors.New("firestore did not do it in time")

// emulatorOwner is how an emulator knows a server, to which its rules do not apply.
type emulatorOwner struct{}

func (emulatorOwner) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer owner"}, nil
}

func (emulatorOwner) RequireTransportSecurity() bool { return false }
