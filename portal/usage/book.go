package usage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// BatchChange is what a batch changes.
type BatchChange struct {
	Position Position      // the source's new one
	Shards   []ShardChange // one for each shard
	Requests []Request     // one for each ID

	before int64 // number of the source's last event so far
}

// Empty reports whether there is nothing to store, because everything is stored.
func (b BatchChange) Empty() bool { return b.Position.Seq == b.before }

// ShardChange is what is added to a shard.
type ShardChange struct {
	Key    ShardKey
	events []meter.Event
}

// Months returns the months, such as 2026-11, for which [Aggregate] must know whether they are closed.
func (b Batch) Months() []string {
	var months []string
	for i := range b.Events {
		if m := monthOf(b.Events[i].Date); m != "" && !slices.Contains(months, m) {
			months = append(months, m)
		}
	}
	return months
}

// Aggregate works out what b changes when its source is booked up to the position at. Events that are stored already
// are left out. An event of a month that is in closed is booked on b.Today.
//
// It returns a *[meter.GapError] if events are missing before b, and also if b ends before at: then either b is an
// old batch that was late, or its source counts anew from an old copy of its log. It returns a *[meter.ForkError] if
// b has another event at that position.
func Aggregate(b Batch, at Position, closed []string) (BatchChange, error) {
	position := at.Seq
	if len(b.Events) == 0 {
		return BatchChange{Position: at, before: position}, nil
	}
	first, last := b.Events[0].Seq, b.Events[len(b.Events)-1].Seq
	for i := range b.Events {
		if b.Events[i].Seq != first+int64(i) {
			return BatchChange{},
				fmt.Errorf("usage batch of %s: event %d follows %d", b.Source, b.Events[i].Seq, first+int64(i)-1)
		}
	}
	if first > position+1 || last < position {
		return BatchChange{}, &meter.GapError{Want: position + 1, Copies: true}
	}
	if first <= position && at.Mark != "" && at.Mark != markOf(&b.Events[position-first]) {
		return BatchChange{}, &meter.ForkError{Seq: position}
	}
	mark := markOf(&b.Events[len(b.Events)-1])
	k := BatchChange{Position: Position{Source: b.Source, Seq: last, Mark: mark}, before: position}
	shards := map[ShardKey]int{}
	rows := map[string]int{}
	for _, e := range b.Events[position+1-first:] {
		if _, is := b.Skipped[e.Seq]; is {
			continue
		}
		date, id := e.Date, e.ID
		if m := monthOf(date); m == "" || slices.Contains(closed, m) {
			date, id = b.Today, e.ID+"~"+b.Today
		}
		key := ShardKey{e.OrgID, b.Source, date}
		i, ok := shards[key]
		if !ok {
			i = len(k.Shards)
			shards[key] = i
			k.Shards = append(k.Shards, ShardChange{Key: key})
		}
		k.Shards[i].events = append(k.Shards[i].events, e)

		row := requestOf(e, id, date, b.Source)
		if i, ok := rows[id]; ok {
			k.Requests[i].Add(row)
		} else {
			rows[id] = len(k.Requests)
			k.Requests = append(k.Requests, row)
		}
	}
	return k, nil
}

// markOf distinguishes an event from others with its number. It uses no fields that later versions may add, so that a
// resent event is recognised after an update. The final record that recovery writes for a stream is the same in each
// copy of a log.
func markOf(e *meter.Event) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %d %d", e.ID, e.Kind, e.At.UnixMicro(), e.Frames, e.Billed))
	return hex.EncodeToString(sum[:12])
}

// Add makes r the row that it becomes when later, a row of a [BatchChange], is added to it.
func (r *Request) Add(later Request) {
	later.Frames += r.Frames
	later.Billed += r.Billed
	*r = later
}

func requestOf(e meter.Event, id, date, source string) Request {
	status := e.Status
	if e.Kind != meter.Final {
		status = Running
	}
	return Request{
		ID: id, Date: date, Source: source,
		OrgID: e.OrgID, ProjectID: e.ProjectID, KeyID: e.KeyID, KeyPrefix: e.KeyPrefix, Playground: e.Playground,
		Start: e.Start, RequestID: e.RequestID, Endpoint: e.Endpoint, Voice: e.Voice, Format: e.Format,
		Status: status, Error: e.Error,
		Frames: e.Frames, Billed: e.Billed, Chars: e.Chars, Chunks: e.Chunks,
		TTFAus: e.TTFAus, Queueus: e.Queueus, Wallus: e.Wallus, Synthus: e.Synthus, PrefillCached: e.PrefillCached,
		Seed: e.Seed,
	}
}

// monthOf returns the month of a date: "2026-11-20" → "2026-11", "x" → "".
func monthOf(date string) string {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return ""
	}
	return date[:len("2026-11")]
}
