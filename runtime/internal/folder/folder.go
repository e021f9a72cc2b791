// Package folder writes, describes and checks folders of large files, the form in which models are kept. A manifest in
// the folder lists the files with their sizes and hashes.
package folder

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File describes a file of a folder.
type File struct {
	File   string `json:"file"` // path inside the folder
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Check returns what is wrong with the description of a file. manifest is the name of the file that holds it.
func (f File) Check(manifest string) error {
	if f.File == manifest || !filepath.IsLocal(f.File) || filepath.Clean(f.File) != f.File {
		return fmt.Errorf("%q is not a file of the bundle", f.File)
	}
	if !IsHash(f.SHA256) || f.Bytes < 1 {
		return fmt.Errorf("%s has no SHA-256 or no size", f.File)
	}
	return nil
}

// CheckSizes returns an error unless every file is in dir and has its size.
func CheckSizes(dir string, files []File) error {
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f.File))
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("bundle %s: %s is missing: it is not wholly copied", dir, f.File)
		}
		if err != nil {
			return fmt.Errorf("bundle %s: %w", dir, err)
		}
		if info.Size() != f.Bytes {
			return fmt.Errorf("bundle %s: %s has %d bytes, the manifest says %d: it is damaged or not wholly copied",
				dir, f.File, info.Size(), f.Bytes)
		}
	}
	return nil
}

// Verify reads every file in dir and compares its hash.
func Verify(dir string, files []File) error {
	for _, f := range files {
		got, err := HashFile(filepath.Join(dir, f.File))
		if err != nil {
			return err
		}
		if got != f.SHA256 {
			return fmt.Errorf("bundle %s: %s has SHA-256 %s, the manifest says %s: it was changed or is damaged",
				dir, f.File, got, f.SHA256)
		}
	}
	return nil
}

// HashFile returns the SHA-256 of the file at path, in hexadecimal digits.
func HashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("hashing %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// IsHash reports whether s is a SHA-256 in hexadecimal digits.
func IsHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// ReadSmall reads a file that is no larger than most bytes. It needs no more memory than the file has bytes.
func ReadSmall(path string, most int64) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = fmt.Errorf("reading %s: %w", path, err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), most+1)) + bytes.MinRead) // with room to see that it ends there
	if _, err := b.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > most {
		return nil, fmt.Errorf("it is larger than %d MiB: it is not what its name says", most>>20)
	}
	return b.Bytes(), nil
}

// ReadManifest decodes JSON into to. An unknown key, and anything behind the closing brace, is an error.
func ReadManifest(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its closing brace")
	}
	return nil
}

// Make makes the folder dir, which must not exist or be empty. fill writes into a folder beside it, .NAME.growing-…,
// which gets its name when fill returns without an error, and is removed otherwise. Only a process that is killed
// leaves it.
func Make(ctx context.Context, dir string, fill func(ctx context.Context, dir string) error) (err error) {
	dir = filepath.Clean(dir)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s holds %s already: name a folder that does not exist or is empty", dir, entries[0].Name())
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	growing, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".growing-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(growing)) }()
	if err := fill(ctx, growing); err != nil {
		return err
	}
	if err := os.Chmod(growing, 0o755); err != nil { // it was made for its owner alone
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("taking the place of an empty folder: %w", err)
	}
	return os.Rename(growing, dir)
}

// WriteFile writes a file into dir and describes it.
func WriteFile(dir, name string, data []byte) (File, error) {
	return CreateFile(dir, name, func(to io.Writer) error { _, err := to.Write(data); return err })
}

// CreateFile writes a file into dir, in as many writes as write likes, and describes it.
func CreateFile(dir, name string, write func(io.Writer) error) (File, error) {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return File{}, err
	}
	sum, buffer := sha256.New(), bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(io.MultiWriter(buffer, sum)), buffer.Flush())
	bytes, seekErr := f.Seek(0, io.SeekCurrent)
	if err = errors.Join(err, seekErr, f.Close()); err != nil {
		return File{}, fmt.Errorf("writing %s: %w", name, err)
	}
	return File{File: name, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: bytes}, nil
}
