// Package pull downloads models. It resolves a reference to files at commits, shows the plan, downloads what is
// missing, converts it to a bundle and adds that to the store.
//
//	Request -> Plan (what, how large, which licence) -> download -> convert -> verify -> store, with a lock file
package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/models/download"
	"github.com/swar-tts/swar/models/hub"
	"github.com/swar-tts/swar/models/packages"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

// Puller brings models into a store. It is used by one goroutine.
type Puller struct {
	Store models.Store
	Hub   *hub.Client

	// Measure returns the statistics of the norms of a voice of Kokoro that have not been measured before. Where it
	// is nil, such a voice is refused.
	Measure MeasureFunc

	Progress func(done, total int64, what string) // as of package download and package convert; required
	// what of a model is not used, and what the hub wants to be known; required
	Notice func(line string)
	Verify func(ctx context.Context, folder string) error // tries a bundle before it is kept; required

	packages packages.Fetcher
	failed   map[string]bool // origins that were asked for something in vain
	whole    progress
	another  bool // that another plan is followed where this one fails
}

// Request is what somebody wants.
type Request struct {
	// Reference is the name of a model in the catalogue, perhaps with @REVISION, or hf://OWNER/NAME, perhaps with a
	// revision and the path of the configuration.
	Reference string
	Name      string // what it is to be called; empty means its own name
	Precision string // bundle.FP32 or bundle.Int8
	// VoiceSeconds is how long voices may be that are added later.
	VoiceSeconds int
	Codec        string            // where the weights of the codec are; empty means where the model says
	Voices       map[string]string // by name: a file, or hf://…; they replace those of the catalogue
}

// file is one that a bundle is made of.
type file struct {
	role   string
	from   string // where it is asked for, without a commit
	at     hub.Reference
	places []catalog.Source // where it may lie, of a file whose hash the catalogue has
	entry  hub.Entry
	local  string // path, where it is a file of this machine or has been brought
	voice  string // whose, of a voice
	source models.Source
}

// Plan is what a request comes to. Nothing large has been downloaded for it.
type Plan struct {
	Name       string
	Entry      *catalog.Entry // nil for a repository that the catalogue does not know
	Repository string
	Revision   hub.Revision
	Bytes      int64 // to be downloaded
	Voices     []catalog.Voice

	request Request
	config  string // path of the configuration
	files   []*file
	maker   maker
	next    *Plan // that is followed where this one fails; nil for none
}

// maker makes a bundle of the files of a plan, which lie on this machine, in the folder to.
type maker func(ctx context.Context, to string, plan *Plan) error

// From is where the weights are asked for.
func (p *Plan) From() string {
	if len(p.files) > 0 && len(p.files[0].places) > 0 {
		return p.files[0].from
	}
	return hub.Scheme + p.Repository + "@" + models.ShortRevision(p.Revision.Commit)
}

// Licence is that which the publisher names today, or else that of the catalogue.
func (p *Plan) Licence() string {
	if p.Revision.Licence == "" && p.Entry != nil {
		return p.Entry.Licence
	}
	return p.Revision.Licence
}

// Plan resolves a request. It brings the configuration, which says what else there is.
func (p *Puller) Plan(ctx context.Context, q Request) (*Plan, error) {
	plan := &Plan{request: q, maker: p.makeONNX}
	at, err := plan.locate(q.Reference)
	if err != nil {
		return nil, err
	}
	if q.Name != "" {
		plan.Name = q.Name
	}
	if !catalog.IsName(plan.Name) {
		return nil, fmt.Errorf("%q cannot be the name of a model here: choose one of lower-case letters, digits, dots and hyphens with --name", plan.Name)
	}
	if plan.Entry != nil && len(plan.Entry.Exports) > 0 {
		return p.planExports(ctx, plan, at.Revision)
	}
	p.Hub.Warn = func(topic, message string) {
		p.Notice("the hub says: " + strings.TrimPrefix(topic+": "+message,
			": "))
	}
	if plan.Revision, err = p.Hub.Revision(ctx, at); err != nil {
		return nil, err
	}
	plan.Repository, at.Revision = at.Repository, plan.Revision.Commit
	r := &resolving{puller: p, plan: plan, at: at}
	if err := r.listFiles(ctx); err != nil {
		return nil, err
	}
	if err := r.readConfig(ctx); err != nil {
		return nil, err
	}
	if err := r.findVoices(ctx); err != nil {
		return nil, err
	}
	for _, f := range plan.files {
		if f.local == "" && !p.isHere(f) {
			plan.Bytes += f.entry.Size
		}
	}
	return plan, nil
}

// locate finds what a reference names.
func (p *Plan) locate(reference string) (hub.Reference, error) {
	if strings.HasPrefix(reference, hub.Scheme) {
		at, err := hub.ParseReference(reference)
		if err != nil {
			return at, err
		}
		p.Name = strings.ToLower(path.Base(at.Repository))
		for _, e := range catalog.All() {
			if e.Repository == at.Repository && at.Path == "" && e.Config == "" {
				p.Entry, p.Name = &e, e.Name
			}
		}
		return at, nil
	}
	name, revision, _ := strings.Cut(reference, "@")
	e, ok := catalog.Find(name)
	if !ok {
		if like := catalog.Like(name); len(like) > 0 {
			return hub.Reference{},
				fmt.Errorf("no model is called %s; perhaps %s is meant", name, strings.Join(like, " or "))
		}
		return hub.Reference{},
			fmt.Errorf("no model is called %s: `swar model list` shows which there are, and hf://OWNER/NAME names any on the hub", name)
	}
	p.Entry, p.Name = &e, e.Name
	if len(e.Exports) > 0 {
		return hub.Reference{Repository: e.Repository, Revision: revision}, nil
	}
	at, err := hub.ParseReference(hub.Scheme + e.Repository + "@" +
		url.PathEscape(cmp.Or(revision, e.Revision, "main")))
	return at, err
}

// resolving is the making of a plan.
type resolving struct {
	puller *Puller
	plan   *Plan
	at     hub.Reference // the repository at its commit
	tree   []hub.Entry   // nil where a mirror does not list files
}

func (r *resolving) listFiles(ctx context.Context) (err error) {
	r.tree, err = r.puller.Hub.Tree(ctx, r.at.Repository, r.at.Revision)
	if hub.Is(err, hub.KindMissing) || hub.Is(err, hub.KindEntry) {
		return nil // a mirror that only knows files
	}
	return err
}

// has reports whether the repository has a file, as far as is known.
func (r *resolving) has(name string) bool {
	return slices.ContainsFunc(r.tree, func(e hub.Entry) bool { return e.Path == name })
}

// readConfig brings the configuration, and finds what it names.
func (r *resolving) readConfig(ctx context.Context) error {
	address := ""
	if r.plan.Entry != nil {
		address = r.plan.Entry.Config
	}
	if r.at.Path != "" {
		address = r.at.Path
	}
	if address == "" {
		var err error
		if address, err = r.guessConfig(); err != nil {
			return err
		}
	}
	f, err := r.find(ctx, models.RoleConfig, address, "")
	if err != nil {
		return err
	}
	if err := r.puller.fetch(ctx, f); err != nil {
		return err
	}
	r.plan.config, r.plan.files = f.local, append(r.plan.files, f)
	const largest = 1 << 20
	text, err := bundle.ReadSmall(f.local, largest)
	if err != nil {
		return err
	}
	config, err := convert.ReadConfig(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.from, err)
	}
	folder := ""
	if !strings.Contains(address, "://") {
		folder = path.Dir(address)
	}
	return r.findNamed(ctx, &config, folder)
}

// guessConfig finds the configuration of a repository that nobody has described.
func (r *resolving) guessConfig() (string, error) {
	var found []string
	for _, e := range r.tree {
		switch base := path.Base(e.Path); {
		case e.Path == "config.yaml":
			return e.Path, nil
		case path.Ext(base) == ".yaml" || path.Ext(base) == ".yml" || base == "config.json":
			found = append(found, e.Path)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("%s holds no configuration, a .yaml or config.json: it is not a model of this family, or of another layout", r.at.Repository)
	}
	const most = 8
	return "", fmt.Errorf("%s holds several configurations: name one of them, such as %s/%s (there are %s)",
		r.at.Repository,
		hub.Scheme+r.at.Repository, found[0], strings.Join(found[:min(most, len(found))], ", "))
}

// findNamed finds what the entry or else the configuration names; paths of that are relative to its folder.
func (r *resolving) findNamed(ctx context.Context, config *convert.Config, folder string) error {
	named := func(name string) string {
		if name == "" || strings.Contains(name, "://") {
			return name
		}
		return path.Join(folder, name)
	}
	var entry catalog.Entry
	if r.plan.Entry != nil {
		entry = *r.plan.Entry
	}
	tokenizer := named(config.FlowLM.LookupTable.TokenizerPath)
	if stem, isJSON := strings.CutSuffix(tokenizer, ".json"); isJSON && r.has(stem+".model") {
		tokenizer = stem + ".model" // which holds the same pieces, and a bundle does not depend on which is named
	}
	wanted := []struct{ role, address string }{
		{models.RoleWeights, cmp.Or(entry.Weights, named(config.FlowLM.WeightsPath), named(config.WeightsPath))},
		{models.RoleCodec, cmp.Or(r.plan.request.Codec, entry.Codec)},
		{models.RoleTokenizer, cmp.Or(entry.Tokenizer, tokenizer)},
	}
	if wanted[1].address == "" && config.FlowLM.WeightsPath != "" {
		wanted[1].address = named(config.Mimi.WeightsPath)
	}
	for _, w := range wanted {
		if w.address == "" && w.role == models.RoleCodec {
			continue
		}
		if w.address == "" {
			return fmt.Errorf("the configuration does not name the %s", w.role)
		}
		f, err := r.find(ctx, w.role, w.address, "")
		if err != nil {
			return fmt.Errorf("%s: %w", w.role, err)
		}
		r.plan.files = append(r.plan.files, f)
	}
	return nil
}

// findVoices finds those that were asked for, those of the catalogue, and else those that lie beside the weights.
func (r *resolving) findVoices(ctx context.Context) error {
	voices := make(map[string]string)
	if r.plan.Entry != nil {
		for _, v := range r.plan.Entry.Voices {
			if r.plan.request.Voices[v.Name] == "" && !v.Optional {
				voices[v.Name] = v.File
				r.plan.Voices = append(r.plan.Voices, v)
			}
		}
	}
	for name, from := range r.plan.request.Voices {
		voices[name] = from
	}
	if len(voices) == 0 {
		voices = r.storedVoices()
	}
	for _, name := range sortedKeys(voices) {
		f, err := r.find(ctx, models.RoleVoice, voices[name], name)
		if err != nil {
			return fmt.Errorf("voice %s: %w", name, err)
		}
		r.plan.files = append(r.plan.files, f)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// storedVoices returns the voices in a folder embeddings or voices beside the configuration.
func (r *resolving) storedVoices() map[string]string {
	const most = 32
	voices := make(map[string]string)
	for _, e := range r.tree {
		folder := path.Base(path.Dir(e.Path))
		name, isStored := strings.CutSuffix(path.Base(e.Path), ".safetensors")
		if isStored && (folder == "embeddings" || folder == "voices") && len(voices) < most {
			voices[strings.ToLower(name)] = e.Path
		}
	}
	return voices
}

// find says where a file is: of this machine, at an address, or in the repository itself.
func (r *resolving) find(ctx context.Context, role, address, voice string) (*file, error) {
	f := &file{role: role, from: address, voice: voice}
	isRequested := voice != "" && r.plan.request.Voices[voice] == address || role == models.RoleCodec &&
		address == r.plan.request.Codec
	switch {
	case strings.HasPrefix(address, hub.Scheme):
		at, err := hub.ParseReference(address)
		if err != nil {
			return nil, err
		}
		if at.Path == "" {
			return nil, fmt.Errorf("%s names a repository, and a file is wanted", address)
		}
		f.at = at
	case strings.HasPrefix(address, "https://"):
		return f, nil
	case isRequested: // by whoever sits at this machine, and by nobody else
		f.local = address
		_, err := os.Stat(address)
		return f, err
	default:
		if r.tree != nil && !r.has(address) {
			return nil, fmt.Errorf("%s has no file %q", r.at.Repository, address)
		}
		f.at = hub.Reference{Repository: r.at.Repository, Revision: r.at.Revision, Path: address}
		f.from = f.at.String()
		if i := slices.IndexFunc(r.tree, func(e hub.Entry) bool { return e.Path == address }); i >= 0 {
			f.entry = r.tree[i]
			return f, nil
		}
	}
	var err error
	if f.entry, err = r.puller.Hub.Stat(ctx, f.at); err != nil {
		return nil, err
	}
	if f.entry.Commit != "" { // what is brought is what was looked at, whatever is published meanwhile
		f.at.Revision = f.entry.Commit
		f.from = f.at.String()
	}
	return f, nil
}

// key names the folder of a file in the store.
func (f *file) key() string { return cmp.Or(f.entry.SHA256, f.entry.Git) }

func (f *file) name() string { return path.Join(f.key(), path.Base(f.entry.Path)) }

// isHere reports whether a file of the hub has been brought before. Its hash is looked at when it is used.
func (p *Puller) isHere(f *file) bool {
	if f.key() == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(p.Store.Files(), filepath.FromSlash(f.name())))
	return err == nil && info.Size() == f.entry.Size || p.Hub.Cached(f.at, f.entry) != ""
}

// fetch sees to it that a file lies on this machine.
func (p *Puller) fetch(ctx context.Context, f *file) error {
	switch {
	case f.local != "":
		return nil
	case len(f.places) > 0:
		return p.fetchFromPlaces(ctx, f)
	case strings.HasPrefix(f.from, "https://"):
		return p.fetchAddress(ctx, f)
	}
	wanted := p.Hub.File(f.at, f.entry, f.name())
	if cached := p.Hub.Cached(f.at, f.entry); cached != "" {
		copied := wanted
		copied.Get = func(_ context.Context, offset int64) (*http.Response, error) { return open(cached, offset) }
		if download.Download(ctx, p.Store.Files(), []download.File{copied},
			download.Config{Progress: p.Progress}) == nil {
			wanted.Get = nil // it is there; what was in the cache and wrong is brought
		}
	}
	if wanted.Get != nil {
		if err := download.Download(ctx, p.Store.Files(), []download.File{wanted},
			download.Config{Progress: p.Progress}); err != nil {
			return err
		}
	}
	f.local = filepath.Join(p.Store.Files(), filepath.FromSlash(f.name()))
	return nil
}

// open answers with a file of this machine as a server would.
func open(name string, offset int64) (*http.Response, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.Seek(offset, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: info.Size() - offset,
		Body: file}
	if offset > 0 {
		answer.StatusCode = http.StatusPartialContent
		answer.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", offset, info.Size()-1, info.Size()))
	}
	return answer, nil
}
