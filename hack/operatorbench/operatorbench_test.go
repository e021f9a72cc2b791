//go:build operatorbench

package operatorbench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/resources"
)

const (
	fleets    = 500
	namespace = "default"
)

// bench is an API server, an operator that can be started anew, and routers that say what the measurement wants.
type bench struct {
	t          *testing.T
	c          client.Client
	http       *http.Client // of the API server's administrator
	host       string
	kubeconfig string
	routers    *routers
	operator   *exec.Cmd
	metrics    string // the operator's address
}

func TestFiveHundredFleets(t *testing.T) {
	b := setUp(t)
	begin := time.Now()
	b.start()
	var creating sync.WaitGroup
	for worker := range 8 {
		creating.Go(func() {
			for i := worker; i < fleets; i += 8 {
				b.create(i)
			}
		})
	}
	creating.Wait()
	t.Logf("%d TTSDeployments and their pods written after %v", fleets, since(begin))
	b.within("every fleet is heard", 5*time.Minute, func() bool { return b.sum("ttsd_demand_slots") >= 2*fleets })
	t.Logf("every fleet is made, and its router heard, after %v", since(begin))
	b.settle()
	t.Logf("nothing is written any more after %v", since(begin))
	b.rest()
	b.lookAtAll("twenty a second", 50*time.Millisecond)
	b.lookAtAll("all at once", 0)
	t.Logf("memory: %d MB, %d MB at most (goal 200)", b.memory("VmRSS"), b.memory("VmHWM"))

	sizes := b.sizes()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		b.restart(signal, sizes)
	}
}

// rest counts what is written while nothing happens.
func (b *bench) rest() {
	b.t.Helper()
	const quiet = time.Minute
	cpu, writes := b.cpu(), b.writes()
	time.Sleep(quiet)
	b.t.Logf("at rest for %v: %.0f writes (goal 0), %.1f %% of a core", quiet, b.writes()-writes,
		100*(b.cpu()-cpu).Seconds()/quiet.Seconds())
	if b.writes() != writes {
		b.t.Error("it writes though nothing happens")
	}
}

// lookAtAll has every fleet looked at, without anything to do.
func (b *bench) lookAtAll(how string, pause time.Duration) {
	b.t.Helper()
	before, writes := b.buckets(), b.writes()
	for i := range fleets {
		patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"looked": %q}}}`, how)
		f := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Name: name(i), Namespace: namespace}}
		if err := b.c.Patch(b.t.Context(), f, client.RawPatch("application/merge-patch+json", patch)); err != nil {
			b.t.Fatal(err)
		}
		time.Sleep(pause)
	}
	b.within("all are looked at", time.Minute, func() bool { return b.buckets().count()-before.count() >= fleets })
	all := b.buckets().minus(before)
	b.t.Logf("%.0f looks, %s: half below %s, 99 of 100 below %s (goal 50 ms)", all.count(), how, all.below(0.5),
		all.below(0.99))
	if n := b.writes() - writes - fleets; n != 0 {
		b.t.Errorf("%.0f writes though nothing is to be done", n)
	}
}

// restart starts the operator anew while one fleet has more to do, and compares the sizes of all others.
func (b *bench) restart(signal syscall.Signal, sizes map[string]int32) {
	b.t.Helper()
	if err := b.operator.Process.Signal(signal); err != nil {
		b.t.Fatal(err)
	}
	_ = b.operator.Wait()
	busy := name(0)
	if signal == syscall.SIGKILL {
		busy = name(1)
	}
	b.routers.setBusy(busy, 40)
	b.start()
	begin := time.Now()
	b.within("the busy fleet grows", time.Minute, func() bool { return b.size(busy) > sizes[busy] })
	b.t.Logf("started anew after %v: the first fleet that wants more grows after %v (goal 10 s)", signal, since(begin))
	b.within("every fleet is decided on", time.Minute,
		func() bool { return b.count("ttsd_desired_replicas") == fleets })
	b.t.Logf("every fleet is decided on after %v", since(begin))
	b.routers.setBusy(busy, 0)
	delete(sizes, busy) // it may grow further
	for fleet, n := range b.sizes() {
		if want, ok := sizes[fleet]; ok && n != want {
			b.t.Errorf("%s has %d pods, had %d", fleet, n, want)
		}
	}
}

func name(i int) string { return fmt.Sprintf("fleet-%03d", i) }

func since(begin time.Time) time.Duration { return time.Since(begin).Round(10 * time.Millisecond) }

func setUp(t *testing.T) *bench {
	t.Helper()
	log.SetLogger(logr.Discard())
	environment := &envtest.Environment{
		CRDDirectoryPaths: []string{"../../config/crd"}, ErrorIfCRDPathMissing: true,
		BinaryAssetsDirectory: os.Getenv("KUBEBUILDER_ASSETS"),
	}
	// A fleet's front Service takes an address, and by default there are 254 of them.
	environment.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.0.0.0/16")
	config, err := environment.Start()
	if err != nil {
		t.Fatalf("starting an API server: %v; run make bench-operator", err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	asAdministrator, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	user, err := environment.ControlPlane.AddUser(envtest.User{Name: "operator", Groups: []string{"system:masters"}},
		config)
	if err != nil {
		t.Fatal(err)
	}
	access, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, access, 0o600); err != nil {
		t.Fatal(err)
	}
	return &bench{
		t: t, c: c, http: asAdministrator, host: "https://" +
			strings.Trim(strings.TrimPrefix(config.Host, "https://"), "/"), kubeconfig: kubeconfig,
		routers: startRouters(t, c), metrics: "127.0.0.1:18443",
	}
}

// start starts the operator's program.
func (b *bench) start() {
	b.t.Helper()
	cmd := exec.Command("../../bin/swar-operator", "--own-namespace", namespace, "--worker-image", "w:1",
		"--router-image", "r:1",
		"--kubeconfig", b.kubeconfig, "--http", "127.0.0.1:18081", "--metrics", b.metrics, "--open-metrics", "--log-level", "error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.operator = cmd
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// create writes a fleet, and the pods that nobody else makes here.
func (b *bench) create(i int) {
	f := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Name: name(i), Namespace: namespace}}
	f.Spec.Model.ID = "espeak-ng-hinglish"
	f.Spec.Model.Source.Image = &v1alpha1.ImageSource{}
	f.Spec.Access.Mode = v1alpha1.AccessOpen
	f.Spec.Scaling.MaxReplicas = 20
	one := int32(1)
	f.Spec.Scaling.MinReplicas = &one
	if err := b.c.Create(b.t.Context(), f); err != nil {
		b.t.Errorf("%s: %v", f.Name, err)
		return
	}
	for component, ip := range map[string]string{resources.Router: routerIP(i), resources.Worker: workerIP(i)} {
		labels := resources.Selector(f, component)
		labels[resources.LabelManagedBy] = resources.ManagedBy
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: f.Name + "-" + component, Labels: labels},
			Spec: corev1.PodSpec{NodeName: "node",
				Containers: []corev1.Container{{Name: component, Image: "x:1"}}},
		}
		if err := b.c.Create(b.t.Context(), p); err != nil {
			b.t.Errorf("%s: %v", p.Name, err)
			return
		}
		started := true
		p.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: component, Ready: true, Started: &started}},
		}
		if err := b.c.Status().Update(b.t.Context(), p); err != nil {
			b.t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// sizes returns how many worker pods each fleet is to have.
func (b *bench) sizes() map[string]int32 {
	b.t.Helper()
	list := &appsv1.DeploymentList{}
	if err := b.c.List(b.t.Context(), list, client.InNamespace(namespace)); err != nil {
		b.t.Fatal(err)
	}
	sizes := make(map[string]int32)
	for _, d := range list.Items {
		if fleet, isWorker := strings.CutSuffix(d.Name, "-worker"); isWorker {
			sizes[fleet] = *d.Spec.Replicas
		}
	}
	return sizes
}

func (b *bench) size(fleet string) int32 {
	d := &appsv1.Deployment{}
	if err := b.c.Get(b.t.Context(), client.ObjectKey{Namespace: namespace, Name: fleet + "-worker"}, d); err != nil {
		return -1
	}
	return *d.Spec.Replicas
}

// within waits until something is so.
func (b *bench) within(what string, limit time.Duration, is func() bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	for !is() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			b.t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// settle waits until nothing has been written for ten seconds.
func (b *bench) settle() {
	b.t.Helper()
	before, last := b.writes(), time.Now()
	b.within("nothing is written", 5*time.Minute, func() bool {
		if now := b.writes(); now != before {
			before, last = now, time.Now()
		}
		return time.Since(last) > 10*time.Second
	})
}
