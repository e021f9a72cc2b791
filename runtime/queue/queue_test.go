package queue

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestWhoComesFirstIsServedFirst(t *testing.T) {
	q := New[string](3)
	if q.Pop() != nil || q.Len() != 0 || q.Age(noon) != 0 {
		t.Error("an empty queue holds something")
	}
	for i, v := range []string{"a", "b", "c"} {
		if e := q.Push(v, noon.Add(time.Duration(i)*time.Second)); e == nil || e.Value != v {
			t.Fatalf("Push(%s) = %v, want an entry", v, e)
		}
	}
	if q.Push("d", noon) != nil || q.Len() != q.Limit() {
		t.Error("a fourth one waits where three may")
	}
	if got, want := q.Age(noon.Add(time.Minute)), time.Minute; got != want {
		t.Errorf("the oldest has waited %v, want %v", got, want)
	}
	for _, want := range []string{"a", "b", "c"} {
		if got := q.Pop(); got == nil || got.Value != want {
			t.Errorf("Pop = %v, want %s", got, want)
		}
	}
	if q.Pop() != nil {
		t.Error("somebody waits who was served")
	}
}

func TestWhoLeavesIsNotServed(t *testing.T) {
	for name, leaver := range map[string]int{"the first": 0, "one in the middle": 1, "the last": 2} {
		t.Run(name, func(t *testing.T) {
			q := New[int](3)
			var all []*Entry[int]
			for i := range 3 {
				all = append(all, q.Push(i, noon))
			}
			if !q.Remove(all[leaver]) || q.Remove(all[leaver]) {
				t.Error("who leaves is gone once, not before and not twice")
			}
			if q.Push(3, noon) == nil {
				t.Error("who leaves makes room for nobody")
			}
			want := append(slices.Delete([]int{0, 1, 2}, leaver, leaver+1), 3)
			for _, v := range want {
				if got := q.Pop(); got == nil || got.Value != v {
					t.Errorf("Pop = %v, want %d of %v", got, v, want)
				}
			}
		})
	}
	t.Run("who was served", func(t *testing.T) {
		q := New[int](1)
		e := q.Push(0, noon)
		if q.Pop(); q.Remove(e) {
			t.Error("who was served waits")
		}
	})
	t.Run("who waits elsewhere", func(t *testing.T) {
		q, other := New[int](1), New[int](1)
		e := other.Push(0, noon)
		if q.Remove(e) || other.Len() != 1 {
			t.Error("who waits elsewhere was taken out")
		}
	})
}

func TestAQueueWithoutRoom(t *testing.T) {
	for name, q := range map[string]*Queue[int]{"the zero value": {}, "none": New[int](0),
		"less than none": New[int](-1)} {
		if q.Push(0, noon) != nil || q.Len() != 0 {
			t.Errorf("%s: somebody waits", name)
		}
	}
}

// TestQueueIsAList compares it with a slice, whatever happens in whatever order.
func TestQueueIsAList(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		const limit = 5
		q := New[int](limit)
		var list, gone []*Entry[int]
		for step := range 300 {
			switch random.IntN(4) {
			case 0, 1:
				e := q.Push(step, noon)
				if (e == nil) != (len(list) == limit) {
					t.Fatalf("seed %d: Push = %v of %d", seed, e, len(list))
				}
				if e != nil {
					list = append(list, e)
				}
			case 2:
				e := q.Pop()
				if len(list) == 0 {
					if e != nil {
						t.Fatalf("seed %d: Pop = %v of nobody", seed, e)
					}
					continue
				}
				if e != list[0] {
					t.Fatalf("seed %d: Pop = %v, want %v", seed, e, list[0])
				}
				gone, list = append(gone, e), list[1:]
			case 3:
				if all := slices.Concat(list, gone); len(all) > 0 {
					e := all[random.IntN(len(all))]
					at := slices.Index(list, e)
					if q.Remove(e) != (at >= 0) {
						t.Fatalf("seed %d: Remove says %v", seed, at < 0)
					}
					if at >= 0 {
						list = slices.Delete(list, at, at+1)
						gone = append(gone, e)
					}
				}
			}
			if q.Len() != len(list) {
				t.Fatalf("seed %d: Len = %d, want %d", seed, q.Len(), len(list))
			}
		}
	}
}

func TestPushAllocatesOnlyTheEntry(t *testing.T) {
	q := New[int](1)
	if n := testing.AllocsPerRun(100, func() { q.Push(1, noon); q.Pop() }); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

func TestWhoComesBackIsServedByAge(t *testing.T) {
	q := New[string](2)
	after := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	if q.Last() != nil {
		t.Error("an empty queue has a last one")
	}
	q.Insert("second", after(2))
	if got := q.First(); got == nil || got.Value != "second" {
		t.Fatalf("First = %v, want who came back to an empty queue", got)
	}
	q.Push("fourth", after(4))
	for name, seconds := range map[string]int{"third": 3, "first": 1, "last": 5} {
		if e := q.Insert(name, after(seconds)); e == nil {
			t.Errorf("%s comes back and finds a full queue closed", name)
		}
	}
	q.Insert("second, too", after(2))
	if q.Push("new", after(6)) != nil {
		t.Error("a new one found room in a queue that holds more than its limit")
	}
	var got []string
	for e := range q.All() {
		got = append(got, e.Value)
	}
	want := []string{"first", "second", "second, too", "third", "fourth", "last"}
	if !slices.Equal(got, want) || q.Len() != len(want) {
		t.Errorf("%d wait, as %v, want %v", q.Len(), got, want)
	}
	if got := q.Last(); got == nil || got.Value != "last" {
		t.Errorf("Last = %v, want the youngest", got)
	}
	for e := range q.All() {
		if e.Value == "first" {
			break // a loop may end early
		}
	}
	for _, name := range want {
		if got := q.Pop(); got == nil || got.Value != name {
			t.Errorf("Pop = %v, want %s", got, name)
		}
	}
	if q.First() != nil || q.Pop() != nil {
		t.Error("somebody waits who was served")
	}
}
