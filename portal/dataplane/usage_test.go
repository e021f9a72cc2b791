package dataplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
	router "github.com/swar-tts/swar/runtime/dataplane"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/meter"
)

// fill sets every field of an event to something that no other field has.
func fill(t *testing.T, e *meter.Event) {
	t.Helper()
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case string, meter.Status:
			f.SetString(fmt.Sprint("text ", i))
		case int, int64:
			f.SetInt(int64(1000 + i))
		case meter.Kind:
			f.SetUint(uint64(meter.Final))
		case bool:
			f.SetBool(true)
		case time.Time:
			f.Set(reflect.ValueOf(time.UnixMicro(int64(1_700_000_000_000_000 + i)).UTC()))
		default:
			t.Fatalf("%s of an event has a type that this test does not know: %v", v.Type().Field(i).Name, f.Type())
		}
	}
}

func TestUsageArrivesAsItIs(t *testing.T) {
	var full meter.Event
	fill(t, &full)
	negative := full
	negative.Billed, negative.Seed, negative.Kind = -125, -1<<63, meter.Progress
	taken := make(chan meter.Batch, 1)
	p := newPortal(t, memstore.New(), func(p *portal) {
		p.sink = sinkFunc(func(_ context.Context, b meter.Batch) error { taken <- b; return nil })
	})
	f := newFront(t, p.addr)
	for name, want := range map[string]meter.Batch{
		"every field":    {Source: "src_1", Events: []meter.Event{full, negative}},
		"an empty event": {Source: "src_1", Events: []meter.Event{{}}},
		"of a copy":      {Source: "src_1", Copied: 7, Events: []meter.Event{full}},
		"a batch of 2,000": {Source: "src_1", Events: func() []meter.Event {
			many := make([]meter.Event, 2000)
			for i := range many {
				many[i] = full
				many[i].Seq = int64(i)
			}
			return many
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			if err := f.client.Send(t.Context(), want); err != nil {
				t.Fatal(err)
			}
			if got := <-taken; !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestWhyUsageIsRefused(t *testing.T) {
	var answer error
	p := newPortal(t, memstore.New(), func(p *portal) {
		p.sink = sinkFunc(func(context.Context, meter.Batch) error { return answer })
	})
	f := newFront(t, p.addr)
	answer = fmt.Errorf("booking: %w", &meter.GapError{Want: 17})
	err := f.client.Send(t.Context(), meter.Batch{Source: "src_1"})
	if gap, ok := errors.AsType[*meter.GapError](err); !ok || gap.Want != 17 {
		t.Errorf("a gap arrives as %v", err)
	}
	if gap, _ := errors.AsType[*meter.GapError](err); gap == nil || gap.Copies {
		t.Errorf("a gap arrives as %+v, want one of a sink that heeds no copies", gap)
	}
	answer = fmt.Errorf("booking: %w", &meter.GapError{Want: 17, Copies: true})
	err = f.client.Send(t.Context(), meter.Batch{Source: "src_1"})
	if gap, _ := errors.AsType[*meter.GapError](err); gap == nil || *gap != (meter.GapError{Want: 17, Copies: true}) {
		t.Errorf("a gap arrives as %v", err)
	}
	answer = fmt.Errorf("booking: %w", &meter.ForkError{Seq: 9})
	err = f.client.Send(t.Context(), meter.Batch{Source: "src_1"})
	if fork, ok := errors.AsType[*meter.ForkError](err); !ok || fork.Seq != 9 {
		t.Errorf("a fork arrives as %v", err)
	}
	answer = errors.New("the disk is full")
	err = f.client.Send(t.Context(), meter.Batch{Source: "src_1"})
	if _, ok := errors.AsType[*meter.GapError](err); ok || err == nil ||
		!strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("a failure arrives as %v", err)
	}
	p.stop()
	if err := f.client.Send(t.Context(), meter.Batch{Source: "src_1"}); err == nil {
		t.Error("usage was taken by nobody")
	}
}

func lastUsed(t *testing.T, s tenant.Store, id string) (at time.Time) {
	t.Helper()
	if err := s.View(t.Context(), func(r tenant.Reader) error {
		k, err := r.Key(id)
		at = k.LastUsedAt
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestLastUses(t *testing.T) {
	store := &untouchable{Store: memstore.New()}
	_, k := newKey()
	put(t, store, k)
	s, err := NewServer(ServerConfig{Credentials: grpcauthtest.Shared(testToken)}, nil, store, nil, quiet)
	if err != nil {
		t.Fatal(err)
	}
	touch := func(at time.Time) error {
		used := map[string]int64{k.ID: wire.Micros(at), "key_unknown": wire.Micros(at)}
		_, err := s.Touch(t.Context(), &wire.TouchRequest{Used: used})
		return err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, tt := range []struct {
		name      string
		told      time.Time
		low, high time.Time
	}{
		{"the first use", now.Add(-time.Minute), now.Add(-time.Minute), now.Add(-time.Minute)},
		{"a later one", now.Add(-time.Second), now.Add(-time.Second), now.Add(-time.Second)},
		{"an earlier one", now.Add(-time.Hour), now.Add(-time.Second), now.Add(-time.Second)},
		{"one in the future counts as now", now.Add(time.Hour), now, now.Add(testTimeout)},
	} {
		if err := touch(tt.told); err != nil {
			t.Fatal(err)
		}
		if got := lastUsed(t, store, k.ID); got.Before(tt.low) || got.After(tt.high) {
			t.Errorf("%s: %v, want %v to %v", tt.name, got, tt.low, tt.high)
		}
	}
	store.failing.Store(true)
	if err := touch(now); status.Code(err) != codes.Unavailable {
		t.Errorf("a use that the store does not take is answered %v", err)
	}
}

// TestLastUsesReachTheStore: they are told once more when a front end ends.
func TestLastUsesReachTheStore(t *testing.T) {
	store := memstore.New()
	secret, k := newKey()
	put(t, store, k)
	p := newPortal(t, store)
	f := newFront(t, p.addr)
	<-f.cache.Ready()
	begin := time.Now().UTC().Truncate(time.Microsecond)
	f.want(secret, nil)
	f.stop()
	if got := lastUsed(t, store, k.ID); got.Before(begin) {
		t.Errorf("the last use is %v, want one after %v", got, begin)
	}
}

// untouchable is a store that can fail to note uses.
type untouchable struct {
	tenant.Store
	failing atomic.Bool
}

func (s *untouchable) Touch(ctx context.Context, used map[string]time.Time) error {
	if s.failing.Load() {
		return tenant.ErrUnavailable
	}
	return s.Store.Touch(ctx, used)
}

func TestCredentials(t *testing.T) {
	ca, other := grpcauthtest.New(t), grpcauthtest.New(t)
	token := grpcauthtest.Shared(testToken)
	certificates := func(ca *grpcauthtest.Authority, role grpcauth.Role) grpcauth.Credentials {
		return grpcauth.Credentials{Certificates: ca.Open(role)}
	}
	both := func(role grpcauth.Role) grpcauth.Credentials {
		return grpcauth.Credentials{Certificates: ca.Open(role), Token: token.Token}
	}
	store := memstore.New()
	put(t, store, newKeys(3)...)
	for name, tt := range map[string]struct {
		server, client grpcauth.Credentials
		ok             bool
	}{
		"certificates are enough":            {certificates(ca, grpcauth.Portal), certificates(ca, grpcauth.Router), true},
		"certificates and a token":           {both(grpcauth.Portal), both(grpcauth.Router), true},
		"a token that nobody wants":          {certificates(ca, grpcauth.Portal), both(grpcauth.Router), true},
		"certificates without the token":     {both(grpcauth.Portal), certificates(ca, grpcauth.Router), false},
		"a worker":                           {certificates(ca, grpcauth.Portal), certificates(ca, grpcauth.Worker), false},
		"a server that is not a portal":      {certificates(ca, grpcauth.Router), certificates(ca, grpcauth.Router), false},
		"a client of another authority":      {certificates(ca, grpcauth.Portal), certificates(other, grpcauth.Router), false},
		"plain text to a server with TLS":    {both(grpcauth.Portal), token, false},
		"TLS to a server that does not know": {token, both(grpcauth.Router), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPortal(t, store, func(p *portal) { p.cfg.Credentials = tt.server })
			f := newFront(t, p.addr, func(c *router.ClientConfig) { c.Credentials = tt.client })
			if tt.ok {
				f.await("the keys", f.current(3))
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			if err := f.client.Send(ctx, meter.Batch{}); err == nil {
				t.Error("usage was taken")
			}
			if n, _ := f.cache.Size(); n > 0 {
				t.Errorf("%d keys were told", n)
			}
		})
	}
}

// TestARefusedCertificateIsNamed by the server, with the reason: a client is told an alert at most.
func TestARefusedCertificateIsNamed(t *testing.T) {
	var log lines
	ca := grpcauthtest.New(t)
	certificates, err := grpcauth.Open(ca.Issue(grpcauth.Portal), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	p := newPortal(t, memstore.New(), func(p *portal) { p.cfg.Credentials.Certificates = certificates })
	f := newFront(t, p.addr, func(c *router.ClientConfig) { c.Credentials.Certificates = ca.Open(grpcauth.Worker) })
	f.await("a word about the refusal", func() bool {
		return strings.Contains(log.String(), "is of the role worker, and only router may do this")
	})
}
