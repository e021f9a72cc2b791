package main

import (
	"math"
	"time"

	"github.com/swar-tts/swar/controllers/scaler"
)

// Autoscalers, of which the operator's own is ownLoop. The others are models of what they are named after, as their
// documentation describes them, with the same utilization aimed at unless they have one of their own.
const (
	ownLoop   = "own loop"
	hpaDemand = "HPA on demand"
	hpaQueue  = "HPA on queue"
	kpaLike   = "KPA-like"
	oracle    = "oracle"
	fixedSize = "fixed"
)

var autoscalers = []string{oracle, ownLoop, hpaDemand, kpaLike, hpaQueue}

// autoscaler chooses a size each two seconds.
type autoscaler interface{ size(s sight) int }

// sight is what an autoscaler may look at.
type sight struct {
	scaler.Decision               // of the operator, with the demand and the queue depth that it offers
	since           time.Duration // the beginning
	wished          int
	ready           int // pods
	concurrent      int // utterances that are spoken or wait
}

const (
	utilization  = 0.8
	slotsPerSize = slotCount * utilization // streams that a pod is wanted for
	queuePerPod  = 2                       // waiting requests that a pod is wanted for, by default
)

func newAutoscaler(s *scaling) autoscaler {
	switch s.by {
	case ownLoop:
		return own{}
	case hpaDemand:
		return &hpa{wants: func(s sight) float64 { return s.Demand / slotsPerSize }}
	case hpaQueue:
		return &hpa{wants: func(s sight) float64 { return float64(s.QueueDepth) / queuePerPod }}
	case kpaLike:
		return &kpa{}
	case oracle:
		return seer{s}
	case fixedSize:
		return fixed{}
	}
	panic("there is no autoscaler " + s.by)
}

func ceil(x float64) int { return int(math.Ceil(x - 1e-9)) }

type own struct{}

func (own) size(s sight) int { return s.Replicas }

type fixed struct{}

func (fixed) size(s sight) int { return s.wished }

// hpa is the HorizontalPodAutoscaler with an external metric (AverageValue) and its defaults: it looks each 15 s, does
// nothing within 10 %, doubles or adds four pods at a time, and shrinks to the largest wish of five minutes.
type hpa struct {
	wants  func(s sight) float64
	wishes recent
	next   time.Duration
}

func (h *hpa) size(s sight) int {
	if s.since < h.next {
		return s.wished
	}
	h.next = s.since + 15*time.Second
	want := h.wants(s)
	to := ceil(want)
	if math.Abs(want/float64(max(s.wished, 1))-1) <= 0.1 {
		to = s.wished
	}
	h.wishes.add(s.since, float64(to), 300*time.Second)
	if to < s.wished {
		to = min(int(h.wishes.max()), s.wished)
	}
	return min(to, max(2*s.wished, s.wished+4))
}

// kpa is Knative's: the mean of what is spoken and waits over a minute, or over six seconds in a panic, which begins
// where that asks for twice the pods that are ready, and in which nothing shrinks.
type kpa struct {
	seen  recent
	panic time.Duration // until when
	most  int           // of a panic
}

func (k *kpa) size(s sight) int {
	const streams = slotCount * 0.7 // its default
	k.seen.add(s.since, float64(s.concurrent), 60*time.Second)
	stable, quick := ceil(k.seen.mean(0)/streams), ceil(k.seen.mean(s.since-6*time.Second)/streams)
	if quick >= 2*s.ready {
		k.panic = s.since + 60*time.Second
	}
	if s.since >= k.panic {
		k.most = 0
		return max(stable, s.ready/2)
	}
	k.most = max(k.most, quick, s.wished)
	return k.most
}

// seer knows what clients will ask for while a pod starts.
type seer struct{ *scaling }

func (o seer) size(s sight) int {
	most := 0.0
	for ahead := time.Duration(0); ahead <= podStartMost+2*scaler.Tick; ahead += time.Second {
		most = max(most, o.demand(s.since+ahead))
	}
	return ceil(most / slotsPerSize)
}

// recent is figures of a while.
type recent struct {
	at      []time.Duration
	figures []float64
}

func (r *recent) add(now time.Duration, v float64, window time.Duration) {
	r.at, r.figures = append(r.at, now), append(r.figures, v)
	for now-r.at[0] > window {
		r.at, r.figures = r.at[1:], r.figures[1:]
	}
}

func (r *recent) max() float64 {
	most := 0.0
	for _, v := range r.figures {
		most = max(most, v)
	}
	return most
}

func (r *recent) mean(since time.Duration) float64 {
	sum, n := 0.0, 0
	for i, v := range r.figures {
		if r.at[i] >= since {
			sum += v
			n++
		}
	}
	return sum / float64(max(n, 1))
}
