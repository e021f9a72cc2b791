package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/swar-tts/swar/hack/images/internal/debian"
	"github.com/swar-tts/swar/hack/internal/oci"
)

// A builder makes images from the tree of this repository.
type builder struct {
	root     string // of the repository
	work     string // for what is compiled, removed at the end
	version  string
	revision string // of the tree, empty outside of version control
	created  time.Time
	archive  *debian.Archive
	pins     debian.Pins
	packages map[string]*debian.Package // by architecture and name
	fetched  map[string]bool            // architectures whose packages are in the cache
	log      func(format string, args ...any)
}

func newBuilder(ctx context.Context, s settings) (*builder, error) {
	root, err := output(ctx, "", nil, "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	b := &builder{
		root: root, version: s.version, packages: map[string]*debian.Package{}, fetched: map[string]bool{},
		archive: &debian.Archive{Cache: filepath.Join(root, ".cache", "images"), Mirror: s.mirror},
		log:     func(format string, args ...any) { fmt.Fprintf(os.Stderr, "images: "+format+"\n", args...) },
	}
	b.revision, _ = output(ctx, root, nil, "git", "rev-parse", "HEAD")
	if b.revision == "" {
		b.revision = os.Getenv("REVISION")
	}
	if b.created, err = creation(ctx, root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.archive.Cache, 0o755); err != nil {
		return nil, err
	}
	if b.pins, err = debian.ReadPins(filepath.Join(root, pinsFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	b.work, err = os.MkdirTemp("", "swar-images-")
	return b, err
}

func (b *builder) close() { _ = os.RemoveAll(b.work) }

// creation is the time of everything in the images: SOURCE_DATE_EPOCH (https://reproducible-builds.org), else that
// of the commit.
func creation(ctx context.Context, root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = output(ctx, root, nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("of which time are the files? Set SOURCE_DATE_EPOCH to seconds since 1970 (%w)", err)
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, which is not a number of seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// An executable is a compiled program.
type executable struct {
	name    string
	content []byte
	info    *buildinfo.BuildInfo
	modules []module
}

func (b executable) sha256() string { return fmt.Sprintf("%x", sha256.Sum256(b.content)) }

// A module is what a program contains of somebody else.
type module struct{ path, version, folder string }

// compile builds the program in a folder of cmd.
func (b *builder) compile(ctx context.Context, folder, arch string, encodes bool) (executable, error) {
	name := program(folder)
	b.log("building %s for linux/%s", name, arch)
	env := []string{"GOOS=linux", "GOARCH=" + arch, "CGO_ENABLED=0", "GOFLAGS=-trimpath"}
	if encodes {
		with, err := b.cgo(ctx, arch)
		if err != nil {
			return executable{}, err
		}
		env = append(env, with...)
	}
	path := filepath.Join(b.work, arch, name)
	// Identifiers of builds are left out, since they depend on the folders of this machine, and so is what version
	// control says, which Go finds in a clone and neither in a worktree nor in the context of a Dockerfile.
	flags := "-s -w -buildid= -B none -X main.version=" + b.version
	args := []string{"build", "-buildvcs=false", "-ldflags", flags, "-o", path, "./cmd/" + folder}
	if _, err := output(ctx, b.root, env, "go", args...); err != nil {
		return executable{}, fmt.Errorf("building %s for %s: %w", name, arch, err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return executable{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return executable{}, err
	}
	modules, err := b.modules(ctx, folder, env)
	return executable{name, content, info, modules}, err
}

// modules returns what a program contains of others, sorted by path.
func (b *builder) modules(ctx context.Context, folder string, env []string) ([]module, error) {
	const format = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}"
	out, err := output(ctx, b.root, env, "go", "list", "-deps", "-f", format, "./cmd/"+folder)
	if err != nil {
		return nil, err
	}
	var all []module
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) == 3 && !seen[fields[0]] {
			seen[fields[0]] = true
			all = append(all, module{fields[0], fields[1], fields[2]})
		}
	}
	return all, nil
}

// cgo returns the environment in which a program that encodes is compiled: with the pinned codecs, by a compiler for
// the architecture.
func (b *builder) cgo(ctx context.Context, arch string) ([]string, error) {
	compiler, err := b.compiler(arch)
	if err != nil {
		return nil, err
	}
	sysroot := filepath.Join(b.work, "sysroot-"+arch)
	env := []string{
		"CGO_ENABLED=1", "CC=" + compiler, "PKG_CONFIG_SYSROOT_DIR=" + sysroot,
		"PKG_CONFIG_LIBDIR=" + filepath.Join(sysroot, "usr", "lib", architectures[arch].triplet, "pkgconfig"),
	}
	if _, err := os.Stat(sysroot); err == nil {
		return env, nil
	}
	for _, name := range append([]string{"libmp3lame0", "libopus0"}, buildPackages...) {
		p, err := b.debianPackage(ctx, arch, name)
		if err != nil {
			return nil, err
		}
		if err := writeTree(p.Files, sysroot); err != nil {
			return nil, err
		}
	}
	return env, nil
}

func (b *builder) compiler(arch string) (string, error) {
	name := architectures[arch].compiler
	if arch == runtime.GOARCH {
		name = "gcc"
	}
	if _, err := exec.LookPath(name); err != nil {
		todo := "install a cross compiler (Debian: gcc-x86-64-linux-gnu)"
		if arch == runtime.GOARCH {
			todo = "run hack/install-deps.sh run"
		} else if arch == "arm64" {
			todo = "run hack/install-deps.sh arm64"
		}
		return "", fmt.Errorf("%s is missing, with which programs that encode are compiled for %s: %s", name,
			arch, todo)
	}
	return name, nil
}

// debianPackage returns a pinned package, unpacked.
func (b *builder) debianPackage(ctx context.Context, arch, name string) (*debian.Package, error) {
	if p, ok := b.packages[arch+" "+name]; ok {
		return p, nil
	}
	pin, err := b.pins.Find(arch, name)
	if err != nil {
		return nil, err
	}
	if err := b.fetch(ctx, arch); err != nil {
		return nil, err
	}
	p, err := debian.Open(ctx, b.archive.Path(pin))
	if err != nil {
		return nil, err
	}
	b.packages[arch+" "+name] = p
	return p, nil
}

// fetch downloads all pinned packages of an architecture at once, since apt-get takes seconds each time.
func (b *builder) fetch(ctx context.Context, arch string) error {
	if b.fetched[arch] {
		return nil
	}
	var pins []debian.Pin
	for _, name := range packageNames() {
		pin, err := b.pins.Find(arch, name)
		if err != nil {
			return err
		}
		pins = append(pins, pin)
	}
	if err := b.archive.Fetch(ctx, arch, pins); err != nil {
		return err
	}
	b.fetched[arch] = true
	return nil
}

// onnxRuntime returns the library of the neural engine and its version.
func (b *builder) onnxRuntime(ctx context.Context, arch string) (content []byte, version string, err error) {
	path, err := output(ctx, b.root, nil, "hack/onnxruntime.sh", arch)
	if err != nil {
		return nil, "", err
	}
	// …/libonnxruntime-1.30.0-x64.so
	_, version, _ = strings.Cut(filepath.Base(path), "-")
	version, _, _ = strings.Cut(version, "-")
	content, err = os.ReadFile(path)
	return content, version, err
}

// withoutAudio compiles the stand-in for libpcaudio.
func (b *builder) withoutAudio(ctx context.Context, arch string) ([]byte, error) {
	compiler, err := b.compiler(arch)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(b.work, "libpcaudio-"+arch+".so")
	_, err = output(ctx, filepath.Join(b.root, "images"), nil, compiler, "-O2", "-Wall", "-Wextra", "-Werror",
		"-shared", "-fPIC", "-nostdlib", "-s", "-Wl,-soname,libpcaudio.so.0", "-Wl,--build-id=none", "-o", path, "noaudio.c")
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// writeTree writes files below a folder; owners are set only for root, who may.
func writeTree(files oci.Tree, folder string) error {
	whole, err := files.WithParents()
	if err != nil {
		return err
	}
	for _, name := range whole.Names() {
		e, path := whole[name], filepath.Join(folder, name)
		switch {
		case e.Mode.IsDir():
			err = os.MkdirAll(path, 0o755)
		case e.Mode.IsRegular():
			err = os.WriteFile(path, e.Content, e.Mode.Perm())
		default:
			if err := os.Symlink(e.Link, path); err != nil {
				return err
			}
			continue // its mode means nothing
		}
		if err == nil {
			err = os.Chmod(path, e.Mode) // whatever the umask
		}
		if err == nil && e.Owner != 0 && os.Geteuid() == 0 {
			err = os.Chown(path, e.Owner, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// output runs a program and returns what it prints, without space around it.
func output(ctx context.Context, folder string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", name, err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
