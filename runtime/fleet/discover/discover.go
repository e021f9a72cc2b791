// Package discover finds the addresses of worker pods: from a list, or from DNS. Its package endpointslice asks
// Kubernetes, so that programs without it do not link its client.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/fleet/route"
)

// Endpoint is where a worker pod can be dialled.
type Endpoint = route.Endpoint

// Source finds worker pods.
type Source interface {
	// Run calls tell with all endpoints, sorted by address and without duplicates, as soon as they are known for the
	// first time, which may be none, and whenever they change. It returns the cause of ctx when ctx has ended. tell is
	// called by one goroutine at a time and never after Run has returned; it may keep the slice.
	Run(ctx context.Context, tell func([]Endpoint)) error
}

// List is a [Source] of endpoints that do not change.
type List []Endpoint

// ParseList reads addresses HOST:PORT with commas between them.
func ParseList(text string) (List, error) {
	var l List
	for address := range strings.SplitSeq(text, ",") {
		address = strings.TrimSpace(address)
		if err := checkAddress(address); err != nil {
			return nil, err
		}
		l = append(l, Endpoint{Address: address})
	}
	slices.SortFunc(l, func(a, b Endpoint) int { return cmp.Compare(a.Address, b.Address) })
	return slices.Compact(l), nil
}

// Run implements [Source].
func (l List) Run(ctx context.Context, tell func([]Endpoint)) error {
	tell(slices.Clone(l))
	<-ctx.Done()
	return context.Cause(ctx)
}

// checkAddress returns an error for an address that is not HOST:PORT.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	number, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case address == "":
		return errors.New("an address is empty: want HOST:PORT, with commas between several")
	case err != nil, host == "":
		return fmt.Errorf("address %q: want HOST:PORT, an address of IPv6 as [::1]:9090", address)
	case strings.ContainsAny(host, "/ \t\r\n"):
		return fmt.Errorf("address %q: the host must be a name or an address, without a scheme or a path", address)
	case portErr != nil, number == 0:
		return fmt.Errorf("address %q: the port must be a number from 1 to 65535", address)
	}
	return nil
}
