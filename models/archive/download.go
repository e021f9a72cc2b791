package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// errStalled ends a try to which the server sends nothing any more.
var errStalled = errors.New("the server sends nothing any more")

// refusal is an error that another try would not mend.
type refusal struct{ error }

func refuse(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// download appends to part what is missing of the archive. It gives up after some tries in a row that have brought
// nothing new.
func (f *fetching) download(ctx context.Context, part *os.File) error {
	pause, failed, most := f.pause, 0, int64(0)
	for {
		size, err := f.attempt(ctx, part)
		if err == nil || ctx.Err() != nil {
			return causeOf(ctx, err)
		}
		if r, ok := errors.AsType[refusal](err); ok {
			return r.error
		}
		failed++
		if size > most { // not: it has brought something, which may be the same each time
			most, failed, pause = size, 0, f.pause
		}
		if failed == tries {
			return fmt.Errorf("fetching %s: %w; tried %d times", redacted(f.URL), unwrapURL(err), tries)
		}
		f.Progress(0, 0, fmt.Sprintf("trying again: %v", unwrapURL(err)))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause *= 2
	}
}

// attempt asks the server once, and returns how large part is where that has brought something, and 0 otherwise.
func (f *fetching) attempt(ctx context.Context, part *os.File) (size int64, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stalled := time.AfterFunc(f.stall, func() { end(errStalled) })
	defer stalled.Stop()
	at, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, refusal{err}
	}
	resp, err := f.request(ctx, at)
	if err != nil {
		return 0, causeOf(ctx, err)
	}
	defer resp.Body.Close()
	if at, err = f.accept(resp, part, at); err != nil {
		return 0, err
	}
	total := int64(0)
	if resp.ContentLength >= 0 {
		total = at + resp.ContentLength
	}
	if total > f.Limit {
		return 0, f.tooLarge(total)
	}
	body := &counting{ctx: ctx, r: io.LimitReader(resp.Body, f.Limit-at+1), onProgress: func(n int64) {
		stalled.Reset(f.stall)
		f.Progress(at+n, total, "fetching "+redacted(f.URL))
	}}
	n, err := io.Copy(part, body)
	if n > 0 {
		size = at + n
	}
	switch {
	case size > f.Limit:
		return size, errors.Join(f.tooLarge(size), part.Truncate(0))
	case err == nil && at+n < total:
		err = io.ErrUnexpectedEOF
	}
	return size, causeOf(ctx, err)
}

// request requests the archive from a byte on.
func (f *fetching) request(ctx context.Context, at int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, refuse("%s is not an address: %w", redacted(f.URL), unwrapURL(err))
	}
	req.Header.Set("Accept-Encoding", "identity") // or the hash would be that of something else
	if at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", at))
	}
	return f.client.Do(req)
}

// accept checks the status of an answer, and returns the byte from which on it goes.
func (f *fetching) accept(resp *http.Response, part *os.File, at int64) (int64, error) {
	goesOn := strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", at))
	switch code := resp.StatusCode; {
	case code == http.StatusPartialContent && goesOn:
		return at, nil
	case code == http.StatusRequestedRangeNotSatisfiable && at > 0:
		// All of it is here already, or what is here is of another archive; the hash tells.
		resp.Body = http.NoBody
		resp.ContentLength = 0
		return at, nil
	case code == http.StatusOK, code == http.StatusPartialContent && at > 0:
		if err := part.Truncate(0); err != nil {
			return 0, refusal{err}
		}
		if _, err := part.Seek(0, io.SeekStart); err != nil {
			return 0, refusal{err}
		}
		if code == http.StatusOK {
			return 0, nil
		}
		return 0, errors.New("the server sent another part than it was asked for")
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the server answers %s", status(code))
	default:
		return 0, refuse("%s: the server answers %s; check the address", redacted(f.URL), status(code))
	}
}

// status is a code with its name, and not with what a server may write in its place.
func status(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

func (f *fetching) tooLarge(size int64) error {
	return refuse("the archive and what is in it may take %d bytes (--limit), and the archive alone has %d or more; "+
		"allow more, if that is the right one", f.Limit, size)
}

// causeOf is why ctx ended, if it did, and err otherwise.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// redacted is a URL without its password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the URL"
	}
	return u.Redacted()
}

// unwrapURL takes off what net/http repeats of the request, and with it the password.
func unwrapURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
