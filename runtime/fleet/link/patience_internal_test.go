package link

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPatience(t *testing.T) {
	const wait = 8 * time.Second
	for name, tt := range map[string]struct {
		do   func(*patience)
		want time.Duration // after which it has run out; 0 for never
	}{
		"nothing happens": {func(*patience) {}, wait},
		"the machine stands still for five seconds": {func(p *patience) {
			p.mu.Lock()
			p.timer.Stop()
			turn := p.turn
			p.mu.Unlock()
			time.Sleep(5 * time.Second)
			p.tick(turn)
		}, 5*time.Second + 7*wait/slices},
		"it begins anew":    {func(p *patience) { time.Sleep(wait - 1); p.Reset(wait) }, 2*wait - 1},
		"it is stopped":     {func(p *patience) { time.Sleep(wait - 1); p.Stop() }, 0},
		"a tick comes late": {func(p *patience) { turn := p.turn; p.Reset(2 * wait); p.tick(turn) }, 2 * wait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, out := time.Now(), make(chan time.Duration, 1)
				p := newPatience(wait, func() { out <- time.Since(begin) })
				tt.do(p)
				var got time.Duration
				select {
				case got = <-out:
				case <-time.After(10 * wait):
				}
				if got != tt.want {
					t.Errorf("it ran out after %v, want %v", got, tt.want)
				}
				if stopped := p.Stop(); stopped != (tt.want == 0) {
					t.Errorf("Stop = %v", stopped)
				}
			})
		})
	}
}
