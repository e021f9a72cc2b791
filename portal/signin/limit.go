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

// Limits of one subscriber: one IPv4 address, or one IPv6 network.
const (
	mailWindow, mailLimit     = time.Hour, 20        // mails
	verifyWindow, verifyLimit = 15 * time.Minute, 60 // tries of links and codes, right or wrong
)

func tooManyMails(retry time.Duration) error {
	return &limitError{"too_many_mails", "too many sign-in mails were asked for; try again later", retry}
}

func tooManyTries(retry time.Duration) error {
	return &limitError{"too_many_tries", "too many links and codes were tried from here; try again later", retry}
}

// clockLeeway is by how much clocks of two portals may differ.
const clockLeeway = time.Minute

// uses is the record of what one subscriber has done.
type uses struct {
	Times []time.Time `json:"times"` // within the window, oldest first
}

// wait drops what is too old, or was noted while the clock stood in the future. It returns after what time another use
// is within the limit.
func (u *uses) wait(now time.Time, window time.Duration, limit int) time.Duration {
	u.Times = slices.DeleteFunc(u.Times, func(t time.Time) bool {
		return !now.Before(t.Add(window)) || t.Sub(now) > clockLeeway
	})
	return wait(u.Times, now, window, limit)
}

func takeMail(ctx context.Context, store Store, ip netip.Addr, now time.Time) error {
	return take(ctx, store, "ip:"+subscriber(ip), now, mailWindow, mailLimit, tooManyMails)
}

func takeTry(ctx context.Context, store Store, ip netip.Addr, now time.Time) error {
	return take(ctx, store, "verify:"+subscriber(ip), now, verifyWindow, verifyLimit, tooManyTries)
}

// take counts a use in the record id, unless there are limit of them within window. A caller over the limit is detected
// by reading alone, so that a flood does not block writers.
func take(
	ctx context.Context, store Store, id string, now time.Time, window time.Duration, limit int,
	refuse func(retry time.Duration) error,
) error {
	known, err := read[uses](ctx, store, id)
	if err != nil {
		return err
	}
	if retry := known.wait(now, window, limit); retry > 0 {
		return refuse(retry)
	}
	return update(ctx, store, id, func(u *uses) (time.Time, error) {
		if retry := u.wait(now, window, limit); retry > 0 {
			return time.Time{}, refuse(retry)
		}
		u.Times = append(u.Times, now)
		return now.Add(window), nil
	})
}

// How large a part of the internet counts as one.
const (
	subscriberBitsV4, subscriberBitsV6 = 32, 64 // one address; the least that an IPv6 subscriber has
	networkBitsV4, networkBitsV6       = 24, 48 // what one organisation has
	providerBitsV4, providerBitsV6     = 16, 32 // networks of a provider, which gives networks to others
)

func subscriber(ip netip.Addr) string { return prefix(ip, subscriberBitsV4, subscriberBitsV6) }
func network(ip netip.Addr) string    { return prefix(ip, networkBitsV4, networkBitsV6) }
func provider(ip netip.Addr) string   { return prefix(ip, providerBitsV4, providerBitsV6) }

// prefix encodes the first bits of an address, which are whole bytes, for the id of a record. It is empty for an
// unknown address.
func prefix(ip netip.Addr, v4, v6 int) string {
	ip = ip.Unmap()
	bits := v6
	if ip.Is4() {
		bits = v4
	}
	if !ip.IsValid() {
		return ""
	}
	return hex.EncodeToString(ip.AsSlice()[:bits/8])
}

// read returns the record id, which holds a T as JSON, or the zero value where there is none.
func read[T any](ctx context.Context, store Store, id string) (record T, err error) {
	stored, err := store.ReadSignin(ctx, id)
	if err != nil {
		return record, err
	}
	return decodeRecord[T](id, stored)
}

// update changes the record id, which holds a T as JSON, or nothing yet. The record is deleted when change returns no
// time. See [Store.UpdateSignin] for the rest.
func update[T any](ctx context.Context, store Store, id string, change func(*T) (expires time.Time, err error)) error {
	return store.UpdateSignin(ctx, id, func(old []byte) ([]byte, time.Time, error) {
		record, err := decodeRecord[T](id, old)
		if err != nil {
			return nil, time.Time{}, err
		}
		expires, err := change(&record)
		if err != nil || expires.IsZero() {
			return nil, time.Time{}, err
		}
		changed, err := json.Marshal(record)
		return changed, expires, err
	})
}

func decodeRecord[T any](id string, stored []byte) (record T, err error) {
	if stored == nil {
		return record, nil
	}
	if err := json.Unmarshal(stored, &record); err != nil {
		return record, fmt.Errorf("record of sign-in %.6s…: %w", id, err)
	}
	return record, nil
}
