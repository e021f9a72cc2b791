package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	busy := &Error{Status: 503, RetryAfter: time.Second}
	warming := &Error{Status: 503}
	failed := &Error{Status: 500}
	tests := map[string]struct {
		errs  []error
		again []bool
		least time.Duration // of the first wait
	}{
		"busy: three tries in all":              {[]error{busy, busy, busy}, []bool{true, true, false}, time.Second},
		"busy without Retry-After":              {[]error{warming, warming, warming}, []bool{true, true, false}, 0},
		"busy for as long as we care to wait":   {[]error{&Error{Status: 503, RetryAfter: longestWait}}, []bool{true}, longestWait},
		"busy for longer than we care to wait":  {[]error{&Error{Status: 503, RetryAfter: longestWait + 1}}, []bool{false}, 0},
		"an engine error once":                  {[]error{failed, failed}, []bool{true, false}, 0},
		"busy, then an engine error, then busy": {[]error{busy, failed, busy, busy}, []bool{true, true, true, false}, time.Second},
		"wrapped":                               {[]error{fmt.Errorf("speaking: %w", busy)}, []bool{true}, time.Second},
		"a bad request":                         {[]error{&Error{Status: 400}}, []bool{false}, 0},
		"too long":                              {[]error{&Error{Status: 413}}, []bool{false}, 0},
		"too many requests":                     {[]error{&Error{Status: 429, RetryAfter: 1}}, []bool{false}, 0},
		"a proxy without a server":              {[]error{&Error{Status: 502}}, []bool{false}, 0},
		"a time-out":                            {[]error{&Error{Status: 504}}, []bool{false}, 0},
		"audio that was cut":                    {[]error{&CutError{Err: failed}}, []bool{false}, 0},
		"the network":                           {[]error{io.ErrUnexpectedEOF}, []bool{false}, 0},
		"nothing":                               {[]error{nil}, []bool{false}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var b Backoff
			for i, err := range tt.errs {
				wait, again := b.Next(err)
				if again != tt.again[i] {
					t.Errorf("try %d: again = %v, want %v", i+1, again, tt.again[i])
				}
				if most := tt.least + jitter; i == 0 && again && (wait < tt.least || wait > most) {
					t.Errorf("wait = %v, want %v to %v", wait, tt.least, most)
				}
			}
		})
	}
}

// script answers with its statuses one after another, without a network, so that time is the test's.
type script struct {
	statuses []int
	at       []time.Duration
	began    time.Time
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	io.ReadAll(r.Body)
	status := s.statuses[len(s.at)]
	s.at = append(s.at, time.Since(s.began))
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"error":"no"}`))}
	if status == 503 {
		resp.Header.Set("Retry-After", "1")
	}
	return resp, nil
}

func TestRetryIsAskedFor(t *testing.T) {
	tests := map[string]struct {
		retry    bool
		statuses []int
		tries    int
		ok       bool
	}{
		"not by default":             {false, []int{503}, 1, false},
		"busy twice, then audio":     {true, []int{503, 503, 200}, 3, true},
		"busy three times":           {true, []int{503, 503, 503}, 3, false},
		"an engine error, then fine": {true, []int{500, 200}, 2, true},
		"a refusal":                  {true, []int{400}, 1, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{statuses: tt.statuses, began: time.Now()}
				c, err := New("http://tts.test", Options{HTTPClient: &http.Client{Transport: s}, Retry: tt.retry})
				if err != nil {
					t.Fatal(err)
				}
				a, err := c.Speak(t.Context(), Request{Text: "a"})
				if (err == nil) != tt.ok {
					t.Errorf("error = %v, want success %v", err, tt.ok)
				}
				if a != nil {
					a.Close()
				}
				if len(s.at) != tt.tries {
					t.Fatalf("%d tries, want %d", len(s.at), tt.tries)
				}
				for i := 1; i < tt.tries; i++ {
					gap := s.at[i] - s.at[i-1]
					if tt.statuses[i-1] == 503 && (gap < time.Second || gap > time.Second+jitter) {
						t.Errorf("try %d came after %v, want 1 s to 1.25 s", i+1, gap)
					}
				}
			})
		})
	}
}

func TestRetryHeedsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{statuses: []int{503, 200}, began: time.Now()}
		c, err := New("http://tts.test", Options{HTTPClient: &http.Client{Transport: s}, Retry: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err = c.Speak(ctx, Request{Text: "a"})
		if _, refused := errors.AsType[*Error](err); !refused || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want the refusal and the end of the context", err)
		}
		if got := time.Since(s.began); got != 500*time.Millisecond || len(s.at) != 1 {
			t.Errorf("%d tries in %v, want one in 500ms", len(s.at), got)
		}
	})
}
