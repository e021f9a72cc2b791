package memstore

import (
	"context"
	"slices"
	"strings"

	"github.com/swar-tts/swar/portal/usage"
)

var _ usage.Dumper = (*usageTables)(nil)

const dumpSize = 500 // records

// ExportUsage implements [usage.Dumper].
func (t *usageTables) ExportUsage(ctx context.Context, yield func(usage.Dump) error) error {
	for part := range slices.Chunk(t.everything(), dumpSize) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var d usage.Dump
		for _, add := range part {
			add(&d)
		}
		if err := yield(d); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// everything returns each record as what puts it into a dump.
func (t *usageTables) everything() (all []func(*usage.Dump)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, p := range t.positions {
		all = append(all, func(d *usage.Dump) { d.Positions = append(d.Positions, p) })
	}
	for _, s := range t.shards {
		s.Cells = slices.Clone(s.Cells)
		all = append(all, func(d *usage.Dump) { d.Shards = append(d.Shards, s) })
	}
	for _, r := range t.requests {
		all = append(all, func(d *usage.Dump) { d.Requests = append(d.Requests, r) })
	}
	for _, m := range t.months {
		all = append(all, func(d *usage.Dump) { d.Months = append(d.Months, m) })
	}
	return all
}

// ImportUsage implements [usage.Dumper].
func (t *usageTables) ImportUsage(ctx context.Context, d usage.Dump) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.positions == nil {
		t.positions, t.shards, t.requests = map[string]usage.Position{}, map[usage.ShardKey]usage.Shard{},
			map[string]usage.Request{}
	}
	for _, p := range d.Positions {
		t.positions[p.Source] = p
	}
	for _, s := range d.Shards {
		s.Cells = slices.Clone(s.Cells)
		t.shards[s.ShardKey] = s
	}
	for _, r := range d.Requests {
		r.Start = exact(r.Start)
		t.requests[r.ID] = r
	}
	for _, m := range d.Months {
		m.ClosedAt = exact(m.ClosedAt)
		i, closed := slices.BinarySearchFunc(t.months, m.Month,
			func(c usage.ClosedMonth, month string) int { return strings.Compare(c.Month, month) })
		if closed {
			t.months[i] = m
		} else {
			t.months = slices.Insert(t.months, i, m)
		}
	}
	return nil
}
