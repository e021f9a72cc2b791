package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// guarded is a guard before a cache of one key.
func guarded() (g *Guard, key string) {
	key, e := entry()
	return NewGuard(filled(e)), key
}

// guess presents a wrong key from ip and returns how long the answer took.
func guess(t *testing.T, g *Guard, ip string) time.Duration {
	t.Helper()
	begin := time.Now()
	if _, err := g.Grant(t.Context(), Credentials{Key: "wrong",
		IP: netip.MustParseAddr(ip)}); !errors.Is(err, ErrInvalidKey) {
		t.Errorf("Grant = %v, want %v", err, ErrInvalidKey)
	}
	return time.Since(begin)
}

func wantWait(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got != want {
		t.Errorf("%s is answered after %v, want %v", what, got, want)
	}
}

func TestGuessesBecomeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, key := guarded()
		const ip = "203.0.113.7"
		for i := range freeGuesses {
			wantWait(t, fmt.Sprintf("wrong key %d", i+1), guess(t, g, ip), 0)
		}
		wantWait(t, "the next one", guess(t, g, ip), delayStep)
		wantWait(t, "and the next", guess(t, g, ip), 2*delayStep)
		wantWait(t, "one of another address", guess(t, g, "203.0.113.8"), 0)

		begin := time.Now()
		if _, err := g.Grant(t.Context(), Credentials{Key: key, IP: netip.MustParseAddr(ip)}); err != nil {
			t.Error(err)
		}
		wantWait(t, "a good key of the same address", time.Since(begin), 0)

		for range 100 {
			if wait := guess(t, g, ip); wait > maxDelay {
				t.Fatalf("a wrong key is answered after %v, want at most %v", wait, maxDelay)
			}
		}
		time.Sleep(forgiveEvery * time.Duration(maxGuesses))
		wantWait(t, "a wrong key after a long pause", guess(t, g, ip), 0)
	})
}

func TestTwentyWrongKeysAMinuteAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := guarded()
		for range 200 {
			wantWait(t, "a wrong key every three seconds", guess(t, g, "203.0.113.7"), 0)
			time.Sleep(forgiveEvery)
		}
	})
}

func TestTheLongestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := guarded()
		addr := netip.MustParseAddr("203.0.113.7")
		for range maxGuesses - 1 {
			if _, counted := g.count(addr); counted != nil { // answered at once, so that no time passes
				counted.delayed--
				g.delayed--
			}
		}
		wantWait(t, "the last that is slower than the one before", guess(t, g, "203.0.113.7"), maxDelay)
		wantWait(t, "one after it", guess(t, g, "203.0.113.7"), maxDelay)
	})
}

func TestWhoCountsAsOneAddress(t *testing.T) {
	tests := map[string]struct {
		a, b string
		same bool
	}{
		"two addresses of IPv4":                   {"203.0.113.7", "203.0.113.8", false},
		"IPv4 and the same in IPv6":               {"203.0.113.7", "::ffff:203.0.113.7", true},
		"two addresses of one network of IPv6":    {"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true},
		"two networks of IPv6":                    {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
		"one address by way of two network cards": {"fe80::1%eth0", "fe80::1%eth1", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := network(netip.MustParseAddr(tt.a)) == network(netip.MustParseAddr(tt.b)); got != tt.same {
				t.Errorf("%s and %s count as one: %v, want %v", tt.a, tt.b, got, tt.same)
			}
		})
	}
}

func TestOnlyWrongKeysCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(NewKeyCache(KeyCacheConfig{})) // away
		key, _ := entry()
		p := Credentials{Key: key, IP: netip.MustParseAddr("203.0.113.7")}
		begin := time.Now()
		for range 2 * freeGuesses {
			if _, err := g.Grant(t.Context(), p); !errors.Is(err, ErrUnavailable) {
				t.Fatal(err)
			}
		}
		wantWait(t, "an unknown key while the portal is away", time.Since(begin), 0)
		p.Key, p.IP = "wrong", netip.Addr{}
		for range 2 * freeGuesses {
			if _, err := g.Grant(t.Context(), p); !errors.Is(err, ErrInvalidKey) {
				t.Fatal(err)
			}
		}
		wantWait(t, "a wrong key of nobody knows whom", time.Since(begin), 0)
	})
}

// TestGuessesAtOnce: whoever tries many keys at once waits for each as if they came one after the other.
func TestGuessesAtOnce(t *testing.T) {
	for _, parallel := range []int{freeGuesses, freeGuesses + 1, 64, 1000} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _ := guarded()
				var mu sync.Mutex
				answered := map[time.Duration]int{}
				var guesses sync.WaitGroup
				for range parallel {
					guesses.Go(func() {
						took := guess(t, g, "203.0.113.7")
						mu.Lock()
						defer mu.Unlock()
						answered[took]++
					})
				}
				guesses.Wait()
				want := map[time.Duration]int{0: freeGuesses}
				for i := freeGuesses + 1; i <= parallel; i++ {
					want[min(maxDelay, time.Duration(i-freeGuesses)*delayStep)]++
				}
				if !maps.Equal(answered, want) {
					t.Errorf("answered after %v, want %v", answered, want)
				}
			})
		})
	}
}

func TestLongDelaysAreBounded(t *testing.T) {
	tests := map[string]struct {
		addresses int
		each      int
		delayed   int // for longer than a step
	}{
		"as many of one address as may wait": {1, maxDelayedOfOne, maxDelayedOfOne},
		"one more of one address":            {1, maxDelayedOfOne + 1, maxDelayedOfOne},
		"as many of all as may wait":         {maxDelayed / 10, 10, maxDelayed},
		"more of all than may wait":          {maxDelayed/10 + 1, 10, maxDelayed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _ := guarded()
				ctx, leave := context.WithCancel(t.Context())
				var guesses sync.WaitGroup
				var soon atomic.Int64
				for i := range tt.addresses {
					creds := Credentials{Key: "wrong", IP: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})}
					for range freeGuesses + 1 { // so that the next one waits for longer than a step
						g.count(creds.IP)
					}
					for range tt.each {
						guesses.Go(func() {
							begin := time.Now()
							_, _ = g.Grant(ctx, creds)
							if time.Since(begin) == delayStep {
								soon.Add(1)
							}
						})
					}
				}
				time.Sleep(delayStep)
				synctest.Wait()
				g.mu.Lock()
				if want := tt.addresses*tt.each - tt.delayed; g.delayed != tt.delayed || int(soon.Load()) != want {
					t.Errorf("%d answers wait and %d came after a step, want %d and %d", g.delayed, soon.Load(),
						tt.delayed, want)
				}
				g.mu.Unlock()
				begin := time.Now()
				leave() // who leaves is not waited for
				guesses.Wait()
				wantWait(t, "somebody who left", time.Since(begin), 0)
				if g.delayed != 0 {
					t.Errorf("%d answers wait at the end", g.delayed)
				}
			})
		})
	}
}

func TestRememberedAddressesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := guarded()
		for range freeGuesses {
			guess(t, g, "203.0.113.7")
		}
		for i := range maxAddresses - 1 {
			guess(t, g, netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).String())
		}
		if len(g.known) != maxAddresses || g.recent.Len() != maxAddresses {
			t.Fatalf("%d and %d addresses are remembered, want %d", len(g.known), g.recent.Len(), maxAddresses)
		}
		wantWait(t, "an address that is still remembered", guess(t, g, "203.0.113.7"), delayStep)
		guess(t, g, "10.1.0.0")
		guess(t, g, "10.1.0.1")
		if len(g.known) != maxAddresses || g.recent.Len() != maxAddresses {
			t.Errorf("%d and %d addresses are remembered, want %d", len(g.known), g.recent.Len(), maxAddresses)
		}
		if g.known[netip.MustParseAddr("203.0.113.7")] == nil {
			t.Error("the address that guessed lately was forgotten")
		}
		if g.known[netip.MustParseAddr("10.0.0.0")] != nil {
			t.Error("the address that was quiet for longest is remembered")
		}
	})
}
