// Package queue is a bounded FIFO queue with ages. It has no clock and starts nothing; its user passes the time in, and
// decides about entries that have waited too long.
package queue

import (
	"iter"
	"time"
)

// Queue holds what waits, the oldest first. The zero value has no room. It is not safe for concurrent use.
type Queue[T any] struct {
	limit       int
	len         int
	first, last *Entry[T]
}

// New returns an empty queue with room for limit entries.
func New[T any](limit int) *Queue[T] { return &Queue[T]{limit: limit} }

// Entry is one that waits, or has waited.
type Entry[T any] struct {
	Value T
	Since time.Time // when its wait began

	queue          *Queue[T] // nil once it has left
	newer, earlier *Entry[T]
}

// Push appends v, which has waited since a time, and returns its entry. It returns nil when the queue is full. since
// is now or before.
func (q *Queue[T]) Push(v T, since time.Time) *Entry[T] {
	if q.len >= q.limit {
		return nil
	}
	e := &Entry[T]{Value: v, Since: since, queue: q, earlier: q.last}
	if q.last == nil {
		q.first = e
	} else {
		q.last.newer = e
	}
	q.last = e
	q.len++
	return e
}

// Insert adds v behind all entries that have waited at least as long, and returns its entry. since is now or before. It
// is for a returning entry: a full queue accepts it, and the user removes the [Queue.Last] one instead.
func (q *Queue[T]) Insert(v T, since time.Time) *Entry[T] {
	earlier, newer := (*Entry[T])(nil), q.first
	for newer != nil && !newer.Since.After(since) {
		earlier, newer = newer, newer.newer
	}
	e := &Entry[T]{Value: v, Since: since, queue: q, earlier: earlier, newer: newer}
	if earlier == nil {
		q.first = e
	} else {
		earlier.newer = e
	}
	if newer == nil {
		q.last = e
	} else {
		newer.earlier = e
	}
	q.len++
	return e
}

// First returns the entry that is served next, without removing it, or nil for an empty queue.
func (q *Queue[T]) First() *Entry[T] { return q.first }

// Last returns the entry that has waited for the shortest time, or nil for an empty queue.
func (q *Queue[T]) Last() *Entry[T] { return q.last }

// All returns the entries in the order in which they are served. The queue must not change meanwhile.
func (q *Queue[T]) All() iter.Seq[*Entry[T]] {
	return func(yield func(*Entry[T]) bool) {
		for e := q.first; e != nil; e = e.newer {
			if !yield(e) {
				return
			}
		}
	}
}

// Newer returns the entry that is served after e, or nil where e is the last or waits no more.
func (e *Entry[T]) Newer() *Entry[T] { return e.newer }

// Pop removes the entry that was pushed first, or returns nil for an empty queue.
func (q *Queue[T]) Pop() *Entry[T] {
	e := q.first
	if e != nil {
		q.Remove(e)
	}
	return e
}

// Remove takes e out, in constant time. It reports whether e was still waiting in q.
func (q *Queue[T]) Remove(e *Entry[T]) bool {
	if e.queue != q {
		return false
	}
	if e.earlier == nil {
		q.first = e.newer
	} else {
		e.earlier.newer = e.newer
	}
	if e.newer == nil {
		q.last = e.earlier
	} else {
		e.newer.earlier = e.earlier
	}
	e.queue, e.newer, e.earlier = nil, nil, nil
	q.len--
	return true
}

// Len returns how many wait.
func (q *Queue[T]) Len() int { return q.len }

// Limit returns how many may wait.
func (q *Queue[T]) Limit() int { return q.limit }

// Age returns how long the next entry has waited, 0 for an empty queue.
func (q *Queue[T]) Age(now time.Time) time.Duration {
	if q.first == nil {
		return 0
	}
	return now.Sub(q.first.Since)
}
