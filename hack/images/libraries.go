package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/swar-tts/swar/hack/internal/oci"
)

// checkLibraries refuses an image in which a program or a library needs a library, or a version of one, that the
// image does not have.
func checkLibraries(t oci.Tree) error {
	var problems []error
	for _, name := range t.Names() {
		f := openELF(t[name])
		if f == nil {
			continue
		}
		if err := checkNeeds(t, f); err != nil {
			problems = append(problems, fmt.Errorf("/%s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// openELF returns a file that is linked with libraries, or nil.
func openELF(e oci.Entry) *elf.File {
	f, err := elf.NewFile(bytes.NewReader(e.Content))
	if err != nil || f.SectionByType(elf.SHT_DYNAMIC) == nil {
		return nil // most files are none, and static programs need nothing
	}
	return f
}

func checkNeeds(t oci.Tree, f *elf.File) error {
	var problems []error
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			loader := make([]byte, p.Filesz-1) // it ends with a zero
			if _, err := p.ReadAt(loader, 0); err != nil {
				return err
			}
			if _, ok := follow(t, strings.TrimPrefix(string(loader), "/")); !ok {
				problems = append(problems, fmt.Errorf("its loader %s is missing", loader))
			}
		}
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, library := range needed {
		if find(t, library) == nil {
			problems = append(problems, fmt.Errorf("it needs the library %s, which is missing", library))
		}
	}
	if f.SectionByType(elf.SHT_GNU_VERNEED) == nil {
		return errors.Join(problems...)
	}
	needs, err := f.DynamicVersionNeeds()
	if err != nil {
		return err
	}
	for _, need := range needs {
		library := find(t, need.Name)
		if library == nil {
			continue // told above
		}
		for _, v := range need.Needs {
			if !defines(library, v.Dep) {
				problems = append(problems, fmt.Errorf("it needs %s of %s, which is older: "+
					"compile it on Debian 12, or with images/worker.Dockerfile", v.Dep, need.Name))
			}
		}
	}
	return errors.Join(problems...)
}

func defines(library *elf.File, version string) bool {
	defined, err := library.DynamicVersions()
	if err != nil {
		return false
	}
	for _, d := range defined {
		if d.Name == version {
			return true
		}
	}
	return false
}

// find looks for a library where the loader does.
func find(t oci.Tree, library string) *elf.File {
	for _, a := range architectures {
		if name, ok := follow(t, "usr/lib/"+a.triplet+"/"+library); ok {
			return openELF(t[name])
		}
	}
	return nil
}

// follow returns the file that a path leads to through symbolic links.
func follow(t oci.Tree, name string) (string, bool) {
	for range 10 {
		if e, ok := t[name]; ok && e.Mode.Type() == fs.ModeSymlink {
			name = target(name, e.Link)
			continue
		} else if ok {
			return name, true
		}
		next, ok := followParent(t, name)
		if !ok {
			return "", false
		}
		name = next
	}
	return "", false
}

// followParent replaces the first part of a path that is a link.
func followParent(t oci.Tree, name string) (string, bool) {
	for i := range name {
		if name[i] != '/' {
			continue
		}
		if e, ok := t[name[:i]]; ok && e.Mode.Type() == fs.ModeSymlink {
			return target(name[:i], e.Link) + name[i:], true
		}
	}
	return "", false
}

func target(name, link string) string {
	if strings.HasPrefix(link, "/") {
		return strings.TrimPrefix(path.Clean(link), "/")
	}
	return path.Join(path.Dir(name), link)
}
