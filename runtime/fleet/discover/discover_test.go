package discover

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseList(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want string // addresses, or the error
	}{
		"one":                          {"10.0.0.1:9090", "10.0.0.1:9090"},
		"several, sorted":              {"b:9090,a:9090", "a:9090 b:9090"},
		"blanks around them":           {" a:9090 ,\tb:9090\n", "a:9090 b:9090"},
		"one twice":                    {"a:9090,b:9090,a:9090", "a:9090 b:9090"},
		"one host with two ports":      {"a:9090,a:9190", "a:9090 a:9190"},
		"IPv6":                         {"[::1]:9090", "[::1]:9090"},
		"the smallest port":            {"a:1", "a:1"},
		"the largest port":             {"a:65535", "a:65535"},
		"no port 0":                    {"a:0", `address "a:0": the port must be a number from 1 to 65535`},
		"a port that is too large":     {"a:65536", `address "a:65536": the port must be a number from 1 to 65535`},
		"a port that is a name":        {"a:grpc", `address "a:grpc": the port must be a number from 1 to 65535`},
		"a negative port":              {"a:-1", `address "a:-1": the port must be a number from 1 to 65535`},
		"an empty port":                {"a:", `address "a:": the port must be a number from 1 to 65535`},
		"nothing":                      {"", "an address is empty: want HOST:PORT, with commas between several"},
		"a comma too many":             {"a:9090,", "an address is empty: want HOST:PORT, with commas between several"},
		"no port":                      {"a", `address "a": want HOST:PORT, an address of IPv6 as [::1]:9090`},
		"no host":                      {":9090", `address ":9090": want HOST:PORT, an address of IPv6 as [::1]:9090`},
		"IPv6 without brackets":        {"::1:9090", `address "::1:9090": want HOST:PORT, an address of IPv6 as [::1]:9090`},
		"a scheme":                     {"http://a:9090", `address "http://a:9090": want HOST:PORT, an address of IPv6 as [::1]:9090`},
		"a path":                       {"a/b:9090", `address "a/b:9090": the host must be a name or an address, without a scheme or a path`},
		"two with a blank for a comma": {"a:9090 b:9090", `address "a:9090 b:9090": want HOST:PORT, an address of IPv6 as [::1]:9090`},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ParseList(tt.text)
			got := addresses(l)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAListIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := ParseList("b:9090,a:9090")
		if err != nil {
			t.Fatal(err)
		}
		h := listen(t, l)
		h.want(t, "a:9090 b:9090")
		h.end(t)
	})
}

// heard is what a source has told.
type heard struct {
	stop  context.CancelCauseFunc
	ended chan error

	mu   sync.Mutex
	told [][]Endpoint
}

var errEnd = errors.New("the test is over")

// listen runs s in a bubble until [heard.end].
func listen(t *testing.T, s Source) *heard {
	ctx, stop := context.WithCancelCause(t.Context())
	h := &heard{stop: stop, ended: make(chan error, 1)}
	tell := func(all []Endpoint) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.told = append(h.told, all)
	}
	go func() { h.ended <- s.Run(ctx, tell) }()
	return h
}

// want checks that this has been told, set by set, since the last call.
func (h *heard) want(t *testing.T, sets ...string) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	var got []string
	for _, all := range h.told {
		got = append(got, addresses(all))
		clear(all) // the slice is ours
	}
	h.told = nil
	if !slices.Equal(got, sets) {
		t.Errorf("told %q, want %q", got, sets)
	}
}

func (h *heard) end(t *testing.T) {
	t.Helper()
	h.stop(errEnd)
	if err := <-h.ended; !errors.Is(err, errEnd) {
		t.Errorf("Run = %v, want %v", err, errEnd)
	}
	h.want(t)
}

func addresses(all []Endpoint) string {
	var list []string
	for _, e := range all {
		list = append(list, e.Address)
	}
	return strings.Join(list, " ")
}
