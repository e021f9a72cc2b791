package oci

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/swar-tts/swar/models/archive"
)

// Description is what people who look at a registry are told of a model.
type Description struct {
	Name      string // of the folder in the image, too
	Revision  string
	Licence   string   // as SPDX calls it
	Source    string   // address of its page
	Languages []string // BCP 47
	Precision string
	Family    string // of models, as ModelPack calls it; empty means pocket-tts
}

// Format is how a bundle lies in a registry.
type Format string

// Formats.
const (
	Image     Format = "image"     // what Kubernetes mounts
	ModelPack Format = "modelpack" // of the CNCF
	Both      Format = "both"
)

// modelPackSuffix is behind the tag of ModelPack artefacts.
const modelPackSuffix = "-modelpack"

// Pushed says where a bundle lies now.
type Pushed struct {
	Image     string // reference with digest, of the index; empty unless the format has it
	ModelPack string // likewise
	Bytes     int64  // of layers
	Sent      int64  // of those, what the registry did not have
}

// Media types of ModelPack.
const (
	typeModelManifest = "application/vnd.cncf.model.manifest.v1+json"
	typeModelConfig   = "application/vnd.cncf.model.config.v1+json"
	typeModelWeight   = "application/vnd.cncf.model.weight.v1.tar"
	typeModelSettings = "application/vnd.cncf.model.weight.config.v1.tar"
	annotationPath    = "org.cncf.model.filepath"
)

// largeFile is one that gets a layer of its own: it stays the same where others change.
const largeFile = 4 << 20

// Push writes the bundle in a folder into a registry. What the registry has already is not sent again.
func Push(ctx context.Context, reference, folder string, d Description, format Format, c Config) (p Pushed, err error) {
	r, err := connect(reference, c)
	if err != nil {
		return p, err
	}
	if err := checkTag(r.Reference); err != nil {
		return p, err
	}
	u := &upload{client: r, Config: c, description: d}
	if err := u.pack(ctx, folder); err != nil {
		return p, err
	}
	for _, l := range u.layers {
		if err := u.sendLayer(ctx, l); err != nil {
			return p, r.explain(err)
		}
	}
	tag, base := r.Reference.Reference, r.Reference.Registry+"/"+r.Reference.Repository
	if format != ModelPack {
		digest, err := u.image(ctx, tag)
		if err != nil {
			return p, r.explain(err)
		}
		p.Image = base + ":" + tag + "@" + digest
	}
	if format != Image {
		tag := tag
		if format == Both {
			tag += modelPackSuffix
		}
		digest, err := u.modelPack(ctx, tag)
		if err != nil {
			return p, r.explain(err)
		}
		p.ModelPack = base + ":" + tag + "@" + digest
	}
	p.Bytes, p.Sent = u.total, u.sent
	return p, nil
}

// upload is one run of Push.
type upload struct {
	*client
	Config
	description Description
	layers      []layer
	total, done int64
	sent        int64
}

// layer is a tar archive that is written each time that it is needed.
type layer struct {
	files   map[string]string // by name in the image: path
	name    string            // of its file, or of the folder of many
	isLarge bool
	desc    ocispec.Descriptor // as a layer of an image
}

// pack finds the layers, and their digests.
func (u *upload) pack(ctx context.Context, folder string) error {
	small := layer{name: u.description.Name, files: make(map[string]string)}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name := u.description.Name + "/" + filepath.ToSlash(below)
		if info.Size() >= largeFile {
			u.layers = append(u.layers, layer{name: name, files: map[string]string{name: path}, isLarge: true})
		} else {
			small.files[name] = path
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(u.layers, func(a, b layer) int { return strings.Compare(a.name, b.name) })
	if len(small.files) > 0 {
		u.layers = append(u.layers, small)
	}
	if len(u.layers) == 0 {
		return fmt.Errorf("%s holds no file", folder)
	}
	for i := range u.layers {
		l := &u.layers[i]
		h := sha256.New()
		counted := &counter{w: h}
		if err := archive.Pack(ctx, counted, l.files,
			func(done, total int64, what string) { u.Progress(done, total, "hashing "+what) }); err != nil {
			return err
		}
		l.desc = ocispec.Descriptor{
			MediaType: ocispec.MediaTypeImageLayer, Size: counted.n,
			Digest: digest.Digest("sha256:" + hex.EncodeToString(h.Sum(nil))),
		}
		u.total += counted.n
	}
	return nil
}

// sendLayer writes a layer, unless the registry has it.
func (u *upload) sendLayer(ctx context.Context, l layer) error {
	has, err := u.Blobs().Exists(ctx, l.desc)
	if err != nil {
		return err
	}
	if !has {
		r, w := io.Pipe()
		go func() {
			w.CloseWithError(archive.Pack(ctx, w, l.files,
				func(done, _ int64, what string) { u.Progress(u.done+done, u.total, what) }))
		}()
		err = u.Blobs().Push(ctx, l.desc, r)
		_ = r.Close() // ends the goroutine where the registry has not read all
		if err != nil {
			return err
		}
		u.sent += l.desc.Size
	}
	u.done += l.desc.Size
	u.Progress(u.done, u.total, l.name)
	return nil
}

// image writes the image of each platform, and the index over them, which gets the tag.
func (u *upload) image(ctx context.Context, tag string) (string, error) {
	d := u.description
	notes := withoutEmpty(map[string]string{
		ocispec.AnnotationTitle: d.Name, ocispec.AnnotationLicenses: d.Licence, ocispec.AnnotationSource: d.Source,
		ocispec.AnnotationRevision: d.Revision,
	})
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex,
		Annotations: notes}
	var layers []ocispec.Descriptor
	for _, l := range u.layers {
		layers = append(layers,
			ocispec.Descriptor{MediaType: l.desc.MediaType, Digest: l.desc.Digest, Size: l.desc.Size})
	}
	for _, architecture := range []string{"amd64", "arm64"} { // the same files for both, because nodes want their own
		platform := ocispec.Platform{OS: "linux", Architecture: architecture}
		config := ocispec.Image{Platform: platform, RootFS: ocispec.RootFS{Type: "layers", DiffIDs: u.digests()}}
		blob, err := u.sendJSON(ctx, ocispec.MediaTypeImageConfig, config, "")
		if err != nil {
			return "", err
		}
		manifest, err := u.sendJSON(ctx, ocispec.MediaTypeImageManifest, ocispec.Manifest{
			Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: blob,
			Layers: layers, Annotations: notes,
		}, "")
		if err != nil {
			return "", err
		}
		manifest.Platform = &platform
		index.Manifests = append(index.Manifests, manifest)
	}
	desc, err := u.sendJSON(ctx, ocispec.MediaTypeImageIndex, index, tag)
	return string(desc.Digest), err
}

// modelConfig is the configuration of a ModelPack artefact, as far as there is something to say.
type modelConfig struct {
	Descriptor struct {
		Name      string   `json:"name,omitempty"`
		Version   string   `json:"version,omitempty"`
		Family    string   `json:"family"`
		Licences  []string `json:"licenses,omitempty"`
		Revision  string   `json:"revision,omitempty"`
		SourceURL string   `json:"sourceURL,omitempty"`
	} `json:"descriptor"`
	Config struct {
		Format       string `json:"format"`
		Precision    string `json:"precision,omitempty"`
		Capabilities struct {
			InputTypes  []string `json:"inputTypes"`
			OutputTypes []string `json:"outputTypes"`
			Languages   []string `json:"languages,omitempty"`
		} `json:"capabilities"`
	} `json:"config"`
	ModelFS struct {
		Type    string          `json:"type"`
		DiffIDs []digest.Digest `json:"diffIds"`
	} `json:"modelfs"`
}

// modelPack writes the artefact over the same layers.
func (u *upload) modelPack(ctx context.Context, tag string) (string, error) {
	var config modelConfig
	d := u.description
	config.Descriptor.Name, config.Descriptor.Revision, config.Descriptor.SourceURL = d.Name, d.Revision, d.Source
	config.Descriptor.Version, config.Descriptor.Family = tag, cmp.Or(d.Family, "pocket-tts")
	if d.Licence != "" {
		config.Descriptor.Licences = []string{d.Licence}
	}
	config.Config.Format, config.Config.Precision = "onnx", d.Precision
	config.Config.Capabilities.InputTypes, config.Config.Capabilities.OutputTypes = []string{"text"}, []string{"audio"}
	for _, l := range d.Languages {
		language, _, _ := strings.Cut(l, "-") // ISO 639 alone
		if !slices.Contains(config.Config.Capabilities.Languages, language) {
			config.Config.Capabilities.Languages = append(config.Config.Capabilities.Languages, language)
		}
	}
	config.ModelFS.Type, config.ModelFS.DiffIDs = "layers", u.digests()
	blob, err := u.sendJSON(ctx, typeModelConfig, config, "")
	if err != nil {
		return "", err
	}
	manifest := ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		ArtifactType: typeModelManifest, Config: blob,
	}
	for _, l := range u.layers {
		desc := ocispec.Descriptor{MediaType: typeModelSettings, Digest: l.desc.Digest, Size: l.desc.Size,
			Annotations: map[string]string{annotationPath: l.name}}
		if l.isLarge {
			desc.MediaType = typeModelWeight
		}
		manifest.Layers = append(manifest.Layers, desc)
	}
	desc, err := u.sendJSON(ctx, ocispec.MediaTypeImageManifest, manifest, tag)
	return string(desc.Digest), err
}

func (u *upload) digests() (all []digest.Digest) {
	for _, l := range u.layers {
		all = append(all, l.desc.Digest) // nothing is compressed, so that it is that of the content, too
	}
	return all
}

// sendJSON writes a blob, or a manifest, which may get a tag.
func (u *upload) sendJSON(ctx context.Context, mediaType string, v any,
	tag string) (desc ocispec.Descriptor, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return desc, err
	}
	desc = ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	isBlob := mediaType == ocispec.MediaTypeImageConfig || mediaType == typeModelConfig
	switch {
	case !isBlob:
		return desc, u.Manifests().PushReference(ctx, desc, bytes.NewReader(text), cmp.Or(tag, string(desc.Digest)))
	default:
		has, err := u.Blobs().Exists(ctx, desc)
		if err != nil || has {
			return desc, err
		}
		return desc, u.Blobs().Push(ctx, desc, bytes.NewReader(text))
	}
}

func withoutEmpty(m map[string]string) map[string]string {
	for key, value := range m {
		if value == "" {
			delete(m, key)
		}
	}
	return m
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
