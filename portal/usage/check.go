package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// Bounds of one event of a source that is another process. What lies outside was made by no router.
const (
	maxFrames = 1 << 16              // 87 minutes of audio; 4,000 characters of text sound for less
	maxAge    = 400 * 24 * time.Hour // of an event: a router that was off for a year still has its usage booked
	maxAhead  = 24 * time.Hour       // that a clock may be fast
	maxText   = 256                  // bytes of an id or a name

	keyKept = 24 * time.Hour // a browser's key exists for at least this long after a stream with it has begun

	maxSources = 10_000 // whose last events are remembered
)

// Owner is whose a key is.
type Owner struct{ OrgID, ProjectID string }

// ErrNoSuchKey is returned by [Owners] for an unknown key.
var ErrNoSuchKey = errors.New("there is no such key")

// Owners knows keys and organisations. It is safe for concurrent use.
type Owners interface {
	// OwnerOf returns whose a key is, also of one that was revoked; ErrNoSuchKey if there is none.
	OwnerOf(ctx context.Context, keyID string) (Owner, error)
	// HasProject reports whether an organisation has a project.
	HasProject(ctx context.Context, o Owner) (bool, error)
}

// Checker refuses events that cannot be true. It is safe for concurrent use.
type Checker struct {
	owners  Owners
	file    *RefusedFile // nil: the log alone keeps what is refused
	log     *slog.Logger
	refused atomic.Int64

	mu       sync.Mutex
	booked   map[string]int64 // number of the last event of each source that is known to be booked
	savedSeq map[string]int64 // number of the last event of each source that was looked at for the file
}

// NewChecker returns a checker that saves each refused event in file and writes it to the log. Both have the whole
// event, so that it can be booked by hand. file may be nil.
func NewChecker(owners Owners, file *RefusedFile, log *slog.Logger) *Checker {
	return &Checker{owners: owners, file: file, log: log, booked: map[string]int64{}, savedSeq: map[string]int64{}}
}

// Refused returns how many events were refused. One that comes again after a restart of the portal counts again.
func (c *Checker) Refused() int64 { return c.refused.Load() }

// check returns the numbers of the events of b that cannot be true, each with the reason. What is known to be booked
// is not looked at again: its key may be gone by now.
func (c *Checker) check(ctx context.Context, b Batch, store Store, now time.Time) (map[int64]string, error) {
	refused := map[int64]string{}
	owners := map[string]string{} // by key, organisation and project: what is wrong with them
	billed := map[string]int64{}  // by stream: what events before in b bill
	position := c.position(b.Source)
	for i := range b.Events {
		e := &b.Events[i]
		if _, skipped := b.Skipped[e.Seq]; skipped || e.Seq <= position {
			continue
		}
		reason := impossible(e, now)
		if reason == "" {
			var err error
			name := e.KeyID + " " + e.OrgID + " " + e.ProjectID
			if _, isKnown := owners[name]; !isKnown {
				if owners[name], err = c.foreign(ctx, e, now); err != nil {
					return nil, err
				}
			}
			if reason = owners[name]; reason == "" && e.Billed < 0 {
				if reason, err = negativeBilling(ctx, store, e, billed[e.ID]); err != nil {
					return nil, err
				}
			}
		}
		if reason != "" {
			refused[e.Seq] = reason
			continue
		}
		billed[e.ID] += e.Billed
	}
	return refused, nil
}

// negativeBilling describes an event that reduces the bill of its stream; "" if it does not. before is the sum of the
// stream's events that are not stored yet.
func negativeBilling(ctx context.Context, store Store, e *meter.Event, before int64) (string, error) {
	rows, err := rowsOf(ctx, store, e)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		before += r.Billed
	}
	if before+e.Billed < 0 {
		return fmt.Sprintf("billed: %d taken back of %d", -e.Billed, before), nil
	}
	return "", nil
}

func (c *Checker) position(source string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.booked[source]
}

// impossible describes impossible figures of an event; "" for none.
func impossible(e *meter.Event, now time.Time) string {
	takesBack := e.Kind == meter.Final && !e.Status.Billed()
	switch {
	case e.Frames < 0 || e.Frames > maxFrames:
		return fmt.Sprintf("frames: %d, want 0 to %d", e.Frames, maxFrames)
	case e.Billed < 0 && !takesBack:
		return fmt.Sprintf("billed: %d of a stream that did not fail", e.Billed)
	case e.Billed < -maxFrames || e.Billed > e.Frames:
		return fmt.Sprintf("billed: %d of %d frames", e.Billed, e.Frames)
	case e.Start.Before(now.Add(-maxAge)) || e.Start.After(now.Add(maxAhead)):
		return "start: " + e.Start.Format(time.RFC3339) + " is not near today"
	case e.Date != meter.DateOf(e.Start):
		return fmt.Sprintf("date: %.32q, and the stream began on %s", e.Date, meter.DateOf(e.Start))
	case e.Kind == meter.Final && !isStatus(e.Status):
		return fmt.Sprintf("status: %.32q", string(e.Status))
	case e.Chars < 0 || e.Chunks < 0:
		return "a negative count"
	}
	for _, text := range []string{e.ID, e.ProjectID, e.KeyID, e.KeyPrefix, e.RequestID, e.Endpoint, e.Voice, e.Format} {
		if len(text) > maxText {
			return fmt.Sprintf("%.32q…: has %d bytes, more than %d", text, len(text), maxText)
		}
	}
	return ""
}

func isStatus(s meter.Status) bool {
	switch s {
	case meter.OK, meter.Cancelled, meter.Failed, meter.TimedOut:
		return true
	}
	return false
}

// foreign describes a wrong owner of an event; "" for none. A browser's key is deleted a day after its end, and its
// usage may come later.
func (c *Checker) foreign(ctx context.Context, e *meter.Event, now time.Time) (string, error) {
	owner, err := c.owners.OwnerOf(ctx, e.KeyID)
	switch {
	case errors.Is(err, ErrNoSuchKey) && e.Playground && now.Sub(e.Start) >= keyKept:
		has, err := c.owners.HasProject(ctx, Owner{e.OrgID, e.ProjectID})
		if err != nil || has {
			return "", err
		}
		return fmt.Sprintf("project: %.64q of the organisation %.64q does not exist", e.ProjectID, e.OrgID), nil
	case errors.Is(err, ErrNoSuchKey):
		return fmt.Sprintf("key: %.64q does not exist", e.KeyID), nil
	case err != nil:
		return "", err
	case owner != Owner{e.OrgID, e.ProjectID}:
		return fmt.Sprintf("key: %.64q is not of the organisation %.64q and its project %.64q", e.KeyID, e.OrgID,
			e.ProjectID), nil
	}
	return "", nil
}

// saveRefused puts what is refused of b aside, before b is booked: after a crash in between it comes again. What
// cannot be kept is in the log.
func (c *Checker) saveRefused(ctx context.Context, b meter.Batch, refused map[int64]string, now time.Time) {
	if c.file == nil || len(refused) == 0 {
		return
	}
	c.mu.Lock()
	done := c.savedSeq[b.Source]
	c.mu.Unlock()
	var all []Refused
	for _, e := range b.Events {
		if reason, is := refused[e.Seq]; is && e.Seq > done {
			all = append(all, Refused{At: now.UTC(), Reason: reason, Source: b.Source, Event: e})
		}
	}
	if len(all) == 0 {
		return
	}
	if err := c.file.add(all); err != nil {
		c.log.ErrorContext(ctx, "refused usage is not kept in its file but in this log alone", "file", c.file.path,
			"events", len(all), "error", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	note(c.savedSeq, b)
}

// note remembers in numbers how far the source of b is.
func note(numbers map[string]int64, b meter.Batch) {
	if len(numbers) >= maxSources {
		clear(numbers)
	}
	numbers[b.Source] = max(numbers[b.Source], b.Events[len(b.Events)-1].Seq)
}

// report writes what was refused of a batch that is stored to the log, counts it, and remembers how far its source is.
func (c *Checker) report(ctx context.Context, b meter.Batch, refused map[int64]string) {
	if len(b.Events) > 0 {
		c.mu.Lock()
		note(c.booked, b)
		c.mu.Unlock()
	}
	for _, e := range b.Events {
		reason, is := refused[e.Seq]
		if !is {
			continue
		}
		c.refused.Add(1)
		c.log.ErrorContext(ctx, "usage was refused and is not billed; look at who sent it", "reason", reason,
			"source", b.Source,
			"org", e.OrgID, "key", e.KeyID, "frames", e.Frames, "billed", e.Billed, "event", e)
	}
}
