package hub

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const defaultEndpoint = "https://huggingface.co"

// FromEnvironment returns a client that is configured by the variables of the hub's own tools. They are HF_ENDPOINT,
// HF_TOKEN, HUGGING_FACE_HUB_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE,
// HF_HUB_DISABLE_IMPLICIT_TOKEN, HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE and HF_HUB_ETAG_TIMEOUT, and those of proxies.
// agent names the program and its version. lookup is [os.LookupEnv], or stands for it.
func FromEnvironment(agent string, lookup func(string) (string, bool)) (*Client, error) {
	get := func(names ...string) string {
		for _, name := range names {
			if value, ok := lookup(name); ok && value != "" {
				return value
			}
		}
		return ""
	}
	c := &Client{
		Endpoint: strings.TrimRight(cmp.Or(get("HF_ENDPOINT"), defaultEndpoint), "/"), Agent: agent,
		Offline: isOn(get("HF_HUB_OFFLINE")) || isOn(get("TRANSFORMERS_OFFLINE")),
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("HF_ENDPOINT %q: want the address of a hub, such as %s", c.Endpoint, defaultEndpoint)
	}
	home := get("HF_HOME")
	if home == "" {
		cache := get("XDG_CACHE_HOME")
		if cache == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				user = "/nonexistent" // then there is no cache, and no file with a token
			}
			cache = filepath.Join(user, ".cache")
		}
		home = filepath.Join(cache, "huggingface")
	}
	c.Cache = cmp.Or(get("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"), filepath.Join(home, "hub"))
	if !isOn(get("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		c.token(get, home)
	}
	timeout, err := time.ParseDuration(cmp.Or(get("HF_HUB_ETAG_TIMEOUT"), "10") + "s")
	if err != nil || timeout <= 0 {
		return nil, fmt.Errorf("HF_HUB_ETAG_TIMEOUT %q: want seconds", get("HF_HUB_ETAG_TIMEOUT"))
	}
	c.HTTP = newHTTPClient(max(timeout, 10*time.Second))
	return c, nil
}

// token finds the token, and says where, so that whoever has a wrong one finds it too.
func (c *Client) token(get func(...string) string, home string) {
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if value := strings.TrimSpace(get(name)); value != "" {
			c.Token, c.tokenFrom = value, name
			return
		}
	}
	path := cmp.Or(get("HF_TOKEN_PATH"), filepath.Join(home, "token"))
	if text, err := os.ReadFile(path); err == nil {
		c.Token, c.tokenFrom = strings.TrimSpace(string(text)), path
	}
}

func isOn(value string) bool {
	switch strings.ToUpper(value) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

// newHTTPClient follows no redirect by itself: what is sent to the hub is not for others.
func newHTTPClient(timeout time.Duration) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() // with the proxies of the environment
	transport.ResponseHeaderTimeout = timeout
	transport.DisableCompression = true // lengths and hashes are those of the file
	return &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
