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
	a, b, d := CacheKey{"v", "a"}, CacheKey{"v", "b"}, CacheKey{"v", "d"}
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
