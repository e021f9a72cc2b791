//go:build e2ecluster

package e2ecluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fleet is the TTSDeployment that everything happens to.
const fleet = "espeak"

const manifest = `
apiVersion: swar.dev/v1alpha1
kind: TTSDeployment
metadata: {name: espeak}
spec:
  model: {id: espeak-ng-hinglish, source: {image: {}}}
  runtime: {cpuPolicy: Shared, workersPerPod: 8, memory: 256Mi}
  router: {replicas: 2}
  scaling: {mode: Manual, maxReplicas: 4}
  replicas: 2
`

// life is what the steps of the test hand on to one another.
type life struct {
	begun   time.Time // the cluster may have seen other releases before
	address string    // of the front Service
	key     string
	frames  int // that were heard beside the clients
}

// step is something that happens to a release. Clients speak all the time where that is said, and lose nothing.
type step struct {
	sentence string
	do       func(*testing.T, *life)
	clients  bool
	// mayLose says that streams of a pod which is killed are cut, and counted.
	mayLose bool
}

var steps = []step{
	{"the chart is installed, and the operator and the portal work", install, false, false},
	{"a fleet becomes Available, and speaks by REST and on a socket", firstSpeech, false, false},
	{"helm test speaks a sentence", helmTest, false, false},
	{"a revoked key closes its sockets, and the usage is billed", keys, false, false},
	{"a person signs in by mail, makes a key, speaks, reads what it costs, and revokes it", signIn, false, false},
	{"it grows and shrinks by kubectl scale", scaleManually, true, false},
	{"a roll-out replaces all worker pods", rollOut, true, false},
	{"one whose image is not there stops, says why, and the old pods serve on", badRollOut, true, false},
	{"routers are rolled", rollRouters, true, false},
	{"a node is drained", drain, true, false},
	{"the operator is killed", killOperator, true, false},
	{"the portal is away", portalAway, true, false},
	{"the API server is away for a minute", apiServerAway, true, false},
	{"certificates are replaced", certificates, true, false},
	{"its workers get processors of their own, and share them again", guaranteed, true, false},
	{"the chart is upgraded", upgrade, true, false},
	{"ten things happen to it that are drawn at random", func(t *testing.T, _ *life) {
		disturb(t, 10)
		kubectl(t, "scale", "ttsd", fleet, "--replicas=2")
		ready(t, 3*time.Minute, 2)
	}, true, false},
	{"a router has 30 s to end, as on a spot node", spotStop, false, false},
	{"a worker pod is killed without notice", killPod, true, true},
	{"a router is killed without notice", killRouter, true, true},
	{"a node is lost, and comes back", loseNode, true, true},
	{"an HPA says its size", byHPA, false, false},
	{"KEDA says its size, from zero as well", byKEDA, false, false},
	{"it follows its clients: it grows, and falls to nothing and comes back", follow, false, false},
	{"the operator has used the rights that it has, and no others", rights, false, false},
	{"the release is removed, and only what is to stay does", uninstall, false, false},
}

func TestRelease(t *testing.T) {
	if _, err := run("", "kubectl", "get", "nodes"); err != nil {
		t.Fatalf("there is no cluster: %v; run make e2e-cluster", err)
	}
	l := &life{begun: time.Now()}
	keepLogs(t)
	c := watchCuts(t)
	defer c.judge(t)
	for _, s := range steps {
		ok := t.Run(s.sentence, func(t *testing.T) {
			if !s.clients {
				s.do(t, l)
				return
			}
			before := billed(t) - l.frames
			c := startClients(l.address, l.key, 4, 3)
			s.do(t, l)
			heard := c.end()
			judge(t, heard, s.mayLose)
			if s.mayLose {
				time.Sleep(5 * time.Second) // until what was heard of those that were cut is billed too
				return
			}
			isBilled(t, before, heard.frames+l.frames)
		})
		if !ok {
			t.Log(everything())
			break // each goes on from the one before
		}
	}
}

// judge compares what clients heard with what they may lose: nothing, or the streams of a pod that was killed.
func judge(t *testing.T, heard *tally, mayLose bool) {
	t.Helper()
	t.Logf("%d whole, %d busy, %d cut, %d without an answer, %d sockets moved",
		heard.whole, heard.busy, len(heard.cut), len(heard.silent), heard.moved)
	if heard.whole == 0 {
		t.Error("clients heard nothing whole")
	}
	for _, lost := range slices.Concat(heard.cut, heard.silent) {
		if mayLose {
			t.Logf("lost with its pod or node: %s", lost)
		} else {
			t.Errorf("lost: %s", lost)
		}
	}
	for _, failed := range heard.failed {
		t.Errorf("failed: %s", failed)
	}
}

// everything is what somebody would look at first.
func everything() string {
	var all strings.Builder
	for _, args := range [][]string{
		{"get", "ttsd,pods", "-o", "wide"}, {"get", "ttsd", "-o", "jsonpath={.items[*].status.conditions}"},
		{"get", "events", "--sort-by", ".lastTimestamp"}, {"logs", "deployment/swar-operator", "--tail", "20"},
	} {
		out, err := tryKubectl(args...)
		fmt.Fprintln(&all, out)
		if err != nil {
			fmt.Fprintln(&all, err)
		}
	}
	return all.String()
}

func install(t *testing.T, _ *life) {
	args := []string{
		"install", release, "../../charts/swar", "--create-namespace", "--wait", "--timeout", "3m", "--set", "images.registry=localhost/swar",
	}
	for name, digest := range digests(t) {
		args = append(args, "--set", "images."+name+".digest="+digest)
	}
	helm(t, args...)
	if restarts := kubectl(t, "get", "pods", "-o",
		"jsonpath={.items[*].status.containerStatuses[*].restartCount}"); strings.Trim(restarts, "0 ") != "" {
		t.Errorf("pods were restarted: %s", restarts)
	}
}

func firstSpeech(t *testing.T, l *life) {
	begin := time.Now()
	apply(t, manifest)
	is(t, time.Minute, "Available", "Ready")
	t.Logf("%5.1f s from apply to Available (goal 10)", time.Since(begin).Seconds())
	l.key = kubectl(t, "exec", "deployment/swar-portal", "--", "swar-portal", "keys", "create", "e2e")
	l.address = address(t, fleet)
	within(t, 20*time.Second, "speech is heard", func() error { return l.speak(t) })
	c := startClients(l.address, l.key, 0, 1)
	time.Sleep(3 * time.Second)
	judge(t, c.end(), false)
}

// speak hears a text by REST, and looks at its sound.
func (l *life) speak(t *testing.T) error {
	c := &clients{address: l.address, key: l.key}
	answer, err := http.DefaultClient.Do(c.request(t.Context(), text(3)))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	audio, err := listen(answer.Body, 0)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", answer.Status, audio)
	}
	sounds(t, audio, 3)
	frames, err := strconv.Atoi(answer.Trailer.Get("X-Frames"))
	l.frames += frames
	return err
}

func helmTest(t *testing.T, l *life) {
	kubectl(t, "create", "secret", "generic", "speech-test", "--from-literal=key="+l.key)
	args := []string{"upgrade", release, "../../charts/swar", "--reuse-values", "--wait", "--timeout", "3m"}
	helm(t, append(args, "--set", "tests.keySecret.name=speech-test", "--set", "fleet.name="+fleet)...)
	helm(t, "test", release, "--timeout", "2m")
}

func keys(t *testing.T, l *life) {
	var made struct {
		Key string
		Row struct{ ID string }
	}
	portal(t, &made, "keys", "create", "to be revoked")
	before := billed(t)
	c := startClients(l.address, made.Key, 2, 1)
	time.Sleep(5 * time.Second)
	heard := c.end()
	judge(t, heard, false)
	isBilled(t, before, heard.frames)

	c = startClients(l.address, made.Key, 0, 1)
	time.Sleep(2 * time.Second)
	kubectl(t, "exec", "deployment/swar-portal", "--", "swar-portal", "keys", "revoke", made.Row.ID)
	within(t, 5*time.Second, "its socket is closed, and no other is opened", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.failed) == 0 {
			return errors.New("it is open")
		}
		return nil
	})
	if heard := c.end(); heard.whole == 0 {
		t.Error("nothing was heard before")
	}
}

// portal has a command of the portal print JSON.
func portal(t *testing.T, into any, args ...string) {
	t.Helper()
	args = append([]string{"exec", "deployment/swar-portal", "--", "swar-portal"}, append(args, "--json")...)
	if err := json.Unmarshal([]byte(kubectl(t, args...)), into); err != nil {
		t.Fatal(err)
	}
}

// isBilled waits until the bill is what was heard, and nothing else.
func isBilled(t *testing.T, before, want int) {
	t.Helper()
	within(t, 30*time.Second, "what was heard is billed, and nothing else", func() error {
		if now := billed(t) - before; now != want {
			return fmt.Errorf("%d frames are billed, %d were heard", now, want)
		}
		return nil
	})
}

// billed is how many frames the portal knows of.
func billed(t *testing.T) int {
	t.Helper()
	var usage struct {
		Totals struct {
			Billed int `json:"billed_frames"`
		}
	}
	portal(t, &usage, "usage", "--org", "My organisation")
	return usage.Totals.Billed
}

func scaleManually(t *testing.T, _ *life) {
	for _, pods := range []int{4, 1, 2} {
		kubectl(t, "scale", "ttsd", fleet, fmt.Sprintf("--replicas=%d", pods))
		ready(t, 3*time.Minute, pods)
	}
}

func rollOut(t *testing.T, _ *life) {
	before := podsOf(t, "worker")
	patch(t, `{"runtime": {"workersPerPod": 6}}`)
	replaced(t, "worker", before)
	ready(t, time.Minute, 2)
}

// component selects the pods of a part of the fleet, worker or router.
func component(name string) string {
	return "app.kubernetes.io/instance=" + fleet + ",app.kubernetes.io/component=" + name
}

func podsOf(t *testing.T, part string) string {
	t.Helper()
	return kubectl(t, "get", "pods", "-l", component(part), "-o", "jsonpath={.items[*].metadata.name}")
}

// replaced waits until none of the pods is there any more.
func replaced(t *testing.T, component, before string) {
	t.Helper()
	within(t, 4*time.Minute, "none of the "+component+" pods is one of before", func() error {
		now := podsOf(t, component)
		for name := range strings.FieldsSeq(before) {
			if strings.Contains(now, name) {
				return errors.New(name + " is there")
			}
		}
		if now == "" {
			return errors.New("there are none")
		}
		return nil
	})
}

func badRollOut(t *testing.T, _ *life) {
	patch(t, `{"runtime": {"image": "nowhere.invalid/worker:1"}, "rollout": {"progressDeadlineSeconds": 30}}`)
	is(t, 2*time.Minute, "Progressing", "ProgressDeadlineExceeded")
	is(t, time.Minute, "Available", "Ready")
	patch(t, `{"runtime": {"image": null}, "rollout": null}`)
	ready(t, 2*time.Minute, 2)
}

func rollRouters(t *testing.T, _ *life) {
	before := podsOf(t, "router")
	patch(t, `{"router": {"lingerSeconds": 5}}`)
	replaced(t, "router", before)
}

func drain(t *testing.T, _ *life) {
	kubectl(t, "drain", "node-2", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", "5m")
	ready(t, 2*time.Minute, 2)
	kubectl(t, "uncordon", "node-2")
}

func killOperator(t *testing.T, _ *life) {
	kubectl(t, "delete", "pod", "-l", "app.kubernetes.io/component=operator", "--force", "--grace-period=0")
	kubectl(t, "scale", "ttsd", fleet, "--replicas=3")
	ready(t, 2*time.Minute, 3)
	kubectl(t, "scale", "ttsd", fleet, "--replicas=2")
	ready(t, 3*time.Minute, 2)
}

func portalAway(t *testing.T, l *life) {
	kubectl(t, "scale", "deployment", "swar-portal", "--replicas=0")
	within(t, time.Minute, "the portal is gone",
		prints("", "get", "pods", "-l", "app.kubernetes.io/component=portal", "-o", "name"))
	time.Sleep(10 * time.Second)
	if err := l.speak(t); err != nil {
		t.Errorf("without the portal: %v", err)
	}
	kubectl(t, "scale", "deployment", "swar-portal", "--replicas=1")
	kubectl(t, "wait", "deployment/swar-portal", "--for", "condition=Available", "--timeout", "2m")
}

func apiServerAway(t *testing.T, _ *life) {
	program(t, "stop", "kube-apiserver")
	time.Sleep(time.Minute)
	program(t, "start", "kube-apiserver")
	within(t, time.Minute, "the API server is back", prints("ok", "get", "--raw", "/readyz"))
	kubectl(t, "scale", "ttsd", fleet, "--replicas=3")
	ready(t, 3*time.Minute, 3)
	kubectl(t, "scale", "ttsd", fleet, "--replicas=2")
	ready(t, 3*time.Minute, 2)
	restarts := kubectl(t, "get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}")
	if strings.Trim(restarts, "0 ") != "" {
		t.Errorf("somebody was restarted: %s", restarts)
	}
}

func upgrade(t *testing.T, _ *life) {
	before := podsOf(t, "worker")
	helm(t, "upgrade", release, "../../charts/swar", "--reuse-values", "--wait", "--timeout", "3m", "--set",
		"operator.logLevel=debug")
	helm(t, "rollback", release, "--wait", "--timeout", "3m")
	ready(t, time.Minute, 2)
	if now := podsOf(t, "worker"); now != before {
		t.Errorf("an upgrade that changes nothing of the fleet replaced worker pods: %s, now %s", before, now)
	}
}

func killPod(t *testing.T, _ *life) {
	name, _, _ := strings.Cut(podsOf(t, "worker"), " ")
	kubectl(t, "delete", "pod", name, "--force", "--grace-period=0")
	ready(t, time.Minute, 2)
}

func killRouter(t *testing.T, _ *life) {
	name, _, _ := strings.Cut(podsOf(t, "router"), " ")
	kubectl(t, "delete", "pod", name, "--force", "--grace-period=0")
	kubectl(t, "rollout", "status", "deployment/"+fleet+"-router", "--timeout", "1m")
}

func follow(t *testing.T, l *life) {
	patch(t, `{"runtime": {"workersPerPod": 2}, "scaling": {"mode": "Automatic", "minReplicas": 0, "maxReplicas": 4,
		"scaleDown": {"stabilizationSeconds": 10, "maxPercentPerMinute": 100}, "idleSecondsToZero": 60}}`)
	c := &clients{address: l.address, key: l.key}
	c.start(12, 0)
	within(t, 2*time.Minute, "it has four pods", prints("4", "get", "ttsd", fleet, "-o", "jsonpath={.spec.replicas}"))
	ready(t, time.Minute, 4)
	judge(t, c.end(), false)
	ready(t, 8*time.Minute, 0)
	begin := time.Now()
	within(t, time.Minute, "the first who calls is served again", func() error { return l.speak(t) })
	t.Logf("%5.1f s from the first call to speech, from zero", time.Since(begin).Seconds())
}

func uninstall(t *testing.T, _ *life) {
	kubectl(t, "delete", "ttsd", "--all", "--timeout", "3m")
	within(t, 4*time.Minute, "nothing of the fleet is left",
		prints("", "get", "all,secrets,networkpolicies,pdb,serviceaccounts,roles,rolebindings",
			"-l", "app.kubernetes.io/instance="+fleet, "-o", "name"))
	helm(t, "uninstall", release, "--wait", "--timeout", "3m")
	stays := map[string]bool{"persistentvolumeclaim/swar-portal": true, "configmap/kube-root-ca.crt": true}
	within(t, time.Minute, "nothing of the release is left but the portal's volume", func() error {
		left, err := tryKubectl("get", "all,configmaps,networkpolicies,roles,rolebindings,pvc", "-o", "name")
		for name := range strings.FieldsSeq(left) {
			if !stays[name] {
				return errors.New("left behind: " + name)
			}
		}
		return err
	})
	if crd := kubectl(t, "get", "crd", "-o", "name"); !strings.Contains(crd, "ttsdeployments.swar.dev") {
		t.Errorf("the definition is gone: %s", crd)
	}
}
