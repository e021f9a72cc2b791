package meter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// cursor is an open segment and the position in it from which reading continues.
type cursor struct {
	file *os.File
	path string
	at   int64
	next int64 // number of the event there
	buf  []byte
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close()
	}
	*c = cursor{buf: c.buf}
}

const readChunk = 256 << 10 // more than the largest record

// wait returns when there is an event numbered from or higher to read, or with the cause of ctx.
func (l *Log) wait(ctx context.Context, from int64) error {
	for {
		l.mu.Lock()
		ready, growth := l.synced >= from, l.growth
		l.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-growth:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read returns at most limit events, the first of them numbered from, or the first one behind that if those before it
// are no longer there. It returns only events that are safe from a power cut: a number that the sink has seen must
// never be given again. It is for one goroutine.
func (l *Log) read(from int64, limit int) ([]Event, error) {
	l.mu.Lock()
	path, last, synced := "", int64(0), l.synced
	for _, s := range l.segments {
		if s.last >= from && s.last >= s.first {
			path, last = s.path, min(s.last, synced)
			break
		}
	}
	l.mu.Unlock()
	if path == "" || last < from {
		return nil, nil
	}
	c := &l.cursor
	if c.path != path || c.next != from {
		c.close()
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		c.file, c.path, c.at = f, path, int64(len(segmentMagic))
	}
	if c.buf == nil {
		c.buf = make([]byte, readChunk)
	}
	var events []Event
	for len(events) < limit {
		n, err := c.file.ReadAt(c.buf, c.at)
		if err != nil && !errors.Is(err, io.EOF) {
			c.close()
			return nil, err
		}
		used := 0
		for len(events) < limit {
			var e Event
			size, err := nextRecord(c.buf[used:n], &e)
			if errors.Is(err, errShort) && used > 0 {
				break
			}
			if err != nil {
				c.close()
				return nil, fmt.Errorf("reading event %d of the usage log: %w", from+int64(len(events)), err)
			}
			used += size
			if e.Seq >= from {
				events = append(events, e)
			}
			if e.Seq >= last {
				c.at, c.next = c.at+int64(used), e.Seq+1
				return events, nil
			}
			c.next = e.Seq + 1
		}
		c.at += int64(used)
	}
	return events, nil
}

// firstFrom returns the number of the first event from seq on that is there, or else of the next one to come.
func (l *Log) firstFrom(seq int64) (int64, error) {
	events, err := l.read(seq, 1)
	if err != nil {
		return 0, err
	}
	if len(events) > 0 {
		return events[0].Seq, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(seq, l.synced+1), nil
}
