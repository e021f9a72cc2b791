package scaler_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swar-tts/swar/controllers/scaler"
)

// worker is a pod as it is shown to a drain.
type worker struct {
	scaler.Pod
	scaler.PodState
}

// ready is a pod that speaks so many streams; its name is also its address.
func ready(name string, busy int) worker {
	return worker{
		scaler.Pod{Name: name, Address: name, Scheduled: true, Running: true, Ready: true},
		scaler.PodState{Address: name, Slots: 8, Busy: busy, Warm: true, Connected: true},
	}
}

func (w worker) but(change func(*worker)) worker {
	change(&w)
	return w
}

func isCordoned(w *worker) { w.Ready, w.Cordoned = false, true }
func cordonSeen(w *worker) { w.Cordoned = true }
func notReady(w *worker)   { w.Ready = false }
func warming(w *worker)    { w.Ready, w.Warm = false, false }
func outOfReach(w *worker) { w.Connected = false }
func unscheduled(w *worker) {
	w.Scheduled, w.Running, w.Ready, w.Connected = false, false, false, false
}
func pending(w *worker)             { w.Running, w.Ready, w.Connected = false, false, false }
func terminating(w *worker)         { w.Terminating, w.Ready = true, false }
func inZone(z string) func(*worker) { return func(w *worker) { w.Zone = z } }

func show(deployed int, rolling bool, workers []worker) (scaler.Fleet, map[string]scaler.PodState) {
	f := scaler.Fleet{Deployed: deployed, Rolling: rolling}
	states := make(map[string]scaler.PodState)
	for _, w := range workers {
		f.Pods = append(f.Pods, w.Pod)
		if w.Connected {
			states[w.Pod.Address] = w.PodState
		}
	}
	return f, states
}

func TestDrain(t *testing.T) {
	type step struct {
		after    time.Duration
		wished   int
		deployed int
		pods     []worker
		rolling  bool
		replicas int
		cordon   []string
		uncordon []string
		blocked  scaler.Blocked
	}
	a, b, c, d := ready("a", 0), ready("b", 1), ready("c", 2), ready("d", 3)
	for name, steps := range map[string][]step{
		"as many as wished": {{wished: 2, deployed: 2, pods: []worker{a, b}, replicas: 2}},
		"more are wished":   {{wished: 5, deployed: 2, pods: []worker{a, b}, replicas: 5}},
		"the idlest goes, first cordoned, then unready, then removed": {
			{wished: 2, deployed: 3, pods: []worker{d, a, c}, replicas: 3, cordon: []string{"a"}, blocked: scaler.UntilCordoned},
			{wished: 2, deployed: 3, pods: []worker{d, a.but(cordonSeen), c}, replicas: 3, cordon: []string{"a"}, blocked: scaler.UntilCordoned},
			{wished: 2, deployed: 3, pods: []worker{d, a.but(isCordoned), c}, replicas: 2, cordon: []string{"a"}},
			{wished: 2, deployed: 2, pods: []worker{d, a.but(isCordoned).but(terminating), c}, replicas: 2},
		},
		"a pod that speaks is waited for": {
			{wished: 1, deployed: 2, pods: []worker{c, d}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilCordoned},
			{wished: 1, deployed: 2, pods: []worker{c.but(isCordoned), d}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilEmpty},
		},
		"what was chosen stays chosen, though another is idler now": {
			{wished: 1, deployed: 2, pods: []worker{c, d}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilCordoned},
			{wished: 1, deployed: 2, pods: []worker{c.but(isCordoned), ready("d", 0)}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilEmpty},
		},
		"one empty, one not: none can be removed, as either might be": {
			{wished: 1, deployed: 3, pods: []worker{a, b, c}, replicas: 3, cordon: []string{"a", "b"}, blocked: scaler.UntilCordoned},
			{wished: 1, deployed: 3, pods: []worker{a.but(isCordoned), b.but(isCordoned), c}, replicas: 3, cordon: []string{"a", "b"}, blocked: scaler.UntilEmpty},
		},
		"while one is empty and one not, nobody else is cordoned": {
			{wished: 2, deployed: 4, pods: []worker{a, b, c, d}, replicas: 4, cordon: []string{"a", "b"}, blocked: scaler.UntilCordoned},
			{wished: 1, deployed: 4, pods: []worker{a.but(isCordoned), b.but(isCordoned), c, d}, replicas: 4, cordon: []string{"a", "b"}, blocked: scaler.UntilEmpty},
		},
		"the wish rises: at once": {
			{wished: 1, deployed: 3, pods: []worker{a, b, c}, replicas: 3, cordon: []string{"a", "b"}, blocked: scaler.UntilCordoned},
			{wished: 3, deployed: 3, pods: []worker{a.but(isCordoned), b.but(isCordoned), c}, replicas: 3, uncordon: []string{"a", "b"}},
		},
		"the wish rises by one: the busier one stays": {
			{wished: 1, deployed: 3, pods: []worker{a, b, c}, replicas: 3, cordon: []string{"a", "b"}, blocked: scaler.UntilCordoned},
			{wished: 2, deployed: 3, pods: []worker{a.but(cordonSeen), b.but(isCordoned), c}, replicas: 3, cordon: []string{"a"}, uncordon: []string{"b"}, blocked: scaler.UntilCordoned},
		},
		"pods without a node or not started yet go first and at once": {
			{wished: 1, deployed: 3, pods: []worker{a, b.but(pending), c.but(unscheduled)}, replicas: 1},
		},
		"of those and one more, the one has to be emptied": {
			{wished: 1, deployed: 3, pods: []worker{a, b, c.but(pending)}, replicas: 2, cordon: []string{"a"}, blocked: scaler.UntilCordoned},
		},
		"a warming pod goes before a serving one, once it cannot become warm": {
			{wished: 1, deployed: 2, pods: []worker{a, c.but(warming)}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilEmpty},
			{wished: 1, deployed: 2, pods: []worker{a, ready("c", 0).but(warming).but(isCordoned)}, replicas: 1, cordon: []string{"c"}},
		},
		"of two that are warming the other one might go, and speak by then": {
			{wished: 2, deployed: 3, pods: []worker{a, ready("b", 0).but(warming), ready("c", 0).but(warming)}, replicas: 3, cordon: []string{"b"}, blocked: scaler.UntilEmpty},
			{wished: 2, deployed: 3, pods: []worker{a, ready("b", 0).but(isCordoned), ready("c", 0).but(warming)}, replicas: 3, cordon: []string{"b", "c"}, blocked: scaler.UntilEmpty},
			{wished: 2, deployed: 3, pods: []worker{a, ready("b", 0).but(isCordoned), ready("c", 0).but(isCordoned)}, replicas: 2, cordon: []string{"b"}, uncordon: []string{"c"}},
		},
		"a pod that is unready for another reason and speaks": {
			{wished: 2, deployed: 3, pods: []worker{a, b.but(notReady), c.but(notReady)}, replicas: 3, cordon: []string{"b"}, blocked: scaler.UntilCordoned},
			{wished: 2, deployed: 3, pods: []worker{a, ready("b", 0).but(isCordoned), c.but(notReady)}, replicas: 3, cordon: []string{"b", "c"}, blocked: scaler.UntilEmpty},
			{wished: 2, deployed: 3, pods: []worker{a, ready("b", 0).but(isCordoned), c}, replicas: 2, cordon: []string{"b"}},
		},
		"a pod that nobody can cordon is not chosen": {
			{wished: 1, deployed: 2, pods: []worker{a.but(outOfReach), d}, replicas: 2, cordon: []string{"d"}, blocked: scaler.UntilCordoned},
		},
		"nobody can be cordoned": {
			{wished: 1, deployed: 2, pods: []worker{a.but(outOfReach), d.but(outOfReach)}, replicas: 2, blocked: scaler.UntilCordoned},
		},
		"just before no stream can be that long": {
			{wished: 1, deployed: 2, pods: []worker{c.but(isCordoned), d}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilEmpty},
			{after: scaler.DefaultDrainTimeout - 1, wished: 1, deployed: 2, pods: []worker{c.but(isCordoned), d}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilEmpty},
		},
		"no stream is that long": {
			{wished: 1, deployed: 2, pods: []worker{c.but(isCordoned), d}, replicas: 2, cordon: []string{"c"}, blocked: scaler.UntilEmpty},
			{after: scaler.DefaultDrainTimeout, wished: 1, deployed: 2, pods: []worker{c.but(isCordoned), d}, replicas: 1, cordon: []string{"c"}},
		},
		"a pod that crashes again and again was never reached": {
			{wished: 2, deployed: 2, pods: []worker{b.but(pending), d}, replicas: 2},
			{wished: 1, deployed: 2, pods: []worker{b.but(notReady).but(outOfReach), d}, replicas: 2, blocked: scaler.UntilEmpty},
			{after: 10*time.Second + 1, wished: 1, deployed: 2, pods: []worker{b.but(notReady).but(outOfReach), d}, replicas: 1},
		},
		"a pod that took long to start is not about to end": {
			{wished: 2, deployed: 2, pods: []worker{a, b.but(pending)}, replicas: 2},
			{after: time.Hour, wished: 1, deployed: 2, pods: []worker{a, b.but(notReady).but(outOfReach)}, replicas: 2, blocked: scaler.UntilEmpty},
		},
		"nor is one that takes long to become warm": {
			{wished: 2, deployed: 2, pods: []worker{a, b.but(warming)}, replicas: 2},
			{after: time.Hour, wished: 1, deployed: 2, pods: []worker{a, b.but(warming)}, replicas: 2, cordon: []string{"b"}, blocked: scaler.UntilEmpty},
		},
		"an operator that starts anew goes on with those that are cordoned": {
			{wished: 1, deployed: 2, pods: []worker{a, d.but(cordonSeen)}, replicas: 2, cordon: []string{"d"}, blocked: scaler.UntilCordoned},
		},
		"what is chosen while no router is heard is chosen again": {
			{wished: 1, deployed: 2, pods: []worker{d.but(outOfReach), a.but(outOfReach)}, replicas: 2, blocked: scaler.UntilCordoned},
			{wished: 1, deployed: 2, pods: []worker{ready("a", 3), ready("d", 1)}, replicas: 2, cordon: []string{"d"}, blocked: scaler.UntilCordoned},
		},
		"what is told may be from before it was cordoned": {
			{wished: 1, deployed: 2, pods: []worker{a.but(isCordoned), d}, replicas: 2, cordon: []string{"a"}, blocked: scaler.UntilEmpty},
			{after: 5 * time.Second, wished: 1, deployed: 2, pods: []worker{a.but(isCordoned), d}, replicas: 2, cordon: []string{"a"}, blocked: scaler.UntilEmpty},
			{after: 1, wished: 1, deployed: 2, pods: []worker{a.but(isCordoned), d}, replicas: 1, cordon: []string{"a"}},
		},
		"cordoned, though nothing shall go": {
			{wished: 2, deployed: 2, pods: []worker{a, d.but(isCordoned)}, replicas: 2, uncordon: []string{"d"}},
		},
		"equally idle: the one from the larger zone": {
			{wished: 2, deployed: 3, pods: []worker{
				ready("a", 0).but(inZone("x")), ready("b", 0).but(inZone("y")), ready("c", 0).but(inZone("y")),
			}, replicas: 3, cordon: []string{"b"}, blocked: scaler.UntilCordoned},
		},
		"the Deployment has not deleted what it shall": {
			{wished: 1, deployed: 2, pods: []worker{a.but(isCordoned), b, c}, replicas: 2, cordon: []string{"a", "b"}, blocked: scaler.UntilCordoned},
		},
		"the Deployment has not created what it shall, and need not": {
			{wished: 1, deployed: 5, pods: []worker{a}, replicas: 1},
		},
		"pods are being replaced": {
			{wished: 1, deployed: 2, rolling: true, pods: []worker{a, b, c.but(isCordoned)}, replicas: 2, uncordon: []string{"c"}, blocked: scaler.UntilRolledOut},
		},
		"pods are being replaced, and more are wished": {
			{wished: 3, deployed: 2, rolling: true, pods: []worker{a, b}, replicas: 3},
		},
		"to zero": {
			{wished: 0, deployed: 1, pods: []worker{a}, replicas: 1, cordon: []string{"a"}, blocked: scaler.UntilCordoned},
			{wished: 0, deployed: 1, pods: []worker{a.but(isCordoned)}, replicas: 0, cordon: []string{"a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var drain scaler.Drain
			now := start
			for i, s := range steps {
				now = now.Add(cmp.Or(s.after, 6*time.Second)) // so that what is told is known to be new
				f, states := show(s.deployed, s.rolling, s.pods)
				got := drain.Step(now, s.wished, f, states)
				got.Draining = 0
				want := scaler.Shrink{Replicas: s.replicas, Cordon: s.cordon, Uncordon: s.uncordon, Blocked: s.blocked}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("step %d: got %+v, want %+v", i+1, got, want)
				}
				if !slices.IsSorted(got.Cordon) {
					t.Error("cordons are in no order")
				}
			}
		})
	}
}
