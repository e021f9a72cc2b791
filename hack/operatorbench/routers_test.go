//go:build operatorbench

package operatorbench

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
)

// routers are one of each fleet, all on one port: each has an address of the loopback network, and shows the
// certificate that the operator has made for it.
type routers struct {
	wire.UnimplementedFleetServer
	c client.Client

	mu   sync.Mutex
	busy map[string]int64 // by fleet; others have two
}

func routerIP(i int) string { return fmt.Sprintf("127.90.%d.%d", i/100, i%100+1) }

func workerIP(i int) string { return fmt.Sprintf("127.91.%d.%d", i/100, i%100+1) }

// indexOf returns which fleet's router listens on an address.
func indexOf(a net.Addr) int {
	ip := a.(*net.TCPAddr).IP.To4()
	return int(ip[2])*100 + int(ip[3]) - 1
}

func startRouters(t *testing.T, c client.Client) *routers {
	t.Helper()
	r := &routers{c: c, busy: make(map[string]int64)}
	l, err := net.Listen("tcp4", fmt.Sprintf(":%d", contract.RouterWatch))
	if err != nil {
		t.Fatal(err)
	}
	certificate := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: namespace, Name: name(indexOf(hello.Conn.LocalAddr())) + "-router-tls"}
		if err := c.Get(hello.Context(), key, secret); err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		return &pair, err
	}
	g := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, GetCertificate: certificate, ClientAuth: tls.RequireAnyClientCert,
	})))
	wire.RegisterFleetServer(g, r)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(l) })
	t.Cleanup(func() {
		g.Stop()
		serving.Wait()
	})
	return r
}

func (r *routers) setBusy(fleet string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy[fleet] = n
}

// Watch implements the service: it tells once a second of one pod of four slots, two of which are busy.
func (r *routers) Watch(stream grpc.BidiStreamingServer[wire.WatchRequest, wire.FleetState]) error {
	p, _ := peer.FromContext(stream.Context())
	i := indexOf(p.LocalAddr)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.mu.Lock()
		busy := r.busy[name(i)]
		r.mu.Unlock()
		if busy == 0 {
			busy = 2
		}
		err := stream.Send(&wire.FleetState{Epoch: 1, Busy: busy, Pods: []*wire.PodState{{
			Address: fmt.Sprintf("%s:%d", workerIP(i), contract.WorkerSpeech), Connected: true, InUse: true,
			State: &wire.State{Workers: 4, Ready: 4, Busy: min(busy, 4), Warm: true},
		}}})
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-stream.Context().Done():
			return nil
		}
	}
}
