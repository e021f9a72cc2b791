package rest

import (
	lru "container/list"
	"sync"
)

// maxUsers is how many users something is kept of, some hundred bytes each; the one seen longest ago gives way.
const maxUsers = 10_000

// recent keeps a value for each of the users seen last. It is safe for concurrent use, as its values have to be.
type recent[V any] struct {
	most  int
	begin func() *V

	mu    sync.Mutex
	byID  map[string]*lru.Element
	order *lru.List // of entry[V], the user seen last in front
}

type entry[V any] struct {
	id    string
	value *V
}

// newRecent returns a map of at most most values, made by begin.
func newRecent[V any](most int, begin func() *V) *recent[V] {
	return &recent[V]{most: most, begin: begin, byID: make(map[string]*lru.Element), order: lru.New()}
}

// of returns the value of a user.
func (r *recent[V]) of(id string) *V {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.byID[id]; e != nil {
		r.order.MoveToFront(e)
		return e.Value.(entry[V]).value
	}
	if r.order.Len() >= r.most {
		oldest := r.order.Remove(r.order.Back()).(entry[V])
		delete(r.byID, oldest.id)
	}
	begun := r.begin()
	r.byID[id] = r.order.PushFront(entry[V]{id, begun})
	return begun
}
