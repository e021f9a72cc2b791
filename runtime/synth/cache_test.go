package synth

import (
	"fmt"
	"sync"
	"testing"
)

func TestCacheKeepsToItsBudget(t *testing.T) {
	key := func(i int) CacheKey { return CacheKey{Voice: "v", Text: fmt.Sprint(i)} } // two bytes each
	tests := map[string]struct {
		budget, size int64
		adds         int
		want         []int // indices still held
	}{
		"one byte below three values": {35, 10, 3, []int{1, 2}},
		"exactly three values":        {36, 10, 3, []int{0, 1, 2}},
		"one byte above":              {37, 10, 4, []int{1, 2, 3}},
		"a value as large as all":     {12, 10, 2, []int{1}},
		"a value too large":           {11, 10, 2, nil},
		"no budget":                   {0, 10, 2, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := NewCache[int](tt.budget)
			for i := range tt.adds {
				c.Add(key(i), i, tt.size)
			}
			held := map[int]bool{}
			for _, i := range tt.want {
				held[i] = true
			}
			for i := range tt.adds {
				if v, ok := c.Get(key(i)); ok != held[i] || ok && v != i {
					t.Errorf("Get(%d) = %d, %v; want held %v", i, v, ok, held[i])
				}
			}
			if got := c.Bytes(); got > tt.budget || got != int64(c.Len())*(tt.size+2) {
				t.Errorf("Bytes = %d with %d values and budget %d", got, c.Len(), tt.budget)
			}
		})
	}
}

func TestCacheUseKeepsAndReplacingCountsOnce(t *testing.T) {
	c := NewCache[string](24)
	a, b, d := CacheKey{Voice: "v", Text: "a"}, CacheKey{Voice: "v", Text: "b"}, CacheKey{Voice: "v", Text: "d"}
	c.Add(a, "a", 8)
	c.Add(a, "A", 10)
	c.Add(b, "b", 10)
	if got := c.Bytes(); got != 24 {
		t.Fatalf("Bytes = %d, want 24: the replaced value no longer counts", got)
	}
	c.Get(a)
	c.Add(d, "d", 10)
	if _, ok := c.Get(b); ok {
		t.Error("the least recently used value stayed")
	}
	if v, ok := c.Get(a); !ok || v != "A" {
		t.Errorf("Get(a) = %q, %v; want the replaced value, kept because it was used", v, ok)
	}
}

func TestCacheIsSafeForConcurrentUse(t *testing.T) {
	c := NewCache[int](1000)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				k := CacheKey{Text: fmt.Sprint(i % 50)}
				if v, ok := c.Get(k); ok && v != i%50 {
					t.Errorf("goroutine %d: Get(%s) = %d", g, k.Text, v)
				}
				c.Add(k, i%50, 20)
			}
		})
	}
	wg.Wait()
	if got := c.Bytes(); got > 1000 || got <= 0 {
		t.Errorf("Bytes = %d, want within the budget", got)
	}
}

// pages is memory that is freed by hand, as a test sees it. Tests that read it after it is freed fail, with the race
// detector even if they come too early.
type pages struct {
	n     int
	freed bool
}

func (p *pages) free() { p.n, p.freed = -1, true }

func TestCacheFreesWhatHasLeftOnce(t *testing.T) {
	freed := map[*pages]int{}
	c := NewOwningCache(20, func(p *pages) { freed[p]++ })
	a, b, d, large := &pages{}, &pages{}, &pages{}, &pages{}
	key := func(s string) CacheKey { return CacheKey{Voice: "v", Text: s} }
	want := func(when string, want ...*pages) {
		t.Helper()
		if len(freed) != len(want) {
			t.Errorf("%s: %d values are freed, want %d", when, len(freed), len(want))
		}
		for _, p := range want {
			if freed[p] != 1 {
				t.Errorf("%s: a value is freed %d times, want once", when, freed[p])
			}
		}
	}
	c.Add(key("a"), a, 8)
	c.Add(key("b"), b, 8)
	first, _ := c.Borrow(key("a"))
	second, _ := c.Borrow(key("a"))
	want("while both are held")
	c.Add(key("a"), d, 8) // takes the place of what is borrowed
	want("replaced while it is borrowed")
	first.Return()
	want("one of two has returned it")
	second.Return()
	want("both have returned it", a)
	c.Add(key("large"), large, 21)
	want("a value too large", a, large)
	c.Add(key("e"), &pages{}, 8)
	want("the oldest has left", a, large, b)
	l, ok := c.Borrow(key("a"))
	if !ok || l.Value != d {
		t.Errorf("Borrow = %v, %v; want the new value", l.Value, ok)
	}
	c.Clear()
	if got := c.Bytes(); got != 0 || len(freed) != 4 || freed[d] != 0 {
		t.Errorf("cleared: %d bytes, %d freed, the borrowed one %d times; want 0, 4, 0", got, len(freed), freed[d])
	}
	l.Return()
	if freed[d] != 1 {
		t.Error("what was borrowed when the cache was cleared is not freed")
	}
	if _, ok := c.Borrow(key("a")); ok {
		t.Error("a cleared cache lends something")
	}
}

func TestBorrowBestLooksAtOneVoice(t *testing.T) {
	c := NewCache[int](1000)
	for i, k := range []CacheKey{{"a", "one", 0}, {"a", "two", 0}, {"a", "three", 0}, {"b", "four", 0}} {
		c.Add(k, i+1, 10)
	}
	for name, tt := range map[string]struct {
		voice      string
		score      func(int) int
		want, best int // 0 for none
	}{
		"the largest":         {"a", func(v int) int { return 10 - v }, 1, 9},
		"of another voice":    {"b", func(v int) int { return 10 - v }, 4, 6},
		"none is above zero":  {"a", func(int) int { return 0 }, 0, 0},
		"all are below zero":  {"a", func(int) int { return -1 }, 0, 0},
		"a voice of no value": {"c", func(int) int { return 1 }, 0, 0},
	} {
		l, best, ok := c.BorrowBest(tt.voice, tt.score)
		if ok != (tt.want > 0) || l.Value != tt.want || best != tt.best {
			t.Errorf("%s: %d with %d, %v; want %d with %d", name, l.Value, best, ok, tt.want, tt.best)
		}
		if ok {
			l.Return()
		}
	}
}

// TestNothingIsFreedWhileItIsBorrowed has goroutines read values that others push out of the cache. The race detector
// sees a free that is not behind the last reader's return.
func TestNothingIsFreedWhileItIsBorrowed(t *testing.T) {
	var freed int // under the lock of the cache
	c := NewOwningCache(60, func(p *pages) { p.free(); freed++ })
	const readers, rounds = 8, 1000
	var wg sync.WaitGroup
	for g := range readers {
		wg.Go(func() {
			for i := range rounds {
				n := (g + i) % 7
				k := CacheKey{Text: fmt.Sprint(n)}
				l, ok := c.Borrow(k)
				if i%3 == 0 && !ok {
					l, _, ok = c.BorrowBest("", func(p *pages) int { return p.n + 1 })
					n = -1
				}
				if ok {
					if l.Value.freed || n >= 0 && l.Value.n != n {
						t.Errorf("borrowed %+v for %d", *l.Value, n)
					}
					l.Return()
				}
				c.Add(k, &pages{n: (g + i) % 7}, 10)
			}
		})
	}
	wg.Wait()
	if c.Clear(); freed != readers*rounds {
		t.Errorf("%d of %d values are freed", freed, readers*rounds)
	}
}
