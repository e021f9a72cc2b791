package usage

import (
	"cmp"
	"slices"
	"strings"
)

// Split is the dimension of a report's series; empty: none.
type Split string

// The ways to split.
const (
	SplitKey      Split = "key"
	SplitVoice    Split = "voice"
	SplitEndpoint Split = "endpoint"
)

// Other is the id of the series of all without one of their own.
const Other = "other"

const maxSeries = 8 // besides Other

// Series is the usage of each day with one key, voice or endpoint. All playground keys are one, with the id
// [PlaygroundKey].
type Series struct {
	ID     string
	Prefix string  // of a key
	Frames []int64 // one for each of [Usage.ByDay]
	Billed []int64 // likewise
}

// series sums days for each id. It takes memory for each id and day, of which there are 400 at most.
type series struct {
	by   Split
	days map[string]int // where a date stands
	all  map[string]*Series
}

func newSeries(by Split, days []DayFigures) *series {
	s := &series{by: by, days: make(map[string]int, len(days)), all: map[string]*Series{}}
	for i, d := range days {
		s.days[d.Date] = i
	}
	return s
}

// on returns where date stands; it has no place where nothing is split.
func (s *series) on(date string) int {
	if i, ok := s.days[date]; ok && s.by != "" {
		return i
	}
	return -1
}

// add adds c on day i.
func (s *series) add(c *cell, i int) {
	if i < 0 {
		return
	}
	id, prefix := c.endpoint, ""
	switch s.by {
	case SplitKey:
		id, prefix = c.key, c.prefix
	case SplitVoice:
		id = c.voice
	}
	one := s.all[id]
	if one == nil {
		one = s.empty(id)
		s.all[id] = one
	}
	one.Prefix = max(one.Prefix, prefix)
	one.Frames[i] += c.frames
	one.Billed[i] += c.billed
}

func (s *series) empty(id string) *Series {
	return &Series{ID: id, Frames: make([]int64, len(s.days)), Billed: make([]int64, len(s.days))}
}

// largest returns those with the most frames, most first, and behind them the sum of all others, if there are any.
func (s *series) largest() []Series {
	if s.by == "" {
		return nil
	}
	sums := make(map[string]int64, len(s.all))
	ranked := make([]Series, 0, len(s.all))
	for id, one := range s.all {
		for _, n := range one.Frames {
			sums[id] += n
		}
		ranked = append(ranked, *one)
	}
	slices.SortFunc(ranked, func(a, b Series) int {
		return cmp.Or(cmp.Compare(sums[b.ID], sums[a.ID]), strings.Compare(a.ID, b.ID))
	})
	if len(ranked) <= maxSeries {
		return ranked
	}
	other := s.empty(Other)
	for _, one := range ranked[maxSeries:] {
		for i := range other.Frames {
			other.Frames[i] += one.Frames[i]
			other.Billed[i] += one.Billed[i]
		}
	}
	return append(ranked[:maxSeries:maxSeries], *other)
}
