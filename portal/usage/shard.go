// Package usage sums what was spoken, exactly once, and reports totals, series, requests and bills.
//
// A [Ledger] receives batches of events and books them in a [Store]; [Reports] reads them. Usage is counted in frames
// and money in paise, both integers; days and months are those of India.
package usage

import (
	"bytes"
	"fmt"

	"github.com/swar-tts/swar/runtime/meter"
)

// Fold returns old, which may be the zero Shard, with the change added to it.
func (c ShardChange) Fold(old Shard) (Shard, error) {
	u, err := decodeCells(old.Cells)
	if err != nil {
		return Shard{}, err
	}
	s := Shard{ShardKey: c.Key, Totals: old.Totals}
	for i := range c.events {
		u.add(&c.events[i], &s.Totals)
	}
	s.Cells = u.encode()
	return s, nil
}

// Merge returns the sum of shards of one organisation and one day; it needs at least one.
func Merge(shards []Shard) (Shard, error) {
	sum := Shard{ShardKey: ShardKey{OrgID: shards[0].OrgID, Source: MergedSource, Date: shards[0].Date}}
	var all cells
	for _, s := range shards {
		c, err := decodeCells(s.Cells)
		if err != nil {
			return Shard{}, fmt.Errorf("shard of %s, %s, %s: %w", s.OrgID, s.Source, s.Date, err)
		}
		all.merge(c)
		sum.Add(s.Totals)
	}
	sum.Cells = all.encode()
	return sum, nil
}

// Equal reports whether shards hold, all together, the same cells as one shard that was folded from events. It is for
// tests of stores: cells are added up to the last bin of a sketch in whatever order and pieces the events came.
func Equal(shards []Shard, events []meter.Event) (bool, error) {
	var got, want cells
	for _, s := range shards {
		c, err := decodeCells(s.Cells)
		if err != nil {
			return false, err
		}
		got.merge(c)
	}
	var sum Totals
	for i := range events {
		want.add(&events[i], &sum)
	}
	return bytes.Equal(got.encode(), want.encode()), nil
}
