package fleet

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestAPodThatLeavesBeforeItIsAskedIsNotAsked(t *testing.T) {
	const address = "127.0.0.1:9"
	client, err := link.Dial(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	config := Config{Metrics: metrics.New().RegisterFleet(func() metrics.FleetCounts { return metrics.FleetCounts{} })}
	s := New(config, nil, slog.New(slog.DiscardHandler))
	for name, running := range map[string]int{"nothing runs there": 0, "something runs there": 1} {
		t.Run(name, func(t *testing.T) {
			p := newPod(s, address, client)
			p.running = running
			p.remove()
			sp := &speaking{speaker: s, call: &call{id: 1, placed: make(chan placement, 1)}}
			o, _ := sp.attempt(t.Context(), placement{send: route.Send{ID: 1, Pod: address, Number: 1}, pod: p})
			if !o.PodLost || !errors.Is(o.Err, speech.ErrWorkerGone) {
				t.Errorf("%+v, want the pod lost", o)
			}
			if asked := sp.attempts > 0; asked != (running > 0) {
				t.Errorf("it was asked: %v", asked)
			}
			if p.running != running {
				t.Errorf("%d run there, want %d", p.running, running)
			}
		})
	}
}

func TestAPodThatDoesNotFitIsNotUsedAndTheLogSaysWhy(t *testing.T) {
	ours := speech.Model{ID: "m", Voices: []speech.Voice{{Name: "raj"}, {Name: "lata"}}}
	for name, tt := range map[string]struct {
		its  speech.Model
		says string
	}{
		"the same":      {ours, "pod met"},
		"more voices":   {speech.Model{ID: "m", Voices: append([]speech.Voice{{Name: "asha"}}, ours.Voices...)}, "pod met"},
		"one less":      {speech.Model{ID: "m", Voices: ours.Voices[:1]}, "voices are missing\" pod=127.0.0.1:9 model=m missing=[lata]"},
		"no voice":      {speech.Model{ID: "m"}, `missing="[raj lata]"`},
		"another model": {speech.Model{ID: "n", Voices: ours.Voices}, "it speaks with another model\" pod=127.0.0.1:9 its=n ours=m"},
	} {
		var log bytes.Buffer
		s := New(Config{Model: ours}, nil, slog.New(slog.NewTextHandler(&log, nil)))
		p := newPod(s, "127.0.0.1:9", nil)
		s.pods[p.address] = p
		s.podConnected(p, tt.its, false)
		if !strings.Contains(log.String(), tt.says) {
			t.Errorf("%s: the log says %s, want %s", name, log.String(), tt.says)
		}
	}
}

func TestOfAPodThatHasSaidThatItEndsTheLogDoesNotWarn(t *testing.T) {
	for sentence, tt := range map[string]struct {
		draining bool
		says     string
	}{
		"a pod that ends as it said": {true, `level=INFO msg="a pod has ended, as it said" pod=127.0.0.1:9`},
		"a pod that ends":            {false, `level=WARN msg="a pod is away; trying again" pod=127.0.0.1:9 error=EOF`},
	} {
		t.Run(sentence, func(t *testing.T) {
			var log bytes.Buffer
			s := New(Config{}, nil, slog.New(slog.NewTextHandler(&log, nil)))
			p := newPod(s, "127.0.0.1:9", nil)
			s.pods[p.address] = p
			now := time.Now()
			s.router.List(now, []route.Endpoint{{Address: p.address}})
			s.podConnected(p, speech.Model{ID: "m", Voices: []speech.Voice{{Name: "raj"}}}, false)
			s.router.State(now, p.address, route.State{Epoch: 1, Sequence: 1, Workers: 1, Draining: tt.draining})
			log.Reset()
			p.unlinked()
			p.logUnreachable(io.EOF)
			p.logUnreachable(io.EOF)
			if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, tt.says) {
				t.Errorf("the log says %s, want %s, once", got, tt.says)
			}
		})
	}
}

// TestSpeedsAreThoseOfAllPodsInUse: an utterance may go to any of them.
func TestSpeedsAreThoseOfAllPodsInUse(t *testing.T) {
	s := New(Config{}, nil, slog.New(slog.DiscardHandler))
	meet := func(address string, m speech.Model) *pod {
		p := newPod(s, address, nil)
		s.pods[address] = p
		m.Voices = []speech.Voice{{Name: "raj"}}
		s.podConnected(p, m, false)
		return p
	}
	wide := speech.Speeds{Min: .5, Max: 1.5}
	steps := []struct {
		what string
		do   func()
		want speech.Speeds
	}{
		{"the first", func() { meet("127.0.0.1:1", speech.Model{ID: "m", Speeds: wide}) }, wide},
		{"one with others", func() { meet("127.0.0.1:2", speech.Model{ID: "m", Speeds: speech.Speeds{Min: .75, Max: 2}}) }, speech.Speeds{Min: .75, Max: 1.5}},
		{"one of another model", func() { meet("127.0.0.1:3", speech.Model{ID: "n"}) }, speech.Speeds{Min: .75, Max: 1.5}},
	}
	for _, step := range steps {
		if step.do(); s.Model().Speeds != step.want {
			t.Errorf("%s: %v, want %v", step.what, s.Model().Speeds, step.want)
		}
	}
	older := meet("127.0.0.1:4", speech.Model{ID: "m"})
	if got := s.Model().Speeds; got != (speech.Speeds{}) {
		t.Errorf("with an older one: %v, want none", got)
	}
	if older.unlinked(); s.Model().Speeds != (speech.Speeds{Min: .75, Max: 1.5}) {
		t.Errorf("without it: %v", s.Model().Speeds)
	}
}
