package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entries of an archive, in the order of their names.
type entry struct {
	name, content string
	kind          byte
	link          string
}

func pack(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.content)), Mode: 0o600}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, plain []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(plain, nil)
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// server offers an archive, and treats the requests as its functions say, one after another; later ones as they are.
type server struct {
	archive []byte
	treat   []http.HandlerFunc
	asked   []string // the ranges
	*httptest.Server
}

func serve(t *testing.T, archive []byte, treat ...http.HandlerFunc) *server {
	s := &server{archive: archive, treat: treat}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Header.Get("Range"))
	if n := len(s.asked); n <= len(s.treat) {
		s.treat[n-1](w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.archive))
}

// cut sends the first n bytes of what the server has, and breaks off.
func cut(archive []byte, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
		w.Write(archive[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func fail(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// fresh is a fetch from s that waits for nothing.
func fresh(t *testing.T, s *server) *fetching {
	f := &fetching{Config: Config{
		URL: s.URL + "/model.tar", SHA256: sumOf(s.archive), To: filepath.Join(t.TempDir(), "model"), Limit: 1 << 20,
		Progress: func(int64, int64, string) {},
	}, client: s.Client(), pause: time.Microsecond, stall: time.Minute}
	return f
}

// tree is every file around the folder of f, with its content.
func (f *fetching) tree(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := os.DirFS(filepath.Dir(f.To))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func TestWhatIsUnpacked(t *testing.T) {
	plain := pack(t, entry{name: "manifest.json", content: "{}"}, entry{name: "voices/raj", content: "r"})
	folder := pack(t, entry{name: "hindi/", kind: tar.TypeDir},
		entry{name: "./hindi/manifest.json", content: "{}"}, entry{name: "hindi/voices/raj", content: "r"})
	git := pack(t, entry{name: "pax", kind: tar.TypeReg, content: ""})
	for name, tt := range map[string]struct {
		archive []byte
		want    map[string]string
	}{
		"tar":                       {plain, map[string]string{"model/manifest.json": "{}", "model/voices/raj": "r"}},
		"tar.gz":                    {gzipped(t, plain), map[string]string{"model/manifest.json": "{}", "model/voices/raj": "r"}},
		"tar.zst":                   {zstandard(t, plain), map[string]string{"model/manifest.json": "{}", "model/voices/raj": "r"}},
		"all of it in a folder":     {gzipped(t, folder), map[string]string{"model/manifest.json": "{}", "model/voices/raj": "r"}},
		"a file without content":    {git, map[string]string{"model/pax": ""}},
		"folders in folders":        {pack(t, entry{name: "a/b/c", content: "c"}), map[string]string{"model/b/c": "c"}},
		"a file, and beside it all": {pack(t, entry{name: "a/b", content: "b"}, entry{name: "c"}), map[string]string{"model/a/b": "b", "model/c": ""}},
	} {
		f := fresh(t, serve(t, tt.archive))
		tt.want["model.sha256"] = sumOf(tt.archive) + "\n"
		r, err := f.run(t.Context())
		if got := f.tree(t); err != nil || !equal(got, tt.want) || r.Files != len(tt.want)-1 {
			t.Errorf("%s: %+v, %q, %v, want %q", name, r, got, err, tt.want)
		}
	}
}

func TestWhatIsNotUnpacked(t *testing.T) {
	good := entry{name: "manifest.json", content: "{}"}
	many := make([]entry, 0, maxFiles+1)
	for i := range maxFiles + 1 {
		many = append(many, entry{name: fmt.Sprintf("f%05d", i)})
	}
	for name, tt := range map[string]struct {
		archive []byte
		says    string // empty: it is unpacked
	}{
		"a name that leads out":               {pack(t, good, entry{name: "../out", content: "x"}), `unpacking "../out": the name leads out`},
		"a name that leads out later":         {pack(t, good, entry{name: "a/../../out", content: "x"}), "the name leads out"},
		"an absolute name":                    {pack(t, good, entry{name: "/tmp/out", content: "x"}), "the name leads out"},
		"a folder that leads out":             {pack(t, good, entry{name: "../out/", kind: tar.TypeDir}), "the name leads out"},
		"a link out":                          {pack(t, entry{name: "a", kind: tar.TypeSymlink, link: "/etc"}, entry{name: "a/passwd", content: "x"}), "it is a link"},
		"a link within":                       {pack(t, good, entry{name: "a", kind: tar.TypeSymlink, link: "manifest.json"}), "it is a link"},
		"a hard link":                         {pack(t, good, entry{name: "a", kind: tar.TypeLink, link: "manifest.json"}), "it is a link"},
		"a device":                            {pack(t, good, entry{name: "a", kind: tar.TypeChar}), "neither a file nor a folder"},
		"a pipe":                              {pack(t, good, entry{name: "a", kind: tar.TypeFifo}), "neither a file nor a folder"},
		"a file twice":                        {pack(t, good, good), "twice"},
		"a folder where a file is":            {pack(t, entry{name: "a", content: "x"}, entry{name: "a/b"}), `unpacking "a/b"`},
		"nothing":                             {pack(t), "holds no file"},
		"nothing but a folder":                {pack(t, entry{name: "a/", kind: tar.TypeDir}), "holds no file"},
		"no byte":                             {nil, "holds no file"},
		"something else":                      {[]byte(strings.Repeat("<html>", 200)), "want .tar, .tar.gz or .tar.zst"},
		"something else that is packed":       {gzipped(t, []byte(strings.Repeat("<html>", 200))), "want .tar, .tar.gz or .tar.zst"},
		"half an archive":                     {pack(t, entry{name: "a", content: strings.Repeat("x", 4096)})[:2048], "unexpected EOF"},
		"half a gzip file":                    {gzipped(t, pack(t, good))[:30], "unexpected EOF"},
		"as many files as may be":             {pack(t, many[:maxFiles]...), ""},
		"one file more":                       {pack(t, many...), "more than 10000 files"},
		"as deep as may be":                   {pack(t, entry{name: "m/" + strings.Repeat("d/", maxDepth-2) + "f"}), ""},
		"a folder deeper":                     {pack(t, entry{name: "m/" + strings.Repeat("d/", maxDepth-1) + "f"}), "more than 31 folders"},
		"20,000 folders in folders":           {pack(t, good, entry{name: strings.Repeat("d/", 20_000), kind: tar.TypeDir}), "more than 31 folders"},
		"a window of zstd larger than memory": {[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0, 0, 0}, "window size exceeded"},
	} {
		f := fresh(t, serve(t, tt.archive))
		f.Limit = 1 << 30
		_, err := f.run(t.Context())
		if tt.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, tt.says)
		}
		for file := range f.tree(t) {
			if file != "model.part" {
				t.Errorf("%s: it leaves %s", name, file)
			}
		}
	}
}

func TestHowMuchMayBeFetched(t *testing.T) {
	bomb := gzipped(t, pack(t, entry{name: "a", content: strings.Repeat("0", 40_000)}, entry{name: "b", content: "x"}))
	size, whole := int64(len(bomb)), int64(len(bomb))+40_001
	unsized := func(w http.ResponseWriter, _ *http.Request) {
		w.Write(bomb[:10])
		w.(http.Flusher).Flush() // which makes it an answer without a length
		w.Write(bomb[10:])
	}
	for name, tt := range map[string]struct {
		limit int64
		treat []http.HandlerFunc
		says  string // empty: it is enough
	}{
		"one less than the archive":               {size - 1, nil, fmt.Sprintf("the archive alone has %d", size)},
		"one less than an archive without length": {size - 1, []http.HandlerFunc{unsized}, fmt.Sprintf("the archive alone has %d", size)},
		"as much as the archive":                  {size, nil, `unpacking "a"`},
		"one less than archive and content":       {whole - 1, nil, `unpacking "b": the archive and what is in it take more than`},
		"as much as archive and content":          {whole, nil, ""},
		"one more":                                {whole + 1, []http.HandlerFunc{unsized}, ""},
	} {
		f := fresh(t, serve(t, bomb, tt.treat...))
		f.Limit = tt.limit
		r, err := f.run(t.Context())
		switch {
		case tt.says == "" && (err != nil || r.Bytes != 40_001):
			t.Errorf("%s: %+v, %v", name, r, err)
		case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
			t.Errorf("%s: %v, want it to say %q", name, err, tt.says)
		}
	}
}

func TestTriesThatFail(t *testing.T) {
	archive := pack(t, entry{name: "manifest.json", content: strings.Repeat("0123456789", 3000)})
	rangeless := func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) }
	other := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", "bytes 0-9/10")
		w.WriteHeader(http.StatusPartialContent)
		w.Write(archive[:10])
	}
	for name, tt := range map[string]struct {
		treat []http.HandlerFunc
		asked []string
		says  string
	}{
		"none":                                   {nil, []string{""}, ""},
		"the server is busy, twice":              {[]http.HandlerFunc{fail(503), fail(429)}, []string{"", "", ""}, ""},
		"it breaks off, and goes on":             {[]http.HandlerFunc{cut(archive, 9000)}, []string{"", "bytes=9000-"}, ""},
		"it breaks off, and can only begin anew": {[]http.HandlerFunc{cut(archive, 9000), rangeless}, []string{"", "bytes=9000-"}, ""},
		"it sends another part":                  {[]http.HandlerFunc{cut(archive, 9000), other}, []string{"", "bytes=9000-", ""}, ""},
		"it is busy for ever":                    {slices.Repeat([]http.HandlerFunc{fail(500)}, 9), slices.Repeat([]string{""}, 5), "answers 500 Internal Server Error; tried 5 times"},
		"it breaks off now and again": {[]http.HandlerFunc{
			fail(500), fail(500), fail(500), fail(500), cut(archive, 10), fail(500), fail(500), fail(500), fail(500),
		}, nil, ""},
		"it always breaks off at the same byte": {
			slices.Repeat([]http.HandlerFunc{cut(archive, 10)}, 9),
			append([]string{""}, slices.Repeat([]string{"bytes=10-"}, 5)...), "tried 5 times",
		},
		"it has no such file": {[]http.HandlerFunc{fail(404)}, []string{""}, "the server answers 404 Not Found; check the address"},
		"it wants a password": {[]http.HandlerFunc{fail(401)}, []string{""}, "the server answers 401 Unauthorized"},
	} {
		s := serve(t, archive, tt.treat...)
		f := fresh(t, s)
		_, err := f.run(t.Context())
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, tt.says)
		}
		if tt.asked != nil && !slices.Equal(s.asked, tt.asked) {
			t.Errorf("%s: it has asked for %q, want %q", name, s.asked, tt.asked)
		}
		if _, err := os.Stat(f.To); (err == nil) != (tt.says == "") {
			t.Errorf("%s: the folder: %v", name, err)
		}
	}
}

func TestWhatAnEarlierRunHasLeft(t *testing.T) {
	archive := pack(t, entry{name: "manifest.json", content: strings.Repeat("0123456789", 300)})
	for name, tt := range map[string]struct {
		left  []byte
		asked []string
	}{
		"a part":                       {archive[:100], []string{"bytes=100-"}},
		"all":                          {archive, []string{fmt.Sprintf("bytes=%d-", len(archive))}},
		"a part of another archive":    {[]byte("another"), []string{"bytes=7-", ""}},
		"more of another archive":      {bytes.Repeat([]byte("another"), 1000), []string{"bytes=7000-", ""}},
		"nothing but an empty archive": {nil, []string{""}},
	} {
		s := serve(t, archive)
		f := fresh(t, s)
		if err := os.WriteFile(f.To+partSuffix, tt.left, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(f.To+newSuffix+"/half", 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := f.run(t.Context()); err != nil || len(f.tree(t)) != 2 || !slices.Equal(s.asked, tt.asked) {
			t.Errorf("%s: %v, %d files, it has asked for %q, want %q", name, err, len(f.tree(t)), s.asked, tt.asked)
		}
	}
}

func TestAnotherArchive(t *testing.T) {
	s := serve(t, pack(t, entry{name: "manifest.json", content: "{}"}))
	f := fresh(t, s)
	f.SHA256 = strings.Repeat("0", 64)
	_, err := f.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "has the SHA-256 "+sumOf(s.archive)) || len(f.tree(t)) != 0 {
		t.Errorf("%v, %v, want an error that names both hashes, and no file", err, f.tree(t))
	}
}

func TestAFolderThatIsThere(t *testing.T) {
	s := serve(t, pack(t, entry{name: "manifest.json", content: "{}"}))
	f := fresh(t, s)
	if err := os.Mkdir(f.To, 0o755); err != nil { // which is as good as none
		t.Fatal(err)
	}
	for i := range 2 {
		if r, err := f.run(t.Context()); err != nil || r.Known != (i == 1) || len(s.asked) != 1 {
			t.Fatalf("run %d: %+v, %v, asked %d times", i, r, err, len(s.asked))
		}
	}
	f.SHA256 = strings.Repeat("0", 64)
	if _, err := f.run(t.Context()); err == nil || !strings.Contains(err.Error(), "not from this archive") ||
		len(s.asked) != 1 {
		t.Errorf("another archive: %v, want it refused before anybody is asked", err)
	}
}

func TestWhoSendsNothingIsLeft(t *testing.T) {
	archive := pack(t, entry{name: "manifest.json", content: "{}"})
	stall := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
		w.Write(archive[:100])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	s := serve(t, archive, stall)
	f := fresh(t, s)
	f.stall = 50 * time.Millisecond
	if _, err := f.run(t.Context()); err != nil || !slices.Equal(s.asked, []string{"", "bytes=100-"}) {
		t.Errorf("%v, it has asked for %q", err, s.asked)
	}

	s = serve(t, archive, stall)
	f = fresh(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("somebody has had enough")
	f.Progress = func(done, _ int64, _ string) {
		if done == 100 {
			cancel(why)
		}
	}
	if _, err := f.run(ctx); !errors.Is(err, why) || len(f.tree(t)) != 1 {
		t.Errorf("interrupted: %v, %v, want what has come to stay", err, f.tree(t))
	}
}

func TestAPasswordIsNotShown(t *testing.T) {
	s := serve(t, nil, fail(404))
	f := fresh(t, s)
	f.URL = strings.Replace(f.URL, "://", "://me:secret@", 1)
	if _, err := f.run(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, want an error without the password", err)
	}
	f.URL, s.asked = "http://me:secret@127.0.0.1:1/x", nil
	if _, err := f.run(t.Context()); err == nil || strings.Contains(err.Error(), "secret") ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("%v, want an error without the password", err)
	}
}
