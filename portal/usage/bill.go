package usage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// Bill is what an organisation owes for a month.
type Bill struct {
	Month    string // such as 2026-11, in India
	Requests int64
	Billed   int64 // frames
	Rate     int64 // paise a minute
	Paise    int64
	Closed   bool // neither usage nor rate change any more
}

// Bills returns the months in which an organisation has usage, and the present one, newest first.
func (r *Reports) Bills(ctx context.Context, orgID string) ([]Bill, error) {
	days, err := r.store.Days(ctx, orgID, "0000-01-01", "9999-12-31")
	if err != nil {
		return nil, err
	}
	rates, err := r.ratesOf(ctx)
	if err != nil {
		return nil, err
	}
	months := map[string]*Totals{monthOf(meter.DateOf(time.Now())): {}}
	for _, d := range days {
		month := monthOf(d.Date)
		if months[month] == nil {
			months[month] = &Totals{}
		}
		months[month].Add(d.Totals)
	}
	bills := make([]Bill, 0, len(months))
	for month, t := range months {
		rate, closed := rates.at(month)
		bills = append(bills,
			Bill{Month: month, Requests: t.Requests, Billed: t.Billed, Rate: rate, Paise: Paise(t.Billed, rate),
				Closed: closed})
	}
	slices.SortFunc(bills, func(a, b Bill) int { return strings.Compare(b.Month, a.Month) })
	return bills, nil
}
