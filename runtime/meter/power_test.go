package meter

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
)

// disk remembers how much of each file a power cut would leave.
type disk struct {
	mu    sync.Mutex
	files map[string]*diskFile
}

type diskFile struct {
	*os.File
	disk            *disk
	written, synced int64
}

func (d *disk) create(path string) (segmentFile, error) {
	f, err := createSegment(path)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	file := &diskFile{File: f.(*os.File), disk: d, written: int64(len(segmentMagic)), synced: int64(len(segmentMagic))}
	d.files[path] = file
	return file, nil
}

func (f *diskFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.written += int64(n)
	return n, err
}

func (f *diskFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.synced = f.written
	return nil
}

// cut takes from each file some of what was not synced, and fills it up with zeros now and then, as file systems do.
func (d *disk) cut(t *testing.T, rng *rand.Rand) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, f := range d.files {
		left := f.synced + rng.Int64N(f.written-f.synced+1)
		if err := os.Truncate(path, left); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if rng.IntN(2) == 0 && left < f.written && !os.IsNotExist(os.Truncate(path, left)) {
			if err := os.Truncate(path, f.written); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.files = map[string]*diskFile{}
}

// A power cut takes what was not synced, and nothing else: what was synced is sent once, and no number is given twice.
func TestAPowerCutTakesOnlyWhatWasNotSynced(t *testing.T) {
	for name, tt := range map[string]struct {
		segment int64
		sources int // at most
	}{
		"one segment at a time": {1 << 20, 1},
		// a later one may survive an earlier one: a hole, behind which a new source begins
		"segments so small that many are unsynced": {1500, 60},
	} {
		t.Run(name, func(t *testing.T) { cutPower(t, tt.segment, tt.sources) })
	}
}

func cutPower(t *testing.T, segment int64, sources int) {
	cfg := LogConfig{Folder: t.TempDir(), SegmentBytes: segment}
	rng := rand.New(rand.NewPCG(11, 12))
	sink := &books{}
	drive := &disk{files: map[string]*diskFile{}}
	next := 1
	synced := map[string]bool{}
	for range 60 {
		l := openLog(t, cfg)
		l.create = drive.create
		s := NewShipper(ShipperConfig{MaxBatch: 5}, l, sink, testLogger(t))
		var pending []string
		for range rng.IntN(30) {
			switch rng.IntN(6) {
			case 0:
				sync1(t, l)
				for _, id := range pending {
					synced[id] = true
				}
				pending = nil
			case 1:
				if events, err := l.read(s.next, 1); err == nil && len(events) > 0 {
					if err := s.try(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
			default:
				e := someEvent(next)
				next++
				l.Append(&e)
				pending = append(pending, e.ID)
			}
		}
		l.mu.Lock() // the power is cut: nothing is closed or synced any more, only the lock is gone
		l.closed = true
		l.lock.Close()
		l.mu.Unlock()
		drive.cut(t, rng)
	}
	once(t, cfg, sink, next, next)
	got := map[string]int{}
	for _, id := range sink.ids {
		got[id]++
		if got[id] > 1 {
			t.Errorf("%s counts twice", id)
		}
	}
	for id := range synced {
		if got[id] != 1 {
			t.Errorf("%s was synced, but is lost", id)
		}
	}
	if len(sink.positions) > sources || len(synced) < 100 {
		t.Errorf("%d sources and %d synced events, want at most %d and hundreds", len(sink.positions),
			len(synced), sources)
	}
	t.Logf("%d events, of which %d were synced and %d reached the sink, from %d sources", next, len(synced),
		len(sink.ids), len(sink.positions))
}
