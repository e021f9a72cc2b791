// Package endpointslice asks the API server of Kubernetes where worker pods are. Of its packages only those are linked
// that EndpointSlices need.
package endpointslice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/swar-tts/swar/runtime/fleet/discover"
)

// Config selects the pods to find.
type Config struct {
	Service    string          // NAMESPACE/SERVICE, whose EndpointSlices are watched; required
	Kubeconfig string          // file that says how to reach the API server; "" means as a pod of its cluster
	Fallback   discover.Source // used while the API server has not answered yet; nil: none
	Log        *slog.Logger    // required
}

// Source is a [discover.Source] of all addresses in the EndpointSlices of a Service, ready or not. Pods report their
// own readiness. Pods of a Service with addresses of both families have two; of those, IPv4 counts.
//
// Only what the API server has said changes the endpoints. While it is away, the last ones stay.
type Source struct {
	cfg                Config
	namespace, service string
	client             rest.Interface
	backoff            wait.Backoff // between attempts to list
	firstAnswerLimit   time.Duration
}

// firstAnswerLimit is how long the API server may take for its first answer before the fallback is used. If it refuses,
// that is at once.
const firstAnswerLimit = 2 * time.Second

// listLimit bounds a list, for which client-go would wait for ever.
const listLimit = 30 * time.Second

// backoff is client-go's, but ends at 10 s instead of 30: routers are few, and new pods wait for them.
var backoff = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 10 * time.Second}

// New checks cfg and returns a source; it sends no request yet.
func New(cfg Config) (*Source, error) {
	if cfg.Log == nil {
		return nil, errors.New("endpointslice: Log is required")
	}
	namespace, service, found := strings.Cut(cfg.Service, "/")
	if !found || len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Label(service)) > 0 {
		return nil, fmt.Errorf("service %q: want NAMESPACE/SERVICE, both of small letters, digits and hyphens",
			cfg.Service)
	}
	client, err := connect(cfg.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return &Source{
		cfg: cfg, namespace: namespace, service: service, client: client, backoff: backoff,
		firstAnswerLimit: firstAnswerLimit,
	}, nil
}

// Run implements [discover.Source].
func (s *Source) Run(ctx context.Context, tell func([]discover.Endpoint)) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	running, stop := context.WithCancel(ctx)
	defer stop()
	v := newView(s.cfg.Log.With("service", s.cfg.Service))
	wg.Go(func() { s.follow(running, v) })

	s.standIn(running, v, tell)
	var last []discover.Endpoint // nil until the first update
	for {
		select {
		case all := <-v.changed:
			if last == nil || !slices.Equal(all, last) {
				last = all
				tell(slices.Clone(all))
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// follow keeps v as the API server says, until ctx ends.
func (s *Source) follow(ctx context.Context, v *view) {
	// What fails is logged by v, in our words and once.
	ctx = klog.NewContext(ctx, logr.FromSlogHandler(slog.DiscardHandler))
	backoff := s.backoff
	r := cache.NewReflectorWithOptions(s.listWatch(v), &discoveryv1.EndpointSlice{}, v,
		cache.ReflectorOptions{Name: s.cfg.Service, Backoff: &backoff})
	r.RunWithContext(ctx)
}

// standIn uses the fallback while the API server does not answer, and returns when it has.
func (s *Source) standIn(ctx context.Context, v *view, tell func([]discover.Endpoint)) {
	if s.cfg.Fallback == nil {
		return
	}
	late := time.NewTimer(s.firstAnswerLimit)
	defer late.Stop()
	select {
	case <-v.listed:
		return
	case <-ctx.Done():
		return
	case <-v.failed:
	case <-late.C:
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		defer stop()
		select {
		case <-v.listed:
		case <-ctx.Done():
		}
	})
	if err := s.cfg.Fallback.Run(ctx, tell); ctx.Err() == nil {
		v.log.Warn("the fallback for the API server has ended", "error", err)
	}
}

// listWatch lists and watches the slices of the Service, and reports the result to v.
func (s *Source) listWatch(v *view) cache.ListerWatcher {
	get := func(options *metav1.ListOptions) *rest.Request {
		options.LabelSelector = discoveryv1.LabelServiceName + "=" + s.service
		return s.client.Get().Namespace(s.namespace).Resource("endpointslices").
			VersionedParams(options, parameters)
	}
	return plainListWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			limited, cancel := context.WithTimeout(ctx, listLimit)
			defer cancel()
			var list discoveryv1.EndpointSliceList
			err := get(&options).Do(limited).Into(&list)
			v.report(ctx, err)
			return &list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.Watch = true
			w, err := get(&options).Watch(ctx)
			v.report(ctx, err)
			return w, err
		},
	}}
}

// plainListWatch lists before it watches. A list that is streamed pays where there are thousands of objects.
type plainListWatch struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what client-go asks for.
func (plainListWatch) IsWatchListSemanticsUnSupported() bool { return true }
