// Package oci keeps bundles in registries of container images.
//
// A bundle is pushed as an image that holds nothing else, so that Kubernetes mounts it as an image volume: an
// uncompressed layer for each large file and one for the rest, the same bytes on every machine, in an index with
// linux/amd64 and linux/arm64 on the same layers. The same layers can be pushed as a ModelPack artefact of the CNCF
// (github.com/modelpack/model-spec), at the tag with -modelpack behind it.
package oci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// Scheme begins references to bundles in registries: oci://REGISTRY/NAME:TAG, or with @sha256:DIGEST.
const Scheme = "oci://"

// Config says how a registry is used.
type Config struct {
	Agent    string                               // User-Agent
	Progress func(done, total int64, what string) // required
	// bytes that a bundle that is pulled may take, packed and unpacked together
	Limit int64
}

// client is one repository of a registry.
type client struct {
	*remote.Repository
	http *auth.Client
	from string // where the credentials are, for errors
}

// connect reads a reference, and finds the credentials of its registry where Docker keeps them.
func connect(reference string, c Config) (*client, error) {
	repository, err := remote.NewRepository(strings.TrimPrefix(reference, Scheme))
	if err != nil {
		return nil, fmt.Errorf("%s: want %sREGISTRY/NAME:TAG, or @sha256: and a digest: %w", reference, Scheme, err)
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("the credentials for registries: %w", err)
	}
	host := repository.Reference.Host()
	repository.PlainHTTP = isLoopback(host)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	httpClient := &auth.Client{
		Client: &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
			const most = 10
			if len(via) >= most || r.URL.Scheme != "https" && !isLoopback(host) {
				return fmt.Errorf("the registry sends to %s, which is not an address of HTTPS", r.URL.Redacted())
			}
			return nil
		}},
		Credential: credentials.Credential(store), Cache: auth.NewCache(), Header: http.Header{"User-Agent": {c.Agent}},
	}
	if repository.PlainHTTP {
		httpClient.BlockedRealmPrefixes = auth.PrivateRealmPrefixes()[:0] // its tokens may come from this machine, too
	}
	repository.Client = httpClient
	return &client{Repository: repository, http: httpClient, from: credentialsFile()}, nil
}

// isLoopback reports whether a registry is on this machine: only such a one is asked in plain text.
func isLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// credentialsFile is where Docker keeps credentials.
func credentialsFile() string {
	dir := os.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "config.json"
		}
		dir = filepath.Join(home, ".docker")
	}
	return filepath.Join(dir, "config.json")
}

// explain says what a registry's refusal means, and what to do.
func (c *client) explain(err error) error {
	host := c.Reference.Host()
	answer, isAnswer := errors.AsType[*errcode.ErrorResponse](err)
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, auth.ErrBasicCredentialNotFound) || isAnswer && answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s wants to know who asks for %s: log in (docker login %s), so that the credentials are in %s",
			host, c.Reference.Repository, host, c.from)
	case isAnswer && answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s does not let these credentials of %s use %s: ask its administrator: %w", host, c.from,
			c.Reference.Repository,
			err)
	case errors.Is(err, errdef.ErrNotFound) || isAnswer && answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s has no %s, or does not show it to you; look at the name and the tag, and log in if it is private",
			host, strings.TrimPrefix(c.Reference.String(), host+"/"))
	case isAnswer && answer.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s is asked too often from here; wait, or log in", host)
	}
	return fmt.Errorf("registry %s: %w", host, err)
}

// checkTag refuses a reference without a tag: what is pushed has to be called something.
func checkTag(r registry.Reference) error {
	if r.Reference == "" || r.ValidateReferenceAsDigest() == nil {
		return fmt.Errorf("%s%s: name a tag, such as %s%s/%s:1", Scheme, r, Scheme, r.Registry, r.Repository)
	}
	return nil
}
