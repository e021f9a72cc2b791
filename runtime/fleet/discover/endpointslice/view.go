package endpointslice

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/fleet/discover"
)

// portName is the port of a Service that has several.
const portName = contract.SpeechPort

// view is what the API server has said of the slices of a Service. It is the store that the reflector writes to, by one
// goroutine.
type view struct {
	log     *slog.Logger
	changed chan []discover.Endpoint // holds the newest that has not been received
	listed  chan struct{}            // closed by the first list
	failed  chan struct{}            // closed by the first failure

	onceListed, onceFailed sync.Once

	failing  bool // has been logged
	portless bool // has been logged
	slices   map[string]*discoveryv1.EndpointSlice
}

func newView(log *slog.Logger) *view {
	return &view{
		log: log, changed: make(chan []discover.Endpoint, 1),
		listed: make(chan struct{}), failed: make(chan struct{}),
		slices: make(map[string]*discoveryv1.EndpointSlice),
	}
}

// report logs that the API server does not answer, once until it does again. That it has forgotten where a watch was is
// an answer: a list follows.
func (v *view) report(ctx context.Context, err error) {
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	switch {
	case err != nil && !v.failing:
		v.log.Warn("the API server does not answer; known worker pods stay in use", "error", err)
		v.onceFailed.Do(func() { close(v.failed) })
	case err == nil && v.failing:
		v.log.Info("the API server answers again")
	}
	v.failing = err != nil
}

// Replace implements [cache.ReflectorStore]: all is a complete list.
func (v *view) Replace(all []any, _ string) error {
	clear(v.slices)
	for _, object := range all {
		v.put(object)
	}
	v.publish()
	v.onceListed.Do(func() { close(v.listed) })
	return nil
}

// Add implements [cache.ReflectorStore].
func (v *view) Add(object any) error {
	v.put(object)
	v.publish()
	return nil
}

// Update implements [cache.ReflectorStore].
func (v *view) Update(object any) error { return v.Add(object) }

// Delete implements [cache.ReflectorStore].
func (v *view) Delete(object any) error {
	if s, ok := object.(*discoveryv1.EndpointSlice); ok {
		delete(v.slices, s.Name)
	}
	v.publish()
	return nil
}

// Resync implements [cache.ReflectorStore].
func (v *view) Resync() error { return nil }

func (v *view) put(object any) {
	if s, ok := object.(*discoveryv1.EndpointSlice); ok { // the reflector lets nothing else pass
		v.slices[s.Name] = s
	}
}

// publish makes what is known now the newest.
func (v *view) publish() {
	select {
	case <-v.changed:
	default:
	}
	v.changed <- v.endpoints()
}

// endpoints returns what is dialled, not nil.
func (v *view) endpoints() []discover.Endpoint {
	found := make(map[string]discover.Endpoint)
	withIPv4 := v.podsWithIPv4()
	portless := ""
	for name, s := range v.slices {
		port, ok := portOf(s)
		if !ok {
			if len(s.Endpoints) > 0 {
				portless = name
			}
			continue
		}
		for _, e := range s.Endpoints {
			if s.AddressType == discoveryv1.AddressTypeIPv6 && withIPv4[podOf(e)] {
				continue
			}
			add(found, e, port)
		}
	}
	v.reportPort(portless)
	all := make([]discover.Endpoint, 0, len(found))
	for _, e := range found {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b discover.Endpoint) int { return cmp.Compare(a.Address, b.Address) })
	return all
}

// add puts the addresses of e into found. The controller moves endpoints between slices, so that for a while an address
// can be in two, and an address that has gone back to a new pod can be terminating in one: then it is not.
func add(found map[string]discover.Endpoint, e discoveryv1.Endpoint, port string) {
	next := discover.Endpoint{Terminating: e.Conditions.Terminating != nil && *e.Conditions.Terminating}
	if e.Zone != nil {
		next.Zone = *e.Zone
	}
	for _, host := range e.Addresses {
		next.Address = net.JoinHostPort(host, port)
		known, twice := found[next.Address]
		if twice {
			next.Zone = max(known.Zone, next.Zone)
			next.Terminating = known.Terminating && next.Terminating
		}
		found[next.Address] = next
	}
}

// reportPort logs the name of a slice without a port to dial, once until all have one; "" is none.
func (v *view) reportPort(slice string) {
	if slice != "" && !v.portless {
		v.log.Warn(fmt.Sprintf("an EndpointSlice has neither a port named %s nor just one: its pods are not used",
			portName),
			"slice", slice)
	}
	v.portless = slice != ""
}

func (v *view) podsWithIPv4() map[types.UID]bool {
	pods := make(map[types.UID]bool)
	for _, s := range v.slices {
		if _, ok := portOf(s); !ok || s.AddressType != discoveryv1.AddressTypeIPv4 {
			continue
		}
		for _, e := range s.Endpoints {
			if uid := podOf(e); uid != "" {
				pods[uid] = true
			}
		}
	}
	return pods
}

// podOf returns what is behind e, or "" if that is not known.
func podOf(e discoveryv1.Endpoint) types.UID {
	if e.TargetRef == nil {
		return ""
	}
	return e.TargetRef.UID
}

// portOf returns the port named [portName], or the only one.
func portOf(s *discoveryv1.EndpointSlice) (string, bool) {
	for _, p := range s.Ports {
		named := p.Name != nil && *p.Name == portName
		if p.Port != nil && (named || len(s.Ports) == 1) {
			return strconv.Itoa(int(*p.Port)), true
		}
	}
	return "", false
}
