package pull

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/models/hub"
	"github.com/swar-tts/swar/models/hub/hubtest"
)

const (
	repository = "acme/voices-ONNX"
	commit     = "0123456789012345678901234567890123456789"
)

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// world is a hub, a release at another host, and programs in the place of pip and npm.
type world struct {
	*Puller
	t       *testing.T
	hub     *hubtest.Hub
	release *httptest.Server
	ranges  []string // that the release was asked for
	tools   string   // folder
	entry   catalog.Entry
	notices []string
	small   []byte // weights in int8
	large   []byte // in floats
	voice   []byte
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, hub: hubtest.New(t), tools: t.TempDir(),
		small: bytes.Repeat([]byte("int8"), 5000), large: bytes.Repeat([]byte("float"), 9000),
		voice: bytes.Repeat([]byte("voice"), 100),
	}
	w.release = httptest.NewTLSServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		w.ranges = append(w.ranges, r.Header.Get("Range"))
		content, ok := map[string][]byte{"/small.onnx": w.small, "/large.onnx": w.large}[r.URL.Path]
		if !ok || r.Header.Get("Authorization") != "" {
			http.NotFound(a, r)
			return
		}
		http.ServeContent(a, r, "", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(w.release.Close)
	w.hub.Publish(repository, &hubtest.Repository{
		Commit: commit, Files: map[string][]byte{"onnx/small.onnx": w.small, "onnx/large.onnx": w.large,
			"voices/hf.bin": w.voice},
		Large: []string{"onnx/small.onnx", "onnx/large.onnx", "voices/hf.bin"},
	})
	w.writeTools()
	client := w.release.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w.Puller = &Puller{
		Store: models.Store{Dir: t.TempDir()}, Hub: &hub.Client{Endpoint: w.hub.URL, Token: "hf_secret", HTTP: client},
		Progress: func(int64, int64, string) {}, Notice: func(line string) { w.notices = append(w.notices, line) },
		Verify: func(context.Context, string) error { return nil },
	}
	w.hub.Change(func(h *hubtest.Hub) { h.Readers = []string{"hf_secret"} })
	w.entry = catalog.Entry{
		Name: "voices", Engine: "kokoro", Repository: repository, Revision: commit, Languages: []string{"hi-IN"},
		Licence:    "Apache-2.0",
		VoiceBytes: int64(len(w.voice)), VoicePackage: "npm:v@1/package",
		Exports: []catalog.Export{
			w.export("int8", "onnx/small.onnx", w.small, catalog.Source{"onnx/small.onnx"},
				catalog.Source{w.release.URL + "/small.onnx"}, catalog.Source{"pip:one==1/a", "pip:two==1/b"}),
			w.export("fp32", "onnx/large.onnx", w.large, catalog.Source{"onnx/large.onnx"},
				catalog.Source{w.release.URL + "/large.onnx"}),
		},
	}
	for _, v := range []struct {
		name     string
		optional bool
	}{{"anjura", false}, {"hf_more", true}} {
		w.entry.Voices = append(w.entry.Voices, catalog.Voice{
			Name: v.name, File: "voices/hf.bin", SHA256: hashOf(w.voice), Language: "hi-IN", Licence: "Apache-2.0",
			Attribution: "hf",
			Optional:    v.optional,
		})
	}
	return w
}

func (w *world) export(precision, name string, content []byte, places ...catalog.Source) catalog.Export {
	return catalog.Export{Precision: precision, File: name, Bytes: int64(len(content)), SHA256: hashOf(content),
		Sources: places}
}

// writeTools puts programs into the PATH that give packages with the files of the world.
func (w *world) writeTools() {
	half := len(w.small) / 2
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(w.tools, name), content, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	for name, files := range map[string]map[string][]byte{"one": {"a": w.small[:half]}, "two": {"b": w.small[half:]}} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for path, content := range files {
			f, err := z.Create(path)
			if err == nil {
				_, err = f.Write(content)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			w.t.Fatal(err)
		}
		write(name, b.Bytes())
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "package/voices/hf.bin", Size: int64(len(w.voice)),
		Mode: 0o644})
	if err == nil {
		_, err = t.Write(w.voice)
	}
	if err := errors.Join(err, t.Close(), z.Close()); err != nil {
		w.t.Fatal(err)
	}
	write("v", b.Bytes())
	script := `#!/bin/sh
for a; do case $a in
--dest=*) to=${a#--dest=}/a.whl;;
--pack-destination=*) to=${a#--pack-destination=}/a.tgz;;
--*) ;;
*==*) name=${a%==*};;
*@*) name=${a%@*};;
esac; done
cp ` + w.tools + `/$name "$to"
`
	write("python3", []byte(script))
	write("npm", []byte(script))
	w.t.Setenv("PATH", w.tools+":"+os.Getenv("PATH"))
}

// without removes a tool.
func (w *world) without(tool string) {
	script := "#!/bin/sh\necho 'ERROR: no network' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(w.tools, tool), []byte(script), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// plan plans the entry of the world.
func (w *world) plan(q Request, revision string) (*Plan, error) {
	if q.Precision == "" {
		q.Precision = "int8"
	}
	plan, err := w.planExports(w.t.Context(), &Plan{request: q, Name: w.entry.Name, Entry: &w.entry}, revision)
	for p := plan; p != nil; p = p.next {
		p.maker = w.make
	}
	return plan, err
}

// make makes a folder that tells what it was made of.
func (w *world) make(_ context.Context, to string, plan *Plan) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	var said []string
	for _, f := range plan.files {
		content, err := os.ReadFile(f.local)
		if err != nil {
			return err
		}
		said = append(said, f.role+" "+f.voice+" "+hashOf(content))
	}
	return os.WriteFile(filepath.Join(to, "manifest.json"), []byte(strings.Join(said, "\n")), 0o644)
}

func (w *world) pullAll(q Request) (models.Model, bool, error) {
	plan, err := w.plan(q, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return w.Pull(w.t.Context(), plan)
}

func TestPlacesAreTriedInOrder(t *testing.T) {
	gone := func(w *world, names ...string) {
		w.hub.Change(func(h *hubtest.Hub) {
			for _, name := range names {
				delete(h.Repositories[repository].Files, name)
			}
		})
	}
	noRelease := func(w *world) {
		w.entry.Exports[0].Sources[1] = catalog.Source{w.release.URL + "/nothing"}
	}
	for name, tt := range map[string]struct {
		change  func(*world)
		from    []string // beginnings of where the weights and the voice come from
		notices []string
		fails   string
	}{
		"the hub has all": {nil, []string{"hf://", "hf://"}, nil, ""},
		"the hub has no weights": {
			func(w *world) { gone(w, "onnx/small.onnx") }, []string{"https://", "hf://"},
			[]string{"the hub: acme/voices-ONNX has no file"}, "",
		},
		"neither has the release": {
			func(w *world) { gone(w, "onnx/small.onnx"); noRelease(w) }, []string{"pip:one==1/a", "hf://"},
			[]string{"has no file", "404 Not Found; trying pip next"}, "",
		},
		"the hub has nothing": {
			func(w *world) { gone(w, "onnx/small.onnx", "voices/hf.bin") }, []string{"https://", "npm:v@1"},
			[]string{"onnx/small.onnx", "voices/hf.bin"}, "",
		},
		"the hub gives other bytes": {
			func(w *world) { w.hub.Change(func(h *hubtest.Hub) { h.Flip = true }) }, []string{"https://", "npm:v@1"},
			[]string{"the hub: the download has the hash"}, "",
		},
		"a page to sign in at": {
			func(w *world) { w.hub.Change(func(h *hubtest.Hub) { h.Portal = true }) }, []string{"https://", "npm:v@1"},
			[]string{"the hub: a web page came"}, "",
		},
		"nobody has the weights": {
			func(w *world) { gone(w, "onnx/small.onnx"); noRelease(w); w.without("python3") }, nil,
			[]string{"has no file", "404"}, "onnx/small.onnx: pip: python3: ERROR: no network",
		},
		"the disk has no room, wherever the weights come from": {
			func(w *world) { w.entry.Exports[0].Bytes = 1 << 60 }, nil, nil, "onnx/small.onnx: no room on the disk of ",
		},
		"nobody has the voice": {
			func(w *world) { gone(w, "voices/hf.bin"); w.without("npm") }, nil,
			[]string{"the hub: acme/voices-ONNX has no file"}, "voices/hf.bin: npm: ERROR: no network",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.change != nil {
				tt.change(w)
			}
			m, isNew, err := w.pullAll(Request{})
			if tt.fails == "" && (err != nil || !isNew) ||
				tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Fatalf("new %v, %v", isNew, err)
			}
			for i, from := range tt.from {
				if !strings.HasPrefix(m.Files[i].From, from) {
					t.Errorf("%s comes from %s, want %s", m.Files[i].Role, m.Files[i].From, from)
				}
			}
			for i, want := range tt.notices {
				if i >= len(w.notices) || !strings.Contains(w.notices[i], want) ||
					strings.Contains(w.notices[i], "\n") {
					t.Errorf("notices are %q, want %q", w.notices, tt.notices)
					break
				}
			}
			if len(w.notices) != len(tt.notices) {
				t.Errorf("notices are %q, want %d", w.notices, len(tt.notices))
			}
			if left, _ := filepath.Glob(filepath.Join(w.Store.Dir, ".*")); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

func TestAnotherPlaceGoesOnWhereOneBrokeOff(t *testing.T) {
	w := newWorld(t)
	w.hub.Change(func(h *hubtest.Hub) { h.CutAfter = 9000 })
	w.entry.Exports[0].Sources[0] = catalog.Source{"onnx/small.onnx"}
	broken := false
	w.Puller.Progress = func(done, _ int64, _ string) {
		if done >= 9000 && !broken { // and from then on it gives nothing
			broken = true
			w.hub.Change(func(h *hubtest.Hub) {
				h.Repositories[repository].Files = map[string][]byte{"voices/hf.bin": w.voice}
			})
		}
	}
	if m, _, err := w.pullAll(Request{}); err != nil || !strings.HasPrefix(m.Files[0].From, "https://") {
		t.Fatalf("%v, %v", m.Files, err)
	}
	if len(w.ranges) != 1 || !strings.HasPrefix(w.ranges[0], "bytes=") || w.ranges[0] == "bytes=0-" {
		t.Errorf("the release was asked for %q, want one part", w.ranges)
	}
}

func TestWhatIsHereIsNotBroughtAgain(t *testing.T) {
	w := newWorld(t)
	first, isNew, err := w.pullAll(Request{})
	if err != nil || !isNew || first.Revision != hashOf(w.small) || first.Made.Precision != "int8" ||
		len(first.Voices) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	sent := w.hub.Sent.Load()
	w.Hub.Offline = true
	if _, isNew, err := w.pullAll(Request{}); err != nil || isNew || w.hub.Sent.Load() != sent {
		t.Errorf("once more: new %v, %d bytes, %v", isNew, w.hub.Sent.Load()-sent, err)
	}
	stored := filepath.Join(w.Store.Files(), hashOf(w.small), "small.onnx")
	if err := os.WriteFile(stored, bytes.Repeat([]byte("x"), len(w.small)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.pullAll(Request{}); !hub.Is(err, hub.KindOffline) {
		t.Errorf("a damaged file and no network: %v", err)
	}
	w.Hub.Offline = false
	if _, isNew, err := w.pullAll(Request{}); err != nil || isNew {
		t.Errorf("a damaged file: new %v, %v", isNew, err)
	}
	if content, err := os.ReadFile(stored); err != nil || !bytes.Equal(content, w.small) {
		t.Errorf("it is not mended: %v", err)
	}
}

func TestProgressIsOfAllFiles(t *testing.T) {
	w := newWorld(t)
	whole, last := int64(len(w.small)+len(w.voice)), int64(0)
	w.Puller.Progress = func(done, total int64, what string) {
		if strings.Contains(what, ".onnx") || strings.Contains(what, ".bin") {
			if total != whole || done < last {
				t.Errorf("%s: %d of %d after %d, want a total of %d", what, done, total, last, whole)
			}
			last = done
		}
	}
	if _, _, err := w.pullAll(Request{}); err != nil || last != whole {
		t.Errorf("%v, %d of %d", err, last, whole)
	}
}

func TestPrecisionAndRevision(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		precision, revision string
		want                []string
		fails               string
	}{
		"int8 takes no floats":      {"int8", "", []string{"onnx/small.onnx"}, ""},
		"floats, or else int8":      {"fp32", "", []string{"onnx/large.onnx", "onnx/small.onnx"}, ""},
		"a revision":                {"int8", hashOf(w.large)[:12], []string{"onnx/large.onnx"}, ""},
		"a revision that is none":   {"int8", "xyz", nil, "has no revision xyz: there are " + hashOf(w.small)[:12] + " (int8)"},
		"the revision of the other": {"fp32", hashOf(w.small), []string{"onnx/small.onnx"}, ""},
	} {
		plan, err := w.plan(Request{Precision: tt.precision}, tt.revision)
		var got []string
		for p := plan; p != nil; p = p.next {
			got = append(got, p.files[0].entry.Path)
		}
		if !slices.Equal(got, tt.want) || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := w.plan(Request{Codec: "x"}, ""); err == nil || !strings.Contains(err.Error(), "--codec") {
		t.Errorf("a codec: %v", err)
	}
}

func TestAnExportThatIsHereComesFirst(t *testing.T) {
	w := newWorld(t)
	other := bytes.Repeat([]byte("8int"), 5000)
	w.entry.Exports = append([]catalog.Export{w.export("int8", "onnx/other.onnx", other,
		catalog.Source{"onnx/other.onnx"})}, w.entry.Exports...)
	w.hub.Change(func(h *hubtest.Hub) { h.BadGateway = 100 })
	first, _, err := w.pullAll(Request{})
	if err != nil || first.Revision != hashOf(w.small) {
		t.Fatalf("%s, %v", first.Revision, err)
	}
	w.hub.Change(func(h *hubtest.Hub) { h.BadGateway, h.Repositories[repository].Files["onnx/other.onnx"] = 0, other })
	if again, isNew, err := w.pullAll(Request{}); err != nil || isNew || again.Revision != first.Revision {
		t.Errorf("once more: %s, new %v, %v", again.Revision, isNew, err)
	}
}

func TestAnExportThatCannotBeConvertedHasANext(t *testing.T) {
	w := newWorld(t)
	plan, err := w.plan(Request{Precision: "fp32"}, "")
	if err != nil {
		t.Fatal(err)
	}
	plan.maker = func(context.Context, string, *Plan) error { return errors.New("the graph has no value x") }
	m, _, err := w.Pull(t.Context(), plan)
	if err != nil || m.Made.Precision != "int8" || m.Revision != hashOf(w.small) {
		t.Fatalf("%+v, %v", m, err)
	}
	if len(w.notices) != 1 || w.notices[0] != "the graph has no value x; trying onnx/small.onnx next" {
		t.Errorf("notices are %q", w.notices)
	}
}

func TestVoicesOfExports(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.bin")
	if err := os.WriteFile(own, []byte("own"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		voices map[string]string
		want   string
		fails  string
	}{
		"those of the catalogue":              {nil, "anjura", ""},
		"one more, by its name":               {map[string]string{"hf_more": ""}, "anjura hf_more", ""},
		"one more, under another name":        {map[string]string{"asha": "hf_more"}, "anjura asha", ""},
		"one by the name of its publisher":    {map[string]string{"hf": "hf"}, "anjura hf", ""},
		"a file in the place of one":          {map[string]string{"anjura": own}, "anjura", ""},
		"a file of the hub":                   {map[string]string{"b": "hf://" + repository + "/voices/hf.bin"}, "anjura b", ""},
		"what is neither a voice nor a file":  {map[string]string{"b": "nowhere"}, "", "has no voice of that name"},
		"a file of the hub that is not there": {map[string]string{"b": "hf://" + repository + "/voices/no.bin"}, "", "no file"},
	} {
		w := newWorld(t)
		plan, err := w.plan(Request{Voices: tt.voices}, "")
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, _, err := w.Pull(t.Context(), plan)
		var got []string
		for _, v := range m.Voices {
			got = append(got, v.Name)
		}
		if fmt.Sprint(got) != "["+tt.want+"]" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
