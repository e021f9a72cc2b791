// Package route decides which pod speaks which utterance, and when. A [Router] is a router's half: its view of the
// pods, selection, queue, retries. [Grants] is a pod's half: for which request a free slot is kept.
//
// Both are state machines. Events and the time go in, effects come out; there is no goroutine, clock or channel, so
// that programs, tests and the simulator run the same decisions. Neither is safe for concurrent use.
package route

import (
	"errors"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/queue"
	"github.com/swar-tts/swar/runtime/speech"
)

// What a router promises its clients.
const (
	DefaultQueueLen  = 8
	DefaultQueueWait = 1950 * time.Millisecond // a refusal leaves before 2 s have passed
	MaxAttempts      = 3                       // pods that are asked for one utterance
)

// GrantTime is how long a pod keeps a slot for the holder of a grant.
const GrantTime = 50 * time.Millisecond

// suspectAfter is how long a pod may be silent, three heartbeats, before it is used only as the last choice.
const suspectAfter = 3 * time.Second

// Config sizes a router. The zero value is what a router without a zone uses.
type Config struct {
	Zone     string // where the router is; pods there are preferred
	QueueLen int    // utterances allowed to wait; 0 means 8, negative none
	AtRandom bool   // pick any pod with a free slot instead of the one that is likely to have the text prepared
	Seed     uint64 // of picks at random
}

// Endpoint is where a worker pod can be dialled.
type Endpoint struct {
	Address     string // HOST:PORT
	Zone        string // empty where unknown
	Terminating bool   // it goes away: what runs may finish; nothing new while another pod is usable
}

// ID names a request of this router. The caller chooses it; it is never used again.
type ID uint64

// Request is an utterance that wants a slot.
type Request struct {
	Affinity uint64 // equal for utterances that a pod can prepare once: see [Affinity]
	Session  string // a slot may have been kept for its next utterance; empty for none

	// StartedAt is when the client first got audio of its turn, as [speech.Turn] has it. It waits in front of those
	// that have not begun, without a time limit; zero for none.
	StartedAt time.Time
}

// aheadOf exceeds the waiting time of every request that has not begun, at any router: pods serve by age.
const aheadOf = time.Minute

// continues reports whether the client has already got audio of the request's turn.
func (q *Request) continues() bool { return !q.StartedAt.IsZero() }

// Router holds the pods and the requests that wait for one.
type Router struct {
	cfg      Config
	pods     map[string]*pod
	listed   []candidate // in the order of their addresses, so that equal events give equal effects
	requests map[ID]*request
	waiting  *queue.Queue[*request]
	held     map[string]heldSlot // by session
	random   uint64
	sent     uint64 // attempts, of all pods: one that is listed again may remember what it has seen
	effects  []Effect
	counts   Counts
}

// request is one that has not ended.
type request struct {
	id ID
	Request
	arrivedAt  time.Time
	attempts   int
	refused    []string  // pods that had no slot, since it last waited
	failedPods []string  // pods that failed it, even if they are listed anew
	patient    time.Time // until when the last attempt is made only to a slot that is kept for it
	last       error     // why the last attempt came to nothing
	entry      *queue.Entry[*request]
	pod        *pod   // the pod that it was sent to; nil while it waits
	number     uint64 // of the attempt at that pod
	answered   bool   // a frame has come
}

// heldSlot is a slot that a pod keeps for the next utterance of a session.
type heldSlot struct {
	pod   *pod
	grant uint64
	until time.Time
}

// Counts is what a router has done since it began. Every request ends in exactly one of Served, Cut, Refused, Warming,
// Failed and Left.
type Counts struct {
	Arrived  int64
	Served   int64 // spoken to an end, whichever
	Cut      int64 // lost by its pod after the first frame
	Refused  int64 // no slot was free in time
	Warming  int64 // no pod was in use
	Failed   int64 // pods were tried in vain
	Left     int64 // by the caller, before a pod had it
	Lost     int64 // attempts that a pod did not end, each of which was retried or ended its request
	Attempts int64 // utterances sent to pods
	Granted  int64 // of those, to slots that were kept for them
	Declined int64 // granted slots that were returned, because no request waited any more
	Ejected  int64 // pods that were left alone for a while
}

// New returns a router that knows no pod.
func New(cfg Config) *Router {
	if cfg.QueueLen == 0 {
		cfg.QueueLen = DefaultQueueLen
	}
	return &Router{
		cfg: cfg, pods: make(map[string]*pod), requests: make(map[ID]*request), held: make(map[string]heldSlot),
		waiting: queue.New[*request](max(cfg.QueueLen, 0)), random: cfg.Seed,
	}
}

// Effect is what is to be done after an event: a [Send], [Refuse], [Wait], [Decline] or [PublishWaiting].
type Effect interface{ effect() }

// Send has a request spoken by a pod.
type Send struct {
	ID     ID
	Pod    string
	Number uint64 // of the attempt, greater than all before it
	Grant  uint64 // of the slot that is kept for it; 0 for none
}

// Refuse ends a request without speech.
type Refuse struct {
	ID  ID
	Err error // speech.ErrBusy, ErrWarming, or why the last attempt failed
}

// Wait means that a request waits for a slot. When its time is over, [Router.Expire] ends it.
type Wait struct{ ID ID }

// Decline returns a granted slot, because its request no longer waits.
type Decline struct {
	Pod   string
	Grant uint64
}

// PublishWaiting means that pods need the waiting requests: see [Router.Waiting].
type PublishWaiting struct{}

func (Send) effect()           {}
func (Refuse) effect()         {}
func (Wait) effect()           {}
func (Decline) effect()        {}
func (PublishWaiting) effect() {}

// done returns the effects of an event. They are good until the next one.
func (r *Router) done() []Effect {
	all := r.effects
	r.effects = r.effects[:0]
	return all
}

func (r *Router) add(e Effect) { r.effects = append(r.effects, e) }

// Counts returns what was done so far.
func (r *Router) Counts() Counts { return r.counts }

// Waiting returns since when those in the queue wait, the oldest first.
func (r *Router) Waiting() []time.Time {
	since := make([]time.Time, 0, r.waiting.Len())
	for e := range r.waiting.All() {
		since = append(since, e.Since)
	}
	return since
}

// Arrive takes a new request in. It is sent, waits or is refused.
func (r *Router) Arrive(now time.Time, id ID, q Request) []Effect {
	r.counts.Arrived++
	req := &request{id: id, Request: q, arrivedAt: now}
	if q.continues() {
		req.arrivedAt = q.StartedAt.Add(-aheadOf)
	}
	if h, ok := r.takeHeld(now, q.Session); ok {
		r.requests[id] = req
		r.send(req, h.pod, h.grant)
		return r.done()
	}
	if r.waiting.Len() == 0 || q.continues() {
		if p := r.pick(now, req); p != nil {
			r.requests[id] = req
			r.send(req, p, 0)
			return r.done()
		}
	}
	if !q.continues() && !r.anyInUse(now) {
		r.counts.Warming++
		r.add(Refuse{id, speech.ErrWarming})
		return r.done()
	}
	if q.continues() {
		req.entry = r.waiting.Insert(req, req.arrivedAt)
	} else if req.entry = r.waiting.Push(req, now); req.entry == nil {
		r.counts.Refused++
		r.add(Refuse{id, speech.ErrBusy})
		return r.done()
	}
	r.requests[id] = req
	r.add(Wait{id})
	r.add(PublishWaiting{})
	r.serveWaiting(now) // those before it may wait because a pod that is free has failed them
	return r.done()
}

// Expire ends a request that has waited for its whole time. One that was sent meanwhile continues, and one that was
// failed by a pod which still reports is sent there once more: no other pod had a slot for it.
func (r *Router) Expire(now time.Time, id ID) []Effect {
	req, ok := r.requests[id]
	if !ok || req.pod != nil {
		return r.done()
	}
	r.leaveQueue(req)
	if p := r.pickAgain(now, req); p != nil && req.attempts < MaxAttempts {
		r.send(req, p, 0)
	} else {
		r.abandon(now, req)
	}
	return r.done()
}

// Leave ends a request whose asker has gone while it waited.
func (r *Router) Leave(id ID) []Effect {
	req, ok := r.requests[id]
	if !ok || req.pod != nil {
		return r.done()
	}
	r.leaveQueue(req)
	r.counts.Left++
	delete(r.requests, id)
	return r.done()
}

// Answered notes the first frame of a request. The pod is healthy, and no other pod can be tried any more.
func (r *Router) Answered(_ time.Time, id ID) []Effect {
	if req, ok := r.requests[id]; ok && req.pod != nil {
		req.answered = true
		req.pod.strikes, req.pod.ejections = 0, 0
	}
	return r.done()
}

// Ended notes that a pod is done with a request, with success or not, and that the asker knows.
func (r *Router) Ended(now time.Time, id ID) []Effect {
	if req, ok := r.requests[id]; ok && req.pod != nil {
		req.pod.forget(req)
		r.counts.Served++
		delete(r.requests, id)
		r.serveWaiting(now)
	}
	return r.done()
}

// SendFailed notes that an attempt was never made, because the asker left in the same moment. A slot that was kept
// for it is given back.
func (r *Router) SendFailed(now time.Time, id ID, grant uint64) []Effect {
	req, ok := r.requests[id]
	if !ok || req.pod == nil {
		return r.done()
	}
	req.pod.forget(req)
	r.counts.Left++
	r.counts.Attempts--
	if grant != 0 {
		r.counts.Granted--
		r.counts.Declined++
		r.add(Decline{req.pod.address, grant})
	}
	delete(r.requests, id)
	r.serveWaiting(now)
	return r.done()
}

// Refused records that a pod had no slot for a request after all. Another one is tried. [Router.EndState] records the
// pod's state before.
func (r *Router) Refused(now time.Time, id ID) []Effect {
	if req, ok := r.requests[id]; ok && req.pod != nil {
		req.refused = append(req.refused, req.pod.address)
		r.retry(now, req, speech.ErrBusy)
	}
	return r.done()
}

// AttemptFailed records that a pod failed an attempt with err. It could not be reached, died or was silent. That counts
// against it, and another pod is tried, unless a frame had arrived already: then the request has ended.
func (r *Router) AttemptFailed(now time.Time, id ID, err error) []Effect {
	req, ok := r.requests[id]
	if !ok || req.pod == nil {
		return r.done()
	}
	r.counts.Lost++
	r.recordFailure(now, req.pod)
	if req.answered {
		req.pod.forget(req)
		r.counts.Cut++
		delete(r.requests, id)
		r.serveWaiting(now)
		return r.done()
	}
	req.failedPods = append(req.failedPods, req.pod.address)
	r.retry(now, req, err)
	return r.done()
}

// retry sends a request, whose attempt came to nothing, to another pod, or lets it wait in its turn. What it had in
// view of its pod may do for others.
//
// After two losses to faster requests, the last attempt is protected: it waits for a slot that is kept for it, for as
// long as a grant needs to arrive.
//
// A returning request may find the queue full. It keeps its turn, and the youngest of all waiting requests is refused:
// the queue never exceeds its limit.
//
// The continuation of a turn always waits, except for pods that fail it.
func (r *Router) retry(now time.Time, req *request, err error) {
	req.last = err
	req.pod.forget(req)
	req.pod = nil
	isBusy := errors.Is(err, speech.ErrBusy)
	if isBusy && req.continues() {
		req.attempts-- // that others were faster does not count
	}
	var next *pod
	if r.cfg.QueueLen >= 0 && req.attempts == MaxAttempts-1 && isBusy {
		req.patient = now.Add(2 * GrantTime)
	} else {
		next = r.pick(now, req)
	}
	switch {
	case next != nil && req.attempts < MaxAttempts:
		r.send(req, next, 0)
	case req.attempts >= MaxAttempts, !req.continues() && (r.cfg.QueueLen < 0 || !r.anyInUse(now)):
		r.abandon(now, req)
	default:
		req.refused = nil // what they said of themselves is known, and may change while it waits
		req.entry = r.waiting.Insert(req, req.arrivedAt)
		r.add(Wait{req.id})
		r.add(PublishWaiting{})
	}
	r.serveWaiting(now)
	for r.newWaiting() > r.waiting.Limit() { // what was just served has made room first
		youngest := r.waiting.Last().Value
		r.leaveQueue(youngest)
		r.abandon(now, youngest)
	}
}

// newWaiting is the number of waiting requests that have not begun; they wait behind all others.
func (r *Router) newWaiting() int {
	begun := 0
	for e := range r.waiting.All() {
		if !e.Value.continues() {
			break
		}
		begun++
	}
	return r.waiting.Len() - begun
}

// abandon ends a request without speech.
func (r *Router) abandon(now time.Time, req *request) {
	delete(r.requests, req.id)
	switch {
	case req.last != nil && !errors.Is(req.last, speech.ErrBusy):
		r.counts.Failed++
		r.add(Refuse{req.id, req.last})
	case !r.anyInUse(now):
		r.counts.Warming++
		r.add(Refuse{req.id, speech.ErrWarming})
	default:
		r.counts.Refused++
		r.add(Refuse{req.id, speech.ErrBusy})
	}
}

func (r *Router) leaveQueue(req *request) {
	r.waiting.Remove(req.entry)
	req.entry = nil
	r.add(PublishWaiting{})
}

func (r *Router) send(req *request, p *pod, grant uint64) {
	r.sent++
	req.pod, req.number = p, r.sent
	p.unseen = append(p.unseen, req.number)
	p.running++
	req.attempts++
	r.counts.Attempts++
	if grant != 0 {
		r.counts.Granted++
	}
	r.add(Send{req.id, p.address, req.number, grant})
}

// Granted notes a slot that a pod reserves for this router. It is for the oldest waiting request, or for a session.
// It is declined where there is none, or the pod is not in use here.
func (r *Router) Granted(now time.Time, address string, grant uint64, session string) []Effect {
	p, ok := r.pods[address]
	if !ok {
		return r.done()
	}
	if session != "" {
		r.held[session] = heldSlot{p, grant, now.Add(GrantTime)}
		return r.done()
	}
	p.grants++
	first := r.firstFor(p)
	if first == nil || !p.inUse(now) {
		r.counts.Declined++
		r.add(Decline{address, grant})
		return r.done()
	}
	r.leaveQueue(first)
	r.send(first, p, grant)
	return r.done()
}

// firstFor returns the longest-waiting request that p has not refused yet.
func (r *Router) firstFor(p *pod) *request {
	for e := range r.waiting.All() {
		if !e.Value.avoids(p) {
			return e.Value
		}
	}
	return nil
}

// takeHeld takes the slot that is kept for a session, if it still is.
func (r *Router) takeHeld(now time.Time, session string) (heldSlot, bool) {
	h, ok := r.held[session]
	if !ok || session == "" {
		return h, false
	}
	delete(r.held, session)
	return h, now.Before(h.until) && h.pod.inUse(now)
}

// serveWaiting sends waiting requests to pods that have become free without a grant, such as new ones. The
// longest-waiting one comes first; others only if all free pods have failed it.
func (r *Router) serveWaiting(now time.Time) {
	for e := r.waiting.First(); e != nil; {
		next := e.Newer()
		if now.Before(e.Value.patient) {
			e = next
			continue
		}
		p := r.pick(now, e.Value)
		if p == nil && len(e.Value.failedPods) == 0 {
			return // nothing is free for the others either
		}
		if p != nil {
			r.leaveQueue(e.Value)
			r.send(e.Value, p, 0)
		}
		e = next
	}
}

// avoids reports whether the request should not go to p again.
func (q *request) avoids(p *pod) bool {
	return slices.Contains(q.refused, p.address) || slices.Contains(q.failedPods, p.address)
}

// Tick lets time pass, once a second or so: what was put off until then is looked at again.
func (r *Router) Tick(now time.Time) []Effect {
	for session, h := range r.held {
		if !now.Before(h.until) {
			delete(r.held, session)
		}
	}
	r.serveWaiting(now)
	return r.done()
}
