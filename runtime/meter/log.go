package meter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// LogConfig says where and how a [Log] is kept.
type LogConfig struct {
	Folder       string        // of the log alone; made if it is missing
	SegmentBytes int64         // size at which the next file is begun; 0 means 4 MiB
	SyncEvery    time.Duration // longest time from Append to the disk; 0 means 20 ms
	MaxWaiting   int           // events kept in memory while the disk takes none; 0 means 65,536, about 30 MB
}

// Log keeps events on disk until the sink has them. It is a write-ahead log: a folder of segments, to which Append
// writes at once, so that a killed process loses nothing, and which are synced at most SyncEvery later, so that a power
// cut loses no more than that. Sync waits for it. A failed sync is retried; whether the disk then has the data is up to
// the disk.
//
// A log is used by one process at a time, and read by one [Shipper]. Its methods are safe for concurrent use.
type Log struct {
	cfg        LogConfig
	log        *slog.Logger
	lock       *os.File
	create     func(path string) (segmentFile, error)
	recovered  int64         // number of the last event that was there when the log was opened
	damagedEnd bool          // the last thing that opening has found was no event
	syncing    chan struct{} // holds the one right to sync
	dirty      chan struct{} // wakes Run when there is something to sync
	cursor     cursor        // of the shipper: where its last read ended

	mu       sync.Mutex
	source   string
	base     int64            // the source numbers its events from base+1
	copied   int64            // number of the last event that the sink may have from another source
	forks    int64            // times that the log was found to be a copy
	segments []segment        // oldest first; the last one is being written
	active   segmentFile      // of the last segment; nil: begin another one before writing
	unsynced []segmentFile    // ended, but not yet synced
	running  map[string]int64 // streams that have progress and no end: number of their first event
	last     int64            // number of the last event written
	synced   int64            // and of the last one that is safe from a power cut
	acked    int64            // and of the last one that the sink has
	growth   chan struct{}    // closed and replaced when synced grows
	waiting  []Event          // could not be written
	lost     int64            // unbilled events: the disk was full, or a file is damaged or missing
	failing  bool             // the disk took nothing at the last try
	closed   bool
	buf      []byte
}

// segment is one file: the events first..last in order.
type segment struct {
	path  string
	first int64
	last  int64 // first-1: none
	size  int64
}

// segmentFile is what a log needs of a file.
type segmentFile interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// Backlog is what the sink does not have yet.
type Backlog struct {
	Queued  int64 // events on disk
	Waiting int   // events in memory, because the disk takes none
	Lost    int64 // events found lost since the start: neither had room, or a file of the log is damaged or gone
	Forks   int64 // times since the start that the log was found to be a copy of one that reports too
}

var errClosed = errors.New("usage log: closed")

// OpenLog opens the log in cfg.Folder, or begins one. It repairs what a crash has left: a record that was being
// written is cut off, a damaged one elsewhere is set aside in a file and reported, and a stream that the crash cut
// off is ended with the status [Failed]; what it had reported by then stays billed. A folder that another process is
// using is an error.
func OpenLog(cfg LogConfig, log *slog.Logger) (*Log, error) {
	if cfg.SegmentBytes == 0 {
		cfg.SegmentBytes = 4 << 20
	}
	if cfg.SyncEvery == 0 {
		cfg.SyncEvery = 20 * time.Millisecond
	}
	if cfg.MaxWaiting == 0 {
		cfg.MaxWaiting = 1 << 16
	}
	l := &Log{
		cfg: cfg, log: log, create: createSegment,
		syncing: make(chan struct{}, 1), dirty: make(chan struct{}, 1), growth: make(chan struct{}),
		running: map[string]int64{},
	}
	if err := os.MkdirAll(cfg.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("usage log: %w", err)
	}
	var err error
	if l.lock, err = lockFolder(cfg.Folder); err != nil {
		return nil, err
	}
	if err := l.recover(); err != nil {
		_ = l.lock.Close()
		return nil, fmt.Errorf("usage log in %s: %w", cfg.Folder, err)
	}
	_ = l.Sync(context.Background()) // a failing disk has been reported, and the server still starts
	return l, nil
}

// Run syncs what is appended, until ctx ends. What it could not sync then, Close does.
func (l *Log) Run(ctx context.Context) error {
	wait := l.cfg.SyncEvery
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.dirty:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if wait = l.cfg.SyncEvery; l.Sync(ctx) != nil { // which has been logged
			wait = max(wait, time.Second) // a full disk is retried slowly
			l.wake()
		}
	}
}

// Append numbers e, as e.Seq, and writes it. When it returns, e is safe from the end of the process, and soon from a
// power cut.
//
// If the disk does not take it, e waits in memory and is numbered later, since no client shall wait for room on a
// disk. Only when there are too many of those is an event lost, which is logged and counted.
func (l *Log) Append(e *Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	step("append")
	if len(l.waiting) == 0 {
		err := l.writeLocked(e)
		if err == nil {
			return
		}
		l.failLocked(err)
	}
	if len(l.waiting) < l.cfg.MaxWaiting && !l.closed {
		l.waiting = append(l.waiting, *e)
		l.wake()
		return
	}
	l.lost++
	l.log.Error("usage event lost: it could neither be written nor kept in memory; make room on the disk",
		"folder", l.cfg.Folder, "event", e.ID, "org", e.OrgID, "billed_frames", e.Billed, "lost", l.lost)
}

// Sync writes what waits in memory and returns when everything that was appended before is safe from a power cut.
func (l *Log) Sync(ctx context.Context) error {
	select {
	case l.syncing <- struct{}{}:
		defer func() { <-l.syncing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	failed := l.writeWaitingLocked()
	files, upTo := l.unsynced, l.last
	if l.active != nil {
		files = append(files[:len(files):len(files)], l.active)
	}
	ended := len(l.unsynced)
	clean := l.synced == upTo
	l.mu.Unlock()
	if clean {
		return l.noteSync(failed)
	}
	step("sync")
	for _, f := range files {
		if err := f.Sync(); err != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.failLocked(err)
			return fmt.Errorf("syncing the usage log: %w", err)
		}
	}
	step("synced")
	l.mu.Lock()
	for _, f := range l.unsynced[:ended] {
		_ = f.Close()
	}
	l.unsynced = l.unsynced[ended:]
	l.synced = upTo
	close(l.growth)
	l.growth = make(chan struct{})
	l.mu.Unlock()
	return l.noteSync(failed)
}

// noteSync notes how a sync went, and reports when the disk works again.
func (l *Log) noteSync(failed error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if failed != nil {
		l.failLocked(failed)
		return fmt.Errorf("writing the usage log: %w", failed)
	}
	if l.failing {
		l.failing = false
		l.log.Info("usage events are written again", "folder", l.cfg.Folder, "lost", l.lost)
	}
	return nil
}

// Backlog returns the present state. It is cheap.
func (l *Log) Backlog() Backlog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Backlog{Queued: l.last - l.acked, Waiting: len(l.waiting), Lost: l.lost, Forks: l.forks}
}

// Close syncs the log and lets go of the folder. What waits in memory for a disk that is still full is lost, which is
// logged. Run and the shipper must have returned, and no method may be called after it.
func (l *Log) Close() error {
	err := l.Sync(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if n := len(l.waiting); n > 0 {
		l.lost += int64(n)
		l.log.Error("usage events lost: the disk had no room for them until the end", "folder", l.cfg.Folder,
			"events", n)
	}
	for _, f := range l.unsynced {
		_ = f.Close()
	}
	if l.active != nil {
		_ = l.active.Close()
	}
	l.cursor.close()
	_ = l.lock.Close()
	return err
}

func (l *Log) wake() {
	select {
	case l.dirty <- struct{}{}:
	default:
	}
}

// failLocked reports that the disk does not work, once until it does again.
func (l *Log) failLocked(err error) {
	if !l.failing {
		l.log.Error("usage events cannot be written and wait in memory; make room on the disk", "folder",
			l.cfg.Folder, "error", err)
	}
	l.failing = true
}

// writeWaitingLocked writes what had no room. After an error the rest still waits.
func (l *Log) writeWaitingLocked() error {
	for i := range l.waiting {
		if err := l.writeLocked(&l.waiting[i]); err != nil {
			l.waiting = l.waiting[i:]
			return err
		}
	}
	l.waiting = nil
	return nil
}

// writeLocked writes e as the next event, all of it or nothing.
func (l *Log) writeLocked(e *Event) error {
	if l.closed {
		return errClosed
	}
	if l.active == nil || l.segments[len(l.segments)-1].size >= l.cfg.SegmentBytes {
		if err := l.beginSegmentLocked(); err != nil && l.active == nil {
			return err
		} // else the old one continues for want of another
	}
	e.Seq = l.last + 1
	l.buf = appendRecord(l.buf[:0], e)
	s := &l.segments[len(l.segments)-1]
	if _, err := l.active.Write(l.buf); err != nil {
		e.Seq = 0
		if l.active.Truncate(s.size) != nil { // half a record may stay behind, so nothing may follow it
			l.unsynced = append(l.unsynced, l.active)
			l.active = nil
		}
		return err
	}
	step("written")
	s.size += int64(len(l.buf))
	s.last = e.Seq
	l.last = e.Seq
	if _, known := l.running[e.ID]; e.Kind == Final {
		delete(l.running, e.ID)
	} else if !known {
		l.running[e.ID] = e.Seq
	}
	l.wake()
	return nil
}

// beginSegmentLocked begins the file of the next event.
func (l *Log) beginSegmentLocked() error {
	s := segment{first: l.last + 1, last: l.last, size: int64(len(segmentMagic))}
	s.path = filepath.Join(l.cfg.Folder, segmentName(s.first))
	f, err := l.create(s.path)
	if err != nil {
		return err
	}
	if l.active != nil {
		l.unsynced = append(l.unsynced, l.active)
	}
	l.active = f
	if n := len(l.segments); n > 0 && l.segments[n-1].first == s.first {
		l.segments[n-1] = s // an empty one, made anew
	} else {
		l.segments = append(l.segments, s)
	}
	step("segment")
	return nil
}

// createSegment makes an empty segment that a power cut cannot unmake.
func createSegment(path string) (segmentFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteString(segmentMagic); err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ack records that the sink has every event up to seq, and deletes segments that are no longer needed: those before it,
// except when a running stream has reported progress, which recovery after a crash needs.
func (l *Log) ack(seq int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq <= l.acked {
		return nil
	}
	l.acked = seq
	err := l.savePositionLocked()
	step("acked")
	if len(l.segments) > 1 && l.segments[0].last <= seq {
		keep := seq + 1
		for _, first := range l.running {
			keep = min(keep, first)
		}
		for len(l.segments) > 1 && l.segments[0].last < keep {
			if err := os.Remove(l.segments[0].path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			l.segments = l.segments[1:]
			step("removed")
		}
	}
	return err
}

// savePositionLocked writes what the sink has. It is not synced: after a power cut that loses it, events are sent
// again, and the sink knows them.
func (l *Log) savePositionLocked() error {
	return replaceFile(filepath.Join(l.cfg.Folder, positionName), strconv.FormatInt(l.acked, 10)+"\n", false)
}

// restart continues as a new source, whose first event is the one numbered first, without lost ones.
func (l *Log) restart(first, gone int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.beginSourceLocked(first, l.copied); err != nil {
		return err
	}
	l.lost += gone
	return nil
}

// fork is restart for a log that is a copy: the sink may have events that are there from the log that it was copied
// from.
func (l *Log) fork(first int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.beginSourceLocked(first, l.last); err != nil {
		return err
	}
	l.forks++
	return nil
}

func (l *Log) beginSourceLocked(first, copied int64) error {
	source := newSource()
	if err := l.saveSource(source, first-1, copied); err != nil {
		return err
	}
	l.source, l.base, l.copied = source, first-1, copied
	l.acked = max(l.acked, first-1)
	return l.savePositionLocked()
}

func (l *Log) saveSource(source string, base, copied int64) error {
	return replaceFile(filepath.Join(l.cfg.Folder, sourceName), fmt.Sprintf("%s %d %d\n", source, base, copied), true)
}

// origin returns what batches name: the source, its base, and the last event that the sink may have from another one.
func (l *Log) origin() (source string, base, copied int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source, l.base, l.copied
}

// lastAcked returns the number of the last event that the sink has.
func (l *Log) lastAcked() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}

// replaceFile writes a small file, all of it or nothing.
func replaceFile(path, text string, durable bool) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil && durable {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil && durable {
		err = syncFolder(filepath.Dir(path))
	}
	return err
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close()
	return err
}

// step names the places between the end of a stream and its being stored. Tests kill the process there.
func step(name string) {
	if onStep != nil {
		onStep(name)
	}
}

var onStep func(name string)
