package usage

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// accounts sums the cells of shards in all the ways of a report. It takes memory for the accounts that it opens, and
// none for a cell or a shard: a year of a busy organisation is some hundred thousand cells.
type accounts struct {
	project string   // the only one that counts; empty: all do
	months  []string // that shards are of
	days    map[string]*account
	keys    map[[2]string]*account // by project and key
	uses    map[[2]string]*account // by voice and endpoint: the few pairs of them are added up at the end
	series  *series

	names map[string]string
	r     cellReader
	c     cell
}

func newAccounts(project string, days *series) *accounts {
	return &accounts{
		project: project, days: map[string]*account{}, keys: map[[2]string]*account{}, uses: map[[2]string]*account{},
		series: days,
		names:  map[string]string{},
	}
}

// add adds the cells of s. It skips other projects, and queue times, which no report shows.
func (s *accounts) add(shard *Shard) error {
	if err := s.r.open(shard.Cells, s.names); err != nil {
		return err
	}
	month := s.month(monthOf(shard.Date))
	day, c := at(s.days, shard.Date), &s.c
	place := s.series.on(shard.Date)
	var key *account
	var of [2]string
	for s.r.next(c) {
		if s.project != "" && s.project != c.project {
			s.r.skipSketch()
			s.r.skipSketch()
			continue
		}
		c.ttfa.read(&s.r.reader)
		s.r.skipSketch()
		if k := [2]string{c.project, c.key}; key == nil || of != k { // cells of one key stand together
			key, of = at(s.keys, k), k
		}
		day.add(c, month)
		key.add(c, month)
		s.series.add(c, place)
		at(s.uses, [2]string{c.voice, c.endpoint}).add(c, month)
	}
	return s.r.close()
}

func (s *accounts) month(name string) int {
	i := slices.Index(s.months, name)
	if i < 0 {
		i = len(s.months)
		s.months = append(s.months, name)
	}
	return i
}

// figures fills in the figures of u, which has the days already. The rates are those of s.months.
func (s *accounts) figures(u *Usage, rates []int64) {
	for i := range u.ByDay {
		if a := s.days[u.ByDay[i].Date]; a != nil {
			u.ByDay[i].Figures = a.figures(rates)
		}
	}
	for k, a := range s.keys {
		u.ByKey = append(u.ByKey, KeyFigures{k[0], k[1], a.prefix, a.figures(rates)})
	}
	slices.SortFunc(u.ByKey, func(a, b KeyFigures) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), strings.Compare(a.KeyID, b.KeyID),
			strings.Compare(a.ProjectID, b.ProjectID))
	})
	var total account
	voices, endpoints := map[string]*account{}, map[string]*account{}
	for k, a := range s.uses {
		total.merge(a)
		at(voices, k[0]).merge(a)
		at(endpoints, k[1]).merge(a)
	}
	u.Total, u.ByVoice, u.ByEndpoint = total.figures(rates), named(voices, rates), named(endpoints, rates)
}

func named(accounts map[string]*account, rates []int64) []NamedFigures {
	var all []NamedFigures
	for name, a := range accounts {
		all = append(all, NamedFigures{name, a.figures(rates)})
	}
	slices.SortFunc(all, func(a, b NamedFigures) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// at returns the account of k, which it opens if there is none.
func at[K comparable](accounts map[K]*account, k K) *account {
	a := accounts[k]
	if a == nil {
		a = &account{}
		accounts[k] = a
	}
	return a
}

// account is what cells add up to.
type account struct {
	sums
	ttfa   histogram
	prefix string
	months []int64 // billed frames of each month
}

func (a *account) add(c *cell, month int) {
	a.sums.add(&c.sums)
	a.ttfa.add(&c.ttfa)
	a.prefix = max(a.prefix, c.prefix)
	a.bill(month, c.billed)
}

// merge adds o.
func (a *account) merge(o *account) {
	a.sums.add(&o.sums)
	a.ttfa.merge(&o.ttfa)
	for month, billed := range o.months {
		a.bill(month, billed)
	}
}

func (a *account) bill(month int, frames int64) {
	for len(a.months) <= month {
		a.months = append(a.months, 0)
	}
	a.months[month] += frames
}

func (a *account) figures(rates []int64) Figures {
	f := Figures{
		Requests: a.requests, Errors: a.errors, Cancelled: a.cancelled, Frames: a.frames, Billed: a.billed,
		Chars:   a.chars,
		TTFAP50: milliseconds(&a.ttfa, 0.50), TTFAP95: milliseconds(&a.ttfa, 0.95),
	}
	for month, billed := range a.months {
		f.Paise += Paise(billed, rates[month])
	}
	f.RTF = ratio(a.synthUS, a.frames*frameMicros)
	return f
}

// frameMicros is how long a frame sounds, in microseconds.
const frameMicros = 80_000

// milliseconds rounds a quantile to a tenth.
func milliseconds(h *histogram, q float64) *float64 {
	us, ok := h.quantile(q)
	if !ok {
		return nil
	}
	ms := math.Round(us/100) / 10
	return &ms
}

// ratio rounds a quotient to thousandths.
func ratio(a, b int64) *float64 {
	if b <= 0 {
		return nil
	}
	q := math.Round(1000*float64(a)/float64(b)) / 1000
	return &q
}
