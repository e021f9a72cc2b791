package controllers

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/swar-tts/swar/controllers/resources"
)

// TestKindsComeAndGo: the Prometheus operator may be installed after this one, and be removed.
func TestKindsComeAndGo(t *testing.T) {
	absent := apierrors.NewNotFound(schema.GroupResource{}, "")
	list := func(kinds ...string) *metav1.APIResourceList {
		l := &metav1.APIResourceList{}
		for _, k := range kinds {
			l.APIResources = append(l.APIResources, metav1.APIResource{Kind: k})
		}
		return l
	}
	none, both := resources.Kinds{}, resources.Kinds{PodMonitor: true, PrometheusRule: true}
	synctest.Test(t, func(t *testing.T) {
		type answer struct {
			list *metav1.APIResourceList
			err  error
		}
		var server atomic.Pointer[answer]
		var told atomic.Int64
		k := &kinds{
			fetch: func(context.Context, string) (*metav1.APIResourceList, error) {
				a := server.Load()
				return a.list, a.err
			},
			changed: func(context.Context) { told.Add(1) },
			log:     slog.New(slog.DiscardHandler),
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		server.Store(&answer{err: absent})
		go func() { ended <- k.Run(ctx) }()
		for _, step := range []struct {
			name    string
			answer  *metav1.APIResourceList
			failure error
			after   time.Duration
			want    resources.Kinds
			told    int64
		}{
			{"there is none at the start", nil, absent, 0, none, 0},
			{"they are installed, and nobody has asked yet", list("PodMonitor", "PrometheusRule"), nil, kindsEvery - 1, none, 0},
			{"they are found", list("PodMonitor", "PrometheusRule", "Probe"), nil, 1, both, 1},
			{"nothing has changed", list("PrometheusRule", "PodMonitor"), nil, kindsEvery, both, 1},
			{"nobody answers, which says nothing of them", nil, errors.New("away"), kindsEvery, both, 1},
			{"then it is asked sooner", list("PodMonitor"), nil, kindsRetry, resources.Kinds{PodMonitor: true}, 2},
			{"they are removed", nil, absent, kindsEvery, none, 3},
		} {
			server.Store(&answer{step.answer, step.failure})
			time.Sleep(step.after) // of the bubble, which takes no time
			synctest.Wait()
			if got, n := k.Known(), told.Load(); got != step.want || n != step.told {
				t.Errorf("%s: got %+v, told %d times; want %+v, told %d times", step.name, got, n, step.want, step.told)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
