package answer

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// failing is a body that ends with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestReadBody(t *testing.T) {
	const most = 1000
	bytesOf := func(n int) io.Reader { return strings.NewReader(strings.Repeat("a", n)) }
	for name, tt := range map[string]struct {
		body   io.Reader
		header string // name and value
		want   error
		code   string
		status int
		unread bool // nothing was read
	}{
		"nothing":                         {body: bytesOf(0)},
		"one byte below the limit":        {body: bytesOf(most - 1)},
		"as much as may be":               {body: bytesOf(most)},
		"one byte above":                  {body: bytesOf(most + 1), want: BodyTooLargeError{most}, code: "body_too_large", status: 413},
		"one above, and asked before":     {body: bytesOf(most + 1), header: "Expect: 100-continue", want: BodyTooLargeError{most}, code: "body_too_large", status: 413, unread: true},
		"as much as may be, asked before": {body: bytesOf(most), header: "Expect: 100-continue"},
		"identity":                        {body: bytesOf(1), header: "Content-Encoding: Identity"},
		"gzip":                            {body: bytesOf(1), header: "Content-Encoding: gzip", want: ErrEncodedBody, code: "bad_request", status: 415, unread: true},
		"late":                            {body: failing{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}}, want: ErrBodyTimeout, code: "timeout", status: 408},
		"cut":                             {body: failing{io.ErrUnexpectedEOF}, want: ErrBodyCut, code: "bad_request", status: 400},
		"reset":                           {body: failing{&net.OpError{Op: "read", Err: errors.New("connection reset")}}, want: ErrBodyCut, code: "bad_request", status: 400},
		"framing that is broken":          {body: failing{errors.New("malformed chunked encoding")}, want: ErrBodyBroken, code: "bad_request", status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			counted := &countingReader{r: tt.body}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", counted)
			if sized, ok := tt.body.(*strings.Reader); ok {
				r.ContentLength = int64(sized.Len())
			}
			if name, value, ok := strings.Cut(tt.header, ": "); ok {
				r.Header.Set(name, value)
			}
			body, err := ReadBody(httptest.NewRecorder(), r, most)
			if !errors.Is(err, tt.want) || (err == nil) != (int64(len(body)) == r.ContentLength) {
				t.Errorf("read %d bytes of %d and %v, want %v", len(body), r.ContentLength, err, tt.want)
			}
			if tt.unread && counted.n > 0 {
				t.Errorf("%d bytes were read before it was refused", counted.n)
			}
			f, known := BodyFailure(err)
			if known != (tt.want != nil) || f.Code != tt.code || f.Status != tt.status {
				t.Errorf("the client is told %+v, want %d %s", f, tt.status, tt.code)
			}
		})
	}
	if f, known := BodyFailure(errors.New("something else")); known {
		t.Errorf("another error became %+v", f)
	}
}

type countingReader struct {
	r io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestALargeBodyIsReadOn: who sends everything before it listens gets the answer, up to five times the limit.
func TestALargeBodyIsReadOn(t *testing.T) {
	const most = 1 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		LimitBody(w, r)
		_, err := ReadBody(w, r, most)
		f, _ := BodyFailure(err)
		Refuse(w, f)
	}))
	defer server.Close()
	for _, size := range []int{most + 1, 5 * most} {
		resp, err := server.Client().Post(server.URL, "", bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Errorf("%d bytes: %v", size, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
			t.Errorf("%d bytes: %s, and the connection is kept: %v", size, resp.Status, !resp.Close)
		}
	}
}

// deadlines notes when reading must have ended.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func TestBodiesHaveADeadline(t *testing.T) {
	for name, tt := range map[string]struct {
		length int64
		want   int // deadlines
	}{"a body": {5, 1}, "one of unknown length": {-1, 1}, "none": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			w := &deadlines{ResponseWriter: httptest.NewRecorder()}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("hello"))
			r.ContentLength = tt.length
			LimitBody(w, r)
			if len(w.set) != tt.want {
				t.Errorf("deadlines %v, want %d", w.set, tt.want)
			}
			if _, err := ReadBody(w, r, 10); err != nil || !w.set[len(w.set)-1].IsZero() {
				t.Errorf("after reading the deadlines are %v (%v), want none in the end", w.set, err)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	for name, tt := range map[string]struct {
		f    Failure
		want http.Header
	}{
		"a plain one": {Failure{Status: 400, Code: "bad_name", Text: "no"}, http.Header{"X-Error-Code": {"bad_name"}}},
		"one that may be tried again": {
			Failure{Status: 429, Code: "c", Text: "t", Retry: time.Nanosecond}, http.Header{"X-Error-Code": {"c"}, "Retry-After": {"1"}},
		},
		"after a second":      {Failure{Status: 429, Code: "c", Retry: time.Second}, http.Header{"X-Error-Code": {"c"}, "Retry-After": {"1"}}},
		"after a little more": {Failure{Status: 429, Code: "c", Retry: time.Second + 1}, http.Header{"X-Error-Code": {"c"}, "Retry-After": {"2"}}},
		"without a key":       {Failure{Status: 401, Code: "c", Challenge: "Bearer"}, http.Header{"X-Error-Code": {"c"}, "Www-Authenticate": {"Bearer"}}},
		"a late body":         {Failure{Status: 408, Code: "timeout"}, http.Header{"X-Error-Code": {"timeout"}, "Connection": {"close"}}},
		"a large body":        {Failure{Status: 413, Code: "body_too_large"}, http.Header{"X-Error-Code": {"body_too_large"}, "Connection": {"close"}}},
		"a long text":         {Failure{Status: 413, Code: "text_too_long"}, http.Header{"X-Error-Code": {"text_too_long"}}},
	} {
		t.Run(name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			Refuse(rec, tt.f)
			if want := `{"error":"` + tt.f.Text + `"}`; rec.Code != tt.f.Status || rec.Body.String() != want {
				t.Errorf("got %d %s, want %d %s", rec.Code, rec.Body, tt.f.Status, want)
			}
			for _, name := range []string{"X-Error-Code", "Retry-After", "Www-Authenticate", "Connection"} {
				if got, want := rec.Header().Get(name), tt.want.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}
