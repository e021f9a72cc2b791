package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// cost is what an interruption may cost, in bytes; of content it is a small part.
const cost = 64 << 10

var content = func() []byte {
	b := make([]byte, 10*cost+12345)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}()

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// origin serves content, and does what a test asks for. It counts the bytes that it sends.
type origin struct {
	*httptest.Server
	sent  atomic.Int64
	asked atomic.Int64
}

func newOrigin(t *testing.T, before func(attempt int64, w http.ResponseWriter, r *http.Request) bool) *origin {
	t.Helper()
	o := &origin{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if attempt := o.asked.Add(1); before != nil && before(attempt, w, r) {
			return
		}
		http.ServeContent(counted{w, &o.sent}, r, "", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(o.Close)
	return o
}

type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

// file is content at an origin.
func (o *origin) file(name string) File {
	return File{Name: name, Size: int64(len(content)), SHA256: hashOf(content), Get: o.get}
}

func (o *origin) get(ctx context.Context, offset int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL, nil)
	if err != nil {
		return nil, err
	}
	if offset > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	return o.Client().Do(r)
}

// quick does not wait between attempts.
var quick = Config{stall: 5 * time.Second, retry: time.Millisecond, poll: time.Millisecond, sync: cost}

func isContent(t *testing.T, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%s holds %d bytes, %v; want the %d of the file", path, len(got), err, len(content))
	}
}

func TestDownload(t *testing.T) {
	o := newOrigin(t, nil)
	dir := t.TempDir()
	var told []string
	c := quick
	c.Progress = func(done, total int64, what string) { told = append(told, fmt.Sprint(done, total, what)) }
	files := []File{o.file("a/model.bin"), {
		Name: "hello", Size: 5, Git: "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
		Get: func(context.Context, int64) (*http.Response, error) {
			return answer(200, "hello"), nil
		},
	}}
	if err := Download(t.Context(), dir, files, c); err != nil {
		t.Fatal(err)
	}
	isContent(t, filepath.Join(dir, "a/model.bin"))
	total := len(content) + 5
	if last := told[len(told)-1]; last != fmt.Sprint(total, total, "hello") {
		t.Errorf("the last that was told is %s", last)
	}
	asked := o.asked.Load()
	if err := Download(t.Context(), dir, files, c); err != nil || o.asked.Load() != asked {
		t.Errorf("a second time: %v, and the server was asked %d times more", err, o.asked.Load()-asked)
	}
	if err := os.WriteFile(filepath.Join(dir, "a/model.bin"), make([]byte, len(content)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Download(t.Context(), dir, files, c); err != nil {
		t.Errorf("over a file of the same length with another content: %v", err)
	}
	isContent(t, filepath.Join(dir, "a/model.bin"))
}

func answer(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), ContentLength: int64(len(body)),
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)),
	}
}

// What breaks is gone on with, and nothing is lost.
func TestDownloadGoesOn(t *testing.T) {
	cutAt := func(n int64) func(int64, http.ResponseWriter, *http.Request) bool {
		return func(attempt int64, w http.ResponseWriter, _ *http.Request) bool {
			if attempt > 1 {
				return false
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:n])
			panic(http.ErrAbortHandler)
		}
	}
	for sentence, test := range map[string]struct {
		before func(int64, http.ResponseWriter, *http.Request) bool
		most   int // bytes of the further attempts
	}{
		"a connection that is cut":         {cutAt(cost + 777), 9*cost + 12345},
		"one that is cut before the first": {cutAt(0), len(content)},
		"one that is cut before the last":  {cutAt(int64(len(content)) - 1), cost},
		"a server that cannot send a part": {func(attempt int64, w http.ResponseWriter, r *http.Request) bool {
			r.Header.Del("Range")
			return attempt == 1 && cutAt(cost)(attempt, w, r)
		}, len(content)},
		"a server that sends another part": {func(attempt int64, w http.ResponseWriter, r *http.Request) bool {
			if attempt == 2 {
				r.Header.Set("Range", "bytes=5-")
			}
			return attempt == 1 && cutAt(cost)(attempt, w, r)
		}, 2 * len(content)},
		"a file that was shorter for a while": {func(attempt int64, w http.ResponseWriter, r *http.Request) bool {
			if attempt == 2 {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return true
			}
			return attempt == 1 && cutAt(cost)(attempt, w, r)
		}, len(content)},
		"a server that is busy twice": {func(attempt int64, w http.ResponseWriter, _ *http.Request) bool {
			if attempt > 2 {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}, len(content)},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newOrigin(t, test.before)
			dir := t.TempDir()
			if err := Download(t.Context(), dir, []File{o.file("m")}, quick); err != nil {
				t.Fatal(err)
			}
			isContent(t, filepath.Join(dir, "m"))
			if sent := o.sent.Load(); sent > int64(test.most) {
				t.Errorf("%d bytes were sent once more, want %d at most", sent, test.most)
			}
		})
	}
}

func TestDownloadRefuses(t *testing.T) {
	page := "<!DOCTYPE html><title>Sign in</title>"
	for sentence, test := range map[string]struct {
		file func(File) File
		want string
	}{
		"a name that leads out of the folder":  {func(f File) File { f.Name = "../m"; return f }, "is not a name of a file"},
		"an absolute name":                     {func(f File) File { f.Name = "/m"; return f }, "is not a name of a file"},
		"a name with two slashes":              {func(f File) File { f.Name = "a//m"; return f }, "is not a name of a file"},
		"a name of what is not whole":          {func(f File) File { f.Name = ".partial/m"; return f }, "is not a name of a file"},
		"no hash":                              {func(f File) File { f.SHA256 = ""; return f }, "no hash is known"},
		"half a hash":                          {func(f File) File { f.SHA256 = f.SHA256[:63]; return f }, "no hash is known"},
		"no size":                              {func(f File) File { f.Size = -1; return f }, "the size is not known"},
		"one byte more than announced":         {func(f File) File { f.Size--; return f }, "it is another file, of which nothing is kept"},
		"one byte less than announced":         {func(f File) File { f.Size++; return f }, "it is another file, of which nothing is kept"},
		"another content":                      {func(f File) File { f.SHA256 = strings.Repeat("0", 64); return f }, "the download has the hash"},
		"a page in place of the file":          {says(200, page, "text/html"), "a web page came in place of the file"},
		"a page that does not say what it is":  {says(200, page+strings.Repeat(" ", len(content)-len(page)), ""), "a web page came"},
		"what is not there":                    {says(404, "", ""), "404 Not Found"},
		"a body without end":                   {endless, "the server sends more than the"},
		"a server that wants to be left alone": {busy("601"), "wants to be left alone for 10m1s"},
		"a server that is busy, always":        {busy("0"), "6 attempts in a row failed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newOrigin(t, nil)
			dir := t.TempDir()
			err := Download(t.Context(), filepath.Join(dir, "in"), []File{test.file(o.file("m"))}, quick)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			found, _ := filepath.Glob(filepath.Join(dir, "*", "m"))
			parts, _ := filepath.Glob(filepath.Join(dir, "in", partials, "*.part"))
			for _, part := range parts {
				if info, err := os.Stat(part); err != nil || info.Size() > 0 {
					found = append(found, part)
				}
			}
			if len(found) > 0 {
				t.Errorf("left behind: %v", found)
			}
			if all, _ := os.ReadDir(dir); len(all) > 1 {
				t.Errorf("outside of the folder there is %v", all)
			}
		})
	}
}

// says has a server give one answer.
func says(status int, body, contentType string) func(File) File {
	return func(f File) File {
		f.Get = func(context.Context, int64) (*http.Response, error) {
			a := answer(status, body)
			a.Header.Set("Content-Type", contentType)
			return a, nil
		}
		return f
	}
}

func busy(retryAfter string) func(File) File {
	return func(f File) File {
		f.Get = func(context.Context, int64) (*http.Response, error) {
			a := answer(429, "")
			a.Header.Set("Retry-After", retryAfter)
			return a, nil
		}
		return f
	}
}

func endless(f File) File {
	f.Get = func(context.Context, int64) (*http.Response, error) {
		a := answer(200, "")
		a.ContentLength, a.Body = -1, io.NopCloser(zeros{})
		return a, nil
	}
	return f
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestNoLinkLeadsOutOfTheFolder(t *testing.T) {
	o := newOrigin(t, nil)
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "a")); err != nil {
		t.Skip(err)
	}
	if err := Download(t.Context(), dir, []File{o.file("a/m")}, quick); err == nil {
		t.Error("it was brought")
	}
	if all, _ := os.ReadDir(outside); len(all) > 0 {
		t.Errorf("outside of the folder there is %v", all)
	}
}

func TestServerThatFallsSilent(t *testing.T) {
	o := newOrigin(t, func(attempt int64, w http.ResponseWriter, r *http.Request) bool {
		if attempt > 1 {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:100])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	c := quick
	c.stall = 50 * time.Millisecond
	var said atomic.Bool
	c.Progress = func(_, _ int64, what string) {
		if strings.Contains(what, "the server sent nothing for 50ms; trying again") ||
			strings.Contains(what, "sent nothing for 50ms") {
			said.Store(true)
		}
	}
	dir := t.TempDir()
	if err := Download(t.Context(), dir, []File{o.file("m")}, c); err != nil {
		t.Fatal(err)
	}
	isContent(t, filepath.Join(dir, "m"))
	if !said.Load() {
		t.Error("nobody was told why it took so long")
	}
}

func TestRoomOnTheDisk(t *testing.T) {
	for sentence, test := range map[string]struct {
		free uint64
		ok   bool
	}{
		"one byte less than wanted": {uint64(len(content)) - 1, false},
		"what is wanted":            {uint64(len(content)), true},
		"one byte more":             {uint64(len(content)) + 1, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newOrigin(t, nil)
			c := quick
			c.space = func(string) (uint64, error) { return test.free, nil }
			err := Download(t.Context(), t.TempDir(), []File{o.file("m")}, c)
			if test.ok && err != nil || !test.ok &&
				(err == nil || !strings.Contains(err.Error(), "no room on the disk of") || o.asked.Load() > 0) {
				t.Errorf("got %v, after %d requests", err, o.asked.Load())
			}
		})
	}
}

// Two at once are one download.
func TestTwoAtOnce(t *testing.T) {
	o := newOrigin(t, nil)
	dir := t.TempDir()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := Download(t.Context(), dir, []File{o.file("m")}, quick); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	isContent(t, filepath.Join(dir, "m"))
	if o.asked.Load() != 1 || o.sent.Load() != int64(len(content)) {
		t.Errorf("%d requests, %d bytes; want one of %d", o.asked.Load(), o.sent.Load(), len(content))
	}
}

func TestInterruptedDownloadKeepsWhatHasCome(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupted")
	half := len(content) / 2
	o := newOrigin(t, func(attempt int64, w http.ResponseWriter, r *http.Request) bool {
		if attempt > 1 {
			if from := r.Header.Get("Range"); from != fmt.Sprintf("bytes=%d-", half) {
				t.Errorf("it goes on with %q, want it after %d bytes", from, half)
			}
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:half])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	c := quick
	c.Progress = func(done, _ int64, _ string) {
		if done >= int64(half) {
			cancel(interrupt)
		}
	}
	c.every = 1
	dir := t.TempDir()
	if err := Download(ctx, dir, []File{o.file("m")}, c); !errors.Is(err, interrupt) {
		t.Fatalf("got %v", err)
	}
	if err := Download(t.Context(), dir, []File{o.file("m")}, quick); err != nil {
		t.Fatal(err)
	}
	isContent(t, filepath.Join(dir, "m"))
}

func TestDamagedRecordsBeginAgain(t *testing.T) {
	for sentence, text := range map[string]string{
		"half a record":         `{"size":`,
		"of another file":       fmt.Sprintf(`{"size": %d, "hash": "%s", "bytes": 5}`, len(content), strings.Repeat("0", 64)),
		"of another size":       fmt.Sprintf(`{"size": 7, "hash": "%s", "bytes": 5}`, hashOf(content)),
		"of more than is there": fmt.Sprintf(`{"size": %d, "hash": "%s", "bytes": 50}`, len(content), hashOf(content)),
		"of less than nothing":  fmt.Sprintf(`{"size": %d, "hash": "%s", "bytes": -1}`, len(content), hashOf(content)),
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newOrigin(t, nil)
			dir := t.TempDir()
			f := o.file("m")
			if err := os.MkdirAll(filepath.Join(dir, partials), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{f.part(): "garbage", f.record(): text} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := Download(t.Context(), dir, []File{f}, quick); err != nil {
				t.Fatal(err)
			}
			isContent(t, filepath.Join(dir, "m"))
		})
	}
}

func TestWait(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for sentence, test := range map[string]struct {
		name, value string
		want        time.Duration
	}{
		"seconds":              {"Retry-After", "7", 7 * time.Second},
		"a date":               {"Retry-After", "Mon, 23 Nov 2026 12:00:30 GMT", 30 * time.Second},
		"a date that is past":  {"Retry-After", "Mon, 23 Nov 2026 11:00:30 GMT", 0},
		"less than none":       {"Retry-After", "-7", 0},
		"the hub's own":        {"RateLimit", `"resolvers";r=0;t=55`, 56 * time.Second},
		"nothing of use":       {"RateLimit", `"resolvers";r=0`, 0},
		"what is not a number": {"Retry-After", "soon", 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := http.Header{}
			h.Set(test.name, test.value)
			if got := Wait(h, now); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
