package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/swar-tts/swar/portal/usage"
)

// usageTables implements [usage.Store]. The zero value is empty.
type usageTables struct {
	mu        sync.RWMutex
	positions map[string]usage.Position // by source
	shards    map[usage.ShardKey]usage.Shard
	requests  map[string]usage.Request // by ID
	months    []usage.ClosedMonth      // oldest first
}

var _ usage.Store = (*usageTables)(nil)

// Apply implements [usage.Store].
func (t *usageTables) Apply(ctx context.Context, b usage.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var closed []string
	for _, m := range t.months {
		closed = append(closed, m.Month)
	}
	k, err := usage.Aggregate(b, t.positions[b.Source], closed)
	if err != nil || k.Empty() {
		return err
	}
	folded := make([]usage.Shard, len(k.Shards))
	for i, c := range k.Shards {
		if folded[i], err = c.Fold(t.shards[c.Key]); err != nil {
			return err
		}
	}
	if t.positions == nil {
		t.positions, t.shards, t.requests = map[string]usage.Position{}, map[usage.ShardKey]usage.Shard{},
			map[string]usage.Request{}
	}
	for _, s := range folded {
		t.shards[s.ShardKey] = s
	}
	for _, r := range k.Requests {
		row := t.requests[r.ID]
		row.Add(r)
		t.requests[r.ID] = row
	}
	t.positions[b.Source] = k.Position
	return nil
}

// Shards implements [usage.Store].
func (t *usageTables) Shards(ctx context.Context, orgID, from, to string) ([]usage.Shard, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	var found []usage.Shard
	for k, s := range t.shards {
		if k.OrgID == orgID && from <= k.Date && k.Date <= to {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b usage.Shard) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(a.Source, b.Source))
	})
	return found, nil
}

// Days implements [usage.Store].
func (t *usageTables) Days(ctx context.Context, orgID, from, to string) ([]usage.Day, error) {
	shards, err := t.Shards(ctx, orgID, from, to)
	if err != nil {
		return nil, err
	}
	return usage.DaysOf(shards), nil
}

// Requests implements [usage.Store].
func (t *usageTables) Requests(ctx context.Context, q usage.RequestQuery) ([]usage.Request, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	var found []usage.Request
	for _, r := range t.requests {
		if q.Selects(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b usage.Request) int {
		return cmp.Or(b.Start.Compare(a.Start), strings.Compare(b.ID, a.ID))
	})
	return found[:min(len(found), q.Limit)], nil
}

// ClosedMonths implements [usage.Store].
func (t *usageTables) ClosedMonths(ctx context.Context) ([]usage.ClosedMonth, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.months), ctx.Err()
}

// CloseMonth implements [usage.Store].
func (t *usageTables) CloseMonth(ctx context.Context, m usage.ClosedMonth) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i, closed := slices.BinarySearchFunc(t.months, m.Month,
		func(c usage.ClosedMonth, month string) int { return strings.Compare(c.Month, month) })
	if !closed {
		t.months = slices.Insert(t.months, i, m)
	}
	return nil
}

// Compare implements [usage.Store].
func (t *usageTables) Compare(ctx context.Context, date string) ([]usage.Comparison, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	orgs := map[string]*usage.Comparison{}
	at := func(orgID string) *usage.Comparison {
		if orgs[orgID] == nil {
			orgs[orgID] = &usage.Comparison{OrgID: orgID, Date: date}
		}
		return orgs[orgID]
	}
	for k, s := range t.shards {
		if k.Date == date {
			at(k.OrgID).Shards.Add(s.Totals)
		}
	}
	for _, r := range t.requests {
		if r.Date != date {
			continue
		}
		sum := usage.Totals{Frames: r.Frames, Billed: r.Billed}
		if r.Status != usage.Running {
			sum.Requests = 1
		}
		at(r.OrgID).Requests.Add(sum)
	}
	var all []usage.Comparison
	for _, orgID := range slices.Sorted(maps.Keys(orgs)) {
		all = append(all, *orgs[orgID])
	}
	return all, nil
}

// MergeShards implements [usage.Store].
func (t *usageTables) MergeShards(ctx context.Context, date string) (fewer int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	byOrg := map[string][]usage.Shard{}
	for k, s := range t.shards {
		if k.Date == date {
			byOrg[k.OrgID] = append(byOrg[k.OrgID], s)
		}
	}
	for _, shards := range byOrg {
		if len(shards) < 2 {
			continue
		}
		sum, err := usage.Merge(shards)
		if err != nil {
			return fewer, err
		}
		for _, s := range shards {
			delete(t.shards, s.ShardKey)
		}
		t.shards[sum.ShardKey] = sum
		fewer += len(shards) - 1
	}
	return fewer, nil
}

// SweepRequests implements [usage.Store].
func (t *usageTables) SweepRequests(ctx context.Context, date string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.requests)
	maps.DeleteFunc(t.requests, func(_ string, r usage.Request) bool { return r.Date < date })
	return before - len(t.requests), nil
}
