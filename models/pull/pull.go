package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/models/download"
	"github.com/swar-tts/swar/runtime/manifest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

// Pull does what a plan says, and returns the model. One that is here and was made of the same files in the same way is
// returned as it is. Of two that pull the same model at once, the second waits for the first.
func (p *Puller) Pull(ctx context.Context, plan *Plan) (m models.Model, isNew bool, err error) {
	defer func() { err = errors.Join(err, p.packages.Close()) }()
	for {
		m, isNew, err = p.pull(ctx, plan)
		if err == nil || ctx.Err() != nil || plan.next == nil || errors.Is(err, download.ErrNoRoom) {
			return m, isNew, err
		}
		plan = plan.next
		p.Notice(fmt.Sprintf("%v; trying %s next", err, plan.files[0].entry.Path))
	}
}

// pull does what a plan says by itself.
func (p *Puller) pull(ctx context.Context, plan *Plan) (m models.Model, isNew bool, err error) {
	folder := p.Store.Folder(plan.Name, plan.Revision.Commit)
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return m, false, fmt.Errorf("%w; name another folder for models with SWAR_MODELS", err)
	}
	lock, err := os.OpenFile(folder+".pulling", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return m, false, err
	}
	defer func() { _ = lock.Close() }()
	if err := download.Lock(ctx, lock, 200*time.Millisecond, func() {
		p.Progress(0, 0, "waiting for another process that pulls "+plan.Name)
	}); err != nil {
		return m, false, err
	}
	p.whole, p.another = plan.total(), plan.next != nil
	for _, f := range plan.files {
		if err := p.fetch(ctx, f); err != nil {
			return m, false, fmt.Errorf("%s: %w", cmp.Or(f.title(), f.role), err)
		}
		if err := f.describe(); err != nil {
			return m, false, err
		}
	}
	wanted := plan.lock()
	if m, err := p.Store.Find(plan.Name, plan.Revision.Commit); err == nil && isSame(m.Lock, wanted) {
		return m, false, nil
	}
	made := folder + ".new"
	if err := removeUnfinished(made); err != nil {
		return m, false, err
	}
	defer func() { _ = os.RemoveAll(made) }() // unless it has been kept
	if err := plan.maker(ctx, made, plan); err != nil {
		return m, false, err
	}
	if err := p.Verify(ctx, made); err != nil {
		return m, false, fmt.Errorf("the bundle is made, and does not work: %w", err)
	}
	if wanted.Bundle, err = manifest.Digest(made); err != nil {
		return m, false, err
	}
	wanted.Pulled = time.Now().UTC().Truncate(time.Second)
	m, err = p.Store.Keep(made, wanted)
	return m, err == nil, err
}

// removeUnfinished removes a bundle that was made, or half made, by somebody who was killed.
func removeUnfinished(made string) error {
	beside, err := os.ReadDir(filepath.Dir(made))
	if err != nil {
		return err
	}
	for _, e := range beside {
		if e.Name() == filepath.Base(made) || strings.HasPrefix(e.Name(), "."+filepath.Base(made)+".") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(made), e.Name())))
		}
	}
	return err
}

// describe says what a file is, for the lock file.
func (f *file) describe() error {
	info, err := os.Stat(f.local)
	if err != nil {
		return err
	}
	f.source = models.Source{Role: f.role, From: f.from, SHA256: f.entry.SHA256, Git: f.entry.Git, Bytes: info.Size()}
	if f.source.SHA256 == "" {
		f.source.SHA256, err = bundle.HashFile(f.local)
	}
	return err
}

// lock is what the lock file will say, but for the bundle.
func (p *Plan) lock() models.Lock {
	l := models.Lock{
		Format: models.LockFormat, Name: p.Name, Reference: p.request.Reference, Repository: p.Repository,
		Revision: p.Revision.Commit,
		Licence:  p.Licence(),
		Made: models.BuildOptions{Precision: p.request.Precision, Language: p.language(),
			VoiceSeconds: p.request.VoiceSeconds},
	}
	if e := p.Entry; e != nil {
		l.Made.EOSThreshold, l.Made.Steps, l.Made.GELU = e.EOSThreshold, e.Steps, e.GELU
		l.Made.Script, l.Made.Punctuation = e.Script, e.Punctuation
	}
	for _, f := range p.files {
		l.Files = append(l.Files, f.source)
		if f.role != models.RoleVoice {
			continue
		}
		v := models.Voice{Name: f.voice, From: f.from, SHA256: f.source.SHA256}
		if i := slices.IndexFunc(p.Voices, func(c catalog.Voice) bool { return c.Name == f.voice }); i >= 0 {
			v.Licence, v.Attribution = p.Voices[i].Licence, p.Voices[i].Attribution
		}
		l.Voices = append(l.Voices, v)
	}
	return l
}

// language is that of the voices.
func (p *Plan) language() string {
	if p.Entry != nil {
		return strings.Join(p.Entry.Languages, "+")
	}
	return "hi-IN+en-IN"
}

// isSame reports whether a bundle is made of the files that are wanted, in the way that is wanted. It may have more
// voices: somebody has added them.
func isSame(have, wanted models.Lock) bool {
	all := func(l models.Lock) string {
		lines := []string{fmt.Sprintf("%s %s %s %s %d %s %s %s %d", l.Name, l.Revision, l.Made.Precision,
			l.Made.Language, l.Made.Steps,
			l.Made.GELU, l.Made.Script, l.Made.Punctuation, l.Made.VoiceSeconds)}
		if l.Made.EOSThreshold != nil {
			lines = append(lines, fmt.Sprint(*l.Made.EOSThreshold))
		}
		for _, f := range l.Files {
			if f.Role != models.RoleVoice {
				lines = append(lines, f.Role+" "+f.SHA256)
			}
		}
		return strings.Join(lines, "\n")
	}
	for _, v := range wanted.Voices {
		if !slices.ContainsFunc(have.Voices,
			func(h models.Voice) bool { return h.Name == v.Name && h.SHA256 == v.SHA256 }) {
			return false
		}
	}
	return all(have) == all(wanted)
}

// makeONNX makes a bundle of the Pocket-TTS family.
func (p *Puller) makeONNX(ctx context.Context, to string, plan *Plan) error {
	_, err := convert.Convert(ctx, to, p.conversion(plan))
	return err
}

// conversion is how the files of a plan become a bundle.
func (p *Puller) conversion(plan *Plan) convert.Conversion {
	c := convert.Conversion{
		Config: plan.config, Voices: make(map[string]string), Language: plan.language(),
		ID: plan.Name, Revision: plan.Revision.Commit, Licence: plan.Licence(), Precision: plan.request.Precision,
		VoiceSeconds: plan.request.VoiceSeconds,
		Progress:     p.Progress, Notice: p.Notice,
		Resolve: func(_ context.Context, address string) (string, error) {
			return "", errors.New(address +
				" was not foreseen when the model was looked at; this is a defect of swar model pull")
		},
	}
	if e := plan.Entry; e != nil {
		c.EOSThreshold, c.Steps, c.GELU = e.EOSThreshold, e.Steps, e.GELU
		c.Trained = bundle.Trained{Script: bundle.Script(e.Script), Punctuation: e.Punctuation}
	}
	for _, f := range plan.files {
		switch f.role {
		case models.RoleWeights:
			c.Weights = f.local
		case models.RoleCodec:
			c.MimiWeights = f.local
		case models.RoleTokenizer:
			c.Tokenizer = f.local
		case models.RoleVoice:
			c.Voices[f.voice] = f.local
		}
	}
	return c
}
