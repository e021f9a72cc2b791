package main

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/internal/testenv/kubetest"
)

// kubeconfig writes a file by which an API server is reached at another address.
func kubeconfig(t *testing.T, access *rest.Config, address string) (file string) {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["test"] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: access.CAData}
	c.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificateData: access.CertData, ClientKeyData: access.KeyData}
	c.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	c.CurrentContext = "test"
	file = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// relay passes connections on to an API server, which can be away for those who come through it.
type relay struct {
	target   string
	listener net.Listener

	mu   sync.Mutex
	away bool
	open map[net.Conn]bool
}

func startRelay(t *testing.T, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{target: target, listener: l, open: make(map[net.Conn]bool)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.pass(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.setAway(true)
		running.Wait()
	})
	return r
}

// setAway resets all connections, and each that comes, or takes them again.
func (r *relay) setAway(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away = away; away {
		for c := range r.open {
			c.Close()
		}
	}
}

// pass joins a connection with one to the target, until either ends.
func (r *relay) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer to.Close()
	r.mu.Lock()
	if r.away {
		r.mu.Unlock()
		return
	}
	r.open[from] = true
	r.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(from, to)
		from.Close()
	})
	_, _ = io.Copy(to, from)
	to.Close()
	back.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, from)
}

// startOperator runs the program until the test ends.
func startOperator(t *testing.T, args ...string) {
	t.Helper()
	cmd := command(launch.NewProgram(name))
	cmd.SilenceUsage = true
	cmd.SetArgs(args)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the operator ended with %v", err)
		}
	})
}

// outage is long enough for the operator to lose its lease, and to try again for a while.
const outage = renewDeadline + 15*time.Second

func TestTheOperatorActsSoonAfterAnOutage(t *testing.T) {
	access := kubetest.Start(t, &envtest.Environment{
		CRDDirectoryPaths: []string{"../../config/crd"}, ErrorIfCRDPathMissing: true,
	})
	proxy := startRelay(t, strings.Trim(strings.TrimPrefix(access.Host, "https://"), "/"))
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	c, err := client.New(access, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	fleet := newFleet(t, c)
	startOperator(t, "--own-namespace", "speech", "--namespace", "speech",
		"--worker-image", "swar/worker:1", "--router-image", "swar/router:1",
		"--http", "127.0.0.1:0", "--metrics", "0", "--scaler", "0",
		"--kubeconfig", kubeconfig(t, access, proxy.listener.Addr().String()))
	becomes(t, c, 1, time.Minute)

	proxy.setAway(true)
	time.Sleep(outage)
	before := fleet.DeepCopy()
	fleet.Spec.Replicas = new(int32(3))
	if err := c.Patch(t.Context(), fleet, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	proxy.setAway(false)
	took := becomes(t, c, 3, time.Minute)
	t.Logf("the operator acts %v after the API server is back", took)
	if took > 5*time.Second {
		t.Errorf("the operator acts %v after the API server is back, want 5 s at most", took)
	}
}

// newFleet makes one of one pod, whose size a user says.
func newFleet(t *testing.T, c client.Client) *v1alpha1.TTSDeployment {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "speech"}}
	f := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "speech", Name: "hinglish"}}
	f.Spec.Model.ID, f.Spec.Model.Source.Image = "espeak-ng-hinglish", &v1alpha1.ImageSource{}
	f.Spec.Access.Mode, f.Spec.Scaling.Mode, f.Spec.Replicas = v1alpha1.AccessOpen, v1alpha1.ScalingManual,
		new(int32(1))
	for _, o := range []client.Object{namespace, f} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// becomes waits until the fleet is to have so many worker pods, and returns how long that took.
func becomes(t *testing.T, c client.Client, want int32, limit time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		workers := &appsv1.Deployment{}
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "speech", Name: "hinglish-worker"}, workers)
		if err == nil && *workers.Spec.Replicas == want {
			break
		}
		if time.Since(began) > limit {
			t.Fatalf("after %v there are not %d worker pods: %v", limit, want, err)
		}
	}
	return time.Since(began)
}
