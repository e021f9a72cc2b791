//go:build e2ecluster

package e2ecluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/contract"
)

// certificates has the operator issue all of a fleet anew, which running pods must take up: pods that come later have
// none of those before.
func certificates(t *testing.T, _ *life) {
	secrets := []string{fleet + "-worker-tls", fleet + "-router-tls"}
	read := func(name string) (string, error) {
		return tryKubectl("get", "secret", name, "-o", `jsonpath={.data.tls\.crt}`)
	}
	before := make(map[string]string)
	for _, name := range secrets {
		text, err := read(name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = text
		kubectl(t, "delete", "secret", name)
	}
	// Secrets are not watched: the operator reads them every five minutes, and whenever something of the fleet changes.
	kubectl(t, "scale", "ttsd", fleet, "--replicas=4")
	for _, name := range secrets {
		within(t, time.Minute, name+" holds another certificate", func() error {
			now, err := read(name)
			if err == nil && (now == "" || now == before[name]) {
				err = errors.New("it does not")
			}
			return err
		})
	}
	ready(t, 2*time.Minute, 4)
	kubectl(t, "scale", "ttsd", fleet, "--replicas=2")
	ready(t, 3*time.Minute, 2)
}

// guaranteed gives each pod one whole processor: of two nodes with two each, that is what fits beside the rest.
func guaranteed(t *testing.T, _ *life) {
	patch(t, `{"runtime": {"cpuPolicy": "Guaranteed", "workersPerPod": 1}}`)
	within(t, 4*time.Minute, "all worker pods have the class Guaranteed", func() error {
		classes, err := tryKubectl("get", "pods", "-l", component("worker"), "-o",
			"jsonpath={.items[*].status.qosClass}")
		if err == nil && classes != "Guaranteed Guaranteed" {
			err = fmt.Errorf("they have %q", classes)
		}
		return err
	})
	ready(t, time.Minute, 2)
	patch(t, `{"runtime": {"cpuPolicy": "Shared", "workersPerPod": 8}}`)
	within(t, 4*time.Minute, "none has it", prints("Burstable Burstable", "get", "pods", "-l", component("worker"),
		"-o", "jsonpath={.items[*].status.qosClass}"))
	ready(t, time.Minute, 2)
}

// spotStop gives one of two routers the 30 s of a spot node. Who listens for a minute there is cut when they are over,
// and not sooner; who listens at the other router hears all.
func spotStop(t *testing.T, l *life) {
	var pods []string
	within(t, 3*time.Minute, "no router is left that ends", func() error {
		// one may still have listeners of the step before
		pods = strings.Fields(kubectl(t, "get", "pods", "-l", component("router"), "-o",
			"jsonpath={range .items[*]}{.metadata.name}/{.status.podIP} {end}"))
		if len(pods) != 2 {
			return fmt.Errorf("there are routers %v, want two", pods)
		}
		return nil
	})
	type end struct {
		stopped bool // whether it listened at the router that was stopped
		after   time.Duration
		err     error
	}
	var listening sync.WaitGroup
	ends := make(chan end, 4)
	begin := time.Now()
	for i := range cap(ends) {
		_, address, _ := strings.Cut(pods[i%2], "/")
		listening.Go(func() {
			err := l.listenLong(t, address+":"+strconv.Itoa(contract.RouterAPI))
			ends <- end{i%2 == 0, time.Since(begin), err}
		})
	}
	time.Sleep(3 * time.Second)
	name, _, _ := strings.Cut(pods[0], "/")
	kubectl(t, "delete", "pod", name, "--grace-period=30", "--wait=false")
	listening.Wait()
	close(ends)
	for e := range ends {
		t.Logf("a listener ended after %.1f s, at the router that was stopped: %v: %v", e.after.Seconds(),
			e.stopped, e.err)
		if isCut := e.err != nil; isCut != e.stopped {
			t.Errorf("it was cut: %v, want %v", isCut, e.stopped)
		}
		if e.stopped && e.after < 30*time.Second {
			t.Error("it was cut before its 30 s were over")
		}
	}
	kubectl(t, "rollout", "status", "deployment/"+fleet+"-router", "--timeout", "1m")
}

// listenLong hears a minute of speech as it sounds, and does not read ahead. A pod that is gone says nothing any more.
func (l *life) listenLong(t *testing.T, address string) error {
	hearing, giveUp := context.WithCancelCause(t.Context())
	defer giveUp(nil)
	bored := time.AfterFunc(patience, func() { giveUp(errSilent) })
	c := &clients{address: address, key: l.key}
	answer, err := http.DefaultClient.Do(c.request(hearing, text(24)))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	_, err = listen(heard{answer.Body, bored}, bytesPerSecond)
	return err
}

// loseNode ends a node as a cut of its power would, and starts it again.
func loseNode(t *testing.T, _ *life) {
	cluster := filepath.Join("..", "cluster")
	pid, err := os.ReadFile(filepath.Join(os.TempDir(), os.Getenv("SWAR_CLUSTER")+"-cluster", "node-2", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, "", "kill", "-KILL", strings.TrimSpace(string(pid)))
	within(t, time.Minute, "node-2 is not Ready", prints("Unknown", "get", "node", "node-2", "-o",
		`jsonpath={.status.conditions[?(@.type=="Ready")].status}`))
	within(t, 2*time.Minute, "two worker pods and two routers are Ready on node-1", func() error {
		for _, part := range []string{"worker", "router"} {
			states, err := tryKubectl("get", "pods", "-l", component(part), "--field-selector", "spec.nodeName=node-1",
				"-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`)
			if err != nil || states != "True True" {
				return fmt.Errorf("the %s pods there are Ready: %q (%v)", part, states, err)
			}
		}
		return nil
	})
	begin := time.Now()
	mustRun(t, "", filepath.Join(cluster, "up.sh"), "2")
	t.Logf("%5.1f s until the node is back", time.Since(begin).Seconds())
	within(t, 2*time.Minute, "no pod of the fleet is left over", func() error {
		all, err := tryKubectl("get", "pods", "-l", "app.kubernetes.io/instance="+fleet, "-o", "name")
		if n := len(strings.Fields(all)); err == nil && n != 4 {
			err = fmt.Errorf("there are %d", n)
		}
		return err
	})
}
