package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/swar-tts/swar/models/archive"
	"github.com/swar-tts/swar/models/download"
)

const (
	maxManifest = 4 << 20
	maxLayers   = 1000
)

// Found is a bundle in a registry.
type Found struct {
	Digest string // of what the reference names
	Bytes  int64  // of layers, as the registry has them

	client *client
	layers []ocispec.Descriptor
}

// Find looks up what a reference names: an image, an index of images, or an artefact such as a ModelPack.
func Find(ctx context.Context, reference string, c Config) (*Found, error) {
	r, err := connect(reference, c)
	if err != nil {
		return nil, err
	}
	if r.Reference.Reference == "" {
		return nil, fmt.Errorf("%s: name a tag, as in %s:1, or a digest", reference, reference)
	}
	desc, body, err := r.FetchReference(ctx, r.Reference.Reference)
	if err != nil {
		return nil, r.explain(err)
	}
	f := &Found{Digest: string(desc.Digest), client: r}
	for range 2 { // an index leads to a manifest
		text, err := readManifest(desc, body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", reference, err)
		}
		switch desc.MediaType {
		case ocispec.MediaTypeImageIndex, "application/vnd.docker.distribution.manifest.list.v2+json":
			if desc, err = choose(text); err != nil {
				return nil, fmt.Errorf("%s: %w", reference, err)
			}
			if body, err = r.Fetch(ctx, desc); err != nil {
				return nil, r.explain(err)
			}
			continue
		case ocispec.MediaTypeImageManifest, "application/vnd.docker.distribution.manifest.v2+json":
			if err := f.read(text, c.Limit); err != nil {
				return nil, fmt.Errorf("%s: %w", reference, err)
			}
			return f, nil
		}
		return nil, fmt.Errorf("%s is a %s, and neither an image nor an artefact", reference, desc.MediaType)
	}
	return nil, fmt.Errorf("%s is an index of indices", reference)
}

// readManifest reads an index or a manifest of the digest that desc names, and closes body.
func readManifest(desc ocispec.Descriptor, body io.ReadCloser) (text []byte, err error) {
	defer func() { _ = body.Close() }()
	if desc.Size > maxManifest {
		return nil, fmt.Errorf("its manifest has %d bytes, more than %d", desc.Size, maxManifest)
	}
	return content.ReadAll(body, desc)
}

// choose returns a manifest of an index. What it holds is the same for every processor.
func choose(text []byte) (ocispec.Descriptor, error) {
	var index ocispec.Index
	if err := json.Unmarshal(text, &index); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("the index: %w", err)
	}
	if len(index.Manifests) == 0 {
		return ocispec.Descriptor{}, errors.New("the index is empty")
	}
	i := slices.IndexFunc(index.Manifests, func(d ocispec.Descriptor) bool {
		return d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64"
	})
	return index.Manifests[max(i, 0)], nil
}

func (f *Found) read(text []byte, limit int64) error {
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("the manifest: %w", err)
	}
	if len(m.Layers) == 0 || len(m.Layers) > maxLayers {
		return fmt.Errorf("it has %d layers, want 1 to %d", len(m.Layers), maxLayers)
	}
	for _, l := range m.Layers {
		if err := l.Digest.Validate(); err != nil || l.Digest.Algorithm() != "sha256" {
			return fmt.Errorf("%q is not a digest of SHA-256", l.Digest)
		}
		if l.Size < 0 || l.Size > limit-f.Bytes {
			return fmt.Errorf("its layers take more than %d bytes (--limit); allow more, if that is the right one",
				limit)
		}
		f.Bytes += l.Size
	}
	f.layers = m.Layers
	return nil
}

// Pull downloads the model into an existing empty folder. Interrupted downloads stay in the folder downloads and are
// resumed. What the layers hold is taken for what it claims to be by no one: their digests are compared, and no file
// leads out of the folder, takes another's place or is larger than the limit.
func (f *Found) Pull(ctx context.Context, folder, downloads string, c Config) error {
	var files []download.File
	for _, l := range f.layers {
		name := l.Digest.Encoded()
		if slices.ContainsFunc(files, func(f download.File) bool { return f.Name == name }) {
			continue // an empty layer, for instance, that is there twice
		}
		files = append(files, download.File{
			Name: name, Title: titleOf(l), Size: l.Size, SHA256: name,
			Get: func(ctx context.Context, offset int64) (*http.Response,
				error) {
				return f.client.blob(ctx, l, offset)
			},
			Refused: func(answer *http.Response) error { return f.client.refused(answer) },
		})
	}
	if err := download.Download(ctx, downloads, files, download.Config{Progress: c.Progress}); err != nil {
		return err
	}
	room := c.Limit - f.Bytes
	for _, l := range f.layers {
		taken, err := place(ctx, l, filepath.Join(downloads, l.Digest.Encoded()), folder, room, c)
		if err != nil {
			return fmt.Errorf("layer %s: %w", titleOf(l), err)
		}
		room -= taken
	}
	return nil
}

// titleOf is what a layer is called in messages.
func titleOf(l ocispec.Descriptor) string {
	if name := fileOf(l); name != "" {
		return name
	}
	return l.Digest.Encoded()[:12]
}

// fileOf is the file or folder that a layer of an artefact says it is.
func fileOf(l ocispec.Descriptor) string {
	if name := l.Annotations[ocispec.AnnotationTitle]; name != "" {
		return name
	}
	return l.Annotations[annotationPath]
}

// place puts the content of a layer into a folder: an archive is unpacked, and anything else is a file.
func place(ctx context.Context, l ocispec.Descriptor, blob, folder string, room int64,
	c Config) (taken int64, err error) {
	file, err := os.Open(blob)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	if strings.Contains(l.MediaType, ".tar") {
		r, err := archive.Extract(ctx, file, folder, room+l.Size, c.Progress)
		return r.Bytes, err
	}
	name := fileOf(l)
	if name == "" {
		return 0, fmt.Errorf("it is a %s without a name: neither an archive nor a file", l.MediaType)
	}
	to, err := archive.LocalName(name)
	if err != nil {
		return 0, fmt.Errorf("%.100q: %w", name, err)
	}
	if l.Size > room {
		return 0, fmt.Errorf("the layers and what is in them take more than %d bytes (--limit); allow more, if that is the right one",
			c.Limit)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return 0, err
	}
	w, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return 0, fmt.Errorf("%s is there twice", name)
	}
	if err != nil {
		return 0, err
	}
	n, err := w.ReadFrom(file)
	return n, errors.Join(err, w.Close())
}

// blob asks for a layer from offset on.
func (c *client) blob(ctx context.Context, l ocispec.Descriptor, offset int64) (*http.Response, error) {
	scheme := "https"
	if c.PlainHTTP {
		scheme = "http"
	}
	address := scheme + "://" + c.Reference.Host() + "/v2/" + c.Reference.Repository + "/blobs/" + l.Digest.String()
	ctx = auth.AppendRepositoryScope(ctx, c.Reference, auth.ActionPull)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if offset > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, l.Size-1)) // some registries refuse one without an end
	}
	return c.http.Do(r)
}

// refused makes an error of an answer that will not change.
func (c *client) refused(answer *http.Response) error {
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return fmt.Errorf("registry %s: %s, although it has a manifest that names this layer", c.Reference.Host(),
			answer.Status)
	}
	return nil
}
