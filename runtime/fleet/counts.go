package fleet

import "github.com/swar-tts/swar/runtime/metrics"

// Counts are for the metrics of a router.
func (s *Speaker) Counts() metrics.FleetCounts {
	o := s.Overview()
	c := metrics.FleetCounts{
		Demand: o.Demand, Refused: o.Refused, RefusedWarming: o.Warming, Failed: o.Failed, PodsEjected: o.Ejected,
	}
	for _, p := range o.Pods {
		c.ViewError += p.Unseen
		c.Busy += p.Busy
		switch {
		case !p.Connected:
			c.Away++
			continue
		case p.Ejected:
			c.Ejected++
		case p.Suspect:
			c.Suspected++
		case p.InUse:
			c.InUse++
		default:
			c.PodsWarming++
		}
		switch idle := p.State.Free(); {
		case p.Draining || p.Terminating:
			c.Draining += idle
		case p.Cordoned:
			c.Cordoned += idle
		case p.InUse:
			c.Free += idle
		}
		c.Warming += max(p.Workers-p.Ready, 0)
	}
	return c
}

// Streams are the utterances of this router's own clients.
func (s *Speaker) Streams() metrics.StreamCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return metrics.StreamCounts{Active: s.speaking, Queued: s.router.Queued()}
}
