package dataplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/meter"
)

const (
	testTimeout = 30 * time.Second // for what must happen, on a machine that has other things to do
	testToken   = "a-token-that-nobody-else-has"
)

var quiet = slog.New(slog.DiscardHandler)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// portal is the other half as a test plays it. What it is not told to do, it does not know.
type portal struct {
	wire.UnimplementedDataplaneServer
	keys   func(*wire.KeysRequest, grpc.ServerStreamingServer[wire.KeysUpdate]) error
	report func(*wire.UsageBatch) error
	touch  func(*wire.TouchRequest) error
}

func (p *portal) Keys(w *wire.KeysRequest, stream grpc.ServerStreamingServer[wire.KeysUpdate]) error {
	if p.keys == nil {
		return status.Error(codes.Unimplemented, "keys")
	}
	return p.keys(w, stream)
}

func (p *portal) Report(_ context.Context, w *wire.UsageBatch) (*wire.ReportReply, error) {
	return &wire.ReportReply{}, p.report(w)
}

func (p *portal) Touch(_ context.Context, w *wire.TouchRequest) (*wire.TouchReply, error) {
	return &wire.TouchReply{}, p.touch(w)
}

// start lets service answer on loopback until the test ends, and returns where.
func start(t *testing.T, service wire.DataplaneServer) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	wire.RegisterDataplaneServer(g, service)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(l) })
	t.Cleanup(func() {
		g.Stop()
		serving.Wait()
	})
	return l.Addr().String()
}

func newClient(t *testing.T, addr string) (*Client, *access.KeyCache) {
	t.Helper()
	cache := access.NewKeyCache(access.KeyCacheConfig{})
	c, err := NewClient(ClientConfig{Addr: addr, Credentials: grpcauthtest.Shared(testToken)}, cache, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, cache
}

// run runs c until the test ends.
func run(t *testing.T, c *Client) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// newKeys are messages of n live keys.
func newKeys(n int) []*wire.Key {
	keys := make([]*wire.Key, n)
	for i := range keys {
		_, hash := access.New(access.LivePrefix)
		keys[i] = wire.NewKey(access.Entry{Hash: hash, OrgID: "org_1", ProjectID: "prj_1"})
	}
	return keys
}

// receive returns what comes of c, which must be something.
func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(testTimeout):
		t.Fatalf("%s did not happen in %v", what, testTimeout)
		panic("not reached")
	}
}

func TestWhatIsNotSafeIsRefused(t *testing.T) {
	token := grpcauthtest.Shared(testToken)
	plain, secure := token, token
	plain.Plaintext = true
	secure.Certificates = grpcauthtest.New(t).Open(grpcauth.Router)
	tests := map[string]struct {
		addr  string
		creds grpcauth.Credentials
		ok    bool
	}{
		"loopback in plain text":                   {"127.0.0.1:1", token, true},
		"loopback of IPv6":                         {"[::1]:1", token, true},
		"loopback by name":                         {"localhost:1", token, true},
		"another machine in plain text":            {"10.1.2.3:1", token, false},
		"all addresses in plain text":              {"0.0.0.0:1", token, false},
		"a name in plain text":                     {"portal:1", token, false},
		"another machine in plain text on purpose": {"10.1.2.3:1", plain, true},
		"another machine with TLS":                 {"portal:1", secure, true},
		"no credentials":                           {"127.0.0.1:1", grpcauth.Credentials{}, false},
		"no port":                                  {"127.0.0.1", token, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := ClientConfig{Addr: tt.addr, Credentials: tt.creds}
			c, err := NewClient(cfg, access.NewKeyCache(access.KeyCacheConfig{}), quiet)
			if (err == nil) != tt.ok {
				t.Errorf("NewClient = %v, want it ok: %v", err, tt.ok)
			}
			if err == nil {
				c.Close()
			} else if strings.Contains(err.Error(), testToken) {
				t.Errorf("the error %q shows the token", err)
			}
		})
	}
}

// TestPiecesAreTakenInTogether: nobody must see half of all keys, because the other half would be unknown.
func TestPiecesAreTakenInTogether(t *testing.T) {
	keys := newKeys(3)
	half := make(chan struct{})
	rest := make(chan struct{})
	addr := start(t, &portal{keys: func(_ *wire.KeysRequest, stream grpc.ServerStreamingServer[wire.KeysUpdate]) error {
		for i, k := range keys {
			u := &wire.KeysUpdate{Epoch: 1, Sequence: 3, Full: true, More: i < 2, Keys: []*wire.Key{k}}
			if err := stream.Send(u); err != nil {
				return err
			}
			if i == 1 {
				close(half)
				<-rest
			}
		}
		<-stream.Context().Done()
		return nil
	}})
	c, cache := newClient(t, addr)
	run(t, c)
	receive(t, "half of the keys", half)
	if n, _ := cache.Size(); n != 0 {
		t.Errorf("%d keys are known before all are told", n)
	}
	close(rest)
	receive(t, "all keys", cache.Ready())
	if n, current := cache.Size(); n != 3 || !current {
		t.Errorf("%d keys, current %v, want 3, true", n, current)
	}
}

// TestWhatIsNotUnderstoodIsAFailure: nothing of it is taken in.
func TestWhatIsNotUnderstoodIsAFailure(t *testing.T) {
	short := newKeys(1)
	short[0].Hash = short[0].Hash[1:]
	addr := start(t, &portal{keys: func(_ *wire.KeysRequest, stream grpc.ServerStreamingServer[wire.KeysUpdate]) error {
		_ = stream.Send(&wire.KeysUpdate{Epoch: 1, Full: true, Keys: short})
		<-stream.Context().Done()
		return nil
	}})
	c, cache := newClient(t, addr)
	_, err := c.follow(t.Context())
	if err == nil || !strings.Contains(err.Error(), "a hash of 31 bytes") {
		t.Errorf("a hash that is too short ends with %v", err)
	}
	if n, current := cache.Size(); n != 0 || current {
		t.Errorf("%d keys, current %v, want 0, false", n, current)
	}
}

func TestWhyUsageIsRefused(t *testing.T) {
	var answer error
	addr := start(t, &portal{report: func(*wire.UsageBatch) error { return answer }})
	c, _ := newClient(t, addr)
	if err := c.Send(t.Context(), meter.Batch{Source: "src_1"}); err != nil {
		t.Errorf("a batch that is taken: %v", err)
	}
	gap, err := status.New(codes.FailedPrecondition, "a gap").WithDetails(&wire.Gap{Want: 17})
	if err != nil {
		t.Fatal(err)
	}
	answer = gap.Err()
	err = c.Send(t.Context(), meter.Batch{Source: "src_1"})
	if got, ok := errors.AsType[*meter.GapError](err); !ok || got.Want != 17 {
		t.Errorf("a gap arrives as %v", err)
	}
	answer = status.Error(codes.Unavailable, "the disk is full")
	err = c.Send(t.Context(), meter.Batch{Source: "src_1"})
	_, isGap := errors.AsType[*meter.GapError](err)
	if isGap || err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("a failure arrives as %v", err)
	}
}

func TestManyLastUsesAreToldInSeveralMessages(t *testing.T) {
	var calls, uses int
	var answer error
	addr := start(t, &portal{touch: func(w *wire.TouchRequest) error {
		calls++
		uses += len(w.Used)
		return answer
	}})
	c, _ := newClient(t, addr)
	now := time.Now()
	for _, tt := range []struct{ uses, calls int }{
		{0, 0}, {usesAtOnce - 1, 1}, {usesAtOnce, 1}, {usesAtOnce + 1, 2}, {3 * usesAtOnce, 3},
	} {
		used := make(map[string]time.Time)
		for i := range tt.uses {
			used[fmt.Sprint("key_", i)] = now
		}
		calls, uses = 0, 0
		if err := c.touch(t.Context(), used); err != nil {
			t.Fatal(err)
		}
		if calls != tt.calls || uses != tt.uses {
			t.Errorf("%d uses were told in %d calls and %d arrived, want %d calls", tt.uses, calls, uses, tt.calls)
		}
	}
	answer = status.Error(codes.Unavailable, "unavailable")
	if err := c.touch(t.Context(), map[string]time.Time{"key_1": now}); err == nil {
		t.Error("a use that was not taken counts as told")
	}
}

// talker is a portal that says what a test wants it to, and shows what is acknowledged.
type talker struct {
	wire.UnimplementedDataplaneServer
	say          chan *wire.KeysUpdate
	acknowledged chan *wire.AcknowledgeRequest
	answer       chan error // to acknowledgements
}

func newTalker() *talker {
	return &talker{
		say: make(chan *wire.KeysUpdate), acknowledged: make(chan *wire.AcknowledgeRequest), answer: make(chan error),
	}
}

func (p *talker) Keys(hello *wire.KeysRequest, stream grpc.ServerStreamingServer[wire.KeysUpdate]) error {
	if !hello.Acknowledges {
		return status.Error(codes.InvalidArgument, "the client does not say that it acknowledges")
	}
	for {
		select {
		case u := <-p.say:
			if err := stream.Send(u); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
}

func (p *talker) Acknowledge(ctx context.Context, w *wire.AcknowledgeRequest) (*wire.AcknowledgeReply, error) {
	select {
	case p.acknowledged <- w:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case err := <-p.answer:
		return &wire.AcknowledgeReply{}, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wantAcknowledged answers the next acknowledgement, which must be of sequence, with err.
func (p *talker) wantAcknowledged(t *testing.T, sequence uint64, err error) {
	t.Helper()
	w := receive(t, fmt.Sprintf("the acknowledgement of %d", sequence), p.acknowledged)
	if w.Follower != 7 || w.Epoch != 1 || w.Sequence != sequence {
		t.Errorf("acknowledged %v, want follower 7, epoch 1, sequence %d", w, sequence)
	}
	p.answer <- err
}

func update(sequence uint64, keys ...*wire.Key) *wire.KeysUpdate {
	return &wire.KeysUpdate{Epoch: 1, Sequence: sequence, Follower: 7, Full: sequence == 1, Keys: keys}
}

// markedKey is a key whose end shows that all before it was taken in, too.
func markedKey() (secret string, begin, end *wire.Key) {
	secret, hash := access.New(access.LivePrefix)
	return secret, wire.NewKey(access.Entry{Hash: hash}), wire.NewKey(access.Entry{Hash: hash, Revoked: true})
}

func awaitEnd(t *testing.T, cache *access.KeyCache, secret string) {
	t.Helper()
	g, err := cache.Grant(t.Context(), access.Credentials{Key: secret})
	if err == nil { // else it has ended already
		receive(t, "the end of a key", g.Ended)
	}
}

func TestWhatIsTakenInIsAcknowledged(t *testing.T) {
	p := newTalker()
	c, cache := newClient(t, start(t, p))
	run(t, c)
	secret, begin, end := markedKey()
	p.say <- update(1, begin, newKeys(1)[0])
	w := receive(t, "the first acknowledgement", p.acknowledged)
	if n, current := cache.Size(); n != 2 || !current || w.Sequence != 1 {
		t.Errorf("%v is acknowledged with %d keys, current %v, want 2, true", w, n, current)
	}
	const many = 1000
	for i := uint64(2); i < many; i++ { // while the acknowledgement is on its way
		p.say <- update(i, newKeys(1)...)
	}
	p.say <- update(many, end)
	awaitEnd(t, cache, secret)
	p.answer <- nil
	w = receive(t, "the second acknowledgement", p.acknowledged)
	p.answer <- nil
	if w.Sequence < many-1 { // the end of the key is seen a moment before it is to be acknowledged
		t.Errorf("after 1 it is %d that is acknowledged, want %d", w.Sequence, many)
	}
	if w.Sequence < many {
		p.wantAcknowledged(t, many, nil)
	}
	p.say <- update(many) // a heartbeat
	p.say <- update(many + 1)
	p.wantAcknowledged(t, many+1, errors.New("no answer"))
	p.say <- update(many + 1) // the next heartbeat
	p.wantAcknowledged(t, many+1, nil)
}

// TestAnOlderPortalIsToldNothing: it names no follower, and would not know the call.
func TestAnOlderPortalIsToldNothing(t *testing.T) {
	p := newTalker()
	c, cache := newClient(t, start(t, p))
	run(t, c)
	secret, begin, end := markedKey()
	for i, k := range []*wire.Key{begin, newKeys(1)[0], end} {
		u := update(uint64(i)+1, k)
		u.Follower = 0
		p.say <- u
		if i == 0 {
			receive(t, "the first keys", cache.Ready())
		}
	}
	awaitEnd(t, cache, secret)
	p.say <- update(4) // from here on it is a newer one
	p.wantAcknowledged(t, 4, nil)
}
