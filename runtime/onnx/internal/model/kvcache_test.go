package model

import (
	"fmt"
	"testing"
)

func TestSlotsThatRunTogether(t *testing.T) {
	for _, tt := range []struct {
		// w wants a step, a is assigned to another, f is full, l is locked, . is free; the first W is the one to run
		name, slots string
		most        int
		want        string
	}{
		{"one alone", "..W..", 8, "2+1"},
		{"neighbours on both sides", ".wWw.", 8, "1+3"},
		{"no more than allowed", "wWw..", 2, "1+2"},
		{"over one that is free", "W.w..", 8, "0+3"},
		{"over one that speaks but does not wait", "Waw..", 8, "0+3"},
		{"over two", "W..w.", 8, "0+4"},
		{"not over three", "W...w.", 8, "0+1"},
		{"not over one that is locked", "Wlw..", 8, "0+1"},
		{"not over one that has no room for a dummy", "Wfw..", 8, "0+1"},
		{"below", "w.W", 8, "0+3"},
		{"one after the other", "W.ww.w", 8, "0+6"},
		{"not when it is locked itself", "L.w", 8, "0+0"},
	} {
		c := NewFakeCache(len(tt.slots), nil)
		var wanted []*Stream
		for i, kind := range tt.slots {
			if kind == '.' {
				continue
			}
			s := c.Place(i)
			switch kind {
			case 'W', 'L':
				wanted = append([]*Stream{s}, wanted...)
			case 'w':
				wanted = append(wanted, s)
			case 'f':
				s.length = c.capacity
			}
			c.slots[i].locked = kind == 'l' || kind == 'L'
		}
		first, n := c.LockRange(wanted, tt.most)
		if got := fmt.Sprintf("%d+%d", first, n); got != tt.want {
			t.Errorf("%s: %s runs %s, want %s", tt.name, tt.slots, got, tt.want)
		}
		for i := range n {
			if !c.slots[first+i].locked {
				t.Errorf("%s: slot %d is not locked", tt.name, first+i)
			}
		}
	}
}
