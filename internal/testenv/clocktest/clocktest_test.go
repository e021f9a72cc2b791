package clocktest

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClock(t *testing.T) {
	for _, by := range []time.Duration{0, time.Hour, -time.Hour, 1000 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := New(t)
			before := c.Now()
			c.Set(by)
			time.Sleep(time.Minute)
			after := c.Now()
			if got := after.Sub(before); got != time.Minute {
				t.Errorf("by %v: a minute takes %v", by, got)
			}
			if got := after.Round(0).Sub(before.Round(0)); got != time.Minute+by {
				t.Errorf("by %v: the time of day goes on by %v", by, got)
			}
		})
	}
}
