package answer

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	rec := httptest.NewRecorder()
	JSON(rec, http.StatusTeapot, Error{"\"no\" \xff"})
	if got, want := rec.Body.String(), `{"error":"\"no\" `+"\ufffd"+`"}`; got != want || rec.Code != http.StatusTeapot {
		t.Errorf("got %d %q, want %d %q", rec.Code, got, http.StatusTeapot, want)
	}
	if h := rec.Header(); h.Get("Content-Type") != "application/json" || h.Get("Content-Length") != "22" {
		t.Errorf("headers %v", h)
	}
}

func TestWriterKnowsWhenAnAnswerHasBegun(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(http.ResponseWriter)
		want bool
	}{
		"nothing":         {func(http.ResponseWriter) {}, false},
		"an early hint":   {func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) }, false},
		"a status":        {func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }, true},
		"a body right on": {func(w http.ResponseWriter) { _, _ = w.Write(nil) }, true},
	} {
		w := &Writer{ResponseWriter: httptest.NewRecorder()}
		if tt.do(w); w.Began != tt.want {
			t.Errorf("%s: began %v, want %v", name, w.Began, tt.want)
		}
	}
}

func TestTry(t *testing.T) {
	err := Try(func() error { panic("oh") })
	if p, ok := errors.AsType[*PanicError](err); !ok || p.Error() != "panic: oh" ||
		!strings.Contains(string(p.Stack), "TestTry") {
		t.Errorf("a panic became %v", err)
	}
	want := errors.New("no")
	if err := Try(func() error { return want }); !errors.Is(err, want) {
		t.Errorf("an error became %v", err)
	}
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("an abort became %v", v)
		}
	}()
	_ = Try(func() error { panic(http.ErrAbortHandler) })
	t.Error("an abort was held up")
}
