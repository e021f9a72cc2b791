package debian

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/swar-tts/swar/hack/internal/oci"
)

// A Package is an unpacked package.
type Package struct {
	Name, Version, Architecture string
	Source, SourceVersion       string   // the package of sources that it was built from
	Control                     string   // what its maintainers say of it
	Files                       oci.Tree // by the paths that they have on an installed system
}

// Open reads the package in a file.
func Open(ctx context.Context, file string) (*Package, error) {
	control, err := dpkg(ctx, "--field", file)
	if err != nil {
		return nil, err
	}
	p := &Package{Control: string(control)}
	p.Name, p.Version, p.Architecture = p.field("Package"), p.field("Version"), p.field("Architecture")
	// Source: glibc, or glibc (2.36-9), or none where it is called as the package is.
	p.Source, p.SourceVersion, _ = strings.Cut(cmp.Or(p.field("Source"), p.Name), " ")
	p.SourceVersion = cmp.Or(strings.Trim(p.SourceVersion, "()"), p.Version)
	content, err := dpkg(ctx, "--fsys-tarfile", file)
	if err != nil {
		return nil, err
	}
	if p.Files, err = unpack(bytes.NewReader(content)); err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", p.Name, err)
	}
	return p, nil
}

func (p *Package) field(name string) string {
	for line := range strings.Lines(p.Control) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Take returns the files that match one of the patterns; a pattern that ends in /** is everything in a folder. Each
// must match.
func (p *Package) Take(patterns ...string) (oci.Tree, error) {
	taken := oci.Tree{}
	for _, pattern := range patterns {
		found := false
		for name, e := range p.Files {
			if folder, ok := strings.CutSuffix(pattern, "**"); ok && strings.HasPrefix(name, folder) {
				found, taken[name] = true, e
			} else if ok, err := path.Match(pattern, name); err != nil {
				return nil, fmt.Errorf("the pattern %s: %w", pattern, err)
			} else if ok {
				found, taken[name] = true, e
			}
		}
		if !found {
			return nil, fmt.Errorf("%s %s has no file %s", p.Name, p.Version, pattern)
		}
	}
	return taken, nil
}

func dpkg(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "dpkg-deb", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("dpkg-deb %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}

func unpack(r io.Reader) (oci.Tree, error) {
	files := oci.Tree{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		name := installed(h.Name)
		e := oci.Entry{Mode: h.FileInfo().Mode()}
		switch h.Typeflag {
		case tar.TypeDir:
			if name == "." {
				continue
			}
		case tar.TypeSymlink:
			e.Mode, e.Link = fs.ModeSymlink|0o777, h.Linkname
		case tar.TypeLink:
			e = files[installed(h.Linkname)]
		case tar.TypeReg:
			if e.Content, err = io.ReadAll(in); err != nil {
				return nil, err
			}
		}
		if err := files.Put(name, e); err != nil {
			return nil, err
		}
	}
}

// installed is where a file of a package lies on a system whose /lib is a link to /usr/lib, as they are since Debian
// 12.
func installed(name string) string {
	name = path.Clean(name)
	first, _, below := strings.Cut(name, "/")
	if below && slices.Contains([]string{"lib", "lib64", "bin", "sbin"}, first) {
		return "usr/" + name
	}
	return name
}
