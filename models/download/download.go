// Package download brings files over HTTP, whole and right or not at all.
//
// A download that breaks off goes on where it was, in this process or in another one; every byte is hashed, those of
// earlier attempts too, and a file gets its name only when its hash is right. Processes that want the same file wait
// for one another. Package download knows no hub: who asks for a file says how, anew for each attempt, so that
// addresses which expire are no trouble.
package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"time"
)

// File is a file to bring. Its hash is a SHA-256 or the id of a Git blob, in hex; one of both has to be known.
type File struct {
	Name   string // path below the folder, with slashes
	Title  string // what messages call it; empty means Name
	Size   int64
	SHA256 string
	Git    string // SHA-1 of "blob ", the size in decimal, NUL and the content; where SHA256 is empty

	// Get asks for the file from offset on. The answer's status is judged here: Refused makes an error of one that will
	// not change, such as 404.
	Get     func(ctx context.Context, offset int64) (*http.Response, error)
	Refused func(answer *http.Response) error
}

func (f *File) title() string { return cmp.Or(f.Title, f.Name) }

// key names what the content is, whoever asks for it.
func (f *File) key() string {
	if f.SHA256 != "" {
		return f.SHA256
	}
	return f.Git
}

// Config says how files are brought. The zero value brings them in silence.
type Config struct {
	// Progress, if not nil, hears how many of all bytes are there, and which file is at work. It is called from the
	// goroutine that called Download, some times a second.
	Progress func(done, total int64, what string)

	// Attempts is how many in a row may bring nothing before a file is given up; 0 means 6. Whoever knows another place
	// where the file lies wants few.
	Attempts int

	stall, retry, poll time.Duration                    // for tests
	every              time.Duration                    // between calls of Progress; likewise
	sync               int64                            // likewise
	space              func(dir string) (uint64, error) // likewise
}

const (
	stallLimit  = 30 * time.Second // without a byte
	firstRetry  = time.Second      // doubled after each attempt that brings nothing
	longestWait = 10 * time.Minute // that a server may ask for
	attempts    = 6                // in a row that bring nothing
	lockPoll    = 200 * time.Millisecond
	syncEvery   = 4 << 20 // bytes that an interruption may cost
)

// partials is the folder, below the one that files are brought to, of what is not whole yet.
const partials = ".partial"

// Download brings files into dir, which it makes where it is missing. What is there already, with the right hash, is
// not brought again. When it fails or ctx ends, what was brought stays for the next time, except where it is wrong.
func Download(ctx context.Context, dir string, files []File, c Config) error {
	c.defaults()
	if err := check(files); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, partials), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // nothing outside of it is written, whatever names and links there are
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	d := &downloading{Config: c, dir: dir, root: root}
	if err := d.measure(files); err != nil {
		return err
	}
	for i := range files {
		if err := d.fetch(ctx, &files[i]); err != nil {
			return fmt.Errorf("%s: %w", files[i].title(), err)
		}
	}
	return nil
}

func (c *Config) defaults() {
	if c.Progress == nil {
		c.Progress = func(int64, int64, string) {}
	}
	if c.stall == 0 {
		c.stall, c.retry, c.poll = stallLimit, firstRetry, lockPoll
	}
	if c.Attempts == 0 {
		c.Attempts = attempts
	}
	if c.every == 0 {
		c.every = 100 * time.Millisecond
	}
	if c.sync == 0 {
		c.sync = syncEvery
	}
	if c.space == nil {
		c.space = freeSpace
	}
}

// check refuses files that could not be brought, or that would lie elsewhere.
func check(files []File) error {
	names := make(map[string]bool)
	for _, f := range files {
		isPlain := f.Name == path.Clean(f.Name) && filepath.IsLocal(filepath.FromSlash(f.Name))
		switch {
		case !isPlain || path.Dir(f.Name) == partials || f.Name == partials:
			return fmt.Errorf("%q is not a name of a file below a folder", f.Name)
		case names[f.Name]:
			return fmt.Errorf("%s is listed twice", f.Name)
		case !isHex(f.SHA256, 64) && (f.SHA256 != "" || !isHex(f.Git, 40)):
			return fmt.Errorf("%s: no hash is known to check the file with", f.Name)
		case f.Size < 0:
			return fmt.Errorf("%s: the size is not known", f.Name)
		}
		names[f.Name] = true
	}
	return nil
}

func isHex(s string, digits int) bool {
	if len(s) != digits {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

// downloading is a call of Download.
type downloading struct {
	Config
	dir  string
	root *os.Root

	total, before int64 // bytes of all files, and of those that are there
}

// ErrNoRoom is in the chain of an error that says that files do not fit on the disk, wherever they come from.
var ErrNoRoom = errors.New("no room on the disk")

// measure adds up what is wanted, and refuses to begin where the disk has no room for what is missing.
func (d *downloading) measure(files []File) error {
	var missing int64
	for i := range files {
		f := &files[i]
		d.total += f.Size
		if info, err := d.root.Stat(f.Name); err == nil && info.Size() == f.Size {
			continue
		}
		missing += f.Size
		if info, err := d.root.Stat(f.part()); err == nil {
			missing -= min(info.Size(), f.Size)
		}
	}
	free, err := d.space(d.dir)
	if err != nil || missing <= 0 || uint64(missing) <= free {
		return nil //nolint:nilerr // where the system does not say, writing will
	}
	return fmt.Errorf("%w of %s: %s are missing, of which %s do not fit; free some space, or name another folder with SWAR_MODELS",
		ErrNoRoom, d.dir, size(missing), size(missing-int64(free)))
}

func size(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func (f *File) part() string   { return path.Join(partials, f.key()+".part") }
func (f *File) record() string { return path.Join(partials, f.key()+".json") }
func (f *File) lock() string   { return path.Join(partials, f.key()+".lock") }

// fetch brings one file. Whoever comes second waits, and then finds it.
func (d *downloading) fetch(ctx context.Context, f *File) error {
	lock, err := d.root.OpenFile(f.lock(), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := Lock(ctx, lock, d.poll, func() {
		d.Progress(d.before, d.total, f.title()+": waiting for another process that downloads it")
	}); err != nil {
		return err
	}
	isThere, err := d.isThere(ctx, f)
	if err != nil || isThere {
		d.before += f.Size
		return err
	}
	t := &transfer{downloading: d, File: f}
	if err := t.open(ctx); err != nil {
		return err
	}
	defer func() { _ = t.part.Close() }()
	if err := t.run(ctx); err != nil {
		return err
	}
	d.before += f.Size
	return t.finish()
}

// isThere reports whether the file is there with the right content. One with another content is replaced.
func (d *downloading) isThere(ctx context.Context, f *File) (bool, error) {
	file, err := d.root.Open(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || info.Size() != f.Size || !info.Mode().IsRegular() {
		return false, err
	}
	h := f.newHash()
	if err := copyHash(ctx, h, file, f.Size,
		func(n int64) { d.Progress(d.before+n, d.total, "checking "+f.title()) }); err != nil {
		return false, err
	}
	return f.isRight(h), nil
}
