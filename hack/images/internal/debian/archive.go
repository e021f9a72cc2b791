package debian

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keyring is where Debian, and the package debian-archive-keyring elsewhere, keep the keys that Debian signs with.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// An Archive is Debian's archive as apt sees it with an own configuration, so that it does not matter what this
// machine installs from.
type Archive struct {
	Cache  string // folder for files and for the lists of packages
	Mirror string // URL of the folder that has debian and debian-security below it
}

// SystemMirror is the mirror that this machine installs Debian from, "" where it is none or no Debian.
func SystemMirror(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(REPO_URI)").Output()
	if err != nil {
		return ""
	}
	return mirrorAmong(strings.Fields(string(out)))
}

// mirrorAmong returns what stands before /debian/ in the first of the URIs that ends so.
func mirrorAmong(uris []string) string {
	for _, uri := range uris {
		if mirror, ok := strings.CutSuffix(strings.TrimSuffix(uri, "/"), "/debian"); ok {
			return mirror
		}
	}
	return ""
}

// Path is where the file of a pin lies in the cache.
func (a *Archive) Path(pin Pin) string { return filepath.Join(a.Cache, pin.SHA256+".deb") }

// Fetch downloads the pinned files of one architecture that are not in the cache. Afterwards all are, with the
// pinned hashes.
func (a *Archive) Fetch(ctx context.Context, architecture string, pins []Pin) error {
	missing := map[string]Pin{}
	var names []string
	for _, pin := range pins {
		switch err := check(a.Path(pin), pin.SHA256); {
		case errors.Is(err, fs.ErrNotExist):
			missing[pin.SHA256] = pin
			names = append(names, pin.Package+"="+pin.Version)
		case err != nil:
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	if err := a.update(ctx, architecture, false); err != nil {
		return err
	}
	work, err := os.MkdirTemp(a.Cache, "download-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	download := func() error {
		_, err := a.apt(ctx, architecture, work, append([]string{"download"}, names...)...)
		return err
	}
	if download() != nil { // the lists may be older than the pins
		if err := a.update(ctx, architecture, true); err != nil {
			return err
		}
		if err := download(); err != nil {
			return fmt.Errorf("%w\nIf Debian has replaced a version, run make image-pins, and look at what changes",
				err)
		}
	}
	found, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range found {
		sha, err := hash(file)
		if err != nil {
			return err
		}
		pin, ok := missing[sha]
		if !ok {
			return fmt.Errorf("%s has the SHA-256 %s and not the pinned one: use another mirror",
				filepath.Base(file), sha)
		}
		if err := os.Rename(file, a.Path(pin)); err != nil {
			return err
		}
		delete(missing, sha)
	}
	for _, pin := range missing {
		return fmt.Errorf("apt-get downloaded no %s %s for %s", pin.Package, pin.Version, architecture)
	}
	return nil
}

// Candidates pins the versions of packages that Debian has now.
func (a *Archive) Candidates(ctx context.Context, architecture string, names []string) ([]Pin, error) {
	if err := a.update(ctx, architecture, true); err != nil {
		return nil, err
	}
	out, err := a.apt(ctx, architecture, a.Cache, append([]string{"download", "--print-uris"}, names...)...)
	if err != nil {
		return nil, err
	}
	var pins []Pin
	for line := range strings.Lines(out) {
		pin, err := parseURI(architecture, line)
		if err != nil {
			return nil, err
		}
		pins = append(pins, pin)
	}
	return pins, nil
}

// parseURI reads a line of apt-get download --print-uris: 'http://…' libc6_2.36-9_arm64.deb 2324660 SHA256:…
func parseURI(architecture, line string) (Pin, error) {
	fields := strings.Fields(line)
	if len(fields) != 4 || !strings.HasPrefix(fields[3], "SHA256:") {
		return Pin{}, fmt.Errorf("apt-get names %q, which is not a file with a SHA-256", line)
	}
	parts := strings.Split(fields[1], "_")
	if len(parts) != 3 {
		return Pin{}, fmt.Errorf("apt-get names the file %s, which is not a name_version_architecture.deb", fields[1])
	}
	version, err := url.PathUnescape(parts[1]) // a colon is written as %3a
	if err != nil {
		return Pin{}, fmt.Errorf("the version in %s: %w", fields[1], err)
	}
	return Pin{architecture, parts[0], version, strings.TrimPrefix(fields[3], "SHA256:")}, nil
}

// Source downloads the source that a package was built from into a folder.
func (a *Archive) Source(ctx context.Context, architecture, folder, name, version string) error {
	if err := a.update(ctx, architecture, false); err != nil {
		return err
	}
	_, err := a.apt(ctx, architecture, folder, "source", "--download-only", "--only-source", name+"="+version)
	if err != nil {
		return fmt.Errorf("%w\nIf this mirror does not have it, name another one with DEBIAN_MIRROR", err)
	}
	return nil
}

// update looks up which versions there are, where that is not known or has to be known anew.
func (a *Archive) update(ctx context.Context, architecture string, anew bool) error {
	state := a.state(architecture)
	sources, path := a.sources(), filepath.Join(state, "sources")
	if old, err := os.ReadFile(path); err == nil && string(old) == sources && !anew {
		return nil
	}
	if _, err := os.Stat(keyring); err != nil {
		return fmt.Errorf("the keys of Debian are missing: install the package debian-archive-keyring (%w)", err)
	}
	// What is left when this is broken off is not taken for lists of this mirror.
	if err := os.RemoveAll(state); err != nil {
		return err
	}
	for _, dir := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(state, dir), 0o755); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{"status": "", "sources.new": sources} {
		if err := os.WriteFile(filepath.Join(state, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	if _, err := a.apt(ctx, architecture, state, "update", "-o", "Dir::Etc::sourcelist="+path+".new"); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// sources is what sources.list says.
func (a *Archive) sources() string {
	var out strings.Builder
	for _, suite := range []string{
		"debian " + Codename, "debian " + Codename + "-updates", "debian-security " + Codename + "-security",
	} {
		for _, kind := range []string{"deb", "deb-src"} {
			fmt.Fprintf(&out, "%s [signed-by=%s] %s/%s main\n", kind, keyring, a.Mirror, suite)
		}
	}
	return out.String()
}

func (a *Archive) state(architecture string) string {
	return filepath.Join(a.Cache, "apt-"+architecture)
}

// apt runs apt-get in a folder and returns what it prints.
func (a *Archive) apt(ctx context.Context, architecture, folder string, args ...string) (string, error) {
	state := a.state(architecture)
	var options []string
	for _, o := range []string{
		"Dir::Etc::sourcelist=" + filepath.Join(state, "sources"), "Dir::Etc::sourceparts=-",
		"Dir::State=" + state, "Dir::State::status=" + filepath.Join(state, "status"),
		"Dir::Cache=" + filepath.Join(state, "cache"),
		"APT::Architecture=" + architecture, "APT::Architectures=" + architecture,
		"APT::Sandbox::User=root",     // its own user may not write into our folder
		"APT::Update::Error-Mode=any", // otherwise a mirror that is away is a warning
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false", "Acquire::Languages=none",
	} {
		options = append(options, "-o", o)
	}
	cmd := exec.CommandContext(ctx, "apt-get", append(append(options, "-q"), args...)...)
	cmd.Dir = folder
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("apt-get %s for %s: %w\n%s", strings.Join(args, " "), architecture, err, stderr.Bytes())
	}
	return stdout.String(), nil
}

func check(path, want string) error {
	got, err := hash(path)
	if err == nil && got != want {
		return fmt.Errorf("%s has the SHA-256 %s: delete it, it is damaged", path, got)
	}
	return err
}

func hash(path string) (string, error) {
	content, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}
