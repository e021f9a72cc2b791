package controllers_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/controllers/keda/wire"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
)

// nowhere is where the pods of a fleet of none are.
type nowhere struct{}

func (nowhere) Run(ctx context.Context, tell func([]route.Endpoint)) error {
	tell(nil)
	<-ctx.Done()
	return ctx.Err()
}

// start runs a server until the test ends, and returns its address.
func start(t *testing.T, serve func(context.Context, net.Listener) error) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return l.Addr().String()
}

// startLonelyRouter starts a router without pods.
func startLonelyRouter(t *testing.T) (speaker *fleet.Speaker, address string) {
	t.Helper()
	counts := metrics.New().RegisterFleet(func() metrics.FleetCounts { return metrics.FleetCounts{} })
	speaker = fleet.New(fleet.Config{Metrics: counts}, nowhere{}, slog.New(slog.DiscardHandler))
	address = start(t, func(ctx context.Context, l net.Listener) error {
		g := grpc.NewServer()
		fleet.NewWatch(speaker, "test", slog.New(slog.DiscardHandler)).Register(g)
		context.AfterFunc(ctx, g.Stop)
		go func() { _ = speaker.Run(ctx) }()
		return g.Serve(l)
	})
	return speaker, address
}

// startScaler answers KEDA about the fleet of one router, and returns a client as KEDA's.
func startScaler(t *testing.T, router string) wire.ExternalScalerClient {
	t.Helper()
	dial := func(_, _ string) (*grpc.ClientConn, error) {
		return grpc.NewClient("passthrough:///"+router, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	sizer := controllers.NewSizer(time.Now, dial, func(types.NamespacedName) {}, slog.New(slog.DiscardHandler))
	none := int32(0)
	f := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "speech", Name: "hinglish"}}
	f.Spec.Replicas, f.Spec.Runtime.WorkersPerPod, f.Spec.Scaling = &none, 8, externally(0)
	sizer.Observe(plan.Observed{Fleet: f, Gates: []corev1.Pod{{Status: corev1.PodStatus{Phase: corev1.PodRunning,
		PodIP: first}}}})

	authority, err := certs.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	const host = "swar-operator.swar.svc"
	id := grpcauth.Identity{Namespace: "swar", Name: "swar-operator", Role: grpcauth.Operator}
	leaf, err := authority.Issue(time.Now(), id.URI(), host)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(leaf.Cert, leaf.Key)
	if err != nil {
		t.Fatal(err)
	}
	address := start(t, func(ctx context.Context, l net.Listener) error {
		go func() { _ = sizer.Run(ctx) }()
		return keda.New(sizer).Serve(ctx, l, &tls.Config{MinVersion: tls.VersionTLS13,
			Certificates: []tls.Certificate{pair}})
	})
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(authority.Trust)
	secure := credentials.NewTLS(&tls.Config{RootCAs: trust, ServerName: host})
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(secure))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return wire.NewExternalScalerClient(conn)
}

// TestKEDAIsPushedFromNothing: the first utterance that is refused for want of a pod reaches KEDA within a second, all
// the way from a router. A text that is only normalised does not, however often the router tells what it does.
func TestKEDAIsPushedFromNothing(t *testing.T) {
	router, address := startLonelyRouter(t)
	scaler := startScaler(t, address)
	ref := &wire.ScaledObjectRef{Namespace: "speech", Name: "hinglish"}
	eventually(t, "the router is heard", 20*time.Second, func(ctx context.Context) string {
		if active, err := scaler.IsActive(ctx, ref); err != nil || active.Result {
			return active.String() + " " + status.Convert(err).Message()
		}
		return ""
	})

	const severalWords = 2500 * time.Millisecond // of the router
	quiet, cancel := context.WithTimeout(t.Context(), severalWords)
	defer cancel()
	stream, err := scaler.StreamIsActive(quiet, ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := router.Normalize(t.Context(), speech.Utterance{Text: "namaste"}); !errors.Is(err, speech.ErrWarming) {
		t.Errorf("normalising without a pod gives %v, want %v", err, speech.ErrWarming)
	}
	if got, err := stream.Recv(); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("after a text was normalised KEDA is told %v, %v", got, err)
	}

	if stream, err = scaler.StreamIsActive(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	u := speech.Utterance{Text: "namaste", Voice: "anjura", Format: speech.PCM16}
	if _, err := router.Speak(t.Context(), u, speech.Turn{},
		&speechtest.Recorder{}); !errors.Is(err, speech.ErrWarming) {
		t.Errorf("speaking without a pod gives %v, want %v", err, speech.ErrWarming)
	}
	if got, err := stream.Recv(); err != nil || !got.Result {
		t.Fatalf("after the first refusal KEDA is told %v, %v; want that the fleet is active", got, err)
	}
	took := time.Since(began)
	t.Logf("KEDA is told after %v", took)
	if took >= time.Second {
		t.Errorf("KEDA is told after %v, want less than a second", took)
	}
}
