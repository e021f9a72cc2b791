package meter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// someEvent returns an event in which no field is zero.
func someEvent(i int) Event {
	start := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Millisecond)
	return Event{
		ID: fmt.Sprintf("evt_%026d", i), Kind: Final, Start: start, At: start.Add(3 * time.Second), Date: DateOf(start),
		OrgID: "org_0123456789abcdefghjkmnpqrs", ProjectID: "prj_0123456789abcdefghjkmnpqrs",
		KeyID:     "key_0123456789abcdefghjkmnpqrs",
		KeyPrefix: "swar_live_7Fq2kD", Playground: true, RequestID: "req_0123456789abcdefghjkmnpqrs", Endpoint: "rest",
		Voice:  "anjura",
		Format: "wav", Status: OK, Error: "none", Frames: int64(i%400 + 1), Billed: int64(i%400 + 1), Chars: 120,
		Chunks: 3, TTFAus: 31000,
		Queueus: 12, Wallus: 2_500_000, Synthus: 1_200_000, PrefillCached: true, Seed: -1 << 62,
	}
}

func openLog(t testing.TB, cfg LogConfig) *Log {
	t.Helper()
	l, err := OpenLog(cfg, testLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func testLogger(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

func appendN(l *Log, from, to int) {
	for i := from; i <= to; i++ {
		e := someEvent(i)
		l.Append(&e)
	}
}

// readAll returns everything from seq on that is synced.
func readAll(t *testing.T, l *Log, seq int64) []Event {
	t.Helper()
	var all []Event
	for {
		events, err := l.read(seq, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return all
		}
		all = append(all, events...)
		seq = events[len(events)-1].Seq + 1
	}
}

func seqs(events []Event) []int64 {
	var all []int64
	for _, e := range events {
		all = append(all, e.Seq)
	}
	return all
}

func upTo(from, to int64) []int64 {
	var all []int64
	for ; from <= to; from++ {
		all = append(all, from)
	}
	return all
}

func sync1(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestEventsComeBackAsTheyWere(t *testing.T) {
	e := someEvent(7)
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		if v.Field(i).IsZero() && v.Type().Field(i).Name != "Seq" {
			t.Errorf("%s is zero, so it is not tested", v.Type().Field(i).Name)
		}
	}
	for name, e := range map[string]Event{"full": e,
		"empty": {Start: time.UnixMicro(0).UTC(), At: time.UnixMicro(0).UTC()}, "progress": {
			ID: "evt_x", Kind: Progress, Start: e.Start, At: e.Start.Add(-time.Hour), Billed: -3000,
		}} {
		e.Seq = 9
		b, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := got.UnmarshalBinary(b); err != nil || got != e {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, e)
		}
		for n := range b {
			if got.UnmarshalBinary(b[:n]) == nil {
				t.Errorf("%s: the first %d of %d bytes are taken for an event", name, n, len(b))
			}
		}
		if got.UnmarshalBinary(append(b, 0)) == nil {
			t.Errorf("%s: a byte too many is not noticed", name)
		}
	}
}

func TestALogKeepsEventsOverRestarts(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir(), SegmentBytes: 2000}
	for round := range 4 {
		l := openLog(t, cfg)
		appendN(l, round*25+1, round*25+25)
		if got := readAll(t, l, int64(round*25+1)); len(got) != 0 {
			t.Errorf("%d events can be read before they are synced", len(got))
		}
		sync1(t, l)
		if got, want := seqs(readAll(t, l, 1)), upTo(1, int64(round*25+25)); !slices.Equal(got, want) {
			t.Errorf("after opening %d times: %v, want %v", round+1, got, want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l := openLog(t, cfg)
	defer l.Close()
	for i, e := range readAll(t, l, 1) {
		want := someEvent(i + 1)
		want.Seq = int64(i + 1)
		if e != want {
			t.Fatalf("event %d is %+v, want %+v", i+1, e, want)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(cfg.Folder, "*.wal")); len(files) < 8 {
		t.Errorf("%d segments, want more than %d restarts make", len(files), 4)
	}
}

func TestReadingBeginsAnywhere(t *testing.T) {
	l := openLog(t, LogConfig{Folder: t.TempDir(), SegmentBytes: 1500})
	defer l.Close()
	appendN(l, 1, 40)
	sync1(t, l)
	for _, from := range []int64{1, 2, 40, 39, 5, 6, 7, 30, 3} {
		if got, want := seqs(readAll(t, l, from)), upTo(from, 40); !slices.Equal(got, want) {
			t.Errorf("from %d: %v, want %v", from, got, want)
		}
	}
	if got := readAll(t, l, 41); len(got) != 0 {
		t.Errorf("behind the end: %v", seqs(got))
	}
}

func TestAcknowledgedSegmentsAreDeleted(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir(), SegmentBytes: 1500}
	l := openLog(t, cfg)
	appendN(l, 1, 40)
	sync1(t, l)
	before := len(l.segments)
	if err := l.ack(30); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(cfg.Folder, "*.wal"))
	if len(files) >= before || l.segments[0].last <= 30 {
		t.Errorf("%d of %d files are left, the first up to event %d", len(files), before, l.segments[0].last)
	}
	l.Close()
	l = openLog(t, cfg)
	if got := l.Backlog(); got != (Backlog{Queued: 10}) {
		t.Errorf("backlog = %+v, want 10 queued", got)
	}
	if err := l.ack(40); err != nil {
		t.Fatal(err)
	}
	l.Close()
	l = openLog(t, cfg)
	defer l.Close()
	appendN(l, 41, 41)
	sync1(t, l)
	if got := seqs(readAll(t, l, 41)); !slices.Equal(got, []int64{41}) {
		t.Errorf("the event after all were acknowledged is numbered %v, want 41", got)
	}
}

func TestALostPositionOnlySendsAgain(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir(), SegmentBytes: 1500}
	l := openLog(t, cfg)
	appendN(l, 1, 20)
	sync1(t, l)
	if err := l.ack(15); err != nil {
		t.Fatal(err)
	}
	l.Close()
	for name, text := range map[string][]byte{"empty": {}, "junk": []byte("elf\n"), "zeros": make([]byte, 3)} {
		if err := os.WriteFile(filepath.Join(cfg.Folder, positionName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		l = openLog(t, cfg)
		if got := l.Backlog().Queued; got < 5 || got > 20 {
			t.Errorf("%s: %d queued, want 5 and those that are still there", name, got)
		}
		l.Close()
	}
}

func TestASecondProcessIsRefused(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir()}
	l := openLog(t, cfg)
	if _, err := OpenLog(cfg, testLogger(t)); err == nil ||
		!strings.Contains(err.Error(), "is in use by another process") {
		t.Errorf("the second one: %v", err)
	}
	l.Close()
	openLog(t, cfg).Close()
}

// The newest segment is cut at every byte, as a crash may leave it, with or without a block of zeros behind it.
func TestATornTailIsCut(t *testing.T) {
	folder := t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	l := openLog(t, LogConfig{Folder: folder})
	for i := range 2 {
		l.Append(&Event{ID: fmt.Sprintf("evt_%d", i), Kind: Final, Seed: 5})
	}
	l.Close()
	path := filepath.Join(folder, segmentName(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var e Event
	size, err := nextRecord(whole[len(segmentMagic):], &e)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(path, append(whole[:n:n], make([]byte, 12*(n%2))...), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLog(LogConfig{Folder: folder}, quiet)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		l.Append(&Event{ID: "evt_next", Kind: Final})
		sync1(t, l)
		want := int64(max(0, n-len(segmentMagic))/size) + 1
		got := readAll(t, l, 1)
		if !slices.Equal(seqs(got), upTo(1, want)) || got[len(got)-1].ID != "evt_next" {
			t.Errorf("%d bytes: %v, want 1 to %d", n, seqs(got), want)
		}
		l.Close()
		for _, f := range glob(t, folder, "*"+segmentEnd) {
			if f != path {
				os.Remove(f)
			}
		}
	}
}

func glob(t *testing.T, folder, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDamageInTheMiddleIsSetAsideAndReported(t *testing.T) {
	damage := map[string]struct {
		change func(b []byte, size int) []byte
		lost   []int64
	}{
		"a bit of an event":      {func(b []byte, size int) []byte { b[len(segmentMagic)+size+60] ^= 4; return b }, []int64{2}},
		"a bit of a length":      {func(b []byte, size int) []byte { b[len(segmentMagic)+size] ^= 4; return b }, []int64{2}},
		"a length beyond reason": {func(b []byte, size int) []byte { b[len(segmentMagic)+size+2] = 0xff; return b }, []int64{2}},
		"a block of zeros": {func(b []byte, size int) []byte {
			clear(b[len(segmentMagic)+size/2 : len(segmentMagic)+2*size+size/2])
			return b
		}, []int64{1, 2, 3}},
		"the magic":          {func(b []byte, _ int) []byte { b[0] = 'x'; return b }, nil},
		"inserted junk":      {func(b []byte, size int) []byte { return slices.Insert(b, len(segmentMagic)+size, []byte("junk")...) }, nil},
		"the last one's CRC": {func(b []byte, _ int) []byte { b[len(b)-1] ^= 1; return b }, []int64{6}},
	}
	for name, tt := range damage {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			l := openLog(t, LogConfig{Folder: folder})
			appendN(l, 1, 6)
			l.Close()
			path := filepath.Join(folder, segmentName(1))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			size := (len(b) - len(segmentMagic)) / 6
			if err := os.WriteFile(path, tt.change(b, size), 0o600); err != nil {
				t.Fatal(err)
			}
			var report bytes.Buffer
			l, err = OpenLog(LogConfig{Folder: folder}, slog.New(slog.NewTextHandler(&report, nil)))
			if err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(upTo(1, 6), func(n int64) bool { return slices.Contains(tt.lost, n) })
			if got := seqs(readAll(t, l, 1)); !slices.Equal(got, want) {
				t.Errorf("left are %v, want %v", got, want)
			}
			sink := &books{}
			if err := NewShipper(ShipperConfig{MaxBatch: 7}, l, sink, testLogger(t)).Drain(t.Context()); err != nil {
				t.Error(err)
			}
			if got := l.Backlog().Lost; got != int64(len(tt.lost)) {
				t.Errorf("%d events are counted as lost, want %d", got, len(tt.lost))
			}
			l.Close()
			kept := glob(t, folder, "*"+damagedEnd)
			if wantKept := name != "the magic"; (len(kept) == 1) != wantKept ||
				strings.Contains(report.String(), "is damaged") != wantKept {
				t.Errorf("kept aside: %v; reported: %s", kept, report.String())
			}
			openLog(t, LogConfig{Folder: folder}).Close()
			if again := glob(t, folder, "*"+damagedEnd); len(again) != len(kept) {
				t.Errorf("repaired twice: %v", again)
			}
		})
	}
}

func TestAnEventOfANewerProgramIsNotThrownAway(t *testing.T) {
	folder := t.TempDir()
	l := openLog(t, LogConfig{Folder: folder})
	appendN(l, 1, 2)
	l.Close()
	path := filepath.Join(folder, segmentName(1))
	b, _ := os.ReadFile(path)
	e := someEvent(3)
	e.Seq = 3
	record := appendRecord(nil, &e)
	record[recordHead]++ // its version
	seal(record)
	if err := os.WriteFile(path, append(b, record...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(LogConfig{Folder: folder}, testLogger(t)); err == nil ||
		!strings.Contains(err.Error(), "version 2; this program reads version 1") {
		t.Errorf("OpenLog = %v, want a refusal", err)
	}
	after, _ := os.ReadFile(path)
	if len(after) != len(b)+len(record) {
		t.Error("the file was changed")
	}
}

func TestALogWithoutItsSourceIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		folder := t.TempDir()
		l := openLog(t, LogConfig{Folder: folder})
		appendN(l, 1, 2)
		l.Close()
		if err := spoil(filepath.Join(folder, sourceName)); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLog(LogConfig{Folder: folder}, testLogger(t)); err == nil ||
			!strings.Contains(err.Error(), "file source") {
			t.Errorf("%s: %v, want a refusal that names the file", name, err)
		}
	}
}

func TestStreamsThatACrashCutOffAreEnded(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir(), SegmentBytes: 600}
	l := openLog(t, cfg)
	progress := func(id string) {
		e := someEvent(1)
		e.ID, e.Kind, e.Status, e.Error, e.Frames, e.Billed = id, Progress, "", "", 125, 125
		l.Append(&e)
	}
	progress("evt_a")
	progress("evt_b")
	progress("evt_a")
	appendN(l, 10, 20)
	end := someEvent(1)
	end.ID = "evt_b"
	l.Append(&end)
	sync1(t, l)
	if err := l.ack(15); err != nil { // the sink has all of evt_a's progress
		t.Fatal(err)
	}
	l.Close()
	for range 2 { // the second start must not end them again
		l = openLog(t, cfg)
		got := readAll(t, l, 16)
		if len(got) != 1 {
			t.Fatalf("%d events behind 15, want the end of one stream", len(got))
		}
		want := someEvent(1)
		want.ID, want.Seq, want.Kind, want.Status, want.Error, want.Frames, want.Billed = "evt_a", 16, Final, Failed,
			"server stopped", 0, 0
		if got[0] != want {
			t.Errorf("ended by %+v, want %+v", got[0], want)
		}
		l.Close()
	}
}

func TestSegmentsOfRunningStreamsStay(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir(), SegmentBytes: 600}
	l := openLog(t, cfg)
	defer l.Close()
	e := someEvent(1)
	e.ID, e.Kind = "evt_long", Progress
	l.Append(&e)
	appendN(l, 2, 30)
	sync1(t, l)
	if err := l.ack(30); err != nil {
		t.Fatal(err)
	}
	if l.segments[0].first != 1 {
		t.Errorf("the first segment begins with event %d although the stream of event 1 runs", l.segments[0].first)
	}
	e.Kind = Final
	l.Append(&e)
	sync1(t, l)
	if err := l.ack(31); err != nil {
		t.Fatal(err)
	}
	if len(l.segments) != 1 {
		t.Errorf("%d segments are left, want the one that is written", len(l.segments))
	}
}

// fullDisk is a disk that takes room more bytes.
type fullDisk struct {
	mu       sync.Mutex
	room     int
	noSync   bool
	noCut    bool
	segments int
	syncs    int
}

var errFull = errors.New("no space left on device")

type fullFile struct {
	*os.File
	disk *fullDisk
}

func (f fullFile) Write(b []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if len(b) > f.disk.room {
		n, _ := f.File.Write(b[:f.disk.room])
		f.disk.room = 0
		return n, errFull
	}
	f.disk.room -= len(b)
	return f.File.Write(b)
}

func (f fullFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.syncs++
	if f.disk.noSync {
		return errFull
	}
	return f.File.Sync()
}

func (f fullFile) Truncate(n int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.noCut {
		return errFull
	}
	return f.File.Truncate(n)
}

func (d *fullDisk) create(path string) (segmentFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room == 0 {
		return nil, errFull
	}
	d.segments++
	f, err := createSegment(path)
	if err != nil {
		return nil, err
	}
	return fullFile{f.(*os.File), d}, nil
}

func (d *fullDisk) set(change func(d *fullDisk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func TestAFullDiskStopsNobodyAndLosesNothing(t *testing.T) {
	for name, noCut := range map[string]bool{"half an event can be taken back": false, "not even that": true} {
		t.Run(name, func(t *testing.T) {
			var report bytes.Buffer
			cfg := LogConfig{Folder: t.TempDir(), MaxWaiting: 5}
			l, err := OpenLog(cfg, slog.New(slog.NewTextHandler(&report, nil)))
			if err != nil {
				t.Fatal(err)
			}
			e := someEvent(1)
			size := len(appendRecord(nil, &e))
			disk := &fullDisk{room: 3*size + size/2, noCut: noCut}
			l.create = disk.create
			appendN(l, 1, 7)
			if got := l.Backlog(); got != (Backlog{Queued: 3, Waiting: 4}) {
				t.Errorf("backlog = %+v, want 3 on disk and 4 in memory", got)
			}
			if err := l.Sync(t.Context()); !errors.Is(err, errFull) {
				t.Errorf("Sync = %v, want that the disk is full", err)
			}
			if got := seqs(readAll(t, l, 1)); !slices.Equal(got, upTo(1, 3)) {
				t.Errorf("what is on disk can be read: %v", got)
			}
			appendN(l, 8, 9) // one fits into memory, one does not
			if got := l.Backlog(); got != (Backlog{Queued: 3, Waiting: 5, Lost: 1}) {
				t.Errorf("backlog = %+v, want 5 in memory and one lost", got)
			}
			if n := strings.Count(report.String(), "make room on the disk"); n != 2 ||
				strings.Count(report.String(), "usage event lost") != 1 {
				t.Errorf("reported: %s", report.String())
			}
			disk.set(func(d *fullDisk) { d.room = 1 << 20 })
			sync1(t, l)
			appendN(l, 9, 10)
			l.Close()
			if !strings.Contains(report.String(), "written again") {
				t.Errorf("the end of it is not reported: %s", report.String())
			}
			l = openLog(t, cfg)
			defer l.Close()
			var got []string
			for _, e := range readAll(t, l, 1) {
				got = append(got, e.ID)
			}
			var want []string
			for i := 1; i <= 10; i++ {
				want = append(want, someEvent(i).ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("in the end %v, want %v", got, want)
			}
		})
	}
}

func TestNothingIsReadThatASyncDidNotReach(t *testing.T) {
	l := openLog(t, LogConfig{Folder: t.TempDir()})
	disk := &fullDisk{room: 1 << 20}
	l.create = disk.create
	appendN(l, 1, 2)
	sync1(t, l)
	disk.set(func(d *fullDisk) { d.noSync = true })
	appendN(l, 3, 4)
	if err := l.Sync(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("Sync = %v, want the disk's error", err)
	}
	if got := seqs(readAll(t, l, 1)); !slices.Equal(got, upTo(1, 2)) {
		t.Errorf("read %v, want the synced 1 and 2", got)
	}
	disk.set(func(d *fullDisk) { d.noSync = false })
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestABrokenDiskIsReportedOnceAndAskedWithoutHaste(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var report bytes.Buffer
		l, err := OpenLog(LogConfig{Folder: folder}, slog.New(slog.NewTextHandler(&report, nil)))
		if err != nil {
			t.Fatal(err)
		}
		disk := &fullDisk{room: 1 << 20, noSync: true}
		l.create = disk.create
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = l.Run(ctx) })
		appendN(l, 1, 1)
		time.Sleep(time.Minute)
		disk.set(func(d *fullDisk) { d.noSync = false })
		time.Sleep(2 * time.Second)
		if err := l.wait(ctx, 1); err != nil {
			t.Error(err)
		}
		stop()
		wg.Wait()
		l.Close()
		if got := report.String(); strings.Count(got, "make room on the disk") != 1 ||
			strings.Count(got, "written again") != 1 {
			t.Errorf("reported: %s", got)
		}
		if disk.syncs < 50 || disk.syncs > 70 {
			t.Errorf("%d syncs in a minute, want one a second", disk.syncs)
		}
	})
}

func TestRunSyncsWithin20ms(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, LogConfig{Folder: folder})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = l.Run(ctx) })
		begin := time.Now()
		appendN(l, 1, 1)
		if err := l.wait(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(begin); got != 20*time.Millisecond {
			t.Errorf("synced after %v, want 20 ms", got)
		}
		appendN(l, 2, 500) // one sync for all
		if err := l.wait(ctx, 500); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(begin); got != 40*time.Millisecond {
			t.Errorf("synced after %v, want 40 ms", got)
		}
		stop()
		wg.Wait()
		l.Close()
	})
}

func TestAppendingFromManyGoroutines(t *testing.T) {
	l := openLog(t, LogConfig{Folder: t.TempDir(), SegmentBytes: 20_000})
	defer l.Close()
	ctx, stop := context.WithCancel(t.Context())
	var run, wg sync.WaitGroup
	run.Go(func() { _ = l.Run(ctx) })
	for g := range 8 {
		wg.Go(func() { appendN(l, g*100+1, g*100+100) })
	}
	wg.Wait()
	stop()
	run.Wait()
	sync1(t, l)
	if got := seqs(readAll(t, l, 1)); !slices.Equal(got, upTo(1, 800)) {
		t.Errorf("numbers %v, want 1 to 800", got)
	}
}

func TestEventIDs(t *testing.T) {
	at := time.UnixMilli(1469918176385)
	a, b := newEventID(at), newEventID(at.Add(time.Millisecond))
	if !strings.HasPrefix(a, "evt_") || len(a) != 30 {
		t.Errorf("id %q, want evt_ and 26 characters", a)
	}
	if got := a[4:14]; got != "01aryz6s41" { // the time of the example in the specification of ULID
		t.Errorf("the time is written %q, want 01aryz6s41", got)
	}
	if a >= b || a == newEventID(at) {
		t.Errorf("ids %q and %q: want them different and in order of time", a, b)
	}
}

// What a damaged file may hold: records are found in it, and nothing else is taken for one.
func FuzzRecords(f *testing.F) {
	for _, seed := range recordSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		last := int64(0)
		for at := 0; at < len(b); {
			var e Event
			n, err := nextRecord(b[at:], &e)
			if err != nil {
				at = findRecord(b, at+1, last)
				continue
			}
			var again Event
			if m, err := nextRecord(appendRecord(nil, &e), &again); err != nil || again != e || m > n {
				t.Fatalf("%+v comes back as %+v, %v", e, again, err)
			}
			last = e.Seq
			at += n
		}
		var e Event
		_ = e.UnmarshalBinary(b)
	})
}

func recordSeeds() [][]byte {
	var file []byte
	for i := range 3 {
		e := someEvent(i)
		e.Seq = int64(i + 1)
		file = appendRecord(file, &e)
	}
	return [][]byte{file, file[:len(file)-7], file[3:], file[recordHead:]}
}

func TestFuzzSeeds(t *testing.T) {
	seeds := recordSeeds()
	var e Event
	if _, err := nextRecord(seeds[0], &e); err != nil || e.Seq != 1 || findRecord(seeds[2], 0, 0) == len(seeds[2]) {
		t.Errorf("the seeds hold no records: %v", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	l := openLog(b, LogConfig{Folder: b.TempDir()})
	ctx, stop := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = l.Run(ctx) })
	e := someEvent(1)
	b.ReportAllocs()
	for b.Loop() {
		l.Append(&e)
	}
	stop()
	wg.Wait()
	l.Close()
}

func BenchmarkEncode(b *testing.B) {
	e := someEvent(1)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = appendRecord(buf[:0], &e)
	}
	b.ReportMetric(float64(len(buf)), "B/event")
}

func TestWhatADiskTakesNeitherAtTheEndIsCounted(t *testing.T) {
	l := openLog(t, LogConfig{Folder: t.TempDir()})
	disk := &fullDisk{}
	l.create = disk.create
	appendN(l, 1, 3)
	if got := l.Backlog(); got.Waiting != 3 || got.Lost != 0 {
		t.Errorf("backlog = %+v, want three in memory", got)
	}
	_ = l.Close()
	if got := l.Backlog().Lost; got != 3 {
		t.Errorf("%d events are counted as lost, want 3", got)
	}
}
