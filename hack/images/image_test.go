//go:build images

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/hack/internal/oci"
)

// An unpacked image is a folder and how a container of it starts.
type unpackedImage struct {
	folder string
	run    oci.Execution
	user   string // as which it runs, USER:GROUP
}

// users are those of containers: that of the image, and one as OpenShift assigns them, whose group is root.
var users = map[string]string{"its own user": "65532:65532", "an assigned user": "1000680000:0"}

// built is the folder that make images writes to.
const built = "../../dist/images"

func needRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: running an image without a container runtime takes root")
	}
}

// unpack unpacks the image for this machine, with owners and permissions, by way of index.json as a runtime does.
func unpack(t *testing.T, name string) unpackedImage {
	t.Helper()
	needRoot(t)
	blobs := archived(t, filepath.Join(built, name+".tar"))
	at := func(digest string) []byte { return blobs["blobs/"+strings.Replace(digest, ":", "/", 1)] }
	type index struct{ Manifests []oci.Descriptor }
	top := decode[index](t, blobs["index.json"])
	platforms := decode[index](t, at(top.Manifests[0].Digest)).Manifests
	i := slices.IndexFunc(platforms, func(d oci.Descriptor) bool { return d.Platform.Architecture == runtime.GOARCH })
	if i < 0 {
		t.Skipf("NOT TESTED: %s was not built for %s", name, runtime.GOARCH)
	}
	manifest := decode[struct {
		Config oci.Descriptor
		Layers []oci.Descriptor
	}](t, at(platforms[i].Digest))
	u := unpackedImage{t.TempDir(), decode[struct{ Config oci.Execution }](t, at(manifest.Config.Digest)).Config,
		"65532:65532"}
	if err := os.Chmod(u.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, layer := range manifest.Layers {
		z, err := gzip.NewReader(bytes.NewReader(at(layer.Digest)))
		if err != nil {
			t.Fatal(err)
		}
		extract(t, z, u.folder)
	}
	for _, mount := range []string{"proc", "dev"} { // which runtimes make
		if err := os.MkdirAll(filepath.Join(u.folder, mount), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func archived(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("%v: run make images", err)
	}
	defer f.Close()
	all := map[string][]byte{}
	for in := tar.NewReader(f); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if all[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func decode[T any](t *testing.T, content []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(content, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func extract(t *testing.T, r io.Reader, folder string) {
	t.Helper()
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		default:
			var content []byte
			if content, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
		}
		if err == nil && h.Typeflag != tar.TypeSymlink {
			err = errors.Join(os.Chown(path, h.Uid, h.Gid), syscall.Chmod(path, uint32(h.Mode)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// enter makes the folder $1 the root, read-only but for the folders before --, and runs the rest in it as the user $4.
const enter = `
root=$1 chroot=$2 mount=$3 user=$4; shift 4
$mount --bind "$root" "$root"
while [ "$1" != -- ]; do
	$mount --bind "$root$1" "$root$1"
	shift
done
shift
$mount -o remount,bind,ro "$root"
$mount -t proc proc "$root/proc"
$mount --bind /dev "$root/dev"
exec $chroot --userspec="$user" --groups="${user#*:}" "$root" "$@"
`

// command runs a program of the image as a cluster would: its user, its environment and nothing more, a read-only
// root.
func (u unpackedImage) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	tool := func(name string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("NOT TESTED: %s is missing", name)
		}
		return path
	}
	writable := []string{"/tmp"}
	if _, err := os.Stat(filepath.Join(u.folder, "data")); err == nil {
		writable = append(writable, "/data")
	}
	enterIt := []string{"--mount", "/bin/sh", "-ec", enter, "sh", u.folder, tool("chroot"), tool("mount"), u.user}
	all := slices.Concat(enterIt, writable, []string{"--"}, args)
	cmd := exec.Command(tool("unshare"), all...)
	cmd.Env = u.run.Env
	return cmd
}

// start runs a program of the image until the end of the test and returns when it answers on its address for probes.
func (u unpackedImage) start(t *testing.T, probes string, args ...string) {
	t.Helper()
	cmd := u.command(t, slices.Concat(u.run.Entrypoint, args)...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			t.Log(lines.Text())
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended with %v", u.run.Entrypoint[0], err)
		}
	})
	wait(t, func() bool { return status("http://"+probes+"/readyz") == http.StatusOK })
}

// wait looks until something is so, for half a minute.
func wait(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); {
		if time.Now().After(end) {
			t.Fatal("it did not become so in half a minute")
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func status(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// free returns loopback addresses that nobody listens on.
func free(t *testing.T, n int) []string {
	t.Helper()
	var all []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}

// hear fails unless audio of 16 bits, 24,000 samples a second, is as long as speech of a sentence and not silent.
func hear(t *testing.T, pcm []byte) {
	t.Helper()
	var sum float64
	for at := 0; at+1 < len(pcm); at += 2 {
		sample := float64(int16(binary.LittleEndian.Uint16(pcm[at:])))
		sum += sample * sample
	}
	seconds := float64(len(pcm)) / 2 / 24000
	loud := math.Sqrt(sum / max(1, float64(len(pcm)/2)))
	if seconds < 1 || seconds > 10 || loud < 300 {
		t.Errorf("%.2f s of audio with a mean level of %.0f", seconds, loud)
	}
}

const sentence = "Namaste! Aapka order kal shaam tak deliver ho jayega."

func TestTheWorkersImageSpeaksByItself(t *testing.T) {
	u := unpack(t, "worker")
	var stderr bytes.Buffer
	say := []string{"/usr/local/bin/swar", "say", "--local", "--engine", "espeak", "-o", "-", "--format", "pcm16"}
	cmd := u.command(t, append(say, sentence)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	hear(t, out)
}

// TestTheWorkersImageRunsANeuralModel makes a model of random weights in the image and speaks with it, so that ONNX
// Runtime and all that it loads are there.
func TestTheWorkersImageRunsANeuralModel(t *testing.T) {
	for name, user := range users {
		t.Run(name, func(t *testing.T) {
			u := unpack(t, "worker")
			u.user = user
			runANeuralModel(t, u)
		})
	}
}

func runANeuralModel(t *testing.T, u unpackedImage) {
	for _, args := range [][]string{
		{"doctor"}, {"bundle", "synth-random", "-o", "/tmp/model"}, {"bundle", "verify", "/tmp/model"},
	} {
		out, err := u.command(t, append([]string{"/usr/local/bin/swar"}, args...)...).CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("swar %v: %v", args, err)
		}
		if args[0] == "doctor" && !strings.Contains(string(out), " at /"+onnxLibrary) {
			t.Errorf("swar doctor finds no ONNX Runtime at /%s", onnxLibrary)
		}
	}
}

// TestTheFleetOfImagesSpeaks starts portal, worker and router from their images, makes a key with the portal's
// program, and speaks.
func TestTheFleetOfImagesSpeaks(t *testing.T) {
	for name, user := range users {
		t.Run(name, func(t *testing.T) {
			portal, worker, router := unpack(t, "portal"), unpack(t, "worker"), unpack(t, "router")
			portal.user, worker.user, router.user = user, user, user
			speakAsAFleet(t, portal, worker, router)
		})
	}
}

func speakAsAFleet(t *testing.T, portal, worker, router unpackedImage) {
	a := free(t, 8)
	tokens := strings.Repeat("image-test-", 4)
	for _, u := range []unpackedImage{portal, worker, router} {
		if err := os.WriteFile(filepath.Join(u.folder, "token"), []byte(tokens), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	portal.start(t, a[2], "--listen", a[0], "--dataplane", a[1], "--http", a[2], "--token-file", "/token",
		"--model-id", "espeak-ng-hinglish", "--voice", "anjura")
	worker.start(t, a[4], "--listen", a[3], "--http", a[4], "--token-file", "/token", "--workers", "1")
	router.start(t, a[6], "--listen", a[5], "--http", a[6], "--watch", a[7], "--token-file", "/token",
		"--endpoints", a[3], "--portal-addr", a[1], "--linger", "0s")
	wait(t, func() bool { return status("http://"+a[5]+"/readyz") == http.StatusOK })
	key, err := portal.command(t, "/usr/local/bin/swar-portal", "keys", "create", "first").Output()
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"text": %q, "voice": "anjura", "format": "pcm16"}`, sentence)
	url := "http://" + a[5] + "/v1/tts"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	pcm, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %.200s", resp.Status, err, pcm)
	}
	hear(t, pcm)
}

// TestWhatIsInTheImages looks at permissions, at what must not be there, and at what must.
func TestWhatIsInTheImages(t *testing.T) {
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			u := unpack(t, r.name)
			if u.run.User != "65532:65532" {
				t.Errorf("it runs as %s", u.run.User)
			}
			want := []string{
				"etc/ssl/certs/ca-certificates.crt", "etc/passwd", "usr/share/doc/swar/LICENSE",
				"usr/share/doc/swar/licences/go/LICENSE",
			}
			if r.encodes {
				want = append(want, "usr/share/doc/libmp3lame0/copyright", "usr/share/doc/swar/SOURCE-OFFER")
			}
			if r.speaks {
				want = append(want, "usr/share/doc/espeak-ng/copyright", "usr/share/common-licenses/GPL-3",
					"usr/share/doc/onnxruntime/ThirdPartyNotices.txt")
			}
			for _, name := range want {
				info, err := os.Stat(filepath.Join(u.folder, name))
				if err != nil || info.Mode().Perm() != 0o644 || info.Size() == 0 {
					t.Errorf("/%s: %v, %v", name, info, err)
				}
			}
			err := filepath.WalkDir(u.folder, func(path string, d os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				name := strings.TrimPrefix(path, u.folder)
				if name == "/bin" || strings.HasSuffix(name, "/sh") || strings.HasSuffix(name, "/bash") {
					t.Errorf("there is %s", name)
				}
				anybodyWrites := info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0
				if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 || anybodyWrites {
					t.Errorf("%s has the mode %s", name, info.Mode())
				}
				owner := info.Sys().(*syscall.Stat_t).Uid
				if name != "" && (owner != 0) != (name == "/data") {
					t.Errorf("%s belongs to %d", name, owner)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
