//go:build chaos

package chaos

import (
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/hack/internal/faultproxy"
)

// scenarios are run one after the other, each with a fleet of its own.
func scenarios() []scenario {
	usual := shape{workers: 4, slots: 4, routers: 2}
	balanced := shape{workers: 3, slots: 4, routers: 3, stale: 5 * time.Second, linger: 7 * time.Second}
	slow := shape{workers: 2, slots: 4, routers: 1, frame: 400 * time.Millisecond}
	faulty := shape{workers: 2, slots: 4, routers: 2, faults: 0.01}
	proxied := shape{workers: 3, slots: 4, routers: 2, proxied: true}
	small := shape{workers: 2, slots: 4, routers: 2, fullDisk: true}
	return []scenario{
		{"workers restarted by SIGTERM", [3]int{4, 60, 1000}, usual, 8, 5, 0, nil, restartWorkers},
		{"routers restarted by SIGTERM", [3]int{1, 6, 200}, balanced, 7, 5, 0, []end{unanswered}, restartRouters},
		{"workers killed", [3]int{3, 20, 200}, usual, 8, 5, 0, []end{cut}, killWorkers},
		{"workers killed before the first frame", [3]int{1, 2, 20}, slow, 0, 0, 0, nil, killBeforeTheFirstFrame},
		{"workers stopped and continued", [3]int{1, 2, 10}, usual, 8, 5, 0, []end{cut}, stopWorkers},
		{"routers killed, folder kept", [3]int{3, 20, 200}, usual, 8, 5, 0, []end{cut, gone, unready}, killRouters(true)},
		{"routers killed, folder gone", [3]int{2, 10, 200}, usual, 8, 5, 0, []end{cut, gone, unready}, killRouters(false)},
		{"portal away", [3]int{1, 2, 2}, usual, 8, 5, 0, nil, takePortalAway(6 * time.Second)},
		{"portal away for five minutes", [3]int{0, 0, 1}, usual, 8, 5, 0, nil, takePortalAway(5 * time.Minute)},
		{"disk full", [3]int{1, 1, 3}, small, 4, 3, 0, nil, fillDisk},
		{"network slow", [3]int{0, 2, 10}, proxied, 5, 4, 0, nil, slowNetwork},
		{"network stalled", [3]int{0, 2, 10}, proxied, 5, 4, 0, []end{cut}, stallNetwork},
		{"network cut", [3]int{2, 20, 200}, proxied, 5, 4, 0, []end{cut}, cutNetwork},
		{"other APIs while all are killed", [3]int{1, 6, 60}, usual, 2, 2, 8, []end{cut, gone, unready}, killByTurns},
		{"engines fail", [3]int{1, 1, 3}, faulty, 5, 3, 0, []end{cut, failed}, speakForAWhile},
	}
}

// restartWorkers restarts one after the other.
func restartWorkers(f *fleet, times int) loss {
	for i := range times {
		w := f.workers[i%len(f.workers)]
		w.terminate(f.t)
		w.restart(f.t)
		f.waitAll()
	}
	return loss{}
}

// restartRouters restarts one after the other; each time the balancer learns of it late.
func restartRouters(f *fleet, times int) loss {
	for i := range times {
		r := f.routers[i%len(f.routers)]
		drained := make(chan struct{})
		go func() { // until the router answers no more
			defer close(drained)
			for !r.hasEnded() {
				f.checkCuts(r)
				time.Sleep(20 * time.Millisecond)
			}
		}()
		r.terminate(f.t)
		<-drained
		r.restart(f.t)
		if !within(20*time.Second, func() bool { return f.balancer.knows(r.address) }) {
			f.t.Errorf("%s is not found again", r.name)
		}
	}
	return loss{}
}

// killWorkers kills one after the other. Only what it spoke may end.
func killWorkers(f *fleet, times int) loss {
	for i := range times {
		f.moment()
		w := f.workers[i%len(f.workers)]
		w.kill()
		w.restart(f.t)
		f.waitAll()
		if n := f.ledger.count(cut); n > (i+1)*f.shape.slots {
			f.t.Errorf("%d streams were cut by %d kills of %d slots each", n, i+1, f.shape.slots)
		}
	}
	return loss{}
}

// killRouters kills one after the other, whose folder stays or goes with it.
func killRouters(kept bool) func(*fleet, int) loss {
	return func(f *fleet, times int) (l loss) {
		for i := range times {
			f.moment()
			r := f.routers[i%len(f.routers)]
			l.killed(f.t, r, kept)
			f.waitFreed(r)
			r.restart(f.t)
			f.waitAll()
		}
		return l
	}
}

func (l *loss) killed(t testing.TB, r *router, kept bool) {
	r.kill()
	l.deaths = append(l.deaths, death{time.Now(), kept})
	if !kept {
		removeAll(t, r.data)
	}
}

// moment lets the clients speak for up to half a second.
func (f *fleet) moment() { time.Sleep(time.Duration(f.rand.Int64N(int64(500 * time.Millisecond)))) }

// killBeforeTheFirstFrame kills a worker while both make the first frame of all that is spoken: clients hear nothing of
// it, since the other one has slots for everybody.
func killBeforeTheFirstFrame(f *fleet, times int) loss {
	for range times {
		wait := f.speakOnce(f.shape.slots)
		var busiest *worker
		if !within(5*time.Second, func() bool {
			var all, most float64
			for _, w := range f.workers {
				busy, _ := w.metric("tts_slots_busy")
				if all += busy; busy > most {
					busiest, most = w, busy
				}
			}
			return int(all) == f.shape.slots
		}) {
			f.t.Fatal("not everybody is spoken for")
		}
		busiest.kill()
		wait()
		busiest.restart(f.t)
		f.waitAll()                      // it was left alone for a while
		f.speakOnce(2 * f.shape.slots)() // which is longer each time, unless it speaks in between
	}
	if n, _ := f.routers[0].metric(`tts_attempts_count`); f.ledger.count(complete) != int(n) {
		f.t.Errorf("%d utterances were heard of %v that were begun", f.ledger.count(complete), n)
	}
	return loss{}
}

// stopWorkers stops one for longer than routers wait for a block, and lets it go on.
func stopWorkers(f *fleet, times int) loss {
	for i := range times {
		w := f.workers[i%len(f.workers)]
		f.waitBusy(w)
		w.signal(f.t, syscall.SIGSTOP)
		time.Sleep(14 * time.Second)
		w.signal(f.t, syscall.SIGCONT)
		f.waitAll()
		if n := f.ledger.count(cut); n > (i+1)*f.shape.slots {
			f.t.Errorf("%d streams were cut by %d stops of %d slots each", n, i+1, f.shape.slots)
		}
	}
	return loss{}
}

// takePortalAway kills the portal for a while, in which keys that are known go on.
func takePortalAway(while time.Duration) func(*fleet, int) loss {
	return func(f *fleet, times int) loss {
		for range times {
			f.moment()
			f.portal.kill()
			time.Sleep(while)
			f.portal.restart(f.t)
		}
		return loss{}
	}
}

// slowNetwork delays everything between routers and workers.
func slowNetwork(f *fleet, times int) loss {
	for i := range times {
		delay := faultproxy.Faults{Delay: time.Duration(20<<i%100) * time.Millisecond}
		for _, w := range f.workers {
			w.proxy.Set(delay, delay)
		}
		time.Sleep(4 * time.Second)
		for _, w := range f.workers {
			w.proxy.Set(faultproxy.Faults{}, faultproxy.Faults{})
		}
	}
	return loss{}
}

// stallNetwork lets nothing pass between routers and one worker, in one direction or both, for longer than they wait.
func stallNetwork(f *fleet, times int) loss {
	stall := faultproxy.Faults{Stall: true}
	for i := range times {
		w := f.workers[i%len(f.workers)]
		up, down := stall, stall
		switch f.rand.IntN(3) {
		case 0:
			up = faultproxy.Faults{}
		case 1:
			down = faultproxy.Faults{}
		}
		f.waitBusy(w)
		w.proxy.Set(up, down)
		time.Sleep(13 * time.Second)
		w.proxy.Set(faultproxy.Faults{}, faultproxy.Faults{})
		f.waitAll()
		if n := f.ledger.count(cut); n > (i+1)*f.shape.slots {
			f.t.Errorf("%d streams were cut by %d stalls of %d slots each", n, i+1, f.shape.slots)
		}
	}
	return loss{}
}

// cutNetwork breaks all connections to one worker.
func cutNetwork(f *fleet, times int) loss {
	for i := range times {
		f.moment()
		if f.workers[i%len(f.workers)].proxy.Cut() == 0 {
			f.t.Error("nobody was connected to a worker")
		}
		f.waitAll()
	}
	return loss{}
}

// speakForAWhile does no harm: the engines do.
func speakForAWhile(f *fleet, times int) loss {
	time.Sleep(time.Duration(times) * 6 * time.Second)
	if f.ledger.count(cut) == 0 {
		f.t.Error("no engine has failed")
	}
	return loss{}
}
