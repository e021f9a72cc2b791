package answer

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minGzip is the size of a body from which compressing it saves a client more time than it takes: below, it fits into
// two packets.
const minGzip = 2 << 10 // bytes

// For returns a writer for the response to r. It compresses long JSON where r accepts gzip.
func For(w http.ResponseWriter, r *http.Request) *Writer {
	return &Writer{ResponseWriter: w, gzip: AcceptsGzip(r.Header.Values("Accept-Encoding"))}
}

// AcceptsGzip reads the values of Accept-Encoding (RFC 9110, 12.5.3). What is not named is not accepted, so that who
// sends no such header gets what it always got.
func AcceptsGzip(values []string) bool {
	byStar := false
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		accepted := true
		for p := range strings.SplitSeq(parameters, ";") {
			if k, v, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(k, "q") {
				q, err := strconv.ParseFloat(v, 64)
				accepted = err == nil && q > 0
			}
		}
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
			return accepted
		case name == "*":
			byStar = accepted
		}
	}
	return byStar
}

// wantsGzip looks for a Writer of For, also behind other writers.
func wantsGzip(w http.ResponseWriter) bool {
	for {
		if a, ok := w.(*Writer); ok && a.gzip {
			return true
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = u.Unwrap()
	}
}

var gzipWriters = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

func compressed(body []byte) []byte {
	var b bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
