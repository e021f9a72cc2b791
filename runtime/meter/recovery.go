package meter

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// recover reads the folder, repairs it, and makes the log ready to be written.
func (l *Log) recover() error {
	running, err := l.readSegments()
	if err != nil {
		return err
	}
	if err := l.readSource(); err != nil {
		return err
	}
	text, _ := os.ReadFile(filepath.Join(l.cfg.Folder, positionName)) // without it events are only sent again
	l.acked, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	l.acked = max(l.acked, l.base)
	if l.damagedEnd && l.acked <= l.last {
		l.lost++ // at least; damage before the end leaves a hole that the sink notices
	}
	if len(l.segments) > 0 {
		l.acked = max(l.acked, l.segments[0].first-1)
	}
	l.last = max(l.last, l.acked) // a number that the sink has seen is not given again
	l.synced, l.recovered = l.last, l.last
	l.endCutStreams(running)
	return nil
}

// readSource reads who the log is, or makes that up for a new one.
func (l *Log) readSource() error {
	path := filepath.Join(l.cfg.Folder, sourceName)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && l.last == 0:
		l.source = newSource()
		return l.saveSource(l.source, 0, 0)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there are events but no file %s, which prevents double counting: restore it, or move the folder away to drop the events", sourceName)
	case err != nil:
		return err
	}
	n, _ := fmt.Sscanf(string(text), "%s %d %d\n", &l.source, &l.base, &l.copied)
	if n < 2 { // earlier versions wrote two fields
		return fmt.Errorf("the file %s is damaged: restore it, or move the folder away to drop the events",
			sourceName)
	}
	return nil
}

// readSegments checks every record, and returns the last event of each stream that has no end.
func (l *Log) readSegments() (map[string]Event, error) {
	paths, err := filepath.Glob(filepath.Join(l.cfg.Folder, "*"+segmentEnd))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	running := map[string]Event{}
	for i, path := range paths {
		if err := l.readSegment(path, i == len(paths)-1, running); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return running, nil
}

// readSegment checks one. Invalid bytes are cut off at the end of the newest, where the crash was, and set aside
// elsewhere.
func (l *Log) readSegment(path string, newest bool, running map[string]Event) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	first, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(path), segmentEnd), 10, 64)
	if err != nil || first < 1 {
		return errors.New("this is not a name of a segment; move the file away")
	}
	l.last = max(l.last, first-1)
	good := make([]byte, 0, len(b))
	good = append(good, segmentMagic...)
	for at := min(len(segmentMagic), len(b)); at < len(b); {
		var e Event
		n, err := nextRecord(b[at:], &e)
		switch {
		case err == nil && e.Seq > l.last:
			good = append(good, b[at:at+n]...)
			l.last, l.damagedEnd = e.Seq, false
			at += n
			if e.Kind == Final {
				delete(running, e.ID)
				delete(l.running, e.ID)
				continue
			}
			running[e.ID] = e
			if _, known := l.running[e.ID]; !known {
				l.running[e.ID] = e.Seq
			}
			continue
		case err != nil && !errors.Is(err, errShort) && !errors.Is(err, errDamaged):
			return fmt.Errorf("event behind %d: %w", l.last, err)
		}
		next := findRecord(b, at+1, l.last)
		if newest && next == len(b) && (errors.Is(err, errShort) || endsInZeros(b[at:])) {
			l.log.Warn("usage log: cut off an event that was being written when the server stopped", "file", path,
				"bytes", len(b)-at)
		} else if err := l.setAside(path, at, b[at:next]); err != nil {
			return err
		}
		at = next
	}
	if !bytes.Equal(good, b) {
		err = replaceFile(path, string(good), true)
	} else {
		err = syncFile(path) // the process may have ended before it could
	}
	l.segments = append(l.segments, segment{path: path, first: first, last: l.last, size: int64(len(good))})
	return err
}

// endsInZeros reports whether b ends as a file does that a power cut left longer than what was written to it.
func endsInZeros(b []byte) bool {
	zeros := len(b) - len(bytes.TrimRight(b, "\x00"))
	return zeros == len(b) || zeros >= 8
}

// setAside keeps invalid bytes for inspection.
func (l *Log) setAside(path string, at int, b []byte) error {
	f, err := os.CreateTemp(l.cfg.Folder, fmt.Sprintf("%s.%d.*%s", filepath.Base(path), at, damagedEnd))
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	l.damagedEnd = true
	l.log.Error("usage log: a part of it is damaged; its events are not billed. It is kept for inspection",
		"file", path, "offset", at, "bytes", len(b), "behind_event", l.last, "kept_in", f.Name())
	return err
}

// endCutStreams ends the streams that the last stop cut off. They stay billed for what they had reported.
func (l *Log) endCutStreams(running map[string]Event) {
	for _, id := range slices.SortedFunc(maps.Keys(running),
		func(a, b string) int { return int(running[a].Seq - running[b].Seq) }) {
		e := running[id]
		e.Kind, e.Status, e.Error = Final, Failed, "server stopped"
		e.Frames, e.Billed = 0, 0
		l.Append(&e)
	}
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	_ = f.Close()
	return err
}
