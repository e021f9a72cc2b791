package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/hack/images/internal/debian"
	"github.com/swar-tts/swar/hack/internal/oci"
)

// user is who runs in the images: nobody who exists elsewhere.
const user = 65532

const (
	programFolder = "usr/local/bin"
	docFolder     = "usr/share/doc"
	onnxLibrary   = "usr/local/lib/libonnxruntime.so" // where runtime/onnx looks
)

// Contents is what an image is made of.
type contents struct {
	layers   []oci.Tree
	programs []executable
	packages []*debian.Package
	licences map[string]string // of those packages, by name
	onnx     string            // version of ONNX Runtime, empty where it is not
	onnxSHA  string
}

// whole is all layers in one.
func (c *contents) whole() (oci.Tree, error) {
	all := oci.Tree{}
	for _, layer := range c.layers {
		if err := all.Merge(layer); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// assemble collects what is in an image. What changes seldom lies in the lower layers, so that a new version
// downloads the upper one.
func (b *builder) assemble(ctx context.Context, r recipe, arch string) (*contents, error) {
	c := &contents{licences: map[string]string{}}
	below, err := b.base(ctx, c, r, arch)
	if err != nil {
		return nil, err
	}
	c.layers = append(c.layers, below)
	if r.speaks {
		library, err := b.neural(ctx, c, arch)
		if err != nil {
			return nil, err
		}
		c.layers = append(c.layers, library)
	}
	above, err := b.programs(ctx, c, r, arch)
	if err != nil {
		return nil, err
	}
	c.layers = append(c.layers, above)
	whole, err := c.whole()
	if err != nil {
		return nil, err
	}
	if err := checkLibraries(whole); err != nil {
		return nil, fmt.Errorf("the image %s for %s: %w", r.name, arch, err)
	}
	return c, nil
}

// base is the layer of what comes from Debian, users and folders.
func (b *builder) base(ctx context.Context, c *contents, r recipe, arch string) (oci.Tree, error) {
	t := oci.Tree{
		"tmp":        {Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		"etc/passwd": text("root:x:0:0:root:/:/sbin/nologin\nswar:x:65532:65532:swar:/tmp:/sbin/nologin\n"),
		"etc/group":  text("root:x:0:\nswar:x:65532:\n"),
		// names in /etc/hosts come before those of DNS, for Go and for the C library
		"etc/nsswitch.conf": text("hosts: files dns\n"),
	}
	if r.data {
		// and group 0, that of users whom a cluster assigns
		t["data"] = oci.Entry{Mode: fs.ModeDir | 0o770, Owner: user}
	}
	if err := b.trust(ctx, c, t, arch); err != nil {
		return nil, err
	}
	if !r.encodes {
		return t, nil
	}
	for _, link := range []string{"lib", "lib64"} {
		t[link] = oci.Entry{Mode: fs.ModeSymlink | 0o777, Link: "usr/" + link}
	}
	for _, p := range r.packages() {
		if err := b.take(ctx, c, t, p, arch); err != nil {
			return nil, err
		}
	}
	if err := t.Put(docFolder+"/swar/SOURCE-OFFER", text(sourceOffer(r, c.packages))); err != nil || !r.speaks {
		return t, err
	}
	silent, err := b.withoutAudio(ctx, arch)
	if err != nil {
		return nil, err
	}
	library := "usr/lib/" + architectures[arch].triplet + "/libpcaudio.so.0"
	return t, t.Put(library, oci.Entry{Mode: 0o644, Content: silent})
}

// take adds files of a package of Debian, its licence, and the record by which scanners know it.
func (b *builder) take(ctx context.Context, c *contents, t oci.Tree, p debianPackage, arch string) error {
	opened, err := b.debianPackage(ctx, arch, p.name)
	if err != nil {
		return err
	}
	var patterns []string
	for _, f := range p.files {
		patterns = append(patterns, strings.ReplaceAll(f, "TRIPLET", architectures[arch].triplet))
	}
	doc := docFolder + "/" + p.name
	if opened.Files[doc].Mode.Type() == fs.ModeSymlink {
		patterns = append(patterns, doc)
	} else {
		patterns = append(patterns, doc+"/copyright")
	}
	files, err := opened.Take(patterns...)
	if err != nil {
		return err
	}
	if err := t.Merge(files); err != nil {
		return err
	}
	c.packages = append(c.packages, opened)
	c.licences[p.name] = p.licence
	return t.Put("var/lib/dpkg/status.d/"+p.name, text(opened.Control))
}

// trust adds the certificates of public authorities as one file, where Go and OpenSSL look for it.
func (b *builder) trust(ctx context.Context, c *contents, t oci.Tree, arch string) error {
	if err := b.take(ctx, c, t, authorities, arch); err != nil {
		return err
	}
	opened, err := b.debianPackage(ctx, arch, authorities.name)
	if err != nil {
		return err
	}
	certificates, err := opened.Take("usr/share/ca-certificates/mozilla/*.crt")
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for _, name := range certificates.Names() {
		all.Write(bytes.TrimSpace(certificates[name].Content))
		all.WriteByte('\n')
	}
	return t.Put("etc/ssl/certs/ca-certificates.crt", oci.Entry{Mode: 0o644, Content: all.Bytes()})
}

// neural is the layer of ONNX Runtime.
func (b *builder) neural(ctx context.Context, c *contents, arch string) (oci.Tree, error) {
	content, version, err := b.onnxRuntime(ctx, arch)
	if err != nil {
		return nil, err
	}
	t := oci.Tree{onnxLibrary: {Mode: 0o644, Content: content}}
	c.onnx, c.onnxSHA = version, executable{content: content}.sha256()
	from := filepath.Join(b.root, "images", "onnxruntime")
	return t, b.copyFiles(t, docFolder+"/onnxruntime", from, "LICENSE", "ThirdPartyNotices.txt")
}

// programs is the layer of our programs and their licences.
func (b *builder) programs(ctx context.Context, c *contents, r recipe, arch string) (oci.Tree, error) {
	t := oci.Tree{}
	for _, folder := range r.programs {
		p, err := b.compile(ctx, folder, arch, r.encodes)
		if err != nil {
			return nil, err
		}
		c.programs = append(c.programs, p)
		if err := t.Put(programFolder+"/"+p.name, oci.Entry{Mode: 0o755, Content: p.content}); err != nil {
			return nil, err
		}
	}
	if err := b.copyFiles(t, docFolder+"/swar", b.root, "LICENSE", "NOTICE"); err != nil {
		return nil, err
	}
	goroot, err := output(ctx, b.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := b.copyFiles(t, docFolder+"/swar/licences/go", goroot, "LICENSE"); err != nil {
		return nil, err
	}
	for _, m := range linked(c.programs) {
		names, err := licenceFiles(m.folder)
		if err != nil {
			return nil, err
		}
		if err := b.copyFiles(t, docFolder+"/swar/licences/"+m.path, m.folder, names...); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// linked is the modules of all programs, each once, sorted.
func linked(programs []executable) []module {
	all := map[string]module{}
	for _, p := range programs {
		for _, m := range p.modules {
			all[m.path] = m
		}
	}
	var sorted []module
	for _, path := range slices.Sorted(maps.Keys(all)) {
		sorted = append(sorted, all[path])
	}
	return sorted
}

// licenceFiles names the files of a module that must go wherever its code goes.
func licenceFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		stem := strings.ToUpper(strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())))
		legal := strings.HasPrefix(stem, "LICEN") ||
			slices.Contains([]string{"UNLICENSE", "NOTICE", "COPYING", "PATENTS"}, stem)
		if e.Type().IsRegular() && legal {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no licence in %s", folder)
	}
	return names, nil
}

// copyFiles adds files from a folder of this machine.
func (b *builder) copyFiles(t oci.Tree, to, from string, names ...string) error {
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := t.Put(to+"/"+name, oci.Entry{Mode: 0o644, Content: content}); err != nil {
			return err
		}
	}
	return nil
}

// execution is how a container of the image starts.
func (b *builder) execution(r recipe) oci.Execution {
	e := oci.Execution{
		User: fmt.Sprintf("%d:%d", user, user), WorkingDir: "/", StopSignal: "SIGTERM",
		Env:        []string{"PATH=/" + programFolder + ":/usr/bin"},
		Entrypoint: []string{"/" + programFolder + "/" + program(r.programs[0])},
		Labels: map[string]string{
			"org.opencontainers.image.title":         r.title,
			"org.opencontainers.image.description":   r.description,
			"org.opencontainers.image.licenses":      r.licences,
			"org.opencontainers.image.source":        "https://github.com/swar-tts/swar",
			"org.opencontainers.image.documentation": "https://github.com/swar-tts/swar/blob/main/docs/images.md",
			"org.opencontainers.image.version":       b.version,
			"org.opencontainers.image.created":       b.created.Format("2006-01-02T15:04:05Z"),
		},
		ExposedPorts: map[string]struct{}{},
	}
	if b.revision != "" {
		e.Labels["org.opencontainers.image.revision"] = b.revision
	}
	for _, p := range r.ports {
		e.ExposedPorts[strconv.Itoa(p)+"/tcp"] = struct{}{}
	}
	if r.data {
		e.Env = append(e.Env, "SWAR_DATA=/data")
	}
	return e
}

// sourceOffer says where the sources of the packages are, as the licences of some of them ask for.
func sourceOffer(r recipe, packages []*debian.Package) string {
	sources := map[string]bool{}
	for _, p := range packages {
		sources[p.Source+" "+p.SourceVersion] = true
	}
	var out strings.Builder
	under := "libmp3lame and the C library,\nwhich the programs of Swar are linked with dynamically."
	if r.speaks {
		under = "espeak-ng above all, which swar-worker and\nswar start as a separate program and talk to through a pipe; " + under
	}
	fmt.Fprintf(&out, `This image contains programs and libraries of Debian %s (%s), unchanged. Some of them are
under the GNU General Public License or the GNU Lesser General Public License: %s
Their licences are in %s/*/copyright and /usr/share/common-licenses.

The complete source that corresponds to them is in these source packages:

`, debian.Release, debian.Codename, under, "/"+docFolder)
	for _, s := range slices.Sorted(maps.Keys(sources)) {
		out.WriteString("    " + s + "\n")
	}
	out.WriteString(`
You get them without charge from Debian (apt-get source NAME=VERSION, and https://snapshot.debian.org for as long as
that exists). Whoever hands this image on offers them beside it: make image-sources, in the repository that this image
is built from, downloads all of them.
`)
	if r.speaks {
		out.WriteString(`
The library libpcaudio.so.0 in this image is not Debian's: it replaces the one through which espeak-ng would play on a
sound card, and does nothing. Its source is images/noaudio.c of the same repository, under the Apache License 2.0.
`)
	}
	return out.String()
}

func text(s string) oci.Entry { return oci.Entry{Mode: 0o644, Content: []byte(s)} }
