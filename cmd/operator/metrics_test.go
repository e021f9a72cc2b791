package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/client/external_metrics"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/externalmetrics"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/internal/testenv/kubetest"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

const (
	ownNamespace = "swar-system"
	ownService   = "swar-metrics"
)

// aggregating configures an aggregation layer, as every cluster has one.
func aggregating(t *testing.T) *envtest.Environment {
	t.Helper()
	cert, key := frontProxy(t)
	environment := &envtest.Environment{}
	environment.ControlPlane.GetAPIServer().Configure().
		Set("requestheader-client-ca-file", cert).Set("requestheader-allowed-names", "front-proxy-client").
		Set("requestheader-username-headers", "X-Remote-User").Set("requestheader-group-headers", "X-Remote-Group").
		Set("requestheader-extra-headers-prefix", "X-Remote-Extra-").
		Set("proxy-client-cert-file", cert).Set("proxy-client-key-file", key)
	return environment
}

// frontProxy makes the certificate with which the API server hands on requests; it is its own authority.
func frontProxy(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "front-proxy-client"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// ofChart returns the objects of the chart that some kinds have.
func ofChart(t *testing.T, kinds ...string) (all []*unstructured.Unstructured) {
	t.Helper()
	files, err := filepath.Glob("../../config/external-metrics/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &u.Object); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(kinds, u.GetKind()) {
			all = append(all, u)
		}
	}
	return all
}

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("%T %s: %v", o, o.GetName(), err)
		}
	}
}

// eventually waits until nothing is wrong, and fails with what still is.
func eventually(t *testing.T, what string, wrong func() string) {
	t.Helper()
	limit := time.After(40 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		now := wrong()
		if now == "" {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("it never came about that %s: %s", what, now)
		}
	}
}

// fleets is what an operator knows, by NAMESPACE/NAME.
type fleets map[string]keda.Load

// Load implements [keda.Source].
func (f fleets) Load(namespace, name string) (keda.Load, <-chan struct{}, error) {
	if l, ok := f[namespace+"/"+name]; ok {
		return l, nil, nil
	}
	return keda.Load{}, nil, keda.ErrUnknown
}

// operate answers as the operator that acts does, until stop is called.
func operate(t *testing.T, address string, authority *controllers.AuthorityStore) (stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &controllers.ServerCertificate{
		Authority: authority, Hosts: []string{"localhost"},
		Name: grpcauth.Identity{Namespace: ownNamespace, Name: name, Role: grpcauth.Operator},
	}
	known := fleets{"default/hinglish": {Known: true, Demand: 6.4, QueueDepth: 3, DemandTarget: 0.8}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- keda.New(known).Serve(ctx, l,
			&tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: certificate.Get})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// server is `swar-operator metrics` with the rights of the chart.
type server struct {
	probes string
	ended  chan error // what it ended with, once
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func serveMetrics(t *testing.T, access *rest.Config, listen, operator string) *server {
	t.Helper()
	account := rest.CopyConfig(access)
	account.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + ownNamespace + ":" + ownService, Groups: []string{"system:authenticated"},
	}
	s := &server{probes: freeAddress(t), ended: make(chan error, 1)}
	o := &metricsOptions{own: ownNamespace, service: ownService, operator: operator, listen: listen, probes: s.probes}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { s.ended <- o.serve(ctx, account, slog.New(slog.DiscardHandler)); close(s.ended) }()
	t.Cleanup(func() {
		cancel()
		if err, ok := <-s.ended; ok && err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// ready is the code of the probe.
func (s *server) ready(t *testing.T) int {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.probes+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

// metricsFor asks for values as a HorizontalPodAutoscaler's controller does, or somebody else.
func metricsFor(t *testing.T, access *rest.Config, user string) external_metrics.ExternalMetricsClient {
	t.Helper()
	config := rest.CopyConfig(access)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	metrics, err := external_metrics.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

const autoscaler = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"

// valueOf asks for the demand of a TTSDeployment of the namespace default.
func valueOf(metrics external_metrics.ExternalMetricsClient, fleet string) (string, error) {
	selector := labels.SelectorFromSet(labels.Set{externalmetrics.Label: fleet})
	list, err := metrics.NamespacedMetrics("default").List(keda.DemandSlots, selector)
	if err != nil {
		return "", err
	}
	if len(list.Items) != 1 {
		return "", fmt.Errorf("%d values", len(list.Items))
	}
	return list.Items[0].Value.String(), nil
}

// registration is the APIService of the chart, and what becomes of it.
type registration struct {
	client client.Client
	object *unstructured.Unstructured
}

func (r *registration) unavailable(t *testing.T) string {
	t.Helper()
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(r.object), r.object); err != nil {
		return err.Error()
	}
	conditions, _, _ := unstructured.NestedSlice(r.object.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Available" && c["status"] == "True" {
			return ""
		}
	}
	return fmt.Sprint(conditions)
}

func (r *registration) bundle(t *testing.T) string {
	t.Helper()
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(r.object), r.object); err != nil {
		t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(r.object.Object, "spec", "caBundle")
	return text
}

func (r *registration) patch(t *testing.T, text string) {
	t.Helper()
	if err := r.client.Patch(t.Context(), r.object,
		client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

// install makes what the server finds in a cluster, except for the operator's authority and the APIService.
func install(t *testing.T, c client.Client) {
	t.Helper()
	create(t, c,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownNamespace}},
		&corev1.Service{ // there is no network of pods
			ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespace, Name: ownService},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
		},
	)
	for _, u := range ofChart(t, "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding") {
		create(t, c, u)
	}
}

// TestExternalMetrics goes the whole way: an autoscaler asks the API server, that asks the server, with the rights that
// the chart gives it, and that the operator.
func TestExternalMetrics(t *testing.T) {
	access := kubetest.Start(t, aggregating(t))
	c, err := client.New(access, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	install(t, c)
	authority := &controllers.AuthorityStore{Client: c, Namespace: ownNamespace, Name: controllers.AuthoritySecret,
		Now: time.Now}
	listen, operator := freeAddress(t), freeAddress(t)
	_, operatorPort, _ := net.SplitHostPort(operator)
	s := serveMetrics(t, access, listen, "localhost:"+operatorPort)
	eventually(t, "it waits for the authority", func() string {
		if code := s.ready(t); code != http.StatusServiceUnavailable {
			return fmt.Sprint("the probe answers ", code)
		}
		return ""
	})
	if _, err := authority.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopOperator := operate(t, operator, authority)
	eventually(t, "it is ready", func() string {
		if code := s.ready(t); code != http.StatusOK {
			return fmt.Sprint("the probe answers ", code)
		}
		return ""
	})
	_, port, _ := net.SplitHostPort(listen)
	number, _ := strconv.ParseInt(port, 10, 64)
	r := &registration{c, ofChart(t, "APIService")[0]}
	if err := unstructured.SetNestedField(r.object.Object, number, "spec", "service", "port"); err != nil {
		t.Fatal(err)
	}
	create(t, c, r.object)
	eventually(t, "the API is available", func() string { return r.unavailable(t) })
	metrics := metricsFor(t, access, autoscaler)

	t.Run("an autoscaler is answered", func(t *testing.T) {
		eventually(t, "it is", func() string {
			if got, err := valueOf(metrics, "hinglish"); err != nil || got != "6400m" {
				return fmt.Sprint(got, " ", err)
			}
			return ""
		})
		_, err := valueOf(metrics, "other")
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `no TTSDeployment "other"`) {
			t.Errorf("of a fleet that there is not got %v", err)
		}
	})
	t.Run("others are not", func(t *testing.T) { refuseOthers(t, access, listen) })
	t.Run("it can be discovered", func(t *testing.T) { discover(t, access) })
	t.Run("the authority is written again", func(t *testing.T) {
		before := r.bundle(t)
		r.patch(t, `{"spec": {"caBundle": null}}`)
		eventually(t, "it is", func() string {
			if r.bundle(t) != before {
				return "it is not that of the operator"
			}
			return r.unavailable(t)
		})
	})
	t.Run("the operator goes and comes", func(t *testing.T) {
		stopOperator()
		_, err := valueOf(metrics, "hinglish")
		if !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("without an operator got %v", err)
		}
		discover(t, access)
		if wrong := r.unavailable(t); wrong != "" {
			t.Errorf("without an operator the API is away, and namespaces cannot be deleted: %s", wrong)
		}
		operate(t, operator, authority)
		eventually(t, "it is asked again", func() string {
			if _, err := valueOf(metrics, "hinglish"); err != nil {
				return err.Error()
			}
			return ""
		})
	})
	t.Run("another server has the API", func(t *testing.T) {
		r.patch(t, `{"spec": {"caBundle": null, "service": {"namespace": "keda", "name": "keda-operator-metrics-apiserver"}}}`)
		select {
		case err := <-s.ended:
			if err == nil || !strings.Contains(err.Error(),
				"belongs to the Service keda/keda-operator-metrics-apiserver") {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(40 * time.Second):
			t.Fatal("it goes on")
		}
		if r.bundle(t) != "" {
			t.Error("it has written into what is another's")
		}
	})
}

// refuseOthers: who has no right is refused by the API server, who comes by another way by the server.
func refuseOthers(t *testing.T, access *rest.Config, listen string) {
	t.Helper()
	if _, err := valueOf(metricsFor(t, access, "somebody"), "hinglish"); !apierrors.IsForbidden(err) {
		t.Errorf("who has no right got %v", err)
	}
	h := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listen+"/apis", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("X-Remote-User", autoscaler)
	answer, err := h.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("who comes by another way is answered %s", answer.Status)
	}
}

func discover(t *testing.T, access *rest.Config) {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(access)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := d.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lists {
		for _, r := range l.APIResources {
			if l.GroupVersion == "external.metrics.k8s.io/v1beta1" {
				got = append(got, r.Name)
			}
		}
	}
	if want := []string{keda.DemandSlots, keda.QueueDepth}; !slices.Equal(got, want) {
		t.Errorf("got the metrics %v, want %v", got, want)
	}
}
