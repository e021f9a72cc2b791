package route

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	strikesOut  = 3 // failures without a frame between them
	ejectTime   = 10 * time.Second
	maxEjection = 5 * time.Minute

	affinityChars = 160 // code points of a text that count
)

// pick returns the pod that should speak a request now, or nil if none has a slot. A pod in the router's zone comes
// first. Among those the order is the rendezvous rank (highest random weight, Thaler and Ravishankar 1998) of the
// request, so that the same sentence meets the same pod's prefill cache, from every router. A silent pod is used only
// if no other has a slot, by one request at a time.
func (r *Router) pick(now time.Time, req *request) *pod {
	var best *candidate
	var bestRank uint64
	for i := range r.listed {
		c := &r.listed[i]
		rank := r.rank(c, req)
		isWorse := best != nil && (best.near && !c.near || best.near == c.near && rank <= bestRank)
		if isWorse || c.free() == 0 || !c.inUse(now) || c.suspect(now) || req.avoids(c.pod) {
			continue // in this order, because most are passed over by the first
		}
		best, bestRank = c, rank
	}
	if best != nil {
		return best.pod
	}
	for _, c := range r.listed {
		if c.free() > 0 && c.inUse(now) && c.suspect(now) && len(c.unseen) == 0 && !req.avoids(c.pod) {
			return c.pod
		}
	}
	return nil
}

// pickAgain returns a pod with a slot that has failed the request, and still reports, or nil.
func (r *Router) pickAgain(now time.Time, req *request) *pod {
	for _, c := range r.listed {
		if c.free() > 0 && c.inUse(now) && !c.suspect(now) && slices.Contains(req.failedPods, c.address) {
			return c.pod
		}
	}
	return nil
}

func (r *Router) rank(c *candidate, req *request) uint64 {
	if r.cfg.AtRandom {
		r.random++
		return mix(r.random)
	}
	return mix(c.hash ^ req.Affinity)
}

// recordFailure notes a failure of p, and leaves it alone for a while after some in a row: for longer each time, but
// never more than half of the pods that could be used. What was sent before it was left alone, and fails too, is the
// same failure.
func (r *Router) recordFailure(now time.Time, p *pod) {
	if p.isEjected(now) {
		return
	}
	p.strikes++
	if p.strikes < strikesOut {
		return
	}
	out, usable := 1, 0
	for _, other := range r.listed {
		if !other.isUsable() {
			continue
		}
		usable++
		if other.pod != p && other.isEjected(now) {
			out++
		}
	}
	if 2*out > usable {
		return
	}
	p.ejectedUntil = now.Add(min(ejectTime<<min(p.ejections, 5), maxEjection))
	p.ejections++
	p.strikes = 0
	r.counts.Ejected++
}

// Affinity is equal for utterances whose beginning a pod prepares once: same voice, same reading, same first sentence
// as written. A router has no tokenizer, and so cannot know the first chunk.
func Affinity(voice, text string, raw, enDigits bool) uint64 {
	end := 0
	for range affinityChars {
		c, size := utf8.DecodeRuneInString(text[end:])
		if end += size; size == 0 {
			break
		}
		if strings.ContainsRune(".!?।॥\n", c) && endsSentence(text[end:]) {
			break
		}
	}
	h := hashString(voice)
	for _, flag := range []bool{raw, enDigits} {
		h = mix(h << 1)
		if flag {
			h++
		}
	}
	return mix(h ^ hashString(text[:end]))
}

// endsSentence reports whether a full stop before rest ends a sentence, and is not one as in 3.5.
func endsSentence(rest string) bool {
	return rest == "" || strings.ContainsAny(rest[:1], " \t\n\r\"')")
}

// hashString is FNV-1a, which every router computes alike.
func hashString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix spreads every bit over all others: the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
