package serve

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFifo compares a long life with a plain slice.
func TestFifo(t *testing.T) {
	var q fifo[int]
	var want []int
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		switch n := random.IntN(20); {
		case n < 10+i/1000%2: // grows in every other thousand
			q.push(i)
			want = append(want, i)
		case n == 19:
			odd := func(i int) bool { return i%7 == 0 }
			q.remove(odd)
			want = slices.DeleteFunc(want, odd)
		case len(want) > 0:
			if got := q.pop(); got != want[0] {
				t.Fatalf("popped %d, want %d", got, want[0])
			}
			want = want[1:]
		}
		if q.len() != len(want) {
			t.Fatalf("%d items, want %d", q.len(), len(want))
		}
	}
	if cap(q.items) > 4*len(want)+64 {
		t.Errorf("room for %d items is held for %d", cap(q.items), len(want))
	}
	for range want {
		q.pop()
	}
	if cap(q.items) > 8 {
		t.Errorf("an empty queue holds room for %d items", cap(q.items))
	}
}
