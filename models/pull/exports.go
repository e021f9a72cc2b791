package pull

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/models/hub"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/convert"
)

// MeasureFunc is as of [convert.Conversion].
type MeasureFunc = func(ctx context.Context, dir string, m bundle.Manifest, v convert.Voice, styles []float32,
	report func(done, total int)) (map[string]bundle.Norm, error)

// planExports plans a model whose files and hashes the catalogue has. Of its exports, the ones of the precision that is
// asked for come first, and each one is the next of the one before. revision is the beginning of the hash of one.
func (p *Puller) planExports(ctx context.Context, plan *Plan, revision string) (*Plan, error) {
	e := plan.Entry
	if plan.request.Codec != "" {
		return nil, fmt.Errorf("%s has no separate codec: leave out --codec", e.Name)
	}
	if plan.request.Reference != "" && strings.HasPrefix(plan.request.Reference, hub.Scheme) {
		revision = "" // the commit, which is that of the catalogue
	}
	plan.Repository, plan.request.VoiceSeconds, plan.maker = e.Repository, 0, p.makeKokoro
	voices, err := p.exportVoices(ctx, plan)
	if err != nil {
		return nil, err
	}
	exports := slices.Clone(e.Exports)
	slices.SortStableFunc(exports, func(a, b catalog.Export) int { // what is here need not be downloaded
		return compareBool(!p.hasExport(e, a), !p.hasExport(e, b))
	})
	slices.SortStableFunc(exports, func(a, b catalog.Export) int {
		return compareBool(a.Precision != plan.request.Precision, b.Precision != plan.request.Precision)
	})
	if plan.request.Precision == "int8" { // floats are four times as much to download: only who wants them gets them
		exports = slices.DeleteFunc(exports,
			func(x catalog.Export) bool { return x.Precision != "int8" && revision == "" })
	}
	var first, last *Plan
	for _, x := range exports {
		if !strings.HasPrefix(x.SHA256, revision) {
			continue
		}
		made := *plan
		made.Revision.Commit = x.SHA256
		made.request.Precision = x.Precision
		made.files = append([]*file{p.pinned(e, models.RoleWeights, x.File, x.SHA256, x.Bytes, x.Sources...)},
			copies(voices)...)
		for _, f := range made.files {
			if f.local == "" && !p.isHere(f) {
				made.Bytes += f.entry.Size
			}
		}
		if first == nil {
			first = &made
		} else {
			last.next = &made
		}
		last = &made
	}
	if first == nil {
		return nil, fmt.Errorf("%s has no revision %s: there are %s", e.Name, revision,
			strings.Join(shortHashes(e.Exports), ", "))
	}
	return first, nil
}

// hasExport reports whether the file of an export has been brought before.
func (p *Puller) hasExport(e *catalog.Entry, x catalog.Export) bool {
	return p.isHere(p.pinned(e, models.RoleWeights, x.File, x.SHA256, x.Bytes, x.Sources...))
}

// title is what a file is called whose hash the catalogue has.
func (f *file) title() string {
	if len(f.places) == 0 {
		return ""
	}
	return f.entry.Path
}

func copies(files []*file) (all []*file) {
	for _, f := range files {
		c := *f
		all = append(all, &c)
	}
	return all
}

func shortHashes(exports []catalog.Export) (all []string) {
	for _, x := range exports {
		all = append(all, fmt.Sprintf("%s (%s)", models.ShortRevision(x.SHA256), x.Precision))
	}
	return all
}

// pinned is a file whose hash the catalogue has.
func (p *Puller) pinned(e *catalog.Entry, role, name, hash string, bytes int64, places ...catalog.Source) *file {
	f := &file{role: role, places: places, entry: hub.Entry{Path: name, Size: bytes, SHA256: hash}}
	f.at = hub.Reference{Repository: e.Repository, Revision: e.Revision, Path: name}
	if f.from = places[0][0]; f.from == name {
		f.from = f.at.String()
	}
	return f
}

// exportVoices finds those that are asked for, and those of the catalogue.
func (p *Puller) exportVoices(ctx context.Context, plan *Plan) (files []*file, err error) {
	e := plan.Entry
	add := func(name string, v catalog.Voice) {
		f := p.pinned(e, models.RoleVoice, v.File, v.SHA256, e.VoiceBytes, catalog.Source{v.File})
		if e.VoicePackage != "" {
			f.places = append(f.places, catalog.Source{e.VoicePackage + "/" + v.File})
		}
		f.voice = name
		v.Name = name
		plan.Voices, files = append(plan.Voices, v), append(files, f)
	}
	for _, v := range e.Voices {
		if _, asked := plan.request.Voices[v.Name]; !asked && !v.Optional {
			add(v.Name, v)
		}
	}
	r := &resolving{puller: p, plan: plan, at: hub.Reference{Repository: e.Repository, Revision: e.Revision}}
	for _, name := range sortedKeys(plan.request.Voices) {
		from := plan.request.Voices[name]
		if from == "" {
			from = name
		}
		v, ok := e.VoiceNamed(from)
		if _, err := os.Stat(from); ok && err != nil {
			add(name, v)
			continue
		}
		f, err := r.find(ctx, models.RoleVoice, from, name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("voice %s: %w, and %s has no voice of that name; `swar model show %s` lists them",
				name, err, e.Name, e.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("voice %s: %w", name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// makeKokoro makes a bundle of Kokoro.
func (p *Puller) makeKokoro(ctx context.Context, to string, plan *Plan) error {
	_, err := convert.Convert(ctx, to, p.kokoro(plan))
	return err
}

// kokoro is how the files of a plan become a bundle of Kokoro.
func (p *Puller) kokoro(plan *Plan) convert.Conversion {
	c := convert.Conversion{
		ID: plan.Name, Revision: plan.Revision.Commit, Licence: plan.Licence(), Languages: plan.Entry.Languages,
		Measure: p.measured, Progress: p.Progress,
	}
	for _, f := range plan.files {
		if f.role == models.RoleWeights {
			c.Model = f.local
			continue
		}
		v := convert.Voice{Name: f.voice, Source: f.voice, Language: plan.language(), File: f.local}
		if i := slices.IndexFunc(plan.Voices, func(known catalog.Voice) bool { return known.Name == f.voice }); i >= 0 {
			known := plan.Voices[i]
			v.Source, v.Language, v.GainDB = known.Published(), known.Language, known.GainDB
		}
		c.Voices = append(c.Voices, v)
	}
	return c
}

// measured returns the statistics of a voice: those that came with the program, or else what Measure finds.
func (p *Puller) measured(ctx context.Context, dir string, m bundle.Manifest, v convert.Voice, styles []float32,
	report func(done, total int),
) (map[string]bundle.Norm, error) {
	for _, weights := range []string{m.Model.Weights, m.Vocoder.SHA256} {
		if norms, ok := convert.Constants(weights, v.Source); ok {
			return norms, nil
		}
	}
	if p.Measure == nil {
		return nil, errors.New("its statistics have to be measured, which needs the library of the neural engine: see swar doctor")
	}
	return p.Measure(ctx, dir, m, v, styles, report)
}
