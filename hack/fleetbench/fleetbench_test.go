//go:build fleetbench

package fleetbench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/discover"
	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/metrics"
)

const streams = 200 // at the pace of playback

// startSelf runs this program as another one.
func startSelf(t testing.TB, as string, s settings) *process {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FLEETBENCH_AS", as)
	t.Setenv("FLEETBENCH_SETTINGS", string(raw))
	p := start(t, "", self)
	os.Unsetenv("FLEETBENCH_AS")
	return p
}

func dial(t testing.TB, ids identities, address string) *link.Client {
	t.Helper()
	options, err := grpcauth.Credentials{Certificates: ids.authority.Open(grpcauth.Router)}.DialOptions("127.0.0.1",
		grpcauth.Worker)
	if err != nil {
		t.Fatal(err)
	}
	c, err := link.Dial(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestFirstByte compares, in one run, streams that come by a router with those that are asked of the pod itself.
func TestFirstByte(t *testing.T) {
	ids := identities{grpcauthtest.New(t)}
	pod, _ := startWorker(t, ids, streams)
	router, _ := startRouter(t, ids, "", []string{pod})
	c := dial(t, ids, pod)
	var number atomic.Uint64
	var straight, routed times
	crowd(t, streams, 20*time.Second, func(ctx context.Context, client, round int) error {
		line := text(client, 48)
		if client%2 == 0 {
			first, err := direct(ctx, c, number.Add(1), line)
			if round > 0 {
				straight.add(first)
			}
			return err
		}
		first, _, err := post(ctx, router, line)
		if round > 0 { // connections are there then
			routed.add(first)
		}
		return err
	})
	t.Logf("first byte, %d paced streams, TLS on: by gRPC %v; by the router %v", streams, &straight, &routed)
	t.Logf("added: p50 %.2f ms, p99 %.2f ms", ms(routed.at(.5)-straight.at(.5)), ms(routed.at(.99)-straight.at(.99)))
}

// TestProcessorTime compares the processor time of a router with that of a bare relay, and of HAProxy before four
// servers of one process each.
func TestProcessorTime(t *testing.T) {
	const each = 15 * time.Second
	ids := identities{grpcauthtest.New(t)}
	pod, _ := startWorker(t, ids, streams)
	router, routing := startRouter(t, ids, "", []string{pod})
	relay := freeAddress(t)
	relaying := startSelf(t, "relay", settings{Listen: []string{relay}, Pod: pod,
		Files: ids.authority.Issue(grpcauth.Router)})
	waitReady(t, relay)
	haproxy, proxying := startHAProxy(t)
	spent := map[string]*times{"router": {}, "relay": {}, "haproxy": {}}
	first := map[string]*times{"router": {}, "relay": {}, "haproxy": {}}
	for range 3 {
		for _, way := range []struct {
			name, address string
			p             *process
		}{{"router", router, routing}, {"relay", relay, relaying}, {"haproxy", haproxy, proxying}} {
			if way.p == nil {
				continue
			}
			before := way.p.cpu(t)
			var frames atomic.Int64
			crowd(t, streams, each, func(ctx context.Context, client, round int) error {
				f, n, err := post(ctx, way.address, text(client, 400))
				frames.Add(int64(n))
				if round > 0 {
					first[way.name].add(f)
				}
				return err
			})
			// for a second of audio
			spent[way.name].add(time.Duration(float64(way.p.cpu(t)-before) / (float64(frames.Load()) * 0.08)))
		}
	}
	for name, d := range spent {
		t.Logf("%s: %.3f ms of processor time for a second of audio (%v); first byte %v", name, ms(d.at(.5)), d.all,
			first[name])
	}
	t.Logf("router to relay: %.2f", float64(spent["router"].at(.5))/float64(spent["relay"].at(.5)))
}

// startHAProxy runs HAProxy before four servers; nil where it is not installed.
func startHAProxy(t *testing.T) (string, *process) {
	t.Helper()
	if _, err := exec.LookPath("haproxy"); err != nil {
		t.Log("HAProxy is not installed, and not measured")
		return "", nil
	}
	address := freeAddress(t)
	config := fmt.Sprintf("defaults\n mode http\n timeout connect 1s\n timeout client 130s\n timeout server 130s\n option http-no-delay\n"+
		"frontend f\n bind %s\n default_backend b\nbackend b\n balance leastconn\n", address)
	for i := range 4 {
		server := freeAddress(t)
		start(t, "", bin+"fake/swar", "serve", "--listen", server, "--portal", "off", "--engine", "fake",
			"--fake-frame", "80ms",
			"--workers", strconv.Itoa(streams/4), "--oversubscribe", "--data", t.TempDir())
		waitReady(t, server)
		config += fmt.Sprintf(" server s%d %s maxconn %d\n", i, server, streams/4)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "", "haproxy", "-db", "-f", file)
	waitReady(t, address)
	return address, p
}

// TestRefusals measures how long "busy" takes when every slot is taken and nobody may wait.
func TestRefusals(t *testing.T) {
	ids := identities{grpcauthtest.New(t)}
	pod, _ := startWorker(t, ids, 1)
	router, _ := startRouter(t, ids, "", []string{pod}, "--queue", "0")
	ctx, release := context.WithCancel(t.Context())
	var holding sync.WaitGroup
	holding.Go(func() {
		for ctx.Err() == nil {
			_, _, _ = post(ctx, router, text(0, 3500))
		}
	})
	time.Sleep(time.Second)
	var took times
	for range 3000 {
		d, _, err := post(t.Context(), router, text(1, 48))
		if err == nil || !strings.Contains(err.Error(), "503") {
			continue // it came between two lines of the other
		}
		took.add(d)
	}
	release()
	holding.Wait()
	t.Logf("refusal: %v", &took)
}

// TestIdleFleet measures what 500 pods cost 8 routers that do nothing, and how soon a pod's end is seen.
func TestIdleFleet(t *testing.T) {
	const pods, routers = 500, 8
	ids := identities{grpcauthtest.New(t)}
	var addresses []string
	for i := range pods { // below the ports that connections get
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", 20000+i))
	}
	worker := ids.authority.Issue(grpcauth.Worker)
	startSelf(t, "pods", settings{Listen: addresses[1:], Files: worker})
	last := startSelf(t, "pods", settings{Listen: addresses[:1], Files: worker})
	view := watchView(t, ids, addresses)
	var all []*process
	for range routers - 1 {
		_, p := startRouter(t, ids, "", addresses)
		all = append(all, p)
	}
	took := within(t, "every pod is seen", 3*time.Minute, func() bool { return inUse(view) == pods })
	t.Logf("every pod is in the view after another %v", took.Round(time.Millisecond))
	time.Sleep(15 * time.Second) // connections, and what follows them, are over
	before := make([]time.Duration, len(all))
	for i, p := range all {
		before[i] = p.cpu(t)
	}
	const quiet = 20 * time.Second
	time.Sleep(quiet)
	for i, p := range all {
		t.Logf("router %d, idle with %d pods and %d routers: %.1f %% of a core", i, pods, routers,
			100*float64(p.cpu(t)-before[i])/float64(quiet))
	}
	_ = last.cmd.Process.Kill()
	took = within(t, "the end of a pod is seen", 10*time.Second, func() bool { return inUse(view) == pods-1 })
	t.Logf("a killed pod is out of the view after %v", took.Round(time.Millisecond))
}

// watchView runs a router's speaker in this process, to look at.
func watchView(t *testing.T, ids identities, addresses []string) *fleet.Speaker {
	t.Helper()
	source, err := discover.ParseList(strings.Join(addresses, ","))
	if err != nil {
		t.Fatal(err)
	}
	options, err := grpcauth.Credentials{Certificates: ids.authority.Open(grpcauth.Router)}.DialOptions("127.0.0.1",
		grpcauth.Worker)
	if err != nil {
		t.Fatal(err)
	}
	s := fleet.New(fleet.Config{
		Metrics: metrics.New().RegisterFleet(func() metrics.FleetCounts { return metrics.FleetCounts{} }),
		Dial:    func(address string) (*link.Client, error) { return link.Dial(address, options...) },
	}, source, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

func inUse(s *fleet.Speaker) (n int) {
	for _, p := range s.Overview().Pods {
		if p.InUse {
			n++
		}
	}
	return n
}

func within(t *testing.T, what string, limit time.Duration, done func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for !done() {
		if time.Since(begin) > limit {
			t.Fatalf("it never came about that %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(begin)
}

// TestBatchesSurviveTheHop compares eight neural streams of one process with the same behind a router: the worker on
// one core, everything else on the other.
func TestBatchesSurviveTheHop(t *testing.T) {
	bundle := os.Getenv("FLEETBENCH_BUNDLE")
	if bundle == "" {
		bundle = filepath.Join(t.TempDir(), "bundle")
		if out, err := exec.Command(bin+"swar", "bundle", "synth-random", "-o", bundle, "--size", "base", "--precision",
			"int8").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	pinSelf(t, "1")
	ids := identities{grpcauthtest.New(t)}
	local, localHTTP := freeAddress(t), ""
	localHTTP = local
	start(t, "0", bin+"swar", "serve", "--listen", local, "--portal", "off", "--bundle", bundle, "--workers", "8",
		"--oversubscribe", "--data", t.TempDir())
	pod, podHTTP := freeAddress(t), freeAddress(t)
	start(t, "0", bin+"swar-worker", append([]string{"--listen", pod, "--http", podHTTP, "--bundle", bundle,
		"--workers", "8",
		"--oversubscribe"}, ids.flags(grpcauth.Worker)...)...)
	waitReady(t, local)
	waitReady(t, podHTTP)
	router, _ := startRouter(t, ids, "1", []string{pod})
	var ratios, batches []float64
	for pair := range 7 {
		speed, mean := map[string]float64{}, map[string]float64{}
		ways := [][3]string{{"local", local, localHTTP}, {"fleet", router, podHTTP}}
		if pair%2 == 1 {
			slices.Reverse(ways)
		}
		for _, way := range ways {
			sum, count := batchSize(t, way[2])
			var frames atomic.Int64
			begin := time.Now()
			var clients sync.WaitGroup
			for i := range 8 {
				clients.Go(func() {
					_, n, err := post(t.Context(), way[1], fmt.Sprintf("Order %d aa gaya.", 100*pair+i))
					if err != nil {
						t.Error(err)
					}
					frames.Add(int64(n))
				})
			}
			clients.Wait()
			speed[way[0]] = float64(frames.Load()) / time.Since(begin).Seconds()
			sum2, count2 := batchSize(t, way[2])
			mean[way[0]] = (sum2 - sum) / (count2 - count)
		}
		t.Logf("pair %d: local %.1f frames/s in batches of %.2f, fleet %.1f in batches of %.2f", pair, speed["local"],
			mean["local"], speed["fleet"], mean["fleet"])
		ratios = append(ratios, speed["fleet"]/speed["local"])
		batches = append(batches, mean["fleet"]/mean["local"])
	}
	slices.Sort(ratios)
	slices.Sort(batches)
	t.Logf("fleet to local, median of %d pairs: throughput %.3f, mean batch size %.3f", len(ratios),
		ratios[len(ratios)/2], batches[len(batches)/2])
}

// batchSize reads the histogram of batch sizes.
func batchSize(t *testing.T, address string) (sum, count float64) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case "tts_batch_size_sum":
			sum, _ = strconv.ParseFloat(value, 64)
		case "tts_batch_size_count":
			count, _ = strconv.ParseFloat(value, 64)
		}
	}
	return sum, count
}
