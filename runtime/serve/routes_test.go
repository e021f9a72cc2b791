package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/mux"
)

// openRoutes are the only ones that answer without a key. A new route must be put here or ask for one.
var openRoutes = []string{"/", "/samples", "/healthz", "/readyz", "/metrics", samplePath, "/openapi.json",
	"/asyncapi.json", "/llms.txt"}

// eachRoute calls f with every method and path that is served.
func eachRoute(t *testing.T, s *Server, f func(method, path string)) {
	t.Helper()
	n := 0
	err := s.routes().Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		path, err := route.GetPathTemplate()
		if err != nil {
			return err
		}
		methods, err := route.GetMethods()
		if err != nil {
			return err
		}
		for _, m := range methods {
			f(m, path)
			n++
		}
		return nil
	})
	if err != nil || n < 8 {
		t.Fatalf("%d routes, %v", n, err)
	}
}

func TestEveryRouteWantsAKeyUnlessListed(t *testing.T) {
	g := newRig(t, &script{})
	var open []string
	eachRoute(t, g.server, func(method, path string) {
		for _, tt := range []struct{ key, text, code string }{
			{"", "missing x-api-key", "missing_key"},
			{"wrong", "invalid api key", "invalid_key"},
		} {
			got := g.do(method, path, "", "X-Api-Key", tt.key)
			if got.StatusCode != http.StatusUnauthorized {
				open = append(open, path)
				continue
			}
			if challenge := got.Header.Get("Www-Authenticate"); challenge != "Bearer" {
				t.Errorf("%s %s: WWW-Authenticate = %q, want Bearer", method, path, challenge)
			}
			if method != http.MethodHead {
				got.wantError(t, 401, tt.text, tt.code)
			}
		}
	})
	slices.Sort(open)
	want := slices.Sorted(slices.Values(openRoutes))
	if got := slices.Compact(open); !slices.Equal(got, want) {
		t.Errorf("open without a key: %v, want %v", got, want)
	}
}

func TestWithoutKeyringEverythingIsOpen(t *testing.T) {
	g := newRig(t, &script{}, func(c *Config) { c.Keys = nil })
	if got := g.speak(`{"text":"Hi"}`, "X-Api-Key", ""); got.StatusCode != http.StatusOK {
		t.Errorf("status = %d without a key, want 200", got.StatusCode)
	}
	if got := g.speak(`{"text":"Hi"}`, "X-Api-Key", "anything"); got.StatusCode != http.StatusOK {
		t.Errorf("status = %d with a key, want 200", got.StatusCode)
	}
}

func TestUnknownPaths(t *testing.T) {
	g := newRig(t, &script{})
	for _, path := range []string{
		"/v1", "/v1/", "/v1/tts/", "/v1/tts/stream/", "/v1/voices/", "/v1/normalize/", "/healthz/", "/readyz/", "/metrics/",
		"//", "//v1/tts", "/v1//tts", "/v1/../v1/tts", "/v1/./tts", "/V1/tts", "/v1/TTS", "/favicon.ico", "/portal/v1/me",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			t.Run(method+" "+path, func(t *testing.T) {
				g := *g
				g.t = t
				got := g.do(method, path, "", "X-Api-Key", "")
				got.wantError(t, 404, "not found", "not_found")
			})
		}
	}
}

func TestWrongMethods(t *testing.T) {
	g := newRig(t, &script{})
	allow := map[string]string{
		"/":              "GET, HEAD, OPTIONS",
		"/healthz":       "GET, HEAD, OPTIONS",
		"/readyz":        "GET, HEAD, OPTIONS",
		"/metrics":       "GET, HEAD, OPTIONS",
		"/v1/voices":     "GET, HEAD, OPTIONS",
		"/v1/tts/stream": "GET, HEAD, OPTIONS",
		"/v1/tts":        "POST, OPTIONS",
		"/v1/tts/words":  "POST, OPTIONS",
		"/v1/normalize":  "POST, OPTIONS",
		"/samples":       "GET, HEAD, OPTIONS",
		samplePath:       "GET, HEAD, OPTIONS",
		"/openapi.json":  "GET, HEAD, OPTIONS",
		"/asyncapi.json": "GET, HEAD, OPTIONS",
		"/llms.txt":      "GET, HEAD, OPTIONS",
	}
	seen := make(map[string]bool)
	eachRoute(t, g.server, func(_, path string) { seen[path] = true })
	for path := range seen {
		want, ok := allow[path]
		if !ok {
			t.Errorf("%s is not in the table of this test", path)
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE"} {
			if strings.Contains(want, method) {
				continue
			}
			got := g.do(method, path, "", "X-Api-Key", "")
			if method != http.MethodHead {
				got.wantError(t, 405, "method not allowed", "method_not_allowed")
			}
			if got.StatusCode != http.StatusMethodNotAllowed || got.Header.Get("Allow") != want {
				t.Errorf("%s %s: %d, Allow = %q; want 405, %q", method, path, got.StatusCode,
					got.Header.Get("Allow"), want)
			}
		}
	}
}

func TestHeadAnswersLikeGet(t *testing.T) {
	g := newRig(t, &script{})
	eachRoute(t, g.server, func(method, path string) {
		if method != http.MethodGet || path == "/metrics" { // whose length changes with every scrape
			return
		}
		const plain = "identity" // else the client asks only GET to be compressed, and hides that
		get := g.do(http.MethodGet, path, "", "Accept-Encoding", plain)
		head := g.do(http.MethodHead, path, "", "Accept-Encoding", plain)
		if head.StatusCode != get.StatusCode || len(head.body) != 0 {
			t.Errorf("HEAD %s: status %d with %d bytes, want %d without", path, head.StatusCode, len(head.body),
				get.StatusCode)
		}
		for _, name := range []string{"Content-Type", "Access-Control-Allow-Origin", "Cache-Control"} {
			if got, want := head.Header.Get(name), get.Header.Get(name); got != want {
				t.Errorf("HEAD %s: %s = %q, want %q", path, name, got, want)
			}
		}
		// The uptime in /healthz may have one digit more than a moment ago.
		if got, want := head.ContentLength, get.ContentLength; got != want && path != "/healthz" {
			t.Errorf("HEAD %s: length %d, want %d", path, got, want)
		}
	})
}

func TestPreflight(t *testing.T) {
	g := newRig(t, &script{})
	paths := []string{"/nowhere", "/v1/tts/"}
	eachRoute(t, g.server, func(_, path string) { paths = append(paths, path) })
	for _, path := range paths {
		got := g.do(http.MethodOptions, path, "", "X-Api-Key", "", "Origin", "https://example.com",
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-api-key")
		if got.StatusCode != http.StatusNoContent || len(got.body) != 0 {
			t.Errorf("OPTIONS %s: %d %s, want 204 without a body", path, got.StatusCode, got.body)
		}
		wantHeaders(t, got.Header, map[string]string{
			"Access-Control-Allow-Origin":  "*",
			"Access-Control-Allow-Methods": "GET, POST, OPTIONS",
			"Access-Control-Allow-Headers": "authorization, x-api-key, content-type, x-request-id, idempotency-key, traceparent, tracestate, baggage, " +
				"xi-api-key, api-subscription-key, cartesia-version, x-cartesia-client, x-deepgram-session-id, openai-organization, openai-project, " +
				"x-stainless-arch, x-stainless-async, x-stainless-lang, x-stainless-os, x-stainless-package-version, x-stainless-raw-response, " +
				"x-stainless-read-timeout, x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, x-stainless-timeout, " +
				"x-fern-language, x-fern-platform, x-fern-runtime, x-fern-runtime-version, x-fern-sdk-name, x-fern-sdk-version",
			"Access-Control-Max-Age":           "7200",
			"Access-Control-Allow-Credentials": "",
			"Timing-Allow-Origin":              "*",
		})
	}
}

func TestEveryAnswerHasCORS(t *testing.T) {
	g := newRig(t, &script{})
	calls := []struct {
		method, path, body, key string
		status                  int
	}{
		{"GET", "/nowhere", "", "", 404},
		{"PUT", "/v1/tts", "", "", 405},
		{"POST", "/v1/tts", `{}`, "", 401},
		{"POST", "/v1/tts", `{`, testKey, 400},
		{"POST", "/v1/tts", `{"text":"Hi","voice":"anjura"}`, "raj-key", 403},
		{"POST", "/v1/tts", strings.Repeat(" ", maxBody+1), testKey, 413},
		{"POST", "/v1/tts", `{"text":"Hi"}`, testKey, 200},
		{"POST", "/v1/tts/words", `{"text":"Hi"}`, testKey, 200},
		{"POST", "/v1/tts/words", `{}`, "", 401},
		{"POST", "/v1/tts", `{"text":"Hi","stream":false}`, testKey, 200},
	}
	eachRoute(t, g.server, func(method, path string) {
		if method != http.MethodPost && path != "/v1/tts/stream" && path != samplePath {
			calls = append(calls, struct {
				method, path, body, key string
				status                  int
			}{method, path, "", testKey, 200})
		}
	})
	for _, c := range calls {
		got := g.do(c.method, c.path, c.body, "X-Api-Key", c.key, "Origin", "null")
		if got.StatusCode != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, got.StatusCode, c.status)
		}
		wantHeaders(t, got.Header, map[string]string{
			"Access-Control-Allow-Origin":      "*",
			"Access-Control-Allow-Credentials": "",
			"Timing-Allow-Origin":              "*",
			"X-Content-Type-Options":           "nosniff",
			"Cache-Control":                    "no-store",
		})
		exposed := strings.Split(got.Header.Get("Access-Control-Expose-Headers"), ", ")
		for _, name := range []string{
			"x-request-id", "x-error-code", "retry-after", "x-seed", "x-model", "x-voice", "x-queue-ms", "x-concurrency-active",
			"x-unspoken", "x-synthetic", "x-service",
			"x-concurrency-limit", "server-timing", "content-length", "x-audio-s", "x-frames", "x-wall-ms", "x-rtf", "x-audio-sha256",
		} {
			if !slices.Contains(exposed, name) {
				t.Errorf("%s %s: %s is not exposed to pages", c.method, c.path, name)
			}
		}
	}
}

// dial opens a bare connection, for what net/http's client would not send.
func (g *rig) dial() (net.Conn, *bufio.Reader) {
	g.t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(g.t.Context(), "tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { conn.Close() })
	return conn, bufio.NewReader(conn)
}

func TestHTTP10Client(t *testing.T) {
	tests := []struct{ sentence, body, length string }{
		{"a stream ends with the connection", `{"text":"Hi","format":"pcm16"}`, ""},
		{"a buffered answer has its length", `{"text":"Hi","format":"pcm16","stream":false}`, "19200"},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			conn, r := newRig(t, &script{}).dial()
			fmt.Fprintf(conn, "POST /v1/tts HTTP/1.0\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s", testKey,
				len(tt.body), tt.body)
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || string(body) != string(frames(0, 5)) {
				t.Errorf("%d bytes, %v; want the five frames", len(body), err)
			}
			if res.StatusCode != http.StatusOK || res.TransferEncoding != nil || len(res.Trailer) != 0 ||
				res.Header.Get("Trailer") != "" {
				t.Errorf("status %d, encoding %v, trailers %v", res.StatusCode, res.TransferEncoding, res.Trailer)
			}
			if got := res.Header.Get("Content-Length"); got != tt.length {
				t.Errorf("Content-Length = %q, want %q", got, tt.length)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("after the answer: %v, want the end", err)
			}
		})
	}
}

// TestConnectionStaysUsableAfterErrors sends everything at once, as a client that pipelines does.
func TestConnectionStaysUsableAfterErrors(t *testing.T) {
	conn, r := newRig(t, &script{}).dial()
	requests := []struct {
		line, key, body string
		status          int
	}{
		{"POST /v1/tts", testKey, `{`, 400},
		{"POST /v1/nowhere", testKey, `{"text":"Hi"}`, 404},
		{"PUT /v1/tts", testKey, `{"text":"Hi"}`, 405},
		{"POST /v1/tts", "wrong", `{"text":"Hi"}`, 401},
		{"POST /v1/tts", testKey, `{"text":"Hi"}`, 200},
		{"OPTIONS /v1/tts", "", ``, 204},
		{"POST /v1/tts", testKey, `{"text":"Hi","stream":false}`, 200},
		{"POST /v1/normalize", testKey, `{"text":5}`, 400},
		{"GET /v1/voices", testKey, ``, 200},
	}
	var all strings.Builder
	for _, q := range requests {
		fmt.Fprintf(&all, "%s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s", q.line, q.key,
			len(q.body), q.body)
	}
	go io.WriteString(conn, all.String())
	for _, q := range requests {
		method, _, _ := strings.Cut(q.line, " ")
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%s: %v", q.line, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Errorf("%s: %v", q.line, err)
		}
		res.Body.Close()
		if res.StatusCode != q.status || res.Close {
			t.Errorf("%s %s: status %d, close %v; want %d and an open connection", q.line, q.body, res.StatusCode,
				res.Close, q.status)
		}
	}
}

// TestExpectContinue: a client that asks before sending is refused before it sends.
func TestExpectContinue(t *testing.T) {
	tests := []struct {
		sentence, key string
		length        int
		first         int // status of the first answer
	}{
		{"a legal body is asked for", testKey, 13, 100},
		{"a body that is too large is not", testKey, maxBody + 1, 413},
		{"a body without a key is not", "", 13, 401},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			conn, r := newRig(t, &script{}).dial()
			fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n",
				tt.key, tt.length)
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != tt.first {
				t.Fatalf("first answer = %d, want %d", res.StatusCode, tt.first)
			}
			if tt.first != http.StatusContinue {
				return
			}
			io.WriteString(conn, `{"text":"Hi"}`)
			if res, err = http.ReadResponse(r, nil); err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("after the body: %v, %v", res, err)
			}
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		})
	}
}

func TestBrokenChunkedBody(t *testing.T) {
	conn, r := newRig(t, &script{}).dial()
	fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", testKey)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := answered{Response: res}
	a.body, a.cut = io.ReadAll(res.Body)
	res.Body.Close()
	a.wantError(t, 400, "request body could not be read", "bad_request")
}

func TestClientThatLeavesWithinItsBody(t *testing.T) {
	g := newRig(t, &script{})
	conn, _ := g.dial()
	fmt.Fprintf(conn, "POST /v1/tts HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: 100\r\n\r\n{", testKey)
	conn.Close()
	if line := g.logs.wait(t, 1)[0]; line["status"] != "cancelled" {
		t.Errorf("logged %v", line)
	}
}
