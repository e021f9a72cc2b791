//go:build unix

package sqlite

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/meter"
)

// Rows of the large database, and over how many days they are spread.
const (
	manyRows = 1_000_000
	manyDays = 30
	batch    = 500
)

// makeBatch returns size ended streams of one large organisation, numbered from first: three projects, twenty keys,
// five voices, one stream of a hundred failed, and one of ten thousand on an endpoint of its own.
func makeBatch(first int64, size int, start func(seq int64) time.Time) []meter.Event {
	events := make([]meter.Event, size)
	for i := range events {
		seq := first + int64(i)
		rng := rand.New(rand.NewPCG(uint64(seq), 7))
		frames := 1 + rng.Int64N(400)
		key := rng.IntN(20)
		e := meter.Event{
			ID: fmt.Sprintf("evt_01K%023d", seq), Seq: seq, Kind: meter.Final, Start: start(seq),
			OrgID: "org_0123456789abcdefghjkmnpqrs", ProjectID: fmt.Sprintf("prj_%026d", key%3),
			KeyID:     fmt.Sprintf("key_%026d", key),
			KeyPrefix: "swar_live_abcdef", RequestID: fmt.Sprintf("0b7e2f6a-1c3d-4e5f-8a9b-%012d", seq),
			Endpoint: []string{"rest", "ws"}[rng.IntN(2)],
			Voice:    fmt.Sprintf("voice-%d", rng.IntN(5)), Format: "pcm16", Status: meter.OK, Frames: frames,
			Billed: frames,
			Chars:  rng.IntN(4000), Chunks: 1 + rng.IntN(64), TTFAus: 10_000 + rng.Int64N(200_000),
			Queueus: rng.Int64N(2_000_000),
			Wallus:  rng.Int64N(30_000_000), Synthus: rng.Int64N(9_000_000), PrefillCached: rng.IntN(2) == 0,
			Seed: rng.Int64(),
		}
		switch {
		case seq%100 == 0:
			e.Status, e.Billed, e.Error = meter.Failed, 0, "worker gone"
		case seq%10_000 == 1:
			e.Endpoint, e.TTFAus = "openai", 1_000_000
		}
		e.At, e.Date = e.Start.Add(time.Second), meter.DateOf(e.Start)
		events[i] = e
	}
	return events
}

// fill stores rows streams as they come from a log, spread over the last days.
func fill(b *testing.B, s *Store, rows int64) {
	b.Helper()
	begin := time.Now().Add(-manyDays * 24 * time.Hour)
	start := func(seq int64) time.Time {
		after := time.Duration(seq) * (manyDays * 24 * time.Hour / time.Duration(rows))
		return begin.Add(after).UTC().Truncate(time.Microsecond)
	}
	ledger := usage.NewLedger(s)
	for first := int64(1); first <= rows; first += batch {
		if err := ledger.Send(b.Context(), meter.Batch{Source: "src_1",
			Events: makeBatch(first, batch, start)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReads fills a database with a million requests of one organisation, which takes some minutes, and then times
// what the portal asks for. The p99 metrics are the slowest of a hundred calls.
//
//	go test -run - -bench Reads -timeout 30m ./portal/sqlite
func BenchmarkReads(b *testing.B) {
	path := filepath.Join(b.TempDir(), "portal.db")
	s := open(b, Config{Path: path})
	began := time.Now()
	fill(b, s, manyRows)
	took := time.Since(began)
	putKeys(b, s)
	size, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("fill", func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(took.Seconds(), "fill-s")
		b.ReportMetric(float64(size.Size()>>20), "MB")
	})
	reports, err := usage.NewReports(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	const org, project, key = "org_0123456789abcdefghjkmnpqrs", "prj_00000000000000000000000001",
		"key_00000000000000000000000007"
	page := func(q usage.RequestQuery) func() error {
		q.OrgID = org
		return func() error {
			p, err := reports.Requests(b.Context(), q, "")
			findsNone := q.KeyID == "none" || q.Endpoint == "none" || q.MinTTFAus > 1_000_000
			if err == nil && len(p.Requests) == 0 && !findsNone {
				err = fmt.Errorf("an empty page for %+v", q)
			}
			return err
		}
	}
	middle := time.Now().Add(-manyDays * 12 * time.Hour)
	for _, bb := range []struct {
		name string
		read func() error
	}{
		{"usage_30_days", func() error { _, err := reports.Usage(b.Context(), usage.Query{OrgID: org}); return err }},
		{"usage_of_a_project", func() error {
			_, err := reports.Usage(b.Context(), usage.Query{OrgID: org, ProjectID: project})
			return err
		}},
		{"shards_of_30_days", func() error { // what usage_30_days costs in the store
			_, err := s.Shards(b.Context(), org, meter.DateOf(began.Add(-manyDays*24*time.Hour)), meter.DateOf(began))
			return err
		}},
		{"bills", func() error { _, err := reports.Bills(b.Context(), org); return err }},
		{"requests", page(usage.RequestQuery{})},
		{"requests_500", page(usage.RequestQuery{Limit: 500})},
		{"requests_from_the_middle", page(usage.RequestQuery{To: middle})},
		{"requests_of_a_project", page(usage.RequestQuery{ProjectID: project})},
		{"requests_of_a_key", page(usage.RequestQuery{KeyID: key})},
		{"requests_of_a_key_and_voice", page(usage.RequestQuery{KeyID: key, Voice: "voice-3"})},
		{"requests_of_a_voice", page(usage.RequestQuery{Voice: "voice-3"})},
		{"requests_that_failed", page(usage.RequestQuery{Status: meter.Failed})},
		{"requests_that_are_ok", page(usage.RequestQuery{Status: meter.OK})},
		{"requests_of_no_key", page(usage.RequestQuery{KeyID: "none"})},
		{"requests_of_a_rare_endpoint", page(usage.RequestQuery{Endpoint: "openai"})},
		{"requests_of_no_endpoint", page(usage.RequestQuery{Endpoint: "none"})},
		{"requests_that_were_slow", page(usage.RequestQuery{MinTTFAus: 300_000})},
		{"requests_slower_than_any", page(usage.RequestQuery{MinTTFAus: 2_000_000})},
		{"keys", func() error {
			return s.View(b.Context(), func(r tenant.Reader) error {
				keys, err := r.Keys(tenant.KeyQuery{OrgID: org, Kind: tenant.Live})
				if err == nil && len(keys) != 50 {
					err = fmt.Errorf("%d keys", len(keys))
				}
				return err
			})
		}},
		{"compare_a_day", func() error { _, err := s.Compare(b.Context(), meter.DateOf(middle)); return err }},
	} {
		b.Run(bb.name, func(b *testing.B) { timeEach(b, bb.read) })
	}
}

// putKeys stores the keys of the large organisation.
func putKeys(b *testing.B, s *Store) {
	b.Helper()
	err := s.Update(b.Context(), func(tx tenant.Tx) error {
		for i := range 50 {
			secret, hash := access.New(access.LivePrefix)
			tx.PutKey(tenant.Key{
				ID: hash.KeyID(), OrgID: "org_0123456789abcdefghjkmnpqrs", ProjectID: "prj_a", Kind: tenant.Live,
				Name:   fmt.Sprint("key ", i),
				Prefix: secret[:16], Hash: hash, CreatedAt: time.Now(), CreatedBy: "asha@example.org",
			})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// timeEach reports, besides the mean, the 99th of the times of a hundred calls or more.
func timeEach(b *testing.B, call func() error) {
	b.ReportAllocs()
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	for len(times) < 100 {
		began := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkWrites times what commits: each is on the disk when it returns.
//
//	go test -run - -bench Writes ./portal/sqlite
func BenchmarkWrites(b *testing.B) {
	start := func(seq int64) time.Time { return time.Unix(1_800_000_000, seq*1_000_000).UTC() }
	for _, size := range []int{1, 100, 500} {
		b.Run(fmt.Sprintf("batch_of_%d_events", size), func(b *testing.B) {
			s, seq := open(b, Config{}), int64(1)
			ledger := usage.NewLedger(s)
			timeEach(b, func() error {
				err := ledger.Send(b.Context(), meter.Batch{Source: "src_1", Events: makeBatch(seq, size, start)})
				seq += int64(size)
				return err
			})
		})
	}
	b.Run("an_organisation", func(b *testing.B) {
		s := open(b, Config{})
		timeEach(b, func() error { return tryPutOrg(b.Context(), s, "org_a") })
	})
	b.Run("last_use_of_1000_keys", func(b *testing.B) {
		s := open(b, Config{})
		used := map[string]time.Time{}
		err := s.Update(b.Context(), func(tx tenant.Tx) error {
			for i := range 1000 {
				id := fmt.Sprintf("key_%026d", i)
				tx.PutKey(tenant.Key{ID: id, OrgID: "org_a"})
				used[id] = time.Now()
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		timeEach(b, func() error {
			for id, at := range used {
				used[id] = at.Add(time.Second)
			}
			return s.Touch(b.Context(), used)
		})
	})
	b.Run("a_sign-in_record", func(b *testing.B) {
		s := open(b, Config{})
		timeEach(b, func() error {
			return s.UpdateSignin(b.Context(), "email:a",
				func([]byte) ([]byte, time.Time, error) { return make([]byte, 500), time.Now(), nil })
		})
	})
}

// BenchmarkRevocation times from the call that revokes a key to the watcher of another process knowing it.
//
//	go test -run - -bench Revocation -benchtime 100x ./portal/sqlite
func BenchmarkRevocation(b *testing.B) {
	for _, bb := range []struct {
		name   string
		shared bool
	}{{"in_one_process", false}, {"in_two", true}} {
		b.Run(bb.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "portal.db")
			writer := open(b, Config{Path: path})
			watcher := writer
			if bb.shared {
				watcher = open(b, Config{Path: path})
			}
			ctx, stop := context.WithCancel(b.Context())
			told, ended := make(chan struct{}, 1), make(chan error, 1)
			go func() {
				ended <- watcher.WatchKeys(ctx, func([]tenant.Key, bool) error {
					told <- struct{}{}
					return nil
				})
			}()
			<-told
			timeEach(b, func() error {
				err := writer.Update(ctx, func(tx tenant.Tx) error {
					tx.PutKey(tenant.Key{ID: "key_a", OrgID: "org_a", RevokedAt: time.Now()})
					return nil
				})
				<-told
				return err
			})
			stop()
			<-ended
		})
	}
}

// BenchmarkLoad sends 500 events a second through the log and its shipper for a minute, while the portal reads, and
// fails if the queue grows. cpu-% is of one core, all parts together.
//
//	go test -run - -bench Load -benchtime 1x ./portal/sqlite
func BenchmarkLoad(b *testing.B) {
	const perSecond, length = 500, time.Minute
	silent := slog.New(slog.DiscardHandler)
	log, err := meter.OpenLog(meter.LogConfig{Folder: b.TempDir()}, silent)
	if err != nil {
		b.Fatal(err)
	}
	s := open(b, Config{Server: true})
	shipper := meter.NewShipper(meter.ShipperConfig{}, log, usage.NewLedger(s), silent)
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 2)
	go func() { ended <- log.Run(ctx) }()
	go func() { ended <- shipper.Run(ctx) }()
	reports, err := usage.NewReports(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var halves [2]int64 // the longest queue of each half of the time
		var pages []time.Duration
		used, began := cpu(), time.Now()
		for tick := range int(length / (10 * time.Millisecond)) {
			time.Sleep(time.Until(began.Add(time.Duration(tick) * 10 * time.Millisecond)))
			events := makeBatch(int64(tick*perSecond/100), perSecond/100,
				func(int64) time.Time { return time.Now().UTC().Truncate(time.Microsecond) })
			for i := range events {
				log.Append(&events[i])
			}
			half := tick * 2 / int(length/(10*time.Millisecond))
			halves[half] = max(halves[half], log.Backlog().Queued)
			if tick%10 == 0 {
				at := time.Now()
				if _, err := reports.Requests(b.Context(), usage.RequestQuery{OrgID: events[0].OrgID}, ""); err != nil {
					b.Fatal(err)
				}
				pages = append(pages, time.Since(at))
			}
		}
		took := time.Since(began)
		b.ReportMetric(float64(halves[0]), "queue-1st-half")
		b.ReportMetric(float64(halves[1]), "queue-2nd-half")
		slices.Sort(pages)
		b.ReportMetric(float64(pages[len(pages)*99/100].Microseconds())/1000, "p99-page-ms")
		b.ReportMetric(100*(cpu()-used).Seconds()/took.Seconds(), "cpu-%")
		if took > length+time.Second {
			b.Errorf("the load took %v, want %v: events were not made fast enough", took, length)
		}
		if halves[1] > 2*halves[0] {
			b.Errorf("the queue grows: %d and then %d events", halves[0], halves[1])
		}
	}
	stop()
	<-ended
	<-ended
	if err := shipper.Drain(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLoadOfTwo books the same rate from two sources at once, directly, with ten organisations.
//
//	go test -run - -bench LoadOfTwo -benchtime 1x ./portal/sqlite
func BenchmarkLoadOfTwo(b *testing.B) {
	s := open(b, Config{Server: true})
	for b.Loop() {
		loaded, err := storetest.LoadUsage(b.Context(), s, storetest.Load{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(loaded.Queue), "queue")
		b.ReportMetric(float64(loaded.P50.Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(loaded.P99.Microseconds())/1000, "p99-ms")
	}
}

// cpu is the time that this process has computed.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCheck times opening a database of 100,000 requests with Config.Check, and a backup of it, which is checked
// too.
//
//	go test -run - -bench Check -benchtime 3x ./portal/sqlite
func BenchmarkCheck(b *testing.B) {
	folder := b.TempDir()
	path := filepath.Join(folder, "portal.db")
	s := open(b, Config{Path: path})
	fill(b, s, manyRows/10)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			checked, err := Open(b.Context(), Config{Path: path, Check: true})
			if err != nil {
				b.Fatal(err)
			}
			checked.Close()
		}
	})
	b.Run("backup", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if err := s.Backup(b.Context(), filepath.Join(folder, fmt.Sprint("backup-", i))); err != nil {
				b.Fatal(err)
			}
		}
	})
}
