// Package usage adds up what was spoken, exactly once, and tells it as totals, series, requests and bills.
//
// A [Ledger] takes batches of events in and books them in a [Store]; [Reports] reads them. Usage is counted in frames and money in paise,
// both integers; days and months are those of India.
package usage

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
