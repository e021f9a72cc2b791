//go:build e2ecluster

package e2ecluster

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// disturbance is something that the platform does to a fleet in its ordinary life, and that must cut nothing.
type disturbance struct {
	name string
	do   func(*testing.T, *rand.Rand)
}

var disturbances = []disturbance{
	{"a roll-out", func(t *testing.T, r *rand.Rand) {
		before := podsOf(t, "worker")
		patch(t, fmt.Sprintf(`{"runtime": {"memory": "%dMi"}}`, 256+r.IntN(1000)))
		replaced(t, "worker", before)
	}},
	{"another size", func(t *testing.T, r *rand.Rand) {
		pods := 1 + r.IntN(4)
		kubectl(t, "scale", "ttsd", fleet, fmt.Sprintf("--replicas=%d", pods))
		ready(t, 3*time.Minute, pods)
	}},
	{"an eviction", func(t *testing.T, r *rand.Rand) {
		all := strings.Fields(podsOf(t, []string{"worker", "router"}[r.IntN(2)]))
		evict(t, all[r.IntN(len(all))])
	}},
	{"a drain", func(t *testing.T, r *rand.Rand) {
		node := fmt.Sprintf("node-%d", 1+r.IntN(2))
		// The portal and its volume are on node 1, and stay there.
		kubectl(t, "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", "5m",
			"--pod-selector", "app.kubernetes.io/instance="+fleet)
		kubectl(t, "uncordon", node)
	}},
	{"a roll of the routers", func(t *testing.T, _ *rand.Rand) {
		before := podsOf(t, "router")
		seconds, _ := strconv.Atoi(kubectl(t, "get", "ttsd", fleet, "-o", "jsonpath={.spec.router.lingerSeconds}"))
		patch(t, fmt.Sprintf(`{"router": {"lingerSeconds": %d}}`, 2+(seconds+1)%5)) // another one than now
		replaced(t, "router", before)
	}},
}

// evict asks for a pod to go, again where a budget says not now.
func evict(t *testing.T, pod string) {
	t.Helper()
	eviction := fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q, "namespace": %q}}`, pod, namespace)
	within(t, 2*time.Minute, pod+" is evicted", func() error {
		path := "/api/v1/namespaces/" + namespace + "/pods/" + pod + "/eviction"
		_, err := run(eviction, "kubectl", "create", "--raw", path, "-f", "-")
		if err != nil && strings.Contains(err.Error(), "(NotFound)") {
			return nil // it was one that ends, and has ended
		}
		return err
	})
}

// disturb has things happen to the fleet, drawn at random, and waits until it is whole after each.
func disturb(t *testing.T, cycles int) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("SEED: %v", err)
		}
		seed = given
	}
	t.Logf("SEED=%d repeats what is drawn", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range cycles {
		d := disturbances[r.IntN(len(disturbances))]
		begin := time.Now()
		d.do(t, r)
		whole(t)
		t.Logf("%d of %d: %s, %.1f s", i+1, cycles, d.name, time.Since(begin).Seconds())
	}
}

// whole waits until all pods of the fleet are Ready, and none is about to go.
func whole(t *testing.T) {
	t.Helper()
	for _, component := range []string{"worker", "router"} {
		kubectl(t, "rollout", "status", "deployment/"+fleet+"-"+component, "--timeout", "4m")
	}
}

// TestSoak disturbs a fleet CYCLES times while clients listen; make soak-cluster runs it.
func TestSoak(t *testing.T) {
	cycles, _ := strconv.Atoi(os.Getenv("CYCLES"))
	if cycles == 0 {
		t.Skip("CYCLES says how often; make soak-cluster does 200")
	}
	l := &life{}
	keepLogs(t)
	counted := watchCuts(t)
	defer counted.judge(t)
	install(t, l)
	firstSpeech(t, l)
	c := startClients(l.address, l.key, 4, 4)
	disturb(t, cycles)
	judge(t, c.end(), false)
	if t.Failed() {
		t.Log(everything())
	}
}
