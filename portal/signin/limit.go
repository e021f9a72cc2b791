package signin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// How many mails one address of the network may ask for, and all together.
const (
	ipWindow    = time.Hour
	ipLimit     = 20
	totalWindow = time.Hour
	totalLimit  = 1000
)

// tooManyMails refuses to mail until some time has passed.
func tooManyMails(retry time.Duration) error {
	return &limitError{"too_many_mails", "too many sign-in mails were asked for; try again later", retry}
}

// asks is the record of one address of the network.
type asks struct {
	Times []time.Time `json:"times"` // in the last hour, oldest first
}

// takeIP counts a mail against the address that asks.
func takeIP(ctx context.Context, store Store, ip netip.Addr, now time.Time) error {
	return update(ctx, store, ipRecord(ip), func(a *asks) (time.Time, error) {
		a.Times = slices.DeleteFunc(a.Times, func(t time.Time) bool { return !now.Before(t.Add(ipWindow)) })
		if retry := wait(a.Times, now, ipWindow, ipLimit); retry > 0 {
			return time.Time{}, tooManyMails(retry)
		}
		a.Times = append(a.Times, now)
		return now.Add(ipWindow), nil
	})
}

// ipRecord is one record for a network of /64, which is the least that an IPv6 subscriber has.
func ipRecord(ip netip.Addr) string {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		prefix, _ := ip.Prefix(64)
		ip = prefix.Addr()
	}
	return "ip:" + hex.EncodeToString(ip.AsSlice())
}

// total is the record of all mails in an hour of the clock: counted roughly, because it is one record for everybody.
type total struct {
	Until time.Time `json:"until"`
	Mails int       `json:"mails"`
}

func takeTotal(ctx context.Context, store Store, limit int, now time.Time) error {
	return update(ctx, store, "total", func(t *total) (time.Time, error) {
		if !now.Before(t.Until) {
			*t = total{Until: now.Add(totalWindow)}
		}
		if t.Mails >= limit {
			return time.Time{}, tooManyMails(t.Until.Sub(now))
		}
		t.Mails++
		return t.Until, nil
	})
}

// update changes the record id, which holds a T as JSON, or nothing yet. The record is deleted when change returns no time. See
// [Store.UpdateSignin] for the rest.
func update[T any](ctx context.Context, store Store, id string, change func(*T) (expires time.Time, err error)) error {
	return store.UpdateSignin(ctx, id, func(old []byte) ([]byte, time.Time, error) {
		var record T
		if old != nil {
			if err := json.Unmarshal(old, &record); err != nil {
				return nil, time.Time{}, fmt.Errorf("record of sign-in %.6s…: %w", id, err)
			}
		}
		expires, err := change(&record)
		if err != nil || expires.IsZero() {
			return nil, time.Time{}, err
		}
		changed, err := json.Marshal(record)
		return changed, expires, err
	})
}
