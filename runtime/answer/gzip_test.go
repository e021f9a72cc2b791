package answer

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestLongJSONIsCompressedForWhoAcceptsIt(t *testing.T) {
	for name, tt := range map[string]struct {
		accept string // "-" for no header
		size   int
		want   bool
	}{
		"one byte below":         {"gzip", minGzip - 1, false},
		"as many as are enough":  {"gzip", minGzip, true},
		"one byte above":         {"gzip, deflate, br", minGzip + 1, true},
		"by another name":        {"deflate;q=1, X-GZIP ; q=0.5", minGzip, true},
		"anything":               {"*", minGzip, true},
		"anything but this":      {"*, gzip;q=0", minGzip, false},
		"not at all":             {"gzip;q=0.000", minGzip, false},
		"nothing but this":       {"*;q=0, gzip;q=0.001", minGzip, true},
		"something else":         {"br, zstd", minGzip, false},
		"a weight that is none":  {"gzip;q=high", minGzip, false},
		"an empty header":        {"", minGzip, false},
		"no header at all":       {"-", minGzip, false},
		"a name that holds this": {"gzipped", minGzip, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			if tt.accept != "-" {
				r.Header.Set("Accept-Encoding", tt.accept)
			}
			rec := httptest.NewRecorder()
			text := strings.Repeat("स", (tt.size-2)/3) + strings.Repeat("a", (tt.size-2)%3)
			JSON(&Writer{ResponseWriter: For(rec, r)}, http.StatusOK, text)
			h := rec.Header()
			if got := h.Get("Content-Encoding") == "gzip"; got != tt.want {
				t.Fatalf("compressed: %v, want %v", got, tt.want)
			}
			if varies := h.Get("Vary") == "Accept-Encoding"; varies != (tt.size >= minGzip) {
				t.Errorf("Vary is %q for %d bytes", h.Get("Vary"), tt.size)
			}
			if h.Get("Content-Length") != strconv.Itoa(rec.Body.Len()) {
				t.Errorf("Content-Length is %s for %d bytes", h.Get("Content-Length"), rec.Body.Len())
			}
			var body io.Reader = rec.Body
			if tt.want {
				z, err := gzip.NewReader(body)
				if err != nil {
					t.Fatal(err)
				}
				body = z
			}
			got, err := io.ReadAll(body)
			if err != nil || string(got) != `"`+text+`"` {
				t.Errorf("the body is %d bytes (%v), want %d", len(got), err, tt.size)
			}
		})
	}
}

func TestOnlyJSONIsCompressed(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Accept-Encoding", "gzip")
	rec := httptest.NewRecorder()
	Body(For(rec, r), http.StatusOK, "audio/wav", make([]byte, 2*minGzip))
	if h := rec.Header(); h.Get("Content-Encoding") != "" || h.Get("Vary") != "" || rec.Body.Len() != 2*minGzip {
		t.Errorf("%d bytes with %v", rec.Body.Len(), h)
	}
}

func TestWhatVariedBeforeStillVaries(t *testing.T) {
	rec := httptest.NewRecorder()
	shared := []string{"Origin"}
	rec.Header()["Vary"] = shared
	JSON(rec, http.StatusOK, strings.Repeat("a", minGzip))
	if got := rec.Header().Values("Vary"); len(got) != 2 || shared[0] != "Origin" {
		t.Errorf("Vary is %q, want two of them", got)
	}
}
