package fleet

// rate is how fast a counter grows, over the last seconds.
type rate struct {
	seconds [11]int64 // the counter at each of them, the newest at next-1
	next    int
	ticks   int
}

// tick notes the counter. It is called once a second.
func (r *rate) tick(count int64) {
	r.seconds[r.next] = count
	r.next = (r.next + 1) % len(r.seconds)
	r.ticks++
}

// perSecond returns the mean growth over the last ten seconds, up to the present count.
func (r *rate) perSecond(count int64) float64 {
	span := min(r.ticks, len(r.seconds))
	if span == 0 {
		return 0
	}
	oldest := (r.next - span + len(r.seconds)) % len(r.seconds)
	return float64(count-r.seconds[oldest]) / float64(span)
}
