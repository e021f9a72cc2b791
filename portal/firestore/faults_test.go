package firestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// faults stands between a store and Firestore and makes calls fail. Its rule is asked for each call.
type faults struct {
	mu   sync.Mutex
	rule func(method string) fault // nil: everything goes well
}

// fault is what happens to a call.
type fault struct {
	before error                       // the call does not reach Firestore
	after  error                       // it does, but its answer is lost
	wait   func(context.Context) error // before either of them; its error is the call's
}

func (f *faults) set(rule func(method string) fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rule = rule
}

func (f *faults) next(method string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rule == nil {
		return fault{}
	}
	return f.rule(method[strings.LastIndexByte(method, '/')+1:])
}

func (f *faults) dial() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
			invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			fault := f.next(method)
			if fault.before != nil {
				return fault.before
			}
			if fault.wait != nil {
				if err := fault.wait(ctx); err != nil {
					return err
				}
			}
			err := invoke(ctx, method, req, reply, cc, opts...)
			if err == nil && fault.after != nil {
				err = fault.after
			}
			return err
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn,
			method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			fault := f.next(method)
			if fault.before != nil {
				return nil, fault.before
			}
			if fault.wait != nil {
				if err := fault.wait(ctx); err != nil {
					return nil, err
				}
			}
			stream, err := open(ctx, desc, cc, method, opts...)
			if err == nil && fault.after != nil {
				stream = brokenStream{stream, fault.after}
			}
			return stream, err
		}),
	}
}

// brokenStream ends where its first answer should be.
type brokenStream struct {
	grpc.ClientStream
	err error
}

func (s brokenStream) RecvMsg(any) error { return s.err }

// openFaulty opens the database of project, which may be in use, with faults.
func openFaulty(t testing.TB, project string, change func(*Config)) (*Store, *faults) {
	f := &faults{}
	return openProject(t, project, change, f.dial()...), f
}

// first makes the first n calls of a method go wrong.
func first(n int, method string, what fault) func(string) fault {
	return func(called string) fault {
		if called != method || n == 0 {
			return fault{}
		}
		n--
		return what
	}
}

// hang is a wait that lasts until the call is over.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}

var (
	errAway    = status.Error(codes.Unavailable, "connection reset by peer")
	errAborted = status.Error(codes.Aborted, "Too much contention on these documents. Please try again.")
	errLate    = status.Error(codes.DeadlineExceeded, "context deadline exceeded")
)

// The whole suites hold while one call of eight goes wrong.

func mishaps(seed string) func(method string) fault {
	rng := rand.New(rand.NewPCG(uint64(len(seed)), uint64(seed[len(seed)-1])))
	return func(method string) fault {
		n := rng.IntN(80)
		switch {
		case method == "Listen" || n >= 10:
			return fault{}
		case method == "Commit" && n < 3:
			return fault{after: errAway}
		case method == "Commit" && n < 5:
			return fault{after: errLate}
		case method == "Commit" && n < 8:
			return fault{before: errAborted}
		case n < 9:
			return fault{before: errAway}
		}
		return fault{before: errLate}
	}
}

func openMishaps(t *testing.T) *Store {
	if strings.Contains(t.Name(), "what_has_expired_is_swept") ||
		strings.Contains(t.Name(), "is_swept,_and_not_before") ||
		strings.Contains(t.Name(), "old_requests_are_swept") || strings.Contains(t.Name(), "many_records_are_swept") ||
		strings.Contains(t.Name(), "merging_tells_how_many") {
		t.Skip("how many were deleted cannot be told when the answer is lost; that all are is tested in TestFaults")
	}
	parallel(t)
	s, f := openFaulty(t, newProject(), nil)
	f.set(mishaps(t.Name()))
	return s
}

func TestTenantWithFaults(t *testing.T) {
	needEmulator(t)
	storetest.Tenant(t, func(t *testing.T) tenant.Store { return openMishaps(t) })
}

func TestUsageWithFaults(t *testing.T) {
	needEmulator(t)
	storetest.Usage(t, func(t *testing.T) usage.Store { return openMishaps(t) })
}

func TestSigninWithFaults(t *testing.T) {
	needEmulator(t)
	storetest.Signin(t, func(t *testing.T) signin.Store { return openMishaps(t) })
}

// Every step of a booking fails once, and nothing is half stored.

type stepwise struct {
	*Store
	faults *faults
}

// Fault implements what the suite asks for: here a step is a call to Firestore.
func (s stepwise) Fault(fail func(step string) error) {
	if fail == nil {
		s.faults.set(nil)
		return
	}
	s.faults.set(func(method string) fault {
		if method == "Rollback" {
			return fault{}
		}
		return fault{before: fail(method)}
	})
}

func TestUsageStepByStep(t *testing.T) {
	needEmulator(t)
	storetest.Usage(t, func(t *testing.T) usage.Store {
		if !strings.Contains(t.Name(), "a_fault_at_any_step") && !strings.Contains(t.Name(), "a_fault_while_shards") {
			t.Skip("tested without faults")
		}
		s, f := openFaulty(t, newProject(), nil)
		return stepwise{s, f}
	})
}

func at(seconds int) time.Time {
	return time.Date(2026, 11, 21, 18, 29, 59, 123456000, time.UTC).Add(time.Duration(seconds) * time.Second)
}

func events(source string, first int64, n int) []meter.Event {
	all := make([]meter.Event, n)
	for i := range all {
		seq := first + int64(i)
		all[i] = meter.Event{
			ID: fmt.Sprintf("evt_%s_%d", source, seq), Seq: seq, Kind: meter.Final, Start: at(int(seq)),
			At: at(int(seq)), Date: "2026-11-21",
			OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a", Endpoint: "rest", Voice: "raj", Format: "wav",
			Status: meter.OK,
			Frames: 7, Billed: 7, Chars: 3, Chunks: 1, TTFAus: 20_000,
		}
	}
	return all
}

func book(ctx context.Context, s *Store, source string, events []meter.Event) error {
	return s.Apply(ctx, usage.Batch{Batch: meter.Batch{Source: source, Events: events}, Today: "2026-11-21"})
}

// operations are all that write, each with what must come out of doing it once, however its calls went.
var operations = map[string]struct {
	prepare func(ctx context.Context, s *Store) error
	do      func(ctx context.Context, s *Store) error
	result  func(ctx context.Context, s *Store) (string, error)
	want    string
}{
	"a change of tenancy": {
		prepare: func(ctx context.Context, s *Store) error {
			return s.Update(ctx, func(tx tenant.Tx) error {
				tx.PutOrg(tenant.Org{ID: "org_a",
					ActiveKeys: 10})
				return nil
			})
		},
		do: func(ctx context.Context, s *Store) error {
			return s.Update(ctx, func(tx tenant.Tx) error {
				o, err := tx.Org("org_a")
				if err != nil {
					return err
				}
				o.ActiveKeys++
				tx.PutOrg(o)
				return nil
			})
		},
		result: func(ctx context.Context, s *Store) (n string, err error) {
			err = s.View(ctx, func(r tenant.Reader) error {
				o, err := r.Org("org_a")
				n = fmt.Sprint(o.ActiveKeys)
				return err
			})
			return n, err
		},
		want: "11",
	},
	"a batch of usage": {
		prepare: func(ctx context.Context, s *Store) error { return book(ctx, s, "src", events("src", 1, 2)) },
		do:      func(ctx context.Context, s *Store) error { return book(ctx, s, "src", events("src", 2, 4)) },
		result: func(ctx context.Context, s *Store) (string, error) {
			rows, err := s.Requests(ctx, usage.RequestQuery{OrgID: "org_a", Limit: 100})
			if err != nil {
				return "", err
			}
			sums, err := s.Compare(ctx, "2026-11-21")
			return fmt.Sprint(len(rows), sums), err
		},
		want: "5 [{org_a 2026-11-21 {5 35 35} {5 35 35}}]",
	},
	"a batch of usage that takes several transactions": {
		prepare: func(ctx context.Context, s *Store) error { return book(ctx, s, "src", events("src", 1, 7)) },
		do:      func(ctx context.Context, s *Store) error { return book(ctx, s, "src", events("src", 5, 396)) },
		result: func(ctx context.Context, s *Store) (string, error) {
			sums, err := s.Compare(ctx, "2026-11-21")
			return fmt.Sprint(sums), err
		},
		want: "[{org_a 2026-11-21 {400 2800 2800} {400 2800 2800}}]",
	},
	"a record of sign-in": {
		prepare: func(ctx context.Context, s *Store) error { return appendRecord(ctx, s, "a") },
		do:      func(ctx context.Context, s *Store) error { return appendRecord(ctx, s, "b") },
		result: func(ctx context.Context, s *Store) (record string, err error) {
			stop := errors.New("stop")
			err = s.UpdateSignin(ctx, "email:1", func(old []byte) ([]byte, time.Time, error) {
				record = string(old)
				return nil, time.Time{}, stop
			})
			if err == stop {
				err = nil
			}
			return record, err
		},
		want: "ab",
	},
	"uses of keys": {
		prepare: func(ctx context.Context, s *Store) error {
			return s.Update(ctx, func(tx tenant.Tx) error {
				tx.PutKey(tenant.Key{ID: "key_a", OrgID: "org_a", LastUsedAt: at(1)})
				tx.PutKey(tenant.Key{ID: "key_b", OrgID: "org_a", LastUsedAt: at(9)})
				return nil
			})
		},
		do: func(ctx context.Context, s *Store) error {
			return s.Touch(ctx, map[string]time.Time{"key_a": at(5), "key_b": at(5), "key_c": at(5)})
		},
		result: func(ctx context.Context, s *Store) (uses string, err error) {
			err = s.View(ctx, func(r tenant.Reader) error {
				keys, err := r.Keys(tenant.KeyQuery{OrgID: "org_a"})
				uses = ""
				for _, k := range keys {
					uses += fmt.Sprint(k.ID, " ", k.LastUsedAt.Sub(at(0)), " ")
				}
				return err
			})
			return uses, err
		},
		want: "key_b 9s key_a 5s ",
	},
	"the closing of a month": {
		prepare: func(context.Context, *Store) error { return nil },
		do: func(ctx context.Context, s *Store) error {
			return s.CloseMonth(ctx, usage.ClosedMonth{Month: "2026-10", Rate: 20, ClosedAt: at(1)})
		},
		result: func(ctx context.Context, s *Store) (string, error) {
			m, err := s.ClosedMonths(ctx)
			return fmt.Sprint(m), err
		},
		want: "[{2026-10 20 2026-11-21 18:30:00.123456 +0000 UTC}]",
	},
	"a sweep": {
		prepare: func(ctx context.Context, s *Store) error {
			return s.Update(ctx, func(tx tenant.Tx) error {
				for i := range 9 {
					tx.PutKey(tenant.Key{ID: fmt.Sprintf("key_%d", i), OrgID: "org_a", ExpiresAt: at(i)})
				}
				return nil
			})
		},
		do: func(ctx context.Context, s *Store) error {
			_, err := s.Sweep(ctx, at(5).Add(24*time.Hour))
			return err
		},
		result: func(ctx context.Context, s *Store) (ids string, err error) {
			err = s.View(ctx, func(r tenant.Reader) error {
				keys, err := r.Keys(tenant.KeyQuery{OrgID: "org_a"})
				ids = ""
				for _, k := range keys {
					ids += k.ID + " "
				}
				return err
			})
			return ids, err
		},
		want: "key_8 key_7 key_6 ",
	},
	"an import": {
		prepare: func(ctx context.Context, s *Store) error { return book(ctx, s, "src", events("src", 1, 2)) },
		do: func(ctx context.Context, s *Store) error {
			return s.ImportUsage(ctx, usage.Dump{Positions: []usage.Position{{Source: "other", Seq: 4},
				{Source: "src", Seq: 9}}})
		},
		result: func(ctx context.Context, s *Store) (string, error) {
			var all []usage.Position
			err := s.ExportUsage(ctx, func(d usage.Dump) error { all = append(all, d.Positions...); return nil })
			return fmt.Sprint(all), err
		},
		want: "[{other 4 } {src 9 }]",
	},
}

func appendRecord(ctx context.Context, s *Store, what string) error {
	return s.UpdateSignin(ctx, "email:1", func(old []byte) ([]byte, time.Time, error) {
		return append(old, what...), at(100), nil
	})
}

func TestFaults(t *testing.T) {
	needEmulator(t)
	for name, op := range operations {
		for mishap, f := range map[string]struct {
			n      int
			method string
			fault  fault
		}{
			"without a fault":                         {},
			"commits do not arrive":                   {3, "Commit", fault{before: errAway}},
			"commits meet others":                     {4, "Commit", fault{before: errAborted}},
			"commits are late":                        {2, "Commit", fault{before: errLate}},
			"the answer to a commit is lost":          {1, "Commit", fault{after: errAway}},
			"the answers to two commits are lost":     {2, "Commit", fault{after: errAway}},
			"the answer to the second commit is lost": {1, "Commit", fault{after: errAway}},
			"a commit is answered too late":           {1, "Commit", fault{after: errLate}},
			"a commit that came through meets others": {1, "Commit", fault{after: errAborted}},
			"a commit hangs":                          {1, "Commit", fault{wait: hang}},
			"transactions do not begin":               {2, "BeginTransaction", fault{before: errAway}},
			"documents cannot be read":                {2, "BatchGetDocuments", fault{before: errAway}},
			"documents break off":                     {2, "BatchGetDocuments", fault{after: errAway}},
			"documents are locked by others":          {3, "BatchGetDocuments", fault{before: errAborted}},
			"documents hang":                          {1, "BatchGetDocuments", fault{wait: hang}},
			"queries cannot be asked":                 {2, "RunQuery", fault{before: errAway}},
			"queries break off":                       {2, "RunQuery", fault{after: errAway}},
			"a rollback does not arrive":              {1, "Rollback", fault{before: errLate}},
			"everything is slow":                      {1000, "", fault{}},
		} {
			t.Run(name+", "+mishap, func(t *testing.T) {
				t.Parallel()
				project := newProject()
				clean := openProject(t, project, nil)
				if err := op.prepare(t.Context(), clean); err != nil {
					t.Fatal(err)
				}
				s, faults := openFaulty(t, project, func(c *Config) { c.CallTimeout = 3 * time.Second })
				rule := first(f.n, f.method, f.fault)
				switch mishap {
				case "everything is slow":
					rule = func(string) fault {
						return fault{wait: func(context.Context) error {
							<-time.After(20 * time.Millisecond)
							return nil
						}}
					}
				case "the answer to the second commit is lost":
					aborted, lost := false, rule
					rule = func(method string) fault {
						if method == "Commit" && !aborted {
							aborted = true
							return fault{before: errAborted}
						}
						return lost(method)
					}
				case "a rollback does not arrive":
					commits, rollbacks := first(2, "Commit", fault{before: errAborted}), rule
					rule = func(method string) fault {
						if method == "Rollback" {
							return rollbacks(method)
						}
						return commits(method)
					}
				}
				faults.set(rule)
				if err := op.do(t.Context(), s); err != nil {
					t.Errorf("it failed: %v", err)
				}
				faults.set(nil)
				if got, err := op.result(t.Context(), clean); err != nil || got != op.want {
					t.Errorf("afterwards there is %q (%v), want %q", got, err, op.want)
				}
			})
		}
	}
}

// What stays away is told as unavailable within the store's own limit, and changes nothing.
func TestOutage(t *testing.T) {
	needEmulator(t)
	for name, op := range operations {
		for mishap, f := range map[string]fault{
			"Firestore is away":    {before: errAway},
			"Firestore hangs":      {wait: hang},
			"all is contended":     {before: errAborted},
			"the quota is used up": {before: status.Error(codes.ResourceExhausted, "Quota exceeded.")},
		} {
			t.Run(name+", "+mishap, func(t *testing.T) {
				t.Parallel()
				project := newProject()
				clean := openProject(t, project, nil)
				if err := op.prepare(t.Context(), clean); err != nil {
					t.Fatal(err)
				}
				before, err := op.result(t.Context(), clean)
				if err != nil {
					t.Fatal(err)
				}
				s, faults := openFaulty(t, project,
					func(c *Config) { c.CallTimeout, c.Timeout = 300*time.Millisecond, time.Second })
				faults.set(func(string) fault { return f })
				ctx, cancel := context.WithCancel(t.Context()) // imports and sweeps have no limit of their own
				defer cancel()
				if name == "a sweep" || name == "an import" {
					var cancelled context.CancelFunc
					ctx, cancelled = context.WithTimeout(ctx, time.Second)
					defer cancelled()
				}
				err = op.do(ctx, s)
				if ctx.Err() == nil && !errors.Is(err, tenant.ErrUnavailable) || err == nil {
					t.Errorf("it ended with %v, want ErrUnavailable", err)
				}
				if after, err := op.result(t.Context(), clean); err != nil || after != before {
					t.Errorf("afterwards there is %q (%v), want %q as before", after, err, before)
				}
			})
		}
	}
}

func TestWatchBeginsAgain(t *testing.T) {
	for name, what := range map[string]fault{
		"the connection is lost":     {before: errAway},
		"the stream breaks off":      {after: errAway},
		"listening is refused":       {before: status.Error(codes.PermissionDenied, "Missing or insufficient permissions.")},
		"listening is broken off":    {after: status.Error(codes.Aborted, "aborted")},
		"Firestore takes it back":    {after: status.Error(codes.Canceled, "cancelled by the server")},
		"the stream ends by itself ": {after: status.Error(codes.Internal, "stream terminated by RST_STREAM")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := openFaulty(t, newProject(), nil)
			put := func(id string) {
				err := s.Update(t.Context(), func(tx tenant.Tx) error {
					tx.PutKey(tenant.Key{ID: id,
						OrgID: "org_a"})
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			put("key_a")
			f.set(first(2, "Listen", what))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			told := make(chan tenant.Key, 10)
			var ended atomic.Pointer[error]
			go func() {
				err := s.WatchKeys(ctx, func(keys []tenant.Key, _ bool) error {
					for _, k := range keys {
						told <- k
					}
					return nil
				})
				ended.Store(&err)
				close(told)
			}()
			for _, want := range []string{"key_a", "key_b"} {
				k, ok := <-told
				if !ok || k.ID != want {
					t.Fatalf("told of %q, want %q", k.ID, want)
				}
				put("key_b")
			}
			stop()
			for range told {
			}
			if err := *ended.Load(); !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v, want context.Canceled", err)
			}
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	s, f := openFaulty(t, newProject(), nil)
	view := func() error {
		return s.View(t.Context(), func(r tenant.Reader) error { _, err := r.Projects("org_a"); return err })
	}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"refused credentials": {status.Error(codes.PermissionDenied, "Missing or insufficient permissions."), "roles/datastore.user"},
		"no credentials":      {status.Error(codes.Unauthenticated, "no token"), "roles/datastore.user"},
		"no database":         {status.Error(codes.NotFound, "The database (default) does not exist for project p"), "create it in Native mode"},
		"no index":            {status.Error(codes.FailedPrecondition, "The query requires an index. You can create it here: …"), "deploy firestore.indexes.json"},
	} {
		f.set(func(method string) fault {
			if method == "BeginTransaction" || method == "RunQuery" {
				return fault{before: tt.err}
			}
			return fault{}
		})
		err := view()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, tt.want)
		}
		if errors.Is(err, tenant.ErrUnavailable) {
			t.Errorf("%s passes as an outage", name)
		}
	}
}
