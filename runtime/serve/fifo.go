package serve

import "slices"

// fifo is a queue. The zero value is empty. It is not safe for concurrent use.
type fifo[T any] struct {
	items []T
	head  int // the first item; those before it have been popped
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(item T) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		q.items = slices.Delete(q.items, 0, q.head)
		q.head = 0
	}
	q.items = append(q.items, item)
}

// first returns the first item, in place. The queue must not be empty.
func (q *fifo[T]) first() *T { return &q.items[q.head] }

// pop removes the first item. The queue must not be empty.
func (q *fifo[T]) pop() T {
	item := q.items[q.head]
	clear(q.items[q.head : q.head+1])
	q.head++
	q.restart()
	return item
}

// remove removes the items that match.
func (q *fifo[T]) remove(match func(T) bool) {
	left := slices.DeleteFunc(q.items[q.head:], match)
	q.items = q.items[:q.head+len(left)]
	q.restart()
}

// restart begins at the front again when the queue is empty. A long one is not kept, because most queues are empty
// most of the time.
func (q *fifo[T]) restart() {
	if q.len() > 0 {
		return
	}
	q.items, q.head = q.items[:0], 0
	if cap(q.items) > 8 {
		q.items = nil
	}
}
