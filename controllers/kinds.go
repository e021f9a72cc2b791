package controllers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/swar-tts/swar/controllers/resources"
)

const (
	// kindsEvery is how often the kinds of the cluster are read: installing the Prometheus operator requires no
	// restart.
	kindsEvery = 2 * time.Minute

	// kindsRetry is the delay after a failed read.
	kindsRetry = 10 * time.Second
)

// kinds tracks which kinds of other projects the cluster has. It asks the API server itself, because a REST mapper does
// not notice removed kinds. At first it has none. It is safe for concurrent use.
type kinds struct {
	fetch   func(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
	changed func(context.Context) // what is known has changed
	log     *slog.Logger

	mu    sync.Mutex
	known resources.Kinds
}

// Known returns what the cluster knows.
func (k *kinds) Known() resources.Kinds {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known
}

// Run asks again and again until ctx ends.
func (k *kinds) Run(ctx context.Context) error {
	for {
		wait := kindsEvery
		if err := k.refresh(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("it is not known which monitors the cluster has; asking again", "error", err)
			wait = kindsRetry
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

func (k *kinds) refresh(ctx context.Context) error {
	list, err := k.fetch(ctx, resources.MonitorsVersion)
	if apierrors.IsNotFound(err) {
		list, err = &metav1.APIResourceList{}, nil
	}
	if err != nil {
		return err // what was known may still be so
	}
	var now resources.Kinds
	for _, r := range list.APIResources {
		now.PodMonitor = now.PodMonitor || r.Kind == "PodMonitor"
		now.PrometheusRule = now.PrometheusRule || r.Kind == "PrometheusRule"
	}
	k.mu.Lock()
	before := k.known
	k.known = now
	k.mu.Unlock()
	if now != before {
		k.log.Info("kinds of the Prometheus operator", "PodMonitor", now.PodMonitor, "PrometheusRule",
			now.PrometheusRule)
		k.changed(ctx)
	}
	return nil
}
