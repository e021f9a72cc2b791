package dataplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	router "github.com/swar-tts/swar/runtime/dataplane"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/meter"
)

const (
	testTimeout = 30 * time.Second // for what must happen, on a machine that has other things to do
	testToken   = "a-token-that-nobody-else-has"
)

// portal is the portal's side, listening on loopback.
type portal struct {
	t     testing.TB
	store tenant.Store
	sink  meter.Sink
	cfg   ServerConfig
	log   *slog.Logger
	addr  string
	told  recorder
	feed  *Feed
	stop  func()
}

func newPortal(t testing.TB, store tenant.Store, change ...func(*portal)) *portal {
	t.Helper()
	p := &portal{
		t: t, store: store, sink: nowhere{}, log: quiet, addr: "127.0.0.1:0",
		cfg: ServerConfig{Credentials: grpcauthtest.Shared(testToken), Heartbeat: 50 * time.Millisecond},
	}
	for _, f := range change {
		f(p)
	}
	p.start()
	t.Cleanup(func() { p.stop() })
	return p
}

// start begins a new epoch, on the address that the portal had before.
func (p *portal) start() {
	p.t.Helper()
	p.feed = NewFeed(p.store, p.log)
	feed := p.feed
	s, err := NewServer(p.cfg, feed, p.store, p.sink, p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.addr = l.Addr().String()
	ctx, end := context.WithCancel(context.WithoutCancel(p.t.Context())) // which ends before the cleanup
	var running sync.WaitGroup
	running.Go(func() {
		if err := feed.Run(ctx); err != nil {
			p.t.Errorf("feed: %v", err)
		}
	})
	running.Go(func() {
		if err := s.serve(ctx, l, recorded{s, &p.told}); err != nil {
			p.t.Errorf("server: %v", err)
		}
	})
	p.stop = sync.OnceFunc(func() {
		end()
		running.Wait()
	})
}

// nowhere takes every batch.
type nowhere struct{}

func (nowhere) Send(context.Context, meter.Batch) error { return nil }

// front is a front end: a cache that a client feeds.
type front struct {
	t      testing.TB
	cache  *access.KeyCache
	client *router.Client
	stop   func()
}

func newFront(t testing.TB, addr string, change ...func(*router.ClientConfig)) *front {
	t.Helper()
	return newLoggedFront(t, addr, quiet, change...)
}

func newLoggedFront(t testing.TB, addr string, log *slog.Logger, change ...func(*router.ClientConfig)) *front {
	t.Helper()
	cfg := router.ClientConfig{Addr: addr, Credentials: grpcauthtest.Shared(testToken), Silence: 10 * time.Second}
	for _, f := range change {
		f(&cfg)
	}
	f := &front{t: t, cache: access.NewKeyCache(access.KeyCacheConfig{})}
	var err error
	if f.client, err = router.NewClient(cfg, f.cache, log); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- f.client.Run(ctx) }()
	f.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
		if err := f.client.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(f.stop)
	return f
}

// recorder notes what a portal tells of keys.
type recorder struct {
	mu    sync.Mutex
	calls []told
}

// told is what one call was told.
type told struct {
	fulls int // tellings of everything
	keys  int
}

func (r *recorder) all() []told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// begin notes that a call begins, and returns what is to be done with each of its messages.
func (r *recorder) begin() func(*wire.KeysUpdate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	call := len(r.calls)
	r.calls = append(r.calls, told{})
	return func(u *wire.KeysUpdate) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls[call].keys += len(u.Keys)
		if u.Full && !u.More {
			r.calls[call].fulls++
		}
	}
}

// recorded is a server of which a recorder notes what it tells.
type recorded struct {
	wire.DataplaneServer
	to *recorder
}

func (r recorded) Keys(hello *wire.KeysRequest, stream grpc.ServerStreamingServer[wire.KeysUpdate]) error {
	return r.DataplaneServer.Keys(hello, recordedStream{stream, r.to.begin()})
}

type recordedStream struct {
	grpc.ServerStreamingServer[wire.KeysUpdate]
	note func(*wire.KeysUpdate)
}

func (s recordedStream) Send(u *wire.KeysUpdate) error {
	s.note(u)
	return s.ServerStreamingServer.Send(u)
}

func (f *front) await(what string, done func() bool) {
	f.t.Helper()
	await(f.t, what, done)
}

func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(testTimeout)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s did not happen in %v", what, testTimeout)
		}
	}
}

// current reports whether the cache holds n keys and the portal is there.
func (f *front) current(n int) func() bool {
	return func() bool {
		keys, current := f.cache.Size()
		return keys == n && current
	}
}

func (f *front) away() bool {
	_, current := f.cache.Size()
	return !current
}

func (f *front) want(secret string, want error) access.Grant {
	f.t.Helper()
	g, err := f.cache.Grant(f.t.Context(), access.Credentials{Key: secret})
	if !errors.Is(err, want) {
		f.t.Errorf("Grant = %v, want %v", err, want)
	}
	return g
}

// put writes keys into a store, in transactions that every store can bear.
func put(t testing.TB, s tenant.Store, keys ...tenant.Key) {
	t.Helper()
	for len(keys) > 0 {
		some := keys[:min(len(keys), 100)]
		keys = keys[len(some):]
		if err := s.Update(t.Context(), func(tx tenant.Tx) error {
			for _, k := range some {
				tx.PutKey(k)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKeysReachTheFrontEnd(t *testing.T) {
	store := memstore.New()
	secretA, a := newKey()
	secretB, b := newKey()
	b.Voices = []string{"raj"}
	put(t, store, a)
	p := newPortal(t, store)
	f := newFront(t, p.addr)
	<-f.cache.Ready()
	f.want(secretA, nil)
	f.want(secretB, access.ErrInvalidKey)
	put(t, store, b)
	f.await("a new key", f.current(2))
	if g := f.want(secretB, nil); g.OrgID != "org_1" || g.ProjectID != "prj_1" || g.KeyPrefix != b.Prefix ||
		g.Allows("anjura") {
		t.Errorf("grant = %+v, want what %+v says", g, b)
	}
	g := f.want(secretA, nil)
	put(t, store, revoked(a))
	select {
	case <-g.Ended:
	case <-time.After(testTimeout):
		t.Fatal("a revoked key has not ended")
	}
	f.want(secretA, access.ErrInvalidKey)
	if got, want := p.told.all(), []told{{fulls: 1, keys: 3}}; !slices.Equal(got, want) {
		t.Errorf("told %+v, want %+v: everything once, and one change", got, want)
	}
}

func TestResumeAfterADroppedConnection(t *testing.T) {
	store := memstore.New()
	keys := newKeys(20)
	put(t, store, keys...)
	p := newPortal(t, store)
	x := newProxy(t, p.addr)
	f := newFront(t, x.addr)
	f.await("the first keys", f.current(20))
	x.shut()
	f.await("the loss of the portal", f.away)
	more := newKeys(2)
	put(t, store, append(more, revoked(keys[0]))...)
	x.open()
	f.await("the return of the portal", f.current(21))
	got := p.told.all()
	if want := (told{fulls: 0, keys: 3}); len(got) != 2 || got[1] != want {
		t.Errorf("told %+v, want %+v in the second call: only what was missed", got, want)
	}
}

func TestAPortalThatRestartsTellsEverything(t *testing.T) {
	store := memstore.New()
	secret, first := newKey()
	put(t, store, first)
	put(t, store, newKeys(20)...)
	p := newPortal(t, store)
	var log lines
	f := newLoggedFront(t, p.addr, slog.New(slog.NewTextHandler(&log, nil)))
	f.await("the first keys", f.current(21))
	g := f.want(secret, nil)
	p.stop()
	f.await("the loss of the portal", f.away)
	f.want(secret, nil)                         // for a while
	f.want(newSecret(t), access.ErrUnavailable) // it may be new
	f.want("junk", access.ErrInvalidKey)        // it cannot be
	put(t, store, append(newKeys(3), revoked(first))...)
	p.start()
	f.await("the return of the portal", f.current(23))
	if got := strings.Count(log.String(), "lost the portal") +
		10*strings.Count(log.String(), "the portal is back"); got != 11 {
		t.Errorf("the loss and the return were not logged once each:\n%s", &log)
	}
	select {
	case <-g.Ended:
	default:
		t.Error("a key that was revoked while the portal was away has not ended")
	}
	f.want(secret, access.ErrInvalidKey)
	if got, want := p.told.all(), []told{{fulls: 1, keys: 21}, {fulls: 1, keys: 23}}; !slices.Equal(got, want) {
		t.Errorf("told %+v, want %+v", got, want)
	}
}

func newSecret(t *testing.T) string {
	t.Helper()
	secret, _ := access.New(access.LivePrefix)
	return secret
}

func TestAPortalThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	var log lines
	f := newLoggedFront(t, l.Addr().String(), slog.New(slog.NewTextHandler(&log, nil)))
	f.await("the reason in the log", func() bool { return strings.Contains(log.String(), "connection refused") })
	f.want(newSecret(t), access.ErrUnavailable)
}

func TestASilentPortalIsAway(t *testing.T) {
	store := memstore.New()
	put(t, store, newKeys(1)...)
	p := newPortal(t, store)
	x := newProxy(t, p.addr)
	f := newFront(t, x.addr, func(c *router.ClientConfig) { c.Silence = 300 * time.Millisecond })
	f.await("the first keys", f.current(1))
	x.hold() // nothing comes through, and nothing fails
	f.await("that silence is noticed", f.away)
	put(t, store, newKeys(1)...)
	x.open()
	f.await("the return of the portal", f.current(2))
}

func TestAPortalWithoutItsStoreIsAway(t *testing.T) {
	store := &deaf{Store: memstore.New(), gone: make(chan struct{})}
	secret, k := newKey()
	put(t, store, k)
	p := newPortal(t, store)
	var log lines
	f := newLoggedFront(t, p.addr, slog.New(slog.NewTextHandler(&log, nil)))
	f.await("the first keys", f.current(1))
	close(store.gone)
	f.await("that the portal is deaf", f.away)
	f.await("a word about it", func() bool { return strings.Contains(log.String(), "has lost its store") })
	f.want(secret, nil)
	f.want(newSecret(t), access.ErrUnavailable)
	late := newFront(t, p.addr)
	late.await("that a late one hears what the portal knows", func() bool {
		n, current := late.cache.Size()
		return n == 1 && !current
	})
}

// deaf is a store that stops telling, and cannot be watched again.
type deaf struct {
	tenant.Store
	gone chan struct{}
}

func (s *deaf) WatchKeys(ctx context.Context, update func([]tenant.Key, bool) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-s.gone:
			stop(tenant.ErrUnavailable)
		case <-ctx.Done():
		}
	}()
	select {
	case <-s.gone:
		return tenant.ErrUnavailable
	default:
		return s.Store.WatchKeys(ctx, update)
	}
}

func TestWithoutTheTokenNothingIsTold(t *testing.T) {
	const wrong = "another-token-of-some-length"
	var serverLog, clientLog lines
	store := memstore.New()
	secret, k := newKey()
	put(t, store, k)
	taken := make(chan meter.Batch, 1)
	p := newPortal(t, store, func(p *portal) {
		p.log = slog.New(slog.NewTextHandler(&serverLog, nil))
		p.sink = sinkFunc(func(_ context.Context, b meter.Batch) error { taken <- b; return nil })
	})
	f := newLoggedFront(t, p.addr, slog.New(slog.NewTextHandler(&clientLog, nil)), func(c *router.ClientConfig) {
		c.Credentials = grpcauthtest.Shared(wrong)
	})
	f.await("a word about the refusal on both sides", func() bool {
		return strings.Contains(serverLog.String(), "token is missing or wrong") &&
			strings.Contains(clientLog.String(), "the portal does not accept the token")
	})
	f.want(secret, access.ErrUnavailable)
	if err := f.client.Send(t.Context(), meter.Batch{Source: "src"}); err == nil || len(taken) > 0 {
		t.Errorf("Send = %v, and %d batches were taken, want it refused", err, len(taken))
	}
	conn := dial(t, p.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	_, err := wire.NewDataplaneClient(conn).Touch(t.Context(), &wire.TouchRequest{Used: map[string]int64{k.ID: 1}})
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("a last use without the token is answered %v", err)
	}
	for _, log := range []string{serverLog.String(), clientLog.String()} {
		for _, s := range []string{wrong, testToken, secret, k.Hash.String()} {
			if strings.Contains(log, s) {
				t.Errorf("a log holds %q:\n%s", s, log)
			}
		}
	}
}

func dial(t testing.TB, addr string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// lines is a log that tests read.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type sinkFunc func(context.Context, meter.Batch) error

func (f sinkFunc) Send(ctx context.Context, b meter.Batch) error { return f(ctx, b) }

func TestWhatIsNotSafeIsRefused(t *testing.T) {
	if _, err := NewServer(ServerConfig{}, nil, nil, nil, quiet); err == nil {
		t.Error("a server asks nobody who they are")
	}
	s, err := NewServer(ServerConfig{Credentials: grpcauthtest.Shared(testToken)}, nil, nil, nil, quiet)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), l); err == nil {
		t.Error("a server without TLS listens on all addresses")
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is open")
	}
}

// TestChaos changes keys while connections break at any moment. In the end everybody knows the same.
func TestChaos(t *testing.T) {
	store := memstore.New()
	keys, secrets := make([]tenant.Key, 300), make([]string, 300)
	for i := range keys {
		secrets[i], keys[i] = newKey()
	}
	put(t, store, keys[:100]...)
	p := newPortal(t, store, func(p *portal) { p.cfg.Heartbeat = 5 * time.Millisecond })
	x := newProxy(t, p.addr)
	fronts := make([]*front, 4)
	for i := range fronts {
		fronts[i] = newFront(t, x.addr)
	}
	alive := make(map[int]bool)
	for i := range 100 {
		alive[i] = true
	}
	for round := range 40 {
		for range 20 {
			switch i := rand.IntN(len(keys)); {
			case keys[i].Revoked():
			case alive[i] && rand.IntN(2) == 0:
				keys[i] = revoked(keys[i])
				delete(alive, i)
				put(t, store, keys[i])
			default:
				keys[i].Voices = []string{fmt.Sprint(round)}
				alive[i] = true
				put(t, store, keys[i])
			}
		}
		switch rand.IntN(6) {
		case 0:
			x.shut()
			x.open()
		case 1:
			x.cut(rand.IntN(2000))
		case 2:
			p.stop()
			p.start()
		}
	}
	x.cut(0)
	for _, f := range fronts {
		f.await("that all know the same", f.current(len(alive)))
		for i, secret := range secrets {
			want := access.ErrInvalidKey
			if alive[i] {
				want = nil
			}
			if g := f.want(secret, want); alive[i] && len(keys[i].Voices) > 0 && !g.Allows(keys[i].Voices[0]) {
				t.Errorf("key %d may speak with %v, want %v", i, g.Voices, keys[i].Voices)
			}
		}
	}
}

// proxy stands between client and server and breaks what it carries.
type proxy struct {
	t      testing.TB
	addr   string
	target string
	wg     sync.WaitGroup

	mu     sync.Mutex
	moved  *sync.Cond
	conns  map[net.Conn]bool
	closed bool // takes no connection
	held   bool // carries nothing
	budget int  // bytes that are carried before everything breaks; -1: no such limit
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &proxy{t: t, addr: l.Addr().String(), target: target, conns: map[net.Conn]bool{}, budget: -1}
	x.moved = sync.NewCond(&x.mu)
	x.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			x.wg.Go(func() { x.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		x.shut()
		x.wg.Wait()
	})
	return x
}

func (x *proxy) carry(c net.Conn) {
	defer c.Close()
	far, err := net.Dial("tcp", x.target)
	if err != nil {
		return
	}
	defer far.Close()
	if !x.enter(c, far) {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, far}, {far, c}} {
		both.Go(func() {
			defer c.Close()
			defer far.Close()
			buf := make([]byte, 1<<10)
			for {
				n, err := way[0].Read(buf)
				n = x.pass(n)
				if _, werr := way[1].Write(buf[:n]); err != nil || werr != nil {
					return
				}
			}
		})
	}
	both.Wait()
	x.mu.Lock()
	delete(x.conns, c)
	delete(x.conns, far)
	x.mu.Unlock()
}

func (x *proxy) enter(conns ...net.Conn) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range conns {
		x.conns[c] = true
	}
	return !x.closed
}

// pass waits while nothing is carried, and breaks everything where the budget ends.
func (x *proxy) pass(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.held {
		x.moved.Wait()
	}
	if x.budget < 0 {
		return n
	}
	if n >= x.budget {
		n, x.budget = x.budget, -1
		x.breakLocked()
		return n
	}
	x.budget -= n
	return n
}

func (x *proxy) breakLocked() {
	for c := range x.conns {
		c.Close()
	}
	clear(x.conns)
}

// cut breaks every connection after n more bytes.
func (x *proxy) cut(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n == 0 {
		x.breakLocked()
		return
	}
	x.budget = n
}

// shut breaks every connection and takes none any more.
func (x *proxy) shut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed, x.held = true, false
	x.moved.Broadcast()
	x.breakLocked()
}

// hold carries nothing any more.
func (x *proxy) hold() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held = true
}

// open carries everything again.
func (x *proxy) open() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed, x.held = false, false
	x.moved.Broadcast()
}

// TestConnectionsAreMadeAnew, and whoever checks keys notices nothing of it.
func TestConnectionsAreMadeAnew(t *testing.T) {
	store := memstore.New()
	put(t, store, newKeys(3)...)
	p := newPortal(t, store, func(p *portal) { p.cfg.Age = 1200 * time.Millisecond })
	var log lines
	f := newLoggedFront(t, p.addr, slog.New(slog.NewTextHandler(&log, nil)))
	f.await("the keys", f.current(3))
	f.await("three calls", func() bool { return len(p.told.all()) >= 3 })
	secret, k := newKey()
	put(t, store, k)
	f.await("a new key", f.current(4))
	f.want(secret, nil)
	if all := p.told.all(); all[1].fulls > 0 || all[2].fulls > 0 {
		t.Errorf("a call that goes on is told everything again: %+v", all)
	}
	if text := log.String(); strings.Contains(text, "level=WARN") {
		t.Errorf("the log tells of it: %s", text)
	}
}
