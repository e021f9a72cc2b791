package fleet_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// TestTheOnlyPodTerminates: it speaks on until another pod is warm, and is then cordoned, so that it can end.
func TestTheOnlyPodTerminates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const podB = "10.0.0.2:9090"
		m := &missingPod{net: &memory{}}
		m.pod = m.net.worker(t, podA, synthtest.Config{})
		m.Speaker, m.source = newRouter(t, fleet.Config{Dial: m.net.dial}, m.pod)
		leaving := route.Endpoint{Address: podA, Terminating: true}
		m.list(leaving)
		for range 15 {
			if err := m.speak(t); err != nil || m.Ready() != nil {
				t.Fatalf("Speak = %v, Ready = %v while the only pod terminates, want it spoken", err, m.Ready())
			}
			time.Sleep(time.Second)
		}
		ended := make(chan struct{})
		go func() {
			m.pod.server.AwaitCordon(context.Background())
			close(ended)
		}()
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("the only pod is cordoned")
		default:
		}
		m.net.worker(t, podB, synthtest.Config{})
		m.list(leaving, route.Endpoint{Address: podB})
		time.Sleep(2 * time.Second) // for its warm-up, and the tick
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("the terminating pod is not cordoned when another one is warm")
		}
		if err := m.speak(t); err != nil {
			t.Errorf("Speak = %v with the other pod", err)
		}
		if err := m.pod.pool.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		m.list(route.Endpoint{Address: podB})
		if err := m.speak(t); err != nil {
			t.Errorf("Speak = %v when the terminating pod is gone", err)
		}
	})
}

// TestTheOnlyPodDrains: one that has said so is not asked, which is what workers of earlier releases do at once.
func TestTheOnlyPodDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &missingPod{net: &memory{}}
		m.pod = m.net.worker(t, podA, synthtest.Config{})
		m.Speaker, m.source = newRouter(t, fleet.Config{Dial: m.net.dial}, m.pod)
		m.list(route.Endpoint{Address: podA, Terminating: true})
		if err := m.pod.pool.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if err := m.speak(t); !errors.Is(err, speech.ErrWarming) {
			t.Errorf("Speak = %v, want warming", err)
		}
	})
}
