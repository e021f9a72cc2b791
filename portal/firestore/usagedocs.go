package firestore

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"time"

	"cloud.google.com/go/firestore"

	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// The documents of usage.

func (s *Store) shard(k usage.ShardKey) *firestore.DocumentRef {
	return s.org(k.OrgID).Collection("shards").Doc(hashed(k.Source, k.Date))
}

func (s *Store) request(orgID, id string) *firestore.DocumentRef {
	return s.org(orgID).Collection("requests").Doc(hashed(id))
}

type sourceDoc struct {
	Source   string `firestore:"source"`
	Position int64  `firestore:"position"`
	Mark     string `firestore:"mark"`
}

type shardDoc struct {
	OrgID    string `firestore:"org_id"`
	Source   string `firestore:"source"`
	Date     string `firestore:"date"`
	Requests int64  `firestore:"requests"`
	Frames   int64  `firestore:"frames"`
	Billed   int64  `firestore:"billed"`
	Cells    []byte `firestore:"cells"`
	Packed   bool   `firestore:"packed"` // the cells are deflated
}

// Firestore takes documents up to 1 MiB. Cells come near that only with thousands of keys and voices in one day; they
// are packed then, which makes room for two to three times as many.
const (
	packFrom = 500 << 10
	maxCells = 1000 << 10
)

var errTooManyCells = errors.New("its keys, voices and endpoints exceed a document of 1 MiB")

func newShardDoc(s usage.Shard) (shardDoc, error) {
	d := shardDoc{s.OrgID, s.Source, s.Date, s.Requests, s.Frames, s.Billed, s.Cells, false}
	if len(d.Cells) > packFrom {
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.DefaultCompression)
		if err != nil {
			return d, err
		}
		if _, err := w.Write(d.Cells); err != nil {
			return d, err
		}
		if err := w.Close(); err != nil {
			return d, err
		}
		d.Cells, d.Packed = packed.Bytes(), true
	}
	if len(d.Cells) > maxCells {
		return d, fmt.Errorf("firestore: the usage of %s on %s, as %s reports it: %w", s.OrgID, s.Date, s.Source,
			errTooManyCells)
	}
	return d, nil
}

func (d shardDoc) totals() usage.Totals {
	return usage.Totals{Requests: d.Requests, Frames: d.Frames, Billed: d.Billed}
}

func (d shardDoc) shard() (usage.Shard, error) {
	s := usage.Shard{ShardKey: usage.ShardKey{OrgID: d.OrgID, Source: d.Source, Date: d.Date}, Totals: d.totals(),
		Cells: d.Cells}
	if !d.Packed {
		return s, nil
	}
	var err error
	if s.Cells, err = io.ReadAll(flate.NewReader(bytes.NewReader(d.Cells))); err != nil {
		return s, fmt.Errorf("firestore: the shard of %s, %s, %s cannot be unpacked: %w", d.OrgID, d.Source, d.Date,
			err)
	}
	return s, nil
}

type monthDoc struct {
	Month    string     `firestore:"month"`
	Rate     int64      `firestore:"rate"`
	ClosedAt *time.Time `firestore:"closed_at"`
}

func newMonthDoc(m usage.ClosedMonth) monthDoc { return monthDoc{m.Month, m.Rate, stored(m.ClosedAt)} }

func (d monthDoc) month() usage.ClosedMonth {
	return usage.ClosedMonth{Month: d.Month, Rate: d.Rate, ClosedAt: timeOf(d.ClosedAt)}
}

type requestDoc struct {
	ID            string    `firestore:"id"`
	Date          string    `firestore:"date"`
	Source        string    `firestore:"source"`
	OrgID         string    `firestore:"org_id"`
	ProjectID     string    `firestore:"project_id"`
	KeyID         string    `firestore:"key_id"`
	KeyPrefix     string    `firestore:"key_prefix"`
	Playground    bool      `firestore:"playground"`
	Start         time.Time `firestore:"start"`
	RequestID     string    `firestore:"request_id"`
	Endpoint      string    `firestore:"endpoint"`
	Voice         string    `firestore:"voice"`
	Format        string    `firestore:"format"`
	Status        string    `firestore:"status"`
	Error         string    `firestore:"error"`
	Frames        int64     `firestore:"frames"`
	Billed        int64     `firestore:"billed"`
	Chars         int       `firestore:"chars"`
	Chunks        int       `firestore:"chunks"`
	TTFAus        int64     `firestore:"ttfa_us"`
	Queueus       int64     `firestore:"queue_us"`
	Wallus        int64     `firestore:"wall_us"`
	Synthus       int64     `firestore:"synth_us"`
	PrefillCached bool      `firestore:"prefill_cached"`
	Seed          int64     `firestore:"seed"`
}

// newRequestFields is a row as fields, because some of them may be replaced by increments.
func (s *Store) newRequestFields(r usage.Request) map[string]any {
	fields := map[string]any{
		"id": r.ID, "date": r.Date, "source": r.Source, "org_id": r.OrgID, "project_id": r.ProjectID, "key_id": r.KeyID,
		"key_prefix": r.KeyPrefix, "playground": r.Playground, "start": exact(r.Start), "request_id": r.RequestID, "endpoint": r.Endpoint,
		"voice": r.Voice, "format": r.Format, "status": string(r.Status), "error": r.Error, "frames": r.Frames, "billed": r.Billed,
		"chars": r.Chars, "chunks": r.Chunks, "ttfa_us": r.TTFAus, "queue_us": r.Queueus, "wall_us": r.Wallus, "synth_us": r.Synthus,
		"prefill_cached": r.PrefillCached, "seed": r.Seed, "slower_than_ms": slowSteps(r.TTFAus),
	}
	if day, err := time.ParseInLocation(time.DateOnly, r.Date, meter.India); err == nil {
		fields["expire_at"] = day.AddDate(0, 0, s.cfg.Retention+2) // a day after upkeep deletes it, should that not run
	}
	return fields
}

func (d requestDoc) request() usage.Request {
	return usage.Request{
		ID: d.ID, Date: d.Date, Source: d.Source, OrgID: d.OrgID, ProjectID: d.ProjectID, KeyID: d.KeyID,
		KeyPrefix:  d.KeyPrefix,
		Playground: d.Playground, Start: exact(d.Start), RequestID: d.RequestID, Endpoint: d.Endpoint, Voice: d.Voice,
		Format: d.Format,
		Status: meter.Status(d.Status), Error: d.Error, Frames: d.Frames, Billed: d.Billed, Chars: d.Chars,
		Chunks: d.Chunks,
		TTFAus: d.TTFAus, Queueus: d.Queueus, Wallus: d.Wallus, Synthus: d.Synthus, PrefillCached: d.PrefillCached,
		Seed: d.Seed,
	}
}

// slowSteps are the steps that a time to the first frame reaches, in milliseconds. Rows hold them as a list, so that
// slow requests are found in order of time by an index that equality filters can be joined with: a range of one field
// and the order of another cannot.
func slowSteps(us int64) []int {
	var reached []int
	for ms := 100; ms <= 6400 && us >= int64(ms)*1000; ms *= 2 {
		reached = append(reached, ms)
	}
	return reached
}
