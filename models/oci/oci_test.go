package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// registryOf starts a registry on this machine, and returns its host. wrap may stand in between.
func registryOf(t *testing.T, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func config() Config {
	return Config{Agent: "test/1", Progress: func(int64, int64, string) {}, Limit: 1 << 30}
}

// folderOf writes files.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// filesOf reads a folder.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		below, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(below)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var bundleFiles = map[string]string{
	"manifest.json": `{"format": 1}`, "voices/raj.bin": "raj", "tokenizer.model": "pieces",
	"lm.onnx": strings.Repeat("language model ", largeFile/15+1), "codec.onnx": strings.Repeat("codec ", largeFile/6+1),
}

var described = Description{
	Name: "hinglish", Revision: "5a1e", Licence: "CC-BY-4.0", Source: "https://hub.example.org/acme/hinglish",
	Languages: []string{"hi-IN", "en-IN"}, Precision: "int8",
}

// pull brings what a reference names into a new folder.
func pull(t *testing.T, reference string, c Config) (string, error) {
	t.Helper()
	found, err := Find(t.Context(), reference, c)
	if err != nil {
		return "", err
	}
	folder := t.TempDir()
	return folder, found.Pull(t.Context(), folder, t.TempDir(), c)
}

func TestABundleGoesThereAndBack(t *testing.T) {
	host := registryOf(t, nil)
	folder := folderOf(t, bundleFiles)
	for format, references := range map[Format][]string{
		Image: {"oci://" + host + "/speech/a:1"}, ModelPack: {"oci://" + host + "/speech/b:1"},
		Both: {"oci://" + host + "/speech/c:1", "oci://" + host + "/speech/c:1-modelpack"},
	} {
		p, err := Push(t.Context(), references[0], folder, described, format, config())
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if (p.Image == "") != (format == ModelPack) || (p.ModelPack == "") != (format == Image) {
			t.Errorf("%s: pushed as %+v", format, p)
		}
		for _, reference := range append(references, Scheme+p.Image, Scheme+p.ModelPack) {
			if reference == Scheme {
				continue
			}
			got, err := pull(t, reference, config())
			if err != nil {
				t.Errorf("%s: %v", reference, err)
				continue
			}
			want := make(map[string]string)
			for name, content := range bundleFiles {
				want["hinglish/"+name] = content
			}
			if !maps.Equal(filesOf(t, got), want) {
				t.Errorf("%s: there are %v", reference, slices.Sorted(maps.Keys(filesOf(t, got))))
			}
		}
	}
}

func TestTheSameBundleHasTheSameDigest(t *testing.T) {
	first, err := Push(t.Context(), registryOf(t, nil)+"/a:1", folderOf(t, bundleFiles), described, Both, config())
	if err != nil {
		t.Fatal(err)
	}
	host := registryOf(t, nil)
	again, err := Push(t.Context(), host+"/a:1", folderOf(t, bundleFiles), described, Both, config())
	if err != nil {
		t.Fatal(err)
	}
	digest := func(reference string) string { _, d, _ := strings.Cut(reference, "@"); return d }
	if digest(first.Image) != digest(again.Image) || digest(first.ModelPack) != digest(again.ModelPack) ||
		digest(first.Image) == "" {
		t.Errorf("digests %s and %s", first.Image, again.Image)
	}
	changed := maps.Clone(bundleFiles)
	changed["manifest.json"] = `{"format": 2}`
	other, err := Push(t.Context(), host+"/a:2", folderOf(t, changed), described, Both, config())
	if err != nil {
		t.Fatal(err)
	}
	if again.Sent != again.Bytes || digest(other.Image) == digest(again.Image) || other.Sent == 0 ||
		other.Sent > largeFile {
		t.Errorf("of a bundle with another small file %d bytes were sent, as %s", other.Sent, other.Image)
	}
}

// TestAnotherClientReadsIt has the library of others look at what is there.
func TestAnotherClientReadsIt(t *testing.T) {
	host := registryOf(t, nil)
	p, err := Push(t.Context(), host+"/a:1", folderOf(t, bundleFiles), described, Both, config())
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(host + "/a:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		image, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}))
		if err != nil {
			t.Fatal(err)
		}
		file, err := image.ConfigFile()
		if err != nil || file.Architecture != architecture || file.OS != "linux" || len(file.RootFS.DiffIDs) != 3 {
			t.Errorf("%s: the configuration is %+v, %v", architecture, file, err)
		}
		manifest, err := image.Manifest()
		if err != nil || manifest.Annotations["org.opencontainers.image.licenses"] != described.Licence {
			t.Errorf("%s: the annotations are %v, %v", architecture, manifest.Annotations, err)
		}
		layers, err := image.Layers()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range layers {
			content, err := l.Uncompressed()
			if err != nil {
				t.Fatal(err)
			}
			for archive := tar.NewReader(content); ; {
				h, err := archive.Next()
				if err != nil {
					break
				}
				if !h.ModTime.IsZero() && h.ModTime.Unix() != 0 || h.Uid != 0 || h.Mode != 0o644 {
					t.Errorf("%s is of %v, owner %d, mode %o", h.Name, h.ModTime, h.Uid, h.Mode)
				}
				names = append(names, h.Name)
			}
		}
		if got := strings.Join(names, " "); got != "hinglish/codec.onnx hinglish/lm.onnx hinglish/manifest.json hinglish/tokenizer.model hinglish/voices/raj.bin" {
			t.Errorf("%s: the layers hold %s", architecture, got)
		}
	}
	tagged, _, _ := strings.Cut(p.ModelPack, "@")
	ref, err = name.ParseReference(tagged)
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := remote.Get(ref)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		ArtifactType string
		Config       v1.Descriptor
		Layers       []v1.Descriptor
	}
	if err := json.Unmarshal(descriptor.Manifest, &manifest); err != nil || manifest.ArtifactType != typeModelManifest {
		t.Fatalf("the ModelPack is %s, %v", descriptor.Manifest, err)
	}
	blob, err := remote.Layer(ref.Context().Digest(manifest.Config.Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	content, err := blob.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	var c modelConfig
	if err := json.NewDecoder(content).Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Config.Format == "" || c.ModelFS.Type != "layers" || len(c.ModelFS.DiffIDs) != len(manifest.Layers) ||
		fmt.Sprint(c.Config.Capabilities.Languages) != "[hi en]" || manifest.Layers[0].MediaType != typeModelWeight {
		t.Errorf("its configuration is %+v", c)
	}
}

// imageOf puts an image of layers into a registry, and returns its reference.
func imageOf(t *testing.T, layers ...v1.Layer) string {
	t.Helper()
	ref, err := name.ParseReference(registryOf(t, nil) + "/a:1")
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layers...)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		t.Fatal(err)
	}
	return ref.Name()
}

// tarOf packs entries NAME=CONTENT; a name that ends in > is a link.
func tarOf(entries ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		name, content, _ := strings.Cut(e, "=")
		h := &tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg}
		if link, ok := strings.CutSuffix(name, ">"); ok {
			h = &tar.Header{Name: link, Linkname: content, Typeflag: tar.TypeSymlink}
			content = ""
		}
		_ = w.WriteHeader(h)
		_, _ = io.WriteString(w, content)
	}
	_ = w.Close()
	return b.Bytes()
}

func zipped(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(b)
	_ = w.Close()
	return z.Bytes()
}

func TestPullReadsWhatOthersPack(t *testing.T) {
	for what, layers := range map[string][]v1.Layer{
		"gzip":         {static.NewLayer(zipped(tarOf("m/a=1", "m/b=2")), types.OCILayer)},
		"two layers":   {static.NewLayer(tarOf("m/a=1"), types.OCIUncompressedLayer), static.NewLayer(zipped(tarOf("m/b=2")), types.OCILayer)},
		"the same one": {static.NewLayer(tarOf("m/a=1", "m/b=2"), types.OCIUncompressedLayer)},
	} {
		folder, err := pull(t, imageOf(t, layers...), config())
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := filesOf(t, folder); fmt.Sprint(got) != "map[m/a:1 m/b:2]" {
			t.Errorf("%s: there are %v", what, got)
		}
	}
}

// raw is an artefact whose layers are files, as some runtimes want them.
func TestPullReadsLayersThatAreFiles(t *testing.T) {
	for title, want := range map[string]string{
		"m/a": "map[m/a:1]", "../a": "leads out of the folder", "/a": "leads out of the folder", "": "neither an archive nor a file",
	} {
		reference := imageOf(t)
		ref, _ := name.ParseReference(reference)
		annotations := map[string]string{"org.opencontainers.image.title": title}
		image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
			mutate.Addendum{Layer: static.NewLayer([]byte("1"), "application/octet-stream"), Annotations: annotations})
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(ref, image); err != nil {
			t.Fatal(err)
		}
		folder, err := pull(t, reference, config())
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(filesOf(t, folder))
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", title, got, want)
		}
	}
}

// TestAFileTakesRoomTwice holds the limit of layers that are files: the blob and its copy are on the disk at once.
func TestAFileTakesRoomTwice(t *testing.T) {
	for limit, refused := range map[int64]bool{1999: true, 2000: false, 2001: false} {
		reference := imageOf(t)
		ref, _ := name.ParseReference(reference)
		image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
			Layer:       static.NewLayer(bytes.Repeat([]byte("a"), 1000), "application/octet-stream"),
			Annotations: map[string]string{"org.opencontainers.image.title": "lm.onnx"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(ref, image); err != nil {
			t.Fatal(err)
		}
		c := config()
		c.Limit = limit
		_, err = pull(t, reference, c)
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "more than 1999 bytes (--limit)") {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// TestAnIndexWithoutItsManifest is one that leads to a manifest which the registry does not give.
func TestAnIndexWithoutItsManifest(t *testing.T) {
	for what, manifest := range map[string]string{
		"missing":       `{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:` + strings.Repeat("0", 64) + `","size":2}`,
		"not addressed": `{"mediaType":"application/vnd.oci.image.manifest.v1+json"}`,
	} {
		host := registryOf(t, nil)
		index := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[` +
			manifest + `]}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
			"http://"+host+"/v2/acme/hinglish/manifests/1", strings.NewReader(index))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/vnd.oci.image.index.v1+json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if _, err := pull(t, host+"/acme/hinglish:1", config()); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestPullRefuses(t *testing.T) {
	bomb := zipped(tarOf("m/a=" + strings.Repeat("\x00", 8<<20)))
	for what, tt := range map[string]struct {
		layers []v1.Layer
		want   string
	}{
		"a name that leads out": {[]v1.Layer{static.NewLayer(tarOf("../a=1"), types.OCIUncompressedLayer)}, "leads out of the folder"},
		"an absolute name":      {[]v1.Layer{static.NewLayer(tarOf("/etc/a=1"), types.OCIUncompressedLayer)}, "leads out of the folder"},
		"a link":                {[]v1.Layer{static.NewLayer(tarOf("a>=/etc/passwd"), types.OCIUncompressedLayer)}, "it is a link"},
		"a file twice":          {[]v1.Layer{static.NewLayer(tarOf("a=1", "a=2"), types.OCIUncompressedLayer)}, "twice"},
		"a file in two layers": {[]v1.Layer{
			static.NewLayer(tarOf("a=1"), types.OCIUncompressedLayer),
			static.NewLayer(tarOf("a=2"), types.OCIUncompressedLayer),
		}, "twice"},
		"a bomb":         {[]v1.Layer{static.NewLayer(bomb, types.OCILayer)}, "--limit"},
		"no layer":       {nil, "it has 0 layers"},
		"not an archive": {[]v1.Layer{static.NewLayer([]byte(strings.Repeat("text ", 300)), types.OCIUncompressedLayer)}, "not an archive"},
		"half of one":    {[]v1.Layer{static.NewLayer(tarOf("a=" + strings.Repeat("a", 9000))[:5000], types.OCIUncompressedLayer)}, "unpacking"},
		"large layers":   {[]v1.Layer{static.NewLayer(bytes.Repeat([]byte("a"), 5<<20), types.OCIUncompressedLayer)}, "--limit"},
	} {
		c := config()
		c.Limit = 4 << 20
		_, err := pull(t, imageOf(t, tt.layers...), c)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", what, err, tt.want)
		}
	}
}

func TestWhatARegistrySays(t *testing.T) {
	refusing := func(status int, header ...string) func(http.Handler) http.Handler {
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for i := 0; i+1 < len(header); i += 2 {
					w.Header().Set(header[i], header[i+1])
				}
				w.WriteHeader(status)
			})
		}
	}
	for what, tt := range map[string]struct {
		wrap func(http.Handler) http.Handler
		want string
	}{
		"nothing of that name": {nil, "has no speech/a:1"},
		"who is there":         {refusing(http.StatusUnauthorized, "WWW-Authenticate", `Basic realm="r"`), "docker login"},
		"not for you":          {refusing(http.StatusForbidden), "does not let"},
		"not so fast":          {refusing(http.StatusTooManyRequests), "asked too often"},
	} {
		host := registryOf(t, tt.wrap)
		if _, err := Find(t.Context(), host+"/speech/a:1", config()); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: pull says %v, want %s", what, err, tt.want)
		}
		if tt.wrap == nil {
			continue
		}
		_, err := Push(t.Context(), host+"/speech/a:1", folderOf(t, map[string]string{"a": "1"}), described,
			Image, config())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: push says %v, want %s", what, err, tt.want)
		}
	}
	for reference, want := range map[string]string{
		"oci://": "want oci://REGISTRY/NAME:TAG", "oci://h/UPPER:1": "want oci://REGISTRY/NAME:TAG", "oci://h.example.org/a": "name a tag",
	} {
		if _, err := Push(t.Context(), reference, t.TempDir(), described, Image, config()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: push says %v, want %s", reference, err, want)
		}
		if _, err := Find(t.Context(), reference, config()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: pull says %v, want %s", reference, err, want)
		}
	}
}

func TestCredentialsAreThoseOfDocker(t *testing.T) {
	const account = "ci:secret"
	host := registryOf(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user+":"+password != account {
				w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	text := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte(account)))
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Push(t.Context(), host+"/a:1", folderOf(t, bundleFiles), described, Image, config()); err != nil {
		t.Fatal(err)
	}
	if _, err := pull(t, host+"/a:1", config()); err != nil {
		t.Error(err)
	}
}

// TestAPullGoesOn breaks the connection once in the middle of each large layer.
func TestAPullGoesOn(t *testing.T) {
	var sent, cuts atomic.Int64
	host := registryOf(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
				w = &cutting{ResponseWriter: w, left: largeFile / 2, sent: &sent, isCut: r.Header.Get("Range") == "",
					cuts: &cuts}
			}
			next.ServeHTTP(w, r)
		})
	})
	p, err := Push(t.Context(), host+"/a:1", folderOf(t, bundleFiles), described, Image, config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pull(t, host+"/a:1", config()); err != nil {
		t.Fatal(err)
	}
	if cuts.Load() != 2 || sent.Load() > p.Bytes+1<<20 {
		t.Errorf("after %d cuts %d bytes were sent of %d", cuts.Load(), sent.Load(), p.Bytes)
	}
}

// cutting sends so many bytes, and then nothing more.
type cutting struct {
	http.ResponseWriter
	left       int
	isCut      bool
	sent, cuts *atomic.Int64
}

func (c *cutting) Write(b []byte) (int, error) {
	if c.isCut && len(b) > c.left {
		_, _ = c.ResponseWriter.Write(b[:c.left])
		c.sent.Add(int64(c.left))
		c.cuts.Add(1)
		panic(http.ErrAbortHandler)
	}
	c.left -= len(b)
	c.sent.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

func TestPushStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Push(ctx, registryOf(t, nil)+"/a:1", folderOf(t, bundleFiles), described, Image,
		config()); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
}
