package download

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // what Git names its objects by
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

func (f *File) newHash() hash.Hash {
	if f.SHA256 != "" {
		return sha256.New()
	}
	h := sha1.New() //nolint:gosec // see above
	_, _ = fmt.Fprintf(h, "blob %d\x00", f.Size)
	return h
}

func (f *File) isRight(h hash.Hash) bool { return hex.EncodeToString(h.Sum(nil)) == f.key() }

// copyHash adds n bytes to a hash.
func copyHash(ctx context.Context, h io.Writer, from io.Reader, n int64, progress func(done int64)) error {
	const piece = 1 << 20
	for done := int64(0); done < n; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		now, err := io.CopyN(h, from, min(piece, n-done))
		done += now
		if err != nil {
			return err
		}
		progress(done)
	}
	return nil
}

// transfer is a file on its way.
type transfer struct {
	*downloading
	*File

	part       *os.File
	hash       hash.Hash // of the first at bytes
	at         int64     // bytes in part that are hashed
	safe       int64     // bytes that the record speaks of
	reportedAt time.Time // when progress was told
}

// record is what is known of a file that is not whole. Its bytes are on the disk: what a machine that lost its power
// had only in memory is brought again.
type record struct {
	Size  int64  `json:"size"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// open opens what an earlier download has left, or begins.
func (t *transfer) open(ctx context.Context) (err error) {
	if t.part, err = t.root.OpenFile(t.File.part(), os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	t.hash = t.newHash()
	info, err := t.part.Stat()
	if err != nil {
		return err
	}
	var r record
	if text, err := t.root.ReadFile(t.File.record()); err == nil && json.Unmarshal(text, &r) != nil {
		r = record{} // half written, or of somebody else
	}
	if r.Hash != t.key() || r.Size != t.Size || r.Bytes < 0 || r.Bytes > min(info.Size(), t.Size) {
		return t.restart()
	}
	err = copyHash(ctx, t.hash, t.part, r.Bytes,
		func(n int64) { t.Progress(t.before+n, t.total, "checking "+t.title()) })
	t.at, t.safe = r.Bytes, r.Bytes
	return errors.Join(err, t.part.Truncate(t.at))
}

// restart forgets what has come.
func (t *transfer) restart() error {
	t.at, t.safe = 0, 0
	t.hash = t.newHash()
	_, err := t.part.Seek(0, io.SeekStart)
	return errors.Join(err, t.part.Truncate(0))
}

// discard removes what has come, because it is wrong.
func (t *transfer) discard() {
	_ = errors.Join(t.root.Remove(t.File.part()), t.root.Remove(t.File.record()))
}

// flush has the disk hold what has come, and writes how much that is.
func (t *transfer) flush() error {
	if err := t.part.Sync(); err != nil {
		return err
	}
	text, err := json.Marshal(record{Size: t.Size, Hash: t.key(), Bytes: t.at})
	if err != nil {
		return err
	}
	t.safe = t.at
	return t.root.WriteFile(t.File.record(), text, 0o644)
}

// permanent is an error that another attempt would meet again.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent makes an error of a File's Get one that is not tried again.
func Permanent(err error) error { return permanent{err} }

// run brings what is missing, with as many attempts as bring something.
func (t *transfer) run(ctx context.Context) error {
	for failed := 0; t.at < t.Size; {
		before := t.at
		after, err := t.attempt(ctx)
		if t.at > t.safe {
			err = errors.Join(err, t.flush())
		}
		if t.at > before {
			failed = 0
		}
		stop, isPermanent := errors.AsType[permanent](err)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isPermanent:
			return stop.error
		}
		if failed++; failed >= t.Attempts && t.at == 0 {
			return fmt.Errorf("%w; %d attempts in a row failed", err, failed)
		}
		if failed >= t.Attempts {
			return fmt.Errorf("%w; %d attempts in a row failed. What has come, %s of %s, is kept: try again later",
				err, failed, size(t.at), size(t.Size))
		}
		if after == 0 {
			after = t.retry<<(failed-1) + rand.N(t.retry)
		}
		t.Progress(t.before+t.at, t.total,
			fmt.Sprintf("%s: %v; trying again in %v", t.title(), err, after.Round(time.Second)))
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// attempt asks once, and takes what comes. After is how long the server wants to be left alone; 0 where it does not
// say.
func (t *transfer) attempt(ctx context.Context) (after time.Duration, err error) {
	asking, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	silent := time.AfterFunc(t.stall, func() { giveUp(fmt.Errorf("the server sent nothing for %v", t.stall)) })
	defer silent.Stop()
	answer, err := t.Get(asking, t.at)
	if err != nil {
		return 0, because(asking, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if after, err = t.judge(answer); err != nil {
		return after, err
	}
	err = t.receive(answer.Body, silent)
	return 0, because(asking, err)
}

// because returns why a request was given up, where that is known.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// judge looks at the head of an answer.
func (t *transfer) judge(answer *http.Response) (after time.Duration, err error) {
	switch answer.StatusCode {
	case http.StatusOK: // also where a part was asked for: the server cannot do that
		if err := t.restart(); err != nil {
			return 0, permanent{err}
		}
	case http.StatusPartialContent:
		if from := answer.Header.Get("Content-Range"); !strings.HasPrefix(from, fmt.Sprintf("bytes %d-", t.at)) {
			return 0, errors.Join(fmt.Errorf("the server sent %q, not what begins at byte %d", from, t.at), t.restart())
		}
	case http.StatusRequestedRangeNotSatisfiable: // it was changed
		return 0, errors.Join(errors.New("the server has less than it said"), t.restart())
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		after = Wait(answer.Header, time.Now())
		err := fmt.Errorf("the server answers %s", answer.Status)
		if after > longestWait {
			return 0, permanent{fmt.Errorf("%w, and wants to be left alone for %v; what has come is kept: try again then", err, after)}
		}
		return after, err
	default:
		return 0, permanent{t.refused(answer)}
	}
	if n := answer.ContentLength; n >= 0 && t.at+n != t.Size {
		defer t.discard()
		if isPage(answer.Header, nil) {
			return 0, permanent{errPage}
		}
		return 0, permanent{fmt.Errorf("the server sends %d bytes, and the file has %d: it is another file, of which nothing is kept", t.at+n, t.Size)}
	}
	return 0, nil
}

func (t *transfer) refused(answer *http.Response) error {
	if t.Refused != nil {
		return t.Refused(answer)
	}
	return fmt.Errorf("the server answers %s", answer.Status)
}

// errPage is what a proxy or a sign-in page in between leads to.
var errPage = errors.New("a web page came in place of the file: perhaps a proxy, or a page to sign in at, is in between; nothing of it is kept")

// isPage reports whether an answer, or its first bytes, are HTML.
func isPage(h http.Header, begin []byte) bool {
	begin = bytes.ToLower(bytes.TrimSpace(begin))
	return strings.HasPrefix(h.Get("Content-Type"), "text/html") ||
		bytes.HasPrefix(begin, []byte("<!doctype")) || bytes.HasPrefix(begin, []byte("<html"))
}

// receive takes the body. It writes nothing beyond the size of the file.
func (t *transfer) receive(body io.Reader, silent *time.Timer) error {
	buffer := make([]byte, 256<<10)
	for {
		n, err := body.Read(buffer)
		silent.Reset(t.stall)
		if n > 0 {
			if err := t.take(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF && t.at < t.Size:
			return fmt.Errorf("the connection ended after %s of %s", size(t.at), size(t.Size))
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// take writes what has come.
func (t *transfer) take(b []byte) error {
	if t.at == 0 && path.Ext(t.Name) != ".html" && isPage(nil, b) {
		t.discard()
		return permanent{errPage}
	}
	if t.at+int64(len(b)) > t.Size {
		t.discard()
		return permanent{fmt.Errorf("the server sends more than the %d bytes of the file; nothing is kept", t.Size)}
	}
	if _, err := t.part.Write(b); err != nil {
		return permanent{fmt.Errorf("writing: %w; what has come is kept", err)}
	}
	t.hash.Write(b) // never fails
	t.at += int64(len(b))
	if now := time.Now(); now.Sub(t.reportedAt) > t.every || t.at == t.Size {
		t.reportedAt = now
		t.Progress(t.before+t.at, t.total, t.title())
	}
	if t.at-t.safe >= t.sync {
		if err := t.flush(); err != nil {
			return permanent{err}
		}
	}
	return nil
}

// finish gives the file its name, if its hash is right.
func (t *transfer) finish() error {
	if !t.isRight(t.hash) {
		t.discard()
		return fmt.Errorf("the download has the hash %x, not %s, and was removed. Try again; if it happens twice, report it to the publisher",
			t.hash.Sum(nil), t.key())
	}
	if err := t.part.Sync(); err != nil {
		return err
	}
	if err := t.root.MkdirAll(path.Dir(t.Name), 0o755); err != nil {
		return err
	}
	if err := t.root.Rename(t.File.part(), t.Name); err != nil {
		return err
	}
	_ = t.root.Remove(t.File.record())
	return nil
}
