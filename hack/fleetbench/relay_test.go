//go:build fleetbench

package fleetbench

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// This program is also two of the processes that it measures: see relayMain and podsMain.
func TestMain(m *testing.M) {
	switch os.Getenv("FLEETBENCH_AS") {
	case "relay":
		relayMain()
	case "pods":
		podsMain()
	default:
		os.Exit(m.Run())
	}
}

// settings are what such a process is told, as JSON in the environment.
type settings struct {
	Listen []string
	Pod    string
	Files  grpcauth.Files
}

func readSettings() (s settings, creds grpcauth.Credentials) {
	if err := json.Unmarshal([]byte(os.Getenv("FLEETBENCH_SETTINGS")), &s); err != nil {
		panic(err)
	}
	c, err := grpcauth.Open(s.Files, slog.Default())
	if err != nil {
		panic(err)
	}
	return s, grpcauth.Credentials{Certificates: c}
}

// relayMain is the least that can stand between HTTP and gRPC: what comes from the pod is written to the client, and
// nothing else is done.
func relayMain() {
	s, creds := readSettings()
	options, err := creds.DialOptions("127.0.0.1", grpcauth.Worker)
	if err != nil {
		panic(err)
	}
	conn, err := grpc.NewClient("passthrough:///"+s.Pod, options...)
	if err != nil {
		panic(err)
	}
	pod := wire.NewSpeechClient(conn)
	var mu sync.Mutex
	var number uint64
	http.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /v1/tts", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Text   string
			Format speech.Format
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		stream, err := pod.Speak(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		mu.Lock()
		number++
		u := &wire.Utterance{Text: q.Text, Voice: "anjura", Format: string(q.Format), Raw: true, Seed: 1, Router: 2,
			Number: number, Protocol: 1}
		mu.Unlock()
		if err := stream.Send(&wire.SpeakRequest{Message: &wire.SpeakRequest_Utterance{Utterance: u}}); err != nil {
			return
		}
		taken := &wire.SpeakRequest{Message: &wire.SpeakRequest_Taken{Taken: &wire.Taken{}}}
		out := http.NewResponseController(w)
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			a := m.GetAudio()
			if a == nil {
				continue
			}
			if _, err := w.Write(a.Data); err != nil || out.Flush() != nil || stream.Send(taken) != nil {
				return
			}
		}
	})
	panic(http.ListenAndServe(s.Listen[0], nil))
}

// podsMain is many pods in one process.
func podsMain() {
	s, creds := readSettings()
	log := slog.Default()
	access, err := creds.ServerOptions(true, log, grpcauth.Service{Accepts: []grpcauth.Role{grpcauth.Router}})
	if err != nil {
		panic(err)
	}
	engine := synthtest.NewEngine(synthtest.Config{})
	background := context.Background()
	for _, address := range s.Listen {
		go func() {
			p, err := pool.New(pool.Config{Workers: 8, QueueLen: -1}, engine, log)
			if err != nil {
				panic(err)
			}
			server := link.NewServer(link.ServerConfig{Metrics: metrics.New().RegisterPod(p.Capacity)},
				pipeline.New(pipeline.Config{}, engine, p), p, log)
			go func() { _ = p.Run(background) }()
			go server.Run(background)
			l, err := net.Listen("tcp", address)
			if err != nil {
				panic(err)
			}
			g := grpc.NewServer(append(link.ServerOptions(), access...)...)
			server.Register(g)
			panic(g.Serve(l))
		}()
	}
	select {}
}
