package answer

import (
	"bytes"
	"errors"
	"fmt"
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
	sized := func(n int) io.Reader { return strings.NewReader(strings.Repeat("a", n)) }
	fails := func(err error) io.Reader { return failing{err} }
	late := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	reset := &net.OpError{Op: "read", Err: errors.New("connection reset")}
	tooLarge := BodyTooLargeError{most}
	const expect, coding = "Expect: 100-continue", "Content-Encoding: "
	for name, tt := range map[string]struct {
		body   io.Reader
		header string // name and value
		want   error
		told   string // status and code
		unread bool   // it is refused before anything is read
	}{
		"nothing":                         {sized(0), "", nil, "", false},
		"one byte below the limit":        {sized(most - 1), "", nil, "", false},
		"as much as may be":               {sized(most), "", nil, "", false},
		"one byte above":                  {sized(most + 1), "", tooLarge, "413 body_too_large", false},
		"one above, and asked before":     {sized(most + 1), expect, tooLarge, "413 body_too_large", true},
		"as much as may be, asked before": {sized(most), expect, nil, "", false},
		"identity":                        {sized(1), coding + "Identity", nil, "", false},
		"gzip":                            {sized(1), coding + "gzip", ErrEncodedBody, "415 bad_request", true},
		"late":                            {fails(late), "", ErrBodyTimeout, "408 timeout", false},
		"cut":                             {fails(io.ErrUnexpectedEOF), "", ErrBodyCut, "400 bad_request", false},
		"reset":                           {fails(reset), "", ErrBodyCut, "400 bad_request", false},
		"framing that is broken":          {fails(errors.New("malformed chunk")), "", ErrBodyBroken, "400 bad_request", false},
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
			if isWhole := int64(len(body)) == r.ContentLength; !errors.Is(err, tt.want) || (err == nil) != isWhole {
				t.Errorf("read %d bytes of %d and %v, want %v", len(body), r.ContentLength, err, tt.want)
			}
			if tt.unread && counted.n > 0 {
				t.Errorf("%d bytes were read before it was refused", counted.n)
			}
			told := ""
			if f, known := BodyFailure(err); known {
				told = fmt.Sprint(f.Status, " ", f.Code)
			}
			if told != tt.told {
				t.Errorf("the client is told %q, want %q", told, tt.told)
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
	const retry, challenge, connection = "Retry-After", "Www-Authenticate", "Connection"
	for name, tt := range map[string]struct {
		f    Failure
		want map[string]string // headers besides the code
	}{
		"a plain one":                {Failure{Status: 400, Code: "bad_name", Text: "no"}, nil},
		"one that passes":            {Failure{Status: 429, Code: "c", Retry: 1}, map[string]string{retry: "1"}},
		"one that passes in 1 s":     {Failure{Status: 429, Code: "c", Retry: time.Second}, map[string]string{retry: "1"}},
		"one that passes in 1 s + 1": {Failure{Status: 429, Code: "c", Retry: time.Second + 1}, map[string]string{retry: "2"}},
		"without a key":              {Failure{Status: 401, Code: "c", Challenge: "Bearer"}, map[string]string{challenge: "Bearer"}},
		"a late body":                {Failure{Status: 408, Code: "timeout"}, map[string]string{connection: "close"}},
		"a large body":               {Failure{Status: 413, Code: "body_too_large"}, map[string]string{connection: "close"}},
		"a long text":                {Failure{Status: 413, Code: "text_too_long"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			Refuse(rec, tt.f)
			if want := `{"error":"` + tt.f.Text + `"}`; rec.Code != tt.f.Status || rec.Body.String() != want {
				t.Errorf("got %d %s, want %d %s", rec.Code, rec.Body, tt.f.Status, want)
			}
			if got := rec.Header().Get("X-Error-Code"); got != tt.f.Code {
				t.Errorf("the code is %q, want %q", got, tt.f.Code)
			}
			for _, name := range []string{retry, challenge, connection} {
				if got := rec.Header().Get(name); got != tt.want[name] {
					t.Errorf("%s is %q, want %q", name, got, tt.want[name])
				}
			}
		})
	}
}
