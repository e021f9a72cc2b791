package launch

import (
	"io"
	"sync/atomic"
)

// LogWriter counts the lines that could not be written: the disk may be full, or the pipe closed.
type LogWriter struct {
	to      io.Writer
	dropped atomic.Int64
}

// NewLogWriter returns a writer to w, which gets one line with each Write.
func NewLogWriter(w io.Writer) *LogWriter { return &LogWriter{to: w} }

// Write implements [io.Writer].
func (w *LogWriter) Write(line []byte) (int, error) {
	n, err := w.to.Write(line)
	if err != nil || n < len(line) {
		w.dropped.Add(1)
	}
	return n, err
}

// Dropped returns how many lines were not written, or not whole.
func (w *LogWriter) Dropped() int64 { return w.dropped.Load() }
