package certs_test

import (
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crypto/tls"

	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

const day = 24 * time.Hour

func nameOf(role grpcauth.Role, fleet string) *url.URL {
	return grpcauth.Identity{Namespace: "speech", Name: fleet, Role: role}.URI()
}

func newAuthority(t *testing.T, now time.Time) certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a certs.Authority, now time.Time, name *url.URL, hosts ...string) certs.Leaf {
	t.Helper()
	l, err := a.Issue(now, name, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWhenALeafIsMadeAnew(t *testing.T) {
	now := time.Now()
	a, other := newAuthority(t, now), newAuthority(t, now)
	name := nameOf(grpcauth.Worker, "hinglish")
	leaf := issue(t, a, now, name, "portal.swar.svc")
	announced, _, err := a.Renew(now.Add(3650*day - 119*day))
	if err != nil {
		t.Fatal(err)
	}
	broken, mixed := leaf, leaf
	broken.Key = []byte("nonsense")
	mixed.Key = issue(t, a, now, name).Key
	for what, tt := range map[string]struct {
		leaf  certs.Leaf
		a     certs.Authority
		name  *url.URL
		hosts []string
		after time.Duration
		want  string
	}{
		"a new one":             {leaf, a, name, []string{"portal.swar.svc"}, 0, ""},
		"just before its time":  {leaf, a, name, []string{"portal.swar.svc"}, 20*day - time.Minute, ""},
		"at its time":           {leaf, a, name, []string{"portal.swar.svc"}, 20*day + time.Minute, "good until"},
		"another role":          {leaf, a, nameOf(grpcauth.Router, "hinglish"), []string{"portal.swar.svc"}, 0, "another name"},
		"another fleet":         {leaf, a, nameOf(grpcauth.Worker, "other"), []string{"portal.swar.svc"}, 0, "another name"},
		"other hosts":           {leaf, a, name, nil, 0, "other hosts"},
		"another authority":     {leaf, other, name, []string{"portal.swar.svc"}, 0, "other authorities"},
		"another is announced":  {leaf, announced, name, []string{"portal.swar.svc"}, 0, "other authorities"},
		"a key that is none":    {broken, a, name, []string{"portal.swar.svc"}, 0, "no key"},
		"a key of another leaf": {mixed, a, name, []string{"portal.swar.svc"}, 0, "another certificate"},
		"nothing at all":        {certs.Leaf{}, a, name, nil, 0, "no certificate"},
	} {
		t.Run(what, func(t *testing.T) {
			err := tt.leaf.Check(now.Add(tt.after), tt.a, tt.name, tt.hosts...)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAnAuthorityIsAnnouncedBeforeItSigns(t *testing.T) {
	now := time.Now()
	a := newAuthority(t, now)
	end := now.Add(3650 * day)
	renew := func(a certs.Authority, left time.Duration, wantChanged bool) certs.Authority {
		t.Helper()
		next, changed, err := a.Renew(end.Add(-left))
		if err != nil || changed != wantChanged {
			t.Fatalf("%v before its end: changed %v, %v; want %v", left, changed, err, wantChanged)
		}
		return next
	}
	renew(a, 121*day, false)
	announced := renew(a, 119*day, true)
	if string(announced.Cert) != string(a.Cert) || strings.Count(string(announced.Trust), "BEGIN") != 2 {
		t.Error("an announced authority signs already, or is not trusted")
	}
	renew(announced, 61*day, false)
	next := renew(announced, 59*day, true)
	if string(next.Cert) != string(announced.NextCert) || strings.Count(string(next.Trust), "BEGIN") != 2 {
		t.Error("the announced authority does not sign, or the one before it is not trusted")
	}
	if !strings.Contains(string(announced.Trust), string(next.Cert)) {
		t.Error("who has not been renewed since the announcement does not trust the new authority")
	}
	if _, changed, err := (certs.Authority{Cert: []byte("x")}).Renew(now); err == nil || changed {
		t.Error("nonsense is an authority")
	}
}

// TestProcessesKnowOneAnother: what is issued is what grpcauth accepts, also while an authority is replaced.
func TestProcessesKnowOneAnother(t *testing.T) {
	now := time.Now()
	old := newAuthority(t, now.Add(119*day-3650*day)) // so that all of it happens today
	announced, _, err := old.Renew(now)
	if err != nil {
		t.Fatal(err)
	}
	next, _, err := announced.Renew(now.Add(60 * day))
	if err != nil {
		t.Fatal(err)
	}
	open := func(l certs.Leaf) *grpcauth.Certificates {
		t.Helper()
		folder := t.TempDir()
		files := grpcauth.Files{Cert: filepath.Join(folder, "c"), Key: filepath.Join(folder, "k"),
			CA: filepath.Join(folder, "a")}
		for file, text := range map[string][]byte{files.Cert: l.Cert, files.Key: l.Key, files.CA: l.CA} {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := grpcauth.Open(files, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	router := func(a certs.Authority, fleet string) *grpcauth.Certificates {
		return open(issue(t, a, now, nameOf(grpcauth.Router, fleet)))
	}
	worker := func(a certs.Authority) *grpcauth.Certificates {
		return open(issue(t, a, now, nameOf(grpcauth.Worker, "hinglish")))
	}
	for what, tt := range map[string]struct {
		worker, router *grpcauth.Certificates
		want           bool
	}{
		"of one authority":                    {worker(old), router(old, "hinglish"), true},
		"a router of another fleet":           {worker(old), router(old, "other"), false},
		"only one knows of the announced one": {worker(announced), router(old, "hinglish"), true},
		"one is signed by it, the other not":  {worker(next), router(announced, "hinglish"), true},
		"the other is signed by it":           {worker(announced), router(next, "hinglish"), true},
		"both are signed by it":               {worker(next), router(next, "hinglish"), true},
		"who has not heard of it is left out": {worker(old), router(next, "hinglish"), false},
	} {
		t.Run(what, func(t *testing.T) {
			a, b := net.Pipe()
			defer a.Close()
			defer b.Close()
			server := make(chan error, 1)
			go func() { server <- tls.Server(a, tt.worker.ServerTLS(grpcauth.Router)).Handshake() }()
			client := tls.Client(b, tt.router.ClientTLS(grpcauth.Worker))
			err := client.Handshake()
			if err != nil {
				_ = b.Close()
			} else {
				go func() { _, _ = client.Read(make([]byte, 1)) }()
			}
			serverErr := <-server
			if got := err == nil && serverErr == nil; got != tt.want {
				t.Errorf("they know one another: %v (%v, %v), want %v", got, err, serverErr, tt.want)
			}
		})
	}
}

// TestWhatOthersHaveMade: a leaf that somebody else has made is held against what processes do with it.
func TestWhatOthersHaveMade(t *testing.T) {
	now := time.Now()
	a, other := newAuthority(t, now), newAuthority(t, now)
	name := nameOf(grpcauth.Worker, "hinglish")
	good := issue(t, a, now, name)
	mixed, broken := good, good
	mixed.Key, broken.Cert = issue(t, a, now, name).Key, []byte("nonsense")
	for what, tt := range map[string]struct {
		leaf  certs.Leaf
		trust []byte
		after time.Duration
		want  error
	}{
		"a good one":                            {leaf: good},
		"one of several authorities":            {leaf: good, trust: slices.Concat(other.Trust, a.Trust)},
		"one second before its end":             {leaf: good, after: 30*day - time.Second},
		"one second after its end":              {leaf: good, after: 30*day + time.Second, want: certs.ErrExpired},
		"an hour before now, which is allowed":  {leaf: good, after: -time.Hour + time.Second},
		"before it is good":                     {leaf: good, after: -time.Hour - time.Second, want: certs.ErrInvalid},
		"of another role":                       {leaf: issue(t, a, now, nameOf(grpcauth.Router, "hinglish")), want: certs.ErrInvalid},
		"of another fleet":                      {leaf: issue(t, a, now, nameOf(grpcauth.Worker, "hindi")), want: certs.ErrInvalid},
		"of a name beside that of Swar":         {leaf: issue(t, a, now, name, "worker.example.org")},
		"of no name":                            {leaf: issue(t, a, now, &url.URL{Scheme: "https", Host: "example.org"}), want: certs.ErrInvalid},
		"signed by another authority":           {leaf: issue(t, other, now, name), want: certs.ErrInvalid},
		"a key of another certificate":          {leaf: mixed, want: certs.ErrMalformed},
		"no certificate":                        {leaf: broken, want: certs.ErrMalformed},
		"nothing by which others would know it": {leaf: good, trust: []byte("nonsense"), want: certs.ErrMalformed},
	} {
		trust := tt.trust
		if trust == nil {
			trust = a.Trust
		}
		got := tt.leaf.CheckGiven(now.Add(tt.after), trust, name)
		if !errors.Is(got, tt.want) {
			t.Errorf("%s: %v, want %v", what, got, tt.want)
		}
	}
}
