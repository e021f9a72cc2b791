// Package dataplane is the router's side of its connection with the portal. It receives keys as they change and sends
// usage.
//
// The portal's half is portal/dataplane. This one knows nothing of tenancy, so that what serves speech need not link
// it.
package dataplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/meter"
)

const (
	defaultSilence = 5 * time.Second // five heartbeats
	maxKeys        = 1 << 20         // far more than one portal has; a server that sends more is broken
	maxLexicons    = 1 << 16         // as for keys
	usesAtOnce     = 5000            // in one message: about 200 kB

	minRetry = 100 * time.Millisecond // wait before the portal is tried again; doubled after each failure
	maxRetry = 2 * time.Second

	minCall = time.Second // a call that ended sooner has failed
)

// ClientConfig says where the portal is.
type ClientConfig struct {
	Addr        string               // HOST:PORT of the portal's dataplane
	Credentials grpcauth.Credentials // of this process; required
	Silence     time.Duration        // how long the portal may say nothing before it counts as away; 0 means 5 s
}

// Client is the side of the dataplane that serves speech. It implements [meter.Sink] and is safe for concurrent use.
type Client struct {
	cfg    ClientConfig
	cache  *access.KeyCache
	log    *slog.Logger
	conn   *grpc.ClientConn
	portal wire.DataplaneClient

	// Of the goroutine that runs.
	at         wire.Position
	portalLost bool // and it was logged
}

// NewClient checks cfg and returns a client that keeps cache up to date while it runs. It connects when it is used;
// the caller closes it.
func NewClient(cfg ClientConfig, cache *access.KeyCache, log *slog.Logger) (*Client, error) {
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("dataplane: %q is not an address of a portal; want HOST:PORT", cfg.Addr)
	}
	if cfg.Silence == 0 {
		cfg.Silence = defaultSilence
	}
	options, err := cfg.Credentials.DialOptions(host, grpcauth.Portal)
	if err != nil {
		return nil, fmt.Errorf("dataplane: %w", err)
	}
	conn, err := grpc.NewClient("dns:///"+cfg.Addr, append(options,
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: minRetry, Multiplier: 2, Jitter: 0.5, MaxDelay: maxRetry},
			MinConnectTimeout: cfg.Silence,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithDisableServiceConfig(),
	)...)
	if err != nil {
		return nil, fmt.Errorf("dataplane: %w", err)
	}
	return &Client{cfg: cfg, cache: cache, log: log, conn: conn, portal: wire.NewDataplaneClient(conn)}, nil
}

// Run keeps the cache up to date, and reports last uses of keys, until ctx ends. It waits out every failure of the
// portal, and reports its absence to the cache.
func (c *Client) Run(ctx context.Context) error {
	var telling sync.WaitGroup
	telling.Go(func() { c.cache.ReportLastUsed(ctx, c.touch, c.log) })
	defer telling.Wait()
	defer c.cache.PortalLost()
	for wait := minRetry; ; {
		begun := time.Now()
		heard, err := c.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, io.EOF) && heard && time.Since(begun) >= minCall { // the portal has connections made anew
			continue
		}
		c.cache.PortalLost()
		c.logLost(err)
		if heard {
			wait = minRetry
		}
		if !pause(ctx, wait) {
			return nil
		}
		wait = min(2*wait, maxRetry)
	}
}

// Send implements [meter.Sink].
func (c *Client) Send(ctx context.Context, b meter.Batch) error {
	_, err := c.portal.Report(ctx, wire.NewBatch(b))
	if err == nil {
		return nil
	}
	for _, detail := range status.Convert(err).Details() {
		switch d := detail.(type) {
		case *wire.Gap:
			return &meter.GapError{Want: d.Want, Copies: d.Copies}
		case *wire.Fork:
			return &meter.ForkError{Seq: d.Seq}
		}
	}
	return fmt.Errorf("reporting usage to %s: %w", c.cfg.Addr, err)
}

// Close ends the connection. Run must have returned.
func (c *Client) Close() error { return c.conn.Close() }

// follow applies the portal's updates, from the position of the last call, until the connection fails or is silent. It
// reports whether anything was received.
func (c *Client) follow(ctx context.Context) (heard bool, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silent := time.AfterFunc(c.cfg.Silence, func() { end(errSilent) })
	defer silent.Stop()
	stream, err := c.portal.Keys(ctx, &wire.KeysRequest{
		Epoch: c.at.Epoch, Sequence: c.at.Sequence, Acknowledges: true,
	})
	if err != nil {
		return false, c.why(ctx, err)
	}
	taken := make(chan acknowledgement, 1)
	var telling sync.WaitGroup
	telling.Go(func() { c.acknowledge(ctx, taken) })
	defer telling.Wait()
	defer end(nil)    // or it would not end
	var u wire.Update // in pieces
	for {
		w, err := stream.Recv()
		if err != nil {
			return heard, c.why(ctx, err)
		}
		silent.Reset(c.cfg.Silence)
		heard = true
		for _, k := range w.Keys {
			e, err := k.Entry()
			if err != nil {
				return heard, err
			}
			u.Keys = append(u.Keys, e)
		}
		for _, l := range w.Lexicons {
			u.Lexicons = append(u.Lexicons, l.Value())
		}
		if len(u.Lexicons) > maxLexicons {
			return heard, fmt.Errorf("the portal sent more than %d lexicons at once", maxLexicons)
		}
		if len(u.Keys) > maxKeys {
			return heard, fmt.Errorf("the portal sent more than %d keys at once", maxKeys)
		}
		if w.More {
			continue
		}
		u.Position = wire.Position{Epoch: w.Epoch, Sequence: w.Sequence}
		u.Full, u.Stale, u.AllLexicons = w.Full, w.Stale, w.AllLexicons
		c.take(u)
		if w.Follower != 0 {
			replace(taken, acknowledgement{w.Follower, u.Position})
		}
		u = wire.Update{}
	}
}

func (c *Client) take(u wire.Update) {
	u.ApplyTo(c.cache)
	if u.Epoch != 0 { // otherwise the portal knows nothing yet
		c.at = u.Position
	}
	switch {
	case u.Stale:
		c.logLost(errDeaf)
	case c.portalLost:
		c.portalLost = false
		keys, _ := c.cache.Size()
		c.log.Info("the portal is back", "portal", c.cfg.Addr, "keys", keys)
	}
}

// acknowledgement is what a follower sends after it has applied an update.
type acknowledgement struct {
	follower uint64
	at       wire.Position
}

// replace puts a into c, which has no other sender, instead of an unreceived one.
func replace(c chan acknowledgement, a acknowledgement) {
	select {
	case <-c:
	default:
	}
	c <- a
}

// acknowledge sends acknowledgements until ctx ends. While one call is on its way, all that is applied meanwhile
// becomes the next one. A failed one is sent with the next update, which is a heartbeat at the latest.
func (c *Client) acknowledge(ctx context.Context, taken <-chan acknowledgement) {
	for last := (acknowledgement{}); ; {
		var a acknowledgement
		select {
		case a = <-taken:
		case <-ctx.Done():
			return
		}
		if a == last {
			continue // a heartbeat
		}
		calling, cancel := context.WithTimeout(ctx, c.cfg.Silence)
		_, err := c.portal.Acknowledge(calling, &wire.AcknowledgeRequest{
			Follower: a.follower, Epoch: a.at.Epoch, Sequence: a.at.Sequence,
		})
		cancel()
		if err == nil {
			last = a
		} else if ctx.Err() == nil {
			c.log.Debug("could not acknowledge changes to the portal", "portal", c.cfg.Addr, "error", err)
		}
	}
}

// logLost logs that the portal is away, once until it is back.
func (c *Client) logLost(err error) {
	if !c.portalLost {
		c.portalLost = true
		c.log.Warn("lost the portal; known keys stay valid for a while, and usage is kept; retrying", "portal",
			c.cfg.Addr, "error", err)
	}
}

var (
	errSilent = errors.New("the portal is silent")
	errDeaf   = errors.New("the portal has lost its store")
)

// why returns the reason of a failed call: the cause of ctx is more precise than "cancelled".
func (c *Client) why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case status.Code(err) == codes.Unauthenticated:
		return fmt.Errorf("the portal does not accept the token: %w", err)
	case grpcauth.IsCertificateRefused(err):
		return fmt.Errorf("the portal rejected the certificate; see its log: %w", err)
	}
	return err
}

// touch reports last uses of keys, in messages of limited size.
func (c *Client) touch(ctx context.Context, used map[string]time.Time) error {
	w := &wire.TouchRequest{Used: make(map[string]int64)}
	left := len(used)
	for id, at := range used {
		w.Used[id] = wire.Micros(at)
		if left--; left > 0 && len(w.Used) < usesAtOnce {
			continue
		}
		if _, err := c.portal.Touch(ctx, w); err != nil {
			return err
		}
		clear(w.Used)
	}
	return nil
}

// pause waits for about d and reports whether ctx has not ended. The wait is random, so that clients that lost the same
// portal do not all return in the same moment.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d/2 + rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
