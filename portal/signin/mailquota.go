package signin

import (
	"context"
	"net/netip"
	"time"
)

// Each part of the internet has a share of the mails in an hour of the clock, so that an attacker with many addresses
// cannot close signing in for all others.
//
// A network has at most a twentieth of what is left, so that the shares become smaller and the mails are never all
// gone to a few; and always minQuota, also when none are left. These come on top, up to twice the limit. A provider
// has a quarter of the limit: who can make up networks has them from one.
const (
	totalLimit   = 1000 // mails in an hour, where nothing else is configured
	networkPart  = 20   // the part of what is left
	minQuota     = 3
	providerPart = 4 // the part of the limit
	hardLimit    = 2 // times the limit
	totalWindow  = time.Hour
	totalRecord  = "total"
)

// MaxTotalLimit is how many mails an hour can be configured. The records hold no more.
const MaxTotalLimit = 20_000

// total is the record of all mails in an hour of the clock.
type total struct {
	Until time.Time `json:"until"`
	Mails int       `json:"mails"`
}

// mailQuota counts the mails that the networks of one provider requested in that hour.
type mailQuota struct {
	Until    time.Time      `json:"until"`
	Mails    int            `json:"mails"`
	Networks map[string]int `json:"networks"`
}

// takeQuota counts a mail against its network, and against all. limit is the number of mails in an hour.
func takeQuota(ctx context.Context, store Store, ip netip.Addr, limit int, now time.Time) error {
	until := now.Truncate(totalWindow).Add(totalWindow)
	all, err := read[total](ctx, store, totalRecord)
	if err != nil {
		return err
	}
	if !all.Until.Equal(until) {
		all.Mails = 0
	}
	used := all.Mails
	err = update(ctx, store, "share:"+provider(ip), func(s *mailQuota) (time.Time, error) {
		if !s.Until.Equal(until) {
			*s = mailQuota{Until: until, Networks: make(map[string]int)}
		}
		if s.Mails >= providerQuota(limit) || s.Networks[network(ip)] >= networkQuota(limit-used) {
			return time.Time{}, tooManyMails(until.Sub(now))
		}
		s.Mails++
		s.Networks[network(ip)]++
		return until, nil
	})
	if err != nil {
		return err
	}
	return update(ctx, store, totalRecord, func(t *total) (time.Time, error) {
		if !t.Until.Equal(until) {
			*t = total{Until: until}
		}
		if t.Mails >= hardLimit*limit {
			return time.Time{}, tooManyMails(until.Sub(now))
		}
		t.Mails++
		return until, nil
	})
}

func networkQuota(left int) int { return max(minQuota, left/networkPart) }

func providerQuota(limit int) int { return max(minQuota, limit/providerPart) }
