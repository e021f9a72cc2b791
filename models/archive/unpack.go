package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	maxFiles  = 10_000    // far more than any model has
	maxDepth  = 32        // folders in folders; to remove a tree takes a file descriptor for each
	maxWindow = 128 << 20 // memory that zstd may take; --ultra --long=27 needs so much
)

// unpack makes the folder of what is in part, which is then no longer needed.
func (f *fetching) unpack(ctx context.Context, part *os.File) (r Result, err error) {
	fresh := f.To + newSuffix
	if err := os.RemoveAll(fresh); err != nil {
		return r, err
	}
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	if r, err = f.extract(ctx, part, fresh); err != nil {
		return r, err
	}
	whole, err := inner(fresh)
	if err != nil {
		return r, err
	}
	if err := os.Remove(f.To); err != nil && !errors.Is(err, fs.ErrNotExist) { // it was empty
		return r, err
	}
	// In this order: a folder is there only together with what it was made of.
	if err := os.WriteFile(f.To+sumSuffix, []byte(f.SHA256+"\n"), 0o644); err != nil {
		return r, err
	}
	if err := os.Rename(whole, f.To); err != nil {
		return r, err
	}
	return r, os.Remove(part.Name())
}

// Extract unpacks an archive of this machine, .tar, .tar.gz or .tar.zst, into a folder that is there and empty. Archive
// and content together may take limit bytes. When it fails, the folder holds a part.
func Extract(ctx context.Context, file *os.File, folder string, limit int64,
	progress func(done, total int64, what string)) (Result, error) {
	f := &fetching{Config: Config{Limit: limit, Progress: progress}}
	return f.extract(ctx, file, folder)
}

// inner is the folder with the files: the one that an archive often packs them into, if it is all there is.
func inner(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err == nil && len(entries) == 1 && entries[0].IsDir() {
		folder = filepath.Join(folder, entries[0].Name())
	}
	return folder, err
}

// extract writes what is in part into a folder. The archive is the one that was asked for, and nothing else is taken
// for granted: it may be a bomb, and have names that lead out of the folder.
func (f *fetching) extract(ctx context.Context, part *os.File, folder string) (r Result, err error) {
	size, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return r, err
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return r, err
	}
	plain, done, err := decompress(&counting{ctx: ctx, r: part, onProgress: func(n int64) {
		f.Progress(n, size, "unpacking")
	}})
	if err != nil {
		return r, err
	}
	defer done()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return r, err
	}
	defer func() { _ = root.Close() }()
	x := &extraction{root: root, room: f.Limit - size, limit: f.Limit}
	for archive := tar.NewReader(plain); ; {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && x.Files == 0:
			return r, errors.New("the archive holds no file")
		case errors.Is(err, io.EOF):
			return x.Result, nil
		case errors.Is(err, tar.ErrHeader):
			return r, errors.New("this is not an archive that can be unpacked; want .tar, .tar.gz or .tar.zst")
		case err != nil:
			return r, fmt.Errorf("unpacking: %w", err)
		}
		if err := x.entry(h, archive); err != nil {
			return r, fmt.Errorf("unpacking %.100q: %w", h.Name, err)
		}
	}
}

// decompress reads what r holds, which its first bytes tell.
func decompress(r io.Reader) (plain io.Reader, done func(), err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	magic, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, fmt.Errorf("unpacking: %w", err)
		}
		return z, func() { _ = z.Close() }, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("unpacking: %w", err)
		}
		return z, z.Close, nil
	}
	return b, func() {}, nil
}

// extraction is where entries go, and how much of them.
type extraction struct {
	Result
	root    *os.Root
	room    int64 // bytes that are left
	limit   int64 // bytes that there were, for the archive too
	entries int
}

func (x *extraction) entry(h *tar.Header, content io.Reader) error {
	if x.entries++; x.entries > maxFiles {
		return fmt.Errorf("it holds more than %d files and folders", maxFiles)
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // a comment, as git writes it
	}
	name, err := LocalName(h.Name)
	switch {
	case err != nil:
		return err
	case h.Typeflag == tar.TypeDir:
		return x.root.MkdirAll(name, 0o755)
	case h.Typeflag == tar.TypeReg:
		return x.file(name, h.Size, content)
	case h.Typeflag == tar.TypeSymlink, h.Typeflag == tar.TypeLink:
		return errors.New("it is a link; pack files themselves (tar --dereference --hard-dereference)")
	}
	return errors.New("it is neither a file nor a folder")
}

// LocalName returns the local path for the name of a file in an archive or registry. voices/raj → voices/raj, ../raj
// → an error. It refuses names that lead out of the folder or lie too deep in it.
func LocalName(name string) (string, error) {
	clean := filepath.FromSlash(path.Clean(name))
	switch {
	case path.IsAbs(name) || !filepath.IsLocal(clean):
		return "", errors.New("the name leads out of the folder")
	case strings.Count(clean, string(filepath.Separator)) >= maxDepth:
		return "", fmt.Errorf("it lies in more than %d folders", maxDepth-1)
	}
	return clean, nil
}

func (x *extraction) file(name string, size int64, content io.Reader) (err error) {
	if size > x.room {
		return fmt.Errorf("the archive and what is in it take more than %d bytes (--limit); allow more, if that is the right one",
			x.limit)
	}
	if err := x.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	w, err := x.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return errors.New("it is in the archive twice")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	n, err := io.Copy(w, content) // never more than size
	x.room -= n
	x.Bytes += n
	x.Files++
	return err
}
