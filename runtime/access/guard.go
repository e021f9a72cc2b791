package access

import (
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// The limits of guessing. Keys are protected by their length; these limits protect the server from clients that try
// anyway, or do not notice that their key is revoked.
const (
	freeGuesses  = 20                     // wrong keys that an address may present at once without being slowed
	forgiveEvery = 3 * time.Second        // a wrong key is forgotten after this, so that 20 a minute stay free
	delayStep    = 250 * time.Millisecond // by which each further wrong key is answered later
	maxDelay     = 5 * time.Second        // and the longest that it may come to
	maxGuesses   = freeGuesses + int(maxDelay/delayStep)

	maxAddresses = 10_000 // that are remembered; beyond, the one that was quiet for longest is forgotten
	// answers that are held back for more than delayStep; some 20 kB each, with their connection
	maxDelayed       = 4000
	maxDelayedOfOne  = 1000 // of them, of one address
	sharedBitsOfIPv6 = 64   // one customer has at least this many addresses to guess from
)

// Guard is a keyring that holds the answer back when an address has presented many wrong keys. Good keys are never
// delayed: behind one address there may be many people. It is safe for concurrent use.
type Guard struct {
	next Keyring

	mu      sync.Mutex
	known   map[netip.Addr]*list.Element // of recent
	recent  *list.List                   // *guesser, the one that guessed last in front
	delayed int
}

// guesser is an address that has presented wrong keys.
type guesser struct {
	addr    netip.Addr
	wrong   int       // keys that are not forgotten
	since   time.Time // when the last one was forgotten, or the first came
	delayed int
}

// NewGuard returns a guard before next.
func NewGuard(next Keyring) *Guard {
	return &Guard{next: next, known: make(map[netip.Addr]*list.Element), recent: list.New()}
}

// Grant implements [Keyring].
func (g *Guard) Grant(ctx context.Context, creds Credentials) (Grant, error) {
	grant, err := g.next.Grant(ctx, creds)
	if errors.Is(err, ErrInvalidKey) && creds.IP.IsValid() {
		g.delay(ctx, network(creds.IP))
	}
	return grant, err
}

// delay waits as long as addr's next wrong key has earned, however many of its keys come at once. When too many wait
// already it is shorter, because waiting costs memory, but no connection gets more than a few answers a second.
func (g *Guard) delay(ctx context.Context, addr netip.Addr) {
	wait, counted := g.count(addr)
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if counted == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	counted.delayed--
	g.delayed--
}

// count records a wrong key of addr and returns the delay. counted is its entry among the delayed ones, or nil.
func (g *Guard) count(addr netip.Addr) (wait time.Duration, counted *guesser) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.guesserLocked(addr, now)
	if forgiven := int(now.Sub(who.since) / forgiveEvery); forgiven > 0 {
		who.wrong = max(0, who.wrong-forgiven)
		who.since = who.since.Add(time.Duration(forgiven) * forgiveEvery)
	}
	if who.wrong == 0 {
		who.since = now
	}
	who.wrong = min(who.wrong+1, maxGuesses)
	wait = time.Duration(max(0, who.wrong-freeGuesses)) * delayStep
	switch {
	case wait <= delayStep:
		return wait, nil
	case who.delayed == maxDelayedOfOne, g.delayed == maxDelayed:
		return delayStep, nil
	}
	who.delayed++
	g.delayed++
	return wait, who
}

func (g *Guard) guesserLocked(addr netip.Addr, now time.Time) *guesser {
	if e, ok := g.known[addr]; ok {
		g.recent.MoveToFront(e)
		return e.Value.(*guesser)
	}
	if g.recent.Len() == maxAddresses {
		quiet := g.recent.Remove(g.recent.Back()).(*guesser)
		delete(g.known, quiet.addr)
	}
	who := &guesser{addr: addr, since: now}
	g.known[addr] = g.recent.PushFront(who)
	return who
}

// network is what is taken for one client: an address of IPv4, or the customer's network of IPv6.
func network(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip
	}
	prefix, _ := ip.Prefix(sharedBitsOfIPv6) // fails for more bits than there are only
	return prefix.Addr()
}
