package archive

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Pack writes an uncompressed archive of the files and folders in roots, under the given names. The same content
// gives the same bytes: names are sorted, and nobody owns a file or has made it at any time.
func Pack(ctx context.Context, w io.Writer, roots map[string]string,
	progress func(done, total int64, what string)) error {
	files, total, err := list(roots)
	if err != nil {
		return err
	}
	var done int64
	t := tar.NewWriter(w)
	for _, f := range files {
		h := tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: f.size, Mode: 0o644, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&h); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		file, err := os.Open(f.path)
		if err != nil {
			return err
		}
		before := done
		_, err = io.Copy(t,
			&counting{ctx: ctx, r: file, onProgress: func(n int64) { progress(before+n, total, f.name) }})
		_ = file.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		done += f.size
	}
	return t.Close()
}

// packed is a file on its way into an archive.
type packed struct {
	name, path string
	size       int64
}

// list finds all files of roots, by name.
func list(roots map[string]string) (files []packed, total int64, err error) {
	for name, root := range roots {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := os.Stat(p)
			if err != nil {
				return err
			}
			below, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			files = append(files, packed{path.Join(name, filepath.ToSlash(below)), p, info.Size()})
			total += info.Size()
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	slices.SortFunc(files, func(a, b packed) int { return strings.Compare(a.name, b.name) })
	return files, total, nil
}
