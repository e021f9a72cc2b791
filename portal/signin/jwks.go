package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Limits of an issuer's documents, and of how often they are fetched.
const (
	maxDocument = 256 << 10 // bytes
	maxKeys     = 100
	minMaxAge   = 5 * time.Minute
	maxMaxAge   = 24 * time.Hour
	noMaxAge    = time.Hour // when it says nothing
)

// published is where an issuer publishes its keys.
type published struct {
	issuer  string
	jwksURL string // empty: as the discovery document says
	client  *http.Client
}

// fetch reads the keys, and for how long they are good.
func (p published) fetch(ctx context.Context) ([]jose.JSONWebKey, time.Duration, error) {
	address := p.jwksURL
	if address == "" {
		var err error
		if address, err = p.discover(ctx); err != nil {
			return nil, 0, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	header, err := p.get(ctx, address, &set)
	if err != nil {
		return nil, 0, err
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		var k jose.JSONWebKey // one by one: a kind of key that is unknown must not hide the others
		isKey := json.Unmarshal(raw, &k) == nil && k.Valid() && k.IsPublic()
		if signs := k.Use == "" || k.Use == "sig"; !isKey || !signs {
			continue
		}
		k.Certificates = nil
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, 0, fmt.Errorf("%s has no usable key", address)
	}
	return keys, maxAge(header), nil
}

// discover reads the address of the keys from the issuer's own document (OpenID Connect Discovery 4).
func (p published) discover(ctx context.Context) (string, error) {
	d, err := p.document(ctx)
	if err != nil {
		return "", err
	}
	if err := checkURL(d.JWKSURI); err != nil {
		return "", fmt.Errorf("jwks_uri of %s: %w", p.issuer, err)
	}
	return d.JWKSURI, nil
}

// discovered is what an issuer says about itself. The addresses are not checked yet.
type discovered struct {
	Issuer        string `json:"issuer"`
	JWKSURI       string `json:"jwks_uri"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
}

func (p published) document(ctx context.Context) (d discovered, err error) {
	address := strings.TrimSuffix(p.issuer, "/") + "/.well-known/openid-configuration"
	if _, err := p.get(ctx, address, &d); err != nil {
		return d, err
	}
	if d.Issuer != p.issuer {
		return d, fmt.Errorf("%s is of the issuer %.200q, not %q; write the issuer exactly as it calls itself",
			address, d.Issuer, p.issuer)
	}
	return d, nil
}

func (p published) get(ctx context.Context, address string, into any) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", address, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", address, err)
	case len(body) > maxDocument:
		return nil, fmt.Errorf("%s is larger than %d bytes", address, maxDocument)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return resp.Header, nil
}

// newClient returns a client that stays with secure addresses when it is sent elsewhere.
func newClient() *http.Client {
	return &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 3 {
			return errors.New("sent on more than 3 times")
		}
		return checkURL(req.URL.String())
	}}
}

// checkURL refuses addresses at which an attacker in between could insert keys.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return err
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%.200q is not the address of a document", s)
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return fmt.Errorf("%.200q must begin with https://", s)
	}
	return nil
}

// isLoopback reports whether a host is this machine, whatever name servers say.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// maxAge is for how long an answer is good (RFC 9111), within bounds.
func maxAge(h http.Header) time.Duration {
	age := noMaxAge
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); {
		case name == "no-store" || name == "no-cache":
			return minMaxAge
		case name == "max-age" && err == nil:
			passed, _ := strconv.ParseInt(h.Get("Age"), 10, 32) // in caches on the way; 0 without
			age = time.Duration(seconds-max(passed, 0)) * time.Second
		}
	}
	return min(max(age, minMaxAge), maxMaxAge)
}
