package hub

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/models/download"
	"github.com/swar-tts/swar/models/hub/hubtest"
)

const (
	commit = "dbaa326069d20bfbdaeb625613736773741a24ea"
	id     = "owner/model"
)

var weights = bytes.Repeat([]byte("weights "), 400_000)

// serve starts a hub with one repository, and returns a client of it.
func serve(t *testing.T) (*hubtest.Hub, *Client) {
	t.Helper()
	h := hubtest.New(t)
	h.Repositories[id] = &hubtest.Repository{
		Commit: commit, Licence: "cc-by-4.0", Large: []string{"model.safetensors"},
		Files: map[string][]byte{"config.yaml": []byte("a: 1\n"), "model.safetensors": weights,
			"a folder/with spaces & ünicode": []byte("x")},
	}
	c, err := FromEnvironment("swar/test", func(name string) (string, bool) { return h.URL, name == "HF_ENDPOINT" })
	if err != nil {
		t.Fatal(err)
	}
	c.Token, c.Cache, c.retry = "", t.TempDir(), time.Millisecond
	return h, c
}

var model = Reference{Repository: id}

func TestRevision(t *testing.T) {
	h, c := serve(t)
	h.Repositories[id].Gated = true
	got, err := c.Revision(t.Context(), model)
	if err != nil || got.Commit != commit || got.Gate != "auto" || got.Licence != "cc-by-4.0" ||
		len(got.Languages) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTree(t *testing.T) {
	h, c := serve(t)
	for _, page := range []int{0, 1, 2, 3} {
		h.Page = page
		got, err := c.Tree(t.Context(), id, commit)
		if err != nil || len(got) != 3 {
			t.Fatalf("%d on a page: %+v, %v", page, got, err)
		}
		for _, e := range got {
			if isLarge := e.Path == "model.safetensors"; (e.SHA256 != "") != isLarge || (e.Git != "") == isLarge {
				t.Errorf("%d on a page: %+v", page, e)
			}
		}
	}
	for _, trick := range []string{"../x", "/etc/passwd", "a//b", "a/../../x", "a\\b", "C:x", ""} {
		h.Tricks = []string{trick}
		if _, err := c.Tree(t.Context(), id, commit); err == nil {
			t.Errorf("a file called %q is listed", trick)
		}
	}
}

// bring downloads all files of the repository.
func bring(ctx context.Context, c *Client, dir string) error {
	revision, err := c.Revision(ctx, model)
	if err != nil {
		return err
	}
	all, err := c.Tree(ctx, id, revision.Commit)
	if err != nil {
		return err
	}
	var files []download.File
	for _, e := range all {
		files = append(files, c.File(Reference{id, revision.Commit, e.Path}, e, e.Path))
	}
	return download.Download(ctx, dir, files, download.Config{})
}

func isWhole(t *testing.T, h *hubtest.Hub, dir string) {
	t.Helper()
	for name, want := range h.Repositories[id].Files {
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil ||
			!bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
}

func TestFilesAreBrought(t *testing.T) {
	for sentence, change := range map[string]func(*hubtest.Hub, *Client){
		"public ones": func(*hubtest.Hub, *Client) {},
		"gated ones, with the token of somebody who has accepted the terms": func(h *hubtest.Hub, c *Client) {
			h.Repositories[id].Gated, h.Readers, c.Token = true, []string{"hf_reader"}, "hf_reader"
		},
		"private ones": func(h *hubtest.Hub, c *Client) {
			h.Repositories[id].Private, h.Readers, c.Token = true, []string{"hf_reader"}, "hf_reader"
		},
		"from a server without ranges":  func(h *hubtest.Hub, _ *Client) { h.NoRange = true },
		"after a bad gateway, twice":    func(h *hubtest.Hub, _ *Client) { h.BadGateway = 2 },
		"after a limit, by Retry-After": func(h *hubtest.Hub, _ *Client) { h.Busy = []http.Header{{"Retry-After": {"0"}}} },
		"with a page of one file":       func(h *hubtest.Hub, _ *Client) { h.Page = 1 },
		"with something to warn about":  func(h *hubtest.Hub, _ *Client) { h.Warning = "topic; mind the gap" },
	} {
		t.Run(sentence, func(t *testing.T) {
			h, c := serve(t)
			change(h, c)
			warned := ""
			c.Warn = func(topic, message string) { warned = topic + ": " + message }
			dir := t.TempDir()
			if err := bring(t.Context(), c, dir); err != nil {
				t.Fatal(err)
			}
			isWhole(t, h, dir)
			if h.Warning != "" && warned != "topic: mind the gap" {
				t.Errorf("warned of %q", warned)
			}
		})
	}
}

// Each row of what a hub may refuse with has a sentence of its own that says what to do.
func TestRefusals(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*hubtest.Hub, *Client)
		kind   Kind
		says   string
	}{
		"gated, without a token": {func(h *hubtest.Hub, _ *Client) { h.Repositories[id].Gated = true }, KindLogin, "accept its terms, and set HF_TOKEN"},
		"gated, with the token of somebody else": {func(h *hubtest.Hub, c *Client) {
			h.Repositories[id].Gated, h.Strangers, c.Token = true, []string{"hf_other"}, "hf_other"
		}, KindTerms, "has not been let in"},
		"missing, without a token": {func(h *hubtest.Hub, _ *Client) { delete(h.Repositories, id) }, KindMissingPublic, "does not exist, or is private: the hub does not say without a token"},
		"private, without a token": {func(h *hubtest.Hub, _ *Client) { h.Repositories[id].Private = true }, KindMissingPublic, "the hub does not say"},
		"missing, with a token": {func(h *hubtest.Hub, c *Client) {
			delete(h.Repositories, id)
			h.Strangers, c.Token = []string{"hf_other"}, "hf_other"
		}, KindMissing, "the account of your token may not see it"},
		"a token that nobody knows": {func(_ *hubtest.Hub, c *Client) { c.Token, c.tokenFrom = "hf_old", "HF_TOKEN" }, KindToken, "does not know the token (of HF_TOKEN)"},
		"taken down":                {func(h *hubtest.Hub, _ *Client) { h.Repositories[id].Disabled = true }, KindDisabled, "taken down by the hub"},
		"too many requests":         {func(h *hubtest.Hub, _ *Client) { h.Busy = []http.Header{{"Ratelimit": {`"api";r=0;t=61`}}} }, KindRate, "wait a few minutes, or set HF_TOKEN"},
		"a page to sign in at":      {func(h *hubtest.Hub, _ *Client) { h.Portal = true }, KindNoHub, "is not a hub"},
		"a commit that is another":  {func(h *hubtest.Hub, _ *Client) { h.Repositories[id].Commit = "main" }, KindNoHub, "names no commit"},
	} {
		t.Run(sentence, func(t *testing.T) {
			h, c := serve(t)
			test.change(h, c)
			err := bring(t.Context(), c, t.TempDir())
			if !Is(err, test.kind) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want kind %d and %q", err, test.kind, test.says)
			}
			if c.Token != "" && strings.Contains(err.Error(), c.Token) {
				t.Error("the error holds the token")
			}
		})
	}
	t.Run("a revision that is not there", func(t *testing.T) {
		_, c := serve(t)
		if _, err := c.Revision(t.Context(), Reference{Repository: id, Revision: "v9/a"}); !Is(err, KindRevision) ||
			!strings.Contains(err.Error(), `no revision "v9/a"`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a file that is not there", func(t *testing.T) {
		_, c := serve(t)
		if _, err := c.Stat(t.Context(), Reference{id, "", "none"}); !Is(err, KindEntry) ||
			!strings.Contains(err.Error(), `no file "none" at main`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestStat(t *testing.T) {
	for _, mirror := range []bool{false, true} {
		h, c := serve(t)
		h.Mirror = mirror
		for name, content := range h.Repositories[id].Files {
			e, err := c.Stat(t.Context(), Reference{id, "main", name})
			want := Entry{Path: name, Size: int64(len(content)), Git: hubtest.Git(content), Commit: commit}
			if name == "model.safetensors" {
				want.SHA256, want.Git = hubtest.SHA256(content), ""
			}
			if mirror {
				want.Commit = ""
			}
			if err != nil || e != want {
				t.Errorf("mirror %v: got %+v, %v, want %+v", mirror, e, err, want)
			}
			if h.Sent.Load() > 0 && !mirror {
				t.Error("files were sent")
			}
		}
	}
}

// Each attempt brings a megabyte more, at an address of its own.
func TestSignedAddressesExpire(t *testing.T) {
	h, c := serve(t)
	h.CutAfter, h.Expire = 1<<20, 1
	dir := t.TempDir()
	if err := bring(t.Context(), c, dir); err != nil {
		t.Fatal(err)
	}
	isWhole(t, h, dir)
}

// What was changed on its way is caught, whatever the lengths say.
func TestAMegabyteThatIsWrong(t *testing.T) {
	h, c := serve(t)
	h.Flip = true
	dir := t.TempDir()
	if err := bring(t.Context(), c, dir); err == nil || !strings.Contains(err.Error(), "the download has the hash") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}

func TestHostileRedirects(t *testing.T) {
	for sentence, test := range map[string]struct{ to, says string }{
		"to a file":                 {"file:///etc/passwd", "which is not the web"},
		"in a circle":               {"CIRCLE", "leads on more than 10 times"},
		"to what is not an address": {"http://[::1", "failed to parse Location"},
	} {
		t.Run(sentence, func(t *testing.T) {
			h, c := serve(t)
			h.Redirect = test.to
			if test.to == "CIRCLE" {
				h.Redirect = h.URL + "/" + id + "/resolve/main/model.safetensors"
			}
			answer, err := c.send(t.Context(), http.MethodGet, c.resolve(Reference{id, "main", "model.safetensors"}),
				0, true)
			if err == nil {
				answer.Body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

func TestMayFollow(t *testing.T) {
	c := &Client{}
	for sentence, test := range map[string]struct {
		from, to string
		ok       bool
	}{
		"to another public address":         {"https://93.184.216.34/a", "https://93.184.216.35/b", true},
		"down to plain HTTP":                {"https://93.184.216.34/a", "http://93.184.216.35/b", false},
		"from outside to this machine":      {"https://93.184.216.34/a", "https://127.0.0.1/b", false},
		"from outside to this machine, v6":  {"https://93.184.216.34/a", "https://[::1]/b", false},
		"from outside to v4 in v6":          {"https://93.184.216.34/a", "https://[::ffff:10.0.0.1]/b", false},
		"from outside to a private network": {"https://93.184.216.34/a", "https://192.168.1.1/b", false},
		"from outside to metadata of a VM":  {"https://93.184.216.34/a", "https://169.254.169.254/b", false},
		"from outside to localhost":         {"https://93.184.216.34/a", "https://localhost/b", false},
		"inside of a private network":       {"http://10.0.0.1/a", "http://10.0.0.2/b", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			from, err := http.NewRequest(http.MethodGet, test.from, nil)
			to, toErr := http.NewRequest(http.MethodGet, test.to, nil)
			if err := errors.Join(err, toErr); err != nil {
				t.Fatal(err)
			}
			if err := c.mayFollow(t.Context(), from.URL, to.URL); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCacheNeedsNoNetwork(t *testing.T) {
	h, c := serve(t)
	c.Offline = true
	for sentence, list := range map[string]string{
		"with a list of files":   `{"format_version":1,"files":{"config.yaml":{"size":5,"blob_id":"` + hubtest.Git([]byte("a: 1\n")) + `"},"model.safetensors":{"size":3200000,"blob_id":"x","lfs_sha256":"` + hubtest.SHA256(weights) + `","lfs_size":3200000}}}`,
		"by the snapshot itself": "",
	} {
		t.Run(sentence, func(t *testing.T) {
			c.Cache = t.TempDir()
			folder := filepath.Join(c.Cache, "models--owner--model")
			put := func(name, text string) {
				path := filepath.Join(folder, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
					os.WriteFile(path, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			put("refs/main", commit)
			if list != "" {
				put("trees/"+commit+".json", list)
			}
			for name, content := range map[string][]byte{"config.yaml": []byte("a: 1\n"),
				"model.safetensors": weights} {
				hash := hubtest.Git(content)
				if name == "model.safetensors" {
					hash = hubtest.SHA256(content)
				}
				put("blobs/"+hash, string(content))
				link := filepath.Join(folder, "snapshots", commit, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755),
					os.Symlink("../../blobs/"+hash, link)); err != nil {
					t.Fatal(err)
				}
			}
			revision, err := c.Revision(t.Context(), model)
			if err != nil || revision.Commit != commit {
				t.Fatalf("got %+v, %v", revision, err)
			}
			all, err := c.Tree(t.Context(), id, commit)
			if err != nil || len(all) != 2 {
				t.Fatalf("got %+v, %v", all, err)
			}
			for _, e := range all {
				if path := c.Cached(Reference{id, commit, e.Path}, e); path == "" {
					t.Errorf("%s is not found", e.Path)
				}
			}
			if _, err := c.Stat(t.Context(), Reference{id, commit, "none"}); !Is(err, KindOffline) {
				t.Errorf("what is not there: %v", err)
			}
			if _, err := c.Revision(t.Context(), Reference{Repository: "other/model"}); !Is(err, KindOffline) {
				t.Errorf("a repository that is not there: %v", err)
			}
		})
	}
	if h.Asked.Load() > 0 {
		t.Errorf("the hub was asked %d times", h.Asked.Load())
	}
}

func TestFromEnvironment(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token"), []byte("hf_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sentence, test := range map[string]struct {
		set                    map[string]string
		endpoint, token, cache string
		offline                bool
	}{
		"nothing but a home":      {map[string]string{"HF_HOME": home}, defaultEndpoint, "hf_file", filepath.Join(home, "hub"), false},
		"a token":                 {map[string]string{"HF_HOME": home, "HF_TOKEN": " hf_a "}, defaultEndpoint, "hf_a", filepath.Join(home, "hub"), false},
		"an older token":          {map[string]string{"HF_HOME": home, "HUGGING_FACE_HUB_TOKEN": "hf_b"}, defaultEndpoint, "hf_b", filepath.Join(home, "hub"), false},
		"no token by itself":      {map[string]string{"HF_HOME": home, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "yes"}, defaultEndpoint, "", filepath.Join(home, "hub"), false},
		"a mirror, with a slash":  {map[string]string{"HF_HOME": "/none", "HF_ENDPOINT": "https://mirror.example/hf/"}, "https://mirror.example/hf", "", "/none/hub", false},
		"a cache":                 {map[string]string{"HF_HOME": "/none", "HF_HUB_CACHE": "/c"}, defaultEndpoint, "", "/c", false},
		"an older cache":          {map[string]string{"HF_HOME": "/none", "HUGGINGFACE_HUB_CACHE": "/d"}, defaultEndpoint, "", "/d", false},
		"offline":                 {map[string]string{"HF_HOME": "/none", "HF_HUB_OFFLINE": "1"}, defaultEndpoint, "", "/none/hub", true},
		"offline, in another way": {map[string]string{"HF_HOME": "/none", "TRANSFORMERS_OFFLINE": "on"}, defaultEndpoint, "", "/none/hub", true},
		"not offline":             {map[string]string{"HF_HOME": "/none", "HF_HUB_OFFLINE": "0"}, defaultEndpoint, "", "/none/hub", false},
		"the cache of the system": {map[string]string{"XDG_CACHE_HOME": "/x"}, defaultEndpoint, "", "/x/huggingface/hub", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			c, err := FromEnvironment("swar/test",
				func(name string) (string, bool) { v, ok := test.set[name]; return v, ok })
			if err != nil || c.Endpoint != test.endpoint || c.Token != test.token || c.Cache != test.cache ||
				c.Offline != test.offline {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
	for name, value := range map[string]string{"HF_ENDPOINT": "file:///x", "HF_HUB_ETAG_TIMEOUT": "soon"} {
		if _, err := FromEnvironment("", func(n string) (string, bool) { return value, n == name }); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}
