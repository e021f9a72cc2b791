//go:build e2e

package e2e

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The programs of a fleet.
const (
	toWorker = 1 << iota
	toRouter
	toPortal
)

// ownerOf says which programs of a fleet have a flag of swar serve.
var ownerOf = map[string]int{
	"--engine": toWorker, "--bundle": toWorker, "--onnxruntime": toWorker, "--kernel": toWorker,
	"--prefill-cache-mb": toWorker, "--oversubscribe": toWorker,

	"--api-key": toRouter, "--queue": toRouter, "--spool": toRouter, "--open": toRouter, "--pprof": toRouter,

	"--store": toPortal, "--project": toPortal, "--public-url": toPortal, "--email-sign-in": toPortal,
	"--sign-in-mails": toPortal, "--smtp": toPortal, "--smtp-encryption": toPortal, "--smtp-user": toPortal,
	"--smtp-password": toPortal, "--mail-from": toPortal, "--issuers": toPortal, "--firebase": toPortal,
	"--firebase-emulator": toPortal, "--firebase-web-api-key": toPortal, "--accept-unsigned-tokens": toPortal, "--invited-only": toPortal,
	"--domain": toPortal, "--portal-origin": toPortal, "--api-url": toPortal,

	"--trust-proxy": toRouter | toPortal,
	"--log-level":   toWorker | toRouter | toPortal, "--log-format": toWorker | toRouter | toPortal,
}

// alone are the flags that have no value.
var alone = []string{"--oversubscribe", "--open", "--accept-unsigned-tokens", "--invited-only"}

// settings are the flags of swar serve as those of a fleet's programs.
type settings struct {
	workers              int // pods, of one slot each
	portal               bool
	data                 string // folder of the portal
	worker, router, site []string
}

func settingsOf(t testing.TB, flags []string) settings {
	t.Helper()
	s := settings{workers: 2}
	for i := 0; i < len(flags); i++ {
		name, value := flags[i], ""
		given := []string{name}
		if !slices.Contains(alone, name) {
			if i++; i == len(flags) {
				t.Fatalf("%s has no value", name)
			}
			value = flags[i]
			given = append(given, value)
		}
		switch owners := ownerOf[name]; {
		case name == "--workers":
			var err error
			if s.workers, err = strconv.Atoi(value); err != nil {
				t.Fatal(err)
			}
		case name == "--portal":
			s.portal = value == "on"
		case name == "--data":
			s.data = value
		case owners == 0:
			t.Fatalf("it is not known which program of a fleet has the flag %s: say so in ownerOf", name)
		default:
			s.give(owners, given)
		}
	}
	return s
}

func (s *settings) give(owners int, flag []string) {
	if owners&toWorker != 0 {
		s.worker = append(s.worker, flag...)
	}
	if owners&toRouter != 0 {
		s.router = append(s.router, flag...)
	}
	if owners&toPortal != 0 {
		s.site = append(s.site, flag...)
	}
}

// beginFleet starts what swar serve with these flags would be as a fleet, and waits for nothing.
func beginFleet(t testing.TB, flags []string) *server {
	t.Helper()
	given := settingsOf(t, flags)
	if given.data == "" {
		given.data = t.TempDir()
	}
	f := &fleet{token: writeToken(t)}
	s := &server{}
	if given.portal {
		f.first = freeAddress(t)
		s.portal = f.newPortal(t, given.data, append([]string{"--api-url", "http://" + f.first}, given.site...)...)
		s.portalBase = f.portal
		s.portal.begin(t)
	}
	for range given.workers {
		w := f.newWorker(t, given.worker...)
		w.begin(t)
		s.workers = append(s.workers, w)
	}
	s.router, s.base = f.newRouter(t, filepath.Join(given.data, "router"), given.router...)
	s.router.begin(t)
	return s
}

// fleet is what its processes must know of one another.
type fleet struct {
	token     string   // file
	pods      []string // addresses
	portal    string   // URL
	dataplane string   // address of the portal for routers; none without a portal
	first     string   // address of the first router, where that was said before it is there
}

func writeToken(t testing.TB) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(rand.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (f *fleet) newPortal(t testing.TB, data string, flags ...string) *process {
	t.Helper()
	address, probes := freeAddress(t), freeAddress(t)
	f.portal, f.dataplane = "http://"+address, freeAddress(t)
	own := []string{
		"--listen", address, "--dataplane", f.dataplane, "--http", probes, "--data", data, "--token-file", f.token,
		"--model-id", "espeak-ng-hinglish", "--voice", "anjura", "--voice", "raj",
	}
	return &process{
		name: "swar-portal", probes: "http://" + probes, path: program(t, "swar-portal"), args: append(own, flags...),
	}
}

// newWorker is a pod of one slot.
func (f *fleet) newWorker(t testing.TB, flags ...string) *process {
	t.Helper()
	address, probes := freeAddress(t), freeAddress(t)
	f.pods = append(f.pods, address)
	own := []string{"--listen", address, "--http", probes, "--workers", "1", "--token-file", f.token}
	return &process{
		name: fmt.Sprint("swar-worker ", len(f.pods)), probes: "http://" + probes, path: program(t, "swar-worker"),
		args: append(own, flags...),
	}
}

// newRouter is one on the pods that there are, and on the portal if there is one.
func (f *fleet) newRouter(t testing.TB, data string, flags ...string) (p *process, base string) {
	t.Helper()
	address, probes := cmp.Or(f.first, freeAddress(t)), freeAddress(t)
	f.first = ""
	own := []string{
		"--listen", address, "--http", probes, "--watch", "", "--data", data, "--token-file", f.token,
		"--endpoints", strings.Join(f.pods, ","), "--linger", "1s",
	}
	if f.dataplane != "" {
		own = append(own, "--portal-addr", f.dataplane)
	}
	return &process{
		name: "swar-router at " + address, probes: "http://" + probes, path: program(t, "swar-router"),
		args: append(own, flags...),
	}, "http://" + address
}
