// Package client speaks to a Swar server: text in, Hinglish speech out, as it is produced.
//
// [Client.Speak] speaks one utterance over HTTP, [Client.SpeakWords] with the time of each word; [Client.Stream] opens
// a WebSocket for many, with an event for each step. All distinguish a complete stream from one that was cut. See the
// examples.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Options configures a client. The zero value calls an open server.
type Options struct {
	// Key is the API key. It travels as a bearer token, which net/http drops when a server redirects to another host.
	Key string

	// HTTPClient makes the calls; nil means one of the package, with a connection pool that all Clients share. Its
	// Timeout should be 0, because a stream may last two minutes: bound a call by its context instead. For WebSockets
	// the proxy, dialler and TLS settings are taken from its Transport, if that is a [http.Transport].
	HTTPClient *http.Client

	// Retry makes calls that are refused for want of capacity, or that fail inside the server, try again as [Backoff]
	// says. It never repeats a request that has begun to answer with audio, and does not apply to WebSockets.
	Retry bool

	// UserAgent names the program to the server; "" means "swar-go".
	UserAgent string
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	options Options
	http    *http.Client
}

// New returns a client of the server at base, such as https://tts.example.com. A path in base is kept as a prefix. It
// does not connect. It fails only if base is not such an address.
func New(base string, o Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || !isServerAddress(u) {
		return nil, fmt.Errorf("client: %q is not a server address; want http://host:port or https://host", base)
	}
	if o.UserAgent == "" {
		o.UserAgent = "swar-go"
	}
	c := &Client{base: u, options: o, http: o.HTTPClient}
	if c.http == nil {
		c.http = shared
	}
	return c, nil
}

func isServerAddress(u *url.URL) bool {
	web := u.Scheme == "http" || u.Scheme == "https"
	return web && u.Host != "" && u.RawQuery == "" && u.Fragment == ""
}

// shared is the default of [Options.HTTPClient]. Audio does not shrink, so no compression is offered.
var shared = &http.Client{Transport: &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
	ForceAttemptHTTP2:     true,
	DisableCompression:    true,
	MaxIdleConnsPerHost:   64, // net/http keeps two, which makes every third concurrent stream connect anew
	IdleConnTimeout:       90 * time.Second,
	TLSHandshakeTimeout:   10 * time.Second,
	ExpectContinueTimeout: time.Second,
}}

// get reads the JSON answer to GET path into to.
func (c *Client) get(ctx context.Context, path string, to any) error {
	return c.json(ctx, http.MethodGet, path, nil, to)
}

// json makes a call whose answer is JSON and reads it into to.
func (c *Client) json(ctx context.Context, method, path string, body, to any) error {
	resp, err := c.call(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(to); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	return nil
}

// call makes a request, again and again if that was asked for, and returns an answer that is a success. The caller
// closes its body.
func (c *Client) call(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
	}
	for b := (Backoff{}); ; {
		resp, err := c.try(ctx, method, path, encoded)
		if err == nil || !c.options.Retry {
			return resp, err
		}
		wait, again := b.Next(err)
		if !again {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		}
	}
}

func (c *Client) try(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	var r io.Reader // nil rather than an empty reader: GET has no body
	if body != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), r)
	if err != nil {
		return nil, err
	}
	c.identify(req.Header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, errorOf(resp)
	}
	return resp, nil
}

func (c *Client) identify(h http.Header) {
	h.Set("User-Agent", c.options.UserAgent)
	if c.options.Key != "" {
		h.Set("Authorization", "Bearer "+c.options.Key)
	}
}
