// Package archive downloads an archive into a folder and packs folders into archives. A download is complete and
// verified by its hash, or it fails.
package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config says what to bring where. All but Progress is required.
type Config struct {
	URL    string // of http or https
	SHA256 string // of the archive, in hex
	To     string // folder that appears when it is complete
	Limit  int64  // bytes that the archive and what is in it may take, together

	// Progress is told how many bytes of how many are done; total is 0 where nobody knows.
	Progress func(done, total int64, what string)
}

// Result is what is in the folder.
type Result struct {
	Files int
	Bytes int64
	Known bool // it was there already, from the same archive
}

// What stands beside the folder while it is made, and says after that what it was made of.
const (
	partSuffix = ".part"   // the archive, as far as it has come
	newSuffix  = ".new"    // what is in it
	sumSuffix  = ".sha256" // of the archive
)

const (
	tries      = 5 // in a row that bring nothing
	firstPause = time.Second
	stallLimit = time.Minute // without a byte
)

// fetching is one call of Fetch.
type fetching struct {
	Config
	client *http.Client
	pause  time.Duration // before the second try; doubled after each
	stall  time.Duration
}

// Fetch brings the archive into the folder. One that broke off is gone on with where the server can do that. Where the
// folder is there already, it must be of the same archive, and nothing is done.
func Fetch(ctx context.Context, c Config) (Result, error) {
	f := &fetching{Config: c, client: http.DefaultClient, pause: firstPause, stall: stallLimit}
	return f.run(ctx)
}

func (f *fetching) run(ctx context.Context) (Result, error) {
	f.To = filepath.Clean(f.To)
	f.SHA256 = strings.ToLower(f.SHA256)
	known, err := f.isKnown()
	if err != nil || known {
		return Result{Known: known}, err
	}
	if err := os.MkdirAll(filepath.Dir(f.To), 0o755); err != nil {
		return Result{}, err
	}
	part, err := os.OpenFile(f.To+partSuffix, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = part.Close() }()
	if err := f.fetchInto(ctx, part); err != nil {
		if info, statErr := part.Stat(); statErr == nil && info.Size() == 0 {
			os.Remove(part.Name())
		}
		return Result{}, err
	}
	return f.unpack(ctx, part)
}

// isKnown reports whether the folder is there, and refuses it unless it is of this archive.
func (f *fetching) isKnown() (bool, error) {
	entries, err := os.ReadDir(f.To)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sum, err := os.ReadFile(f.To + sumSuffix)
	if err == nil && strings.TrimSpace(string(sum)) == f.SHA256 {
		return true, nil
	}
	return false,
		fmt.Errorf("%s is there already, and not from this archive; remove it, or choose another folder", f.To)
}

// fetchInto makes part the archive. What an earlier run has left in it is checked as all else is, and if it was of
// another archive everything is fetched anew.
func (f *fetching) fetchInto(ctx context.Context, part *os.File) error {
	left, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	for {
		if err := f.download(ctx, part); err != nil {
			return err
		}
		got, err := f.sum(ctx, part)
		if err != nil || got == f.SHA256 {
			return err
		}
		if err := part.Truncate(0); err != nil {
			return err
		}
		if left == 0 {
			return fmt.Errorf("the archive has the SHA-256 %s, not %s: it was changed since that was noted, or on the way; "+
				"ask its publisher", got, f.SHA256)
		}
		left = 0
	}
}

// sum is the hash of part.
func (f *fetching) sum(ctx context.Context, part *os.File) (string, error) {
	size, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := sha256.New()
	r := &counting{ctx: ctx, r: part, onProgress: func(n int64) { f.Progress(n, size, "checking the archive") }}
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// counting reads until its context ends, and tells how many bytes it has read.
type counting struct {
	ctx        context.Context // of the one call that reads
	r          io.Reader
	n          int64
	onProgress func(n int64)
}

func (c *counting) Read(b []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.n += int64(n)
	c.onProgress(c.n)
	return n, err
}
