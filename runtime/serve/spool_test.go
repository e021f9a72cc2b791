package serve

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// spoolsOf returns a spool for each of sizes, in one budget, that holds so many bytes.
func spoolsOf(limit int64, sizes ...int) []*spool {
	b := newSpoolBudget(limit)
	var all []*spool
	for _, size := range sizes {
		s := &spool{budget: b}
		s.overdraw(size)
		all = append(all, s)
	}
	return all
}

func TestWhatFindsRoomInTheSpool(t *testing.T) {
	tests := map[string]struct {
		limit  int64
		others []int
		own, n int
		want   bool
	}{
		"one client, up to a half":                  {100, nil, 49, 1, true},
		"one client, beyond a half":                 {100, nil, 50, 1, false},
		"a large piece of one client":               {100, nil, 1, 98, true},
		"a larger one than what is free":            {100, nil, 1, 99, false},
		"one that fits what is left":                {100, []int{60}, 10, 20, true},
		"one byte more":                             {100, []int{60}, 10, 21, false},
		"a small one where large ones have to wait": {100, []int{80}, 5, 10, true},
		"a large one there":                         {100, []int{80}, 12, 1, false},
		"a first piece in a full spool":             {100, []int{100}, 0, 50, true},
		"a second piece in a full spool":            {100, []int{100}, 1, 1, false},
		"a first piece without a spool":             {0, nil, 0, 50, true},
		"a second piece without a spool":            {0, nil, 50, 1, false},
		"nothing at all in a full spool":            {100, []int{99}, 1, 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			all := spoolsOf(tt.limit, append([]int{tt.own}, tt.others...)...)
			if got := all[0].hasRoom(tt.n); got != tt.want {
				t.Errorf("room for %d bytes beside %d own and %v of others in %d: %v, want %v", tt.n, tt.own,
					tt.others, tt.limit, got, tt.want)
			}
		})
	}
}

// waiting is a reserve that has to wait.
func waiting(s *spool, done <-chan struct{}, n int) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- s.reserve(done, n) }()
	synctest.Wait()
	return ended
}

func stillWaits(t *testing.T, ended <-chan error, when string) {
	t.Helper()
	synctest.Wait()
	if len(ended) > 0 {
		t.Fatalf("%s: the wait ended with %v", when, <-ended)
	}
}

func TestAWorkerWaitsForRoom(t *testing.T) {
	t.Run("until its own client has taken enough", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := spoolsOf(100, 60)[0]
			ended := waiting(s, nil, 10)
			s.release(10, true)
			stillWaits(t, ended, "with 50 of its own, and 50 free")
			s.release(10, true)
			if err := <-ended; err != nil {
				t.Errorf("reserve = %v", err)
			}
			if got, want := s.budget.use(), (spoolUse{bytes: 50, limit: 100, waits: 1}); got != want {
				t.Errorf("use = %+v, want %+v", got, want)
			}
		})
	})
	t.Run("until others have", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			all := spoolsOf(100, 30, 60)
			ended := waiting(all[0], nil, 10)
			all[1].release(29, false)
			stillWaits(t, ended, "with 30 of its own, and 39 free")
			all[1].release(1, false)
			if err := <-ended; err != nil {
				t.Errorf("reserve = %v", err)
			}
		})
	})
	t.Run("until it is told to stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			done := make(chan struct{})
			s := spoolsOf(100, 100)[0]
			ended := waiting(s, done, 10)
			close(done)
			if err := <-ended; !errors.Is(err, errStopped) {
				t.Errorf("reserve = %v, want %v", err, errStopped)
			}
			if got := s.budget.use().bytes; got != 100 {
				t.Errorf("%d bytes are counted, want 100", got)
			}
		})
	})
}

func TestAWorkerWaitsTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := spoolsOf(1000, 900, 100)
		begin := time.Now()
		ended := waiting(all[0], nil, 10)
		time.Sleep(holdLimit - time.Nanosecond)
		all[0].release(1, true) // in the last moment
		time.Sleep(holdLimit - time.Nanosecond)
		stillWaits(t, ended, "less than 10 s after the client has taken something")
		all[1].release(10, true)
		all[0].release(10, false)
		stillWaits(t, ended, "something was taken by another client, and something dropped")
		if err := <-ended; !errors.Is(err, speech.ErrClientSlow) {
			t.Errorf("reserve = %v, want client too slow", err)
		}
		if took, want := time.Since(begin), 2*holdLimit-time.Nanosecond; took != want {
			t.Errorf("the worker was held for %v, want %v", took, want)
		}
	})
}

func TestRoomIsAwaitedWithoutAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := spoolsOf(100, 60)[0]
		done, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- s.awaitRoom(done, 10) }()
		time.Sleep(time.Hour)
		stillWaits(t, ended, "an hour later")
		s.release(20, true)
		if err := <-ended; err != nil {
			t.Errorf("awaitRoom = %v", err)
		}
		if got, want := s.budget.use(), (spoolUse{bytes: 40, limit: 100}); got != want {
			t.Errorf("use = %+v, want %+v: nothing is taken, and no worker has waited", got, want)
		}
		s.overdraw(60)
		go func() { ended <- s.awaitRoom(done, 10) }()
		close(done)
		if err := <-ended; !errors.Is(err, errStopped) {
			t.Errorf("awaitRoom = %v, want %v", err, errStopped)
		}
	})
}

func TestBlocks(t *testing.T) {
	for n, want := range map[int]int{
		0: 512, 1: 512, 511: 512, 512: 512, 513: 1024, 3840: 4096, 15360: 16384, 65536: 65536, 65537: 65537,
	} {
		b := newBlock(n)
		if len(b.bytes) != n || n <= 65536 && b.size() != want || b.size() < n {
			t.Errorf("a block of %d bytes has %d of %d, want %d", n, len(b.bytes), b.size(), want)
		}
		b.free()
	}
	if b := blockOf([]byte("head "), nil, []byte("and tail")); string(b.bytes) != "head and tail" {
		t.Errorf("a block of parts holds %q", b.bytes)
	}
}
