package scaler_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swar-tts/swar/controllers/scaler"
)

// TestNothingThatSpeaksIsRemoved: pods start, speak, become unready or unreachable, and the wish changes, in any order;
// a ReplicaSet that deletes as a real one does never hits one that speaks. When all is calm again the Deployment has
// the desired size, and no pod is cordoned.
func TestNothingThatSpeaksIsRemoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster{T: t, now: start}
		c.wished = rapid.IntRange(0, 8).Draw(t, "size")
		c.deployed = c.wished
		for range rapid.IntRange(0, 150).Draw(t, "ticks") {
			if rapid.IntRange(0, 7).Draw(t, "wish changes") == 0 {
				c.wished = rapid.IntRange(0, 8).Draw(t, "wished")
			}
			c.tick(true)
		}
		for range (scaler.DefaultDrainTimeout+2*time.Minute)/scaler.Tick + 20 {
			c.tick(false)
		}
		if c.deployed != c.wished || len(c.pods) != c.wished {
			t.Fatalf("%d pods and a Deployment of %d, want %d", len(c.pods), c.deployed, c.wished)
		}
		for _, p := range c.pods {
			if p.isCordoned(c.now) {
				t.Fatalf("%s stays cordoned", p.name)
			}
		}
	})
}

// cluster is worker pods, what routers and Kubernetes know of them, and a ReplicaSet.
type cluster struct {
	*rapid.T
	now      time.Time
	drain    scaler.Drain
	wished   int
	deployed int
	pods     []*process
	created  int
}

// process is a pod as it is.
type process struct {
	name      string
	phase     int // 0 has no node, 1 is pending, 2 runs
	warm      bool
	cordoned  time.Time // until when
	sick      bool      // its probe fails, though it speaks
	reachable bool      // by routers
	streams   []time.Time
	ready     bool // as Kubernetes saw it last
	told      scaler.PodState
	toldAt    time.Time
}

func (p *process) isCordoned(now time.Time) bool { return now.Before(p.cordoned) }

func (c *cluster) likely(n int, what string) bool { return rapid.IntRange(0, n).Draw(c.T, what) == 0 }

// tick lets the operator look and act, and two seconds pass.
func (c *cluster) tick(wild bool) {
	f := scaler.Fleet{Replicas: c.wished, Deployed: c.deployed}
	states := make(map[string]scaler.PodState)
	for _, p := range c.pods {
		f.Pods = append(f.Pods, scaler.Pod{
			Name: p.name, Address: p.name, Scheduled: p.phase > 0, Running: p.phase == 2, Ready: p.ready,
		})
		if p.phase == 2 && p.reachable {
			if c.now.Sub(p.toldAt) >= 4*time.Second || !wild || c.likely(1, "it is heard of") {
				p.toldAt = c.now
				p.told = scaler.PodState{
					Address: p.name, Slots: 8, Busy: len(p.streams), Warm: p.warm, Cordoned: p.isCordoned(c.now),
					Connected: true,
				}
			}
			states[p.name] = p.told
		}
	}
	if wild && c.likely(40, "another operator takes over") {
		c.drain = scaler.Drain{}
	}
	s := c.drain.Step(c.now, c.wished, f, states)
	if s.Replicas < c.wished || s.Replicas > max(c.wished, c.deployed) {
		c.Fatalf("%d replicas, with %d of %d wished", s.Replicas, c.deployed, c.wished)
	}
	c.deployed = s.Replicas
	c.replicate()
	for _, p := range c.pods {
		switch {
		case !p.reachable || p.phase < 2 || wild && c.likely(9, "a cordon is lost"):
		case slices.Contains(s.Cordon, p.name):
			p.cordoned = c.now.Add(30 * time.Second)
		case slices.Contains(s.Uncordon, p.name):
			p.cordoned = time.Time{}
		}
	}
	c.now = c.now.Add(scaler.Tick)
	for _, p := range c.pods {
		p.pass(c, wild)
	}
}

// replicate creates and deletes pods as a ReplicaSet does.
func (c *cluster) replicate() {
	order := func(p *process) int {
		if p.phase < 2 || !p.ready {
			return p.phase
		}
		return 3
	}
	for len(c.pods) < c.deployed {
		c.created++
		c.pods = append(c.pods, &process{name: fmt.Sprintf("pod%d", c.created)})
	}
	if len(c.pods) == c.deployed {
		return
	}
	c.pods = rapid.Permutation(c.pods).Draw(c.T, "in no order within a rank")
	slices.SortStableFunc(c.pods, func(a, b *process) int { return cmp.Compare(order(a), order(b)) })
	for _, p := range c.pods[:len(c.pods)-c.deployed] {
		if len(p.streams) > 0 {
			c.Fatalf("%s is removed with %d streams", p.name, len(p.streams))
		}
	}
	c.pods = c.pods[len(c.pods)-c.deployed:]
}

// pass lets a pod go on.
func (p *process) pass(c *cluster, wild bool) {
	if p.phase < 2 {
		if !wild || c.likely(2, "it gets on") {
			p.phase++
		}
		p.reachable = p.phase == 2
		return
	}
	p.streams = slices.DeleteFunc(p.streams, func(end time.Time) bool { return !c.now.Before(end) })
	p.ready = p.warm && !p.isCordoned(c.now) && !p.sick // the probe is as late as what is spoken from now on
	if wild {
		p.sick = p.sick != c.likely(30, "its probe changes")
		p.reachable = p.reachable != c.likely(30, "its reach changes")
	} else {
		p.sick, p.reachable = false, true
	}
	if p.warm = p.warm || !wild || c.likely(3, "it becomes warm"); !p.warm {
		return
	}
	if wild && p.reachable && !p.isCordoned(c.now) && len(p.streams) < 8 && c.likely(1, "it is given a stream") {
		length := rapid.IntRange(1, 120).Draw(c.T, "of so many seconds")
		p.streams = append(p.streams, c.now.Add(time.Duration(length)*time.Second))
	}
}
