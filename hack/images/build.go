package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/swar-tts/swar/hack/internal/oci"
)

// Digests is dist/images/digests.json, which charts and tests read.
type Digests struct {
	Version  string           `json:"version"`
	Revision string           `json:"revision,omitempty"`
	Images   map[string]Image `json:"images"` // by the last part of their names
}

// An Image is what there is to know of one of them. Paths are relative to the folder of digests.json.
type Image struct {
	Reference string              `json:"reference"` // name and tag
	Imported  string              `json:"imported"`  // the same as containerd names it
	Digest    string              `json:"digest"`    // of all platforms together
	Archive   string              `json:"archive"`
	Platforms map[string]Platform `json:"platforms"`
}

// A Platform is the image for one platform.
type Platform struct {
	Digest     string `json:"digest"`
	Materials  string `json:"sbom"`
	Compressed int64  `json:"compressedBytes"` // what is downloaded
	Unpacked   int64  `json:"unpackedBytes"`   // what lies on a node's disk
}

// buildAll writes archives, bills of materials and digests.json.
func buildAll(ctx context.Context, b *builder, s settings) error {
	if _, err := tagOf(s.version); err != nil {
		return err
	}
	label, err := b.tag(s)
	if err != nil {
		return err
	}
	platforms, err := parsePlatforms(s.platforms)
	if err != nil {
		return err
	}
	wanted, err := chosen(s.only)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	all := Digests{Version: b.version, Revision: b.revision, Images: map[string]Image{}}
	for _, r := range wanted {
		i, err := b.build(ctx, r, s.prefix+r.name+":"+label, platforms, s.out)
		if err != nil {
			return fmt.Errorf("image %s: %w", r.name, err)
		}
		all.Images[r.name] = i
		fmt.Printf("%s@%s\n", i.Reference, i.Digest)
	}
	listing, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.out, "digests.json"), append(listing, '\n'), 0o644)
}

// tag is that of the images: the one that the chart asks for, unless the command line names another.
func (b *builder) tag(s settings) (string, error) {
	if s.tag != "" {
		return tagOf(s.tag)
	}
	version, err := chartVersion(b.root)
	if err != nil {
		return "", err
	}
	return tagOf(version)
}

// build writes the archive and the bills of materials of one image.
func (b *builder) build(
	ctx context.Context, r recipe, reference string, platforms []oci.Platform, out string,
) (Image, error) {
	var parts []*contents
	var images []oci.Image
	for _, p := range platforms {
		c, err := b.assemble(ctx, r, p.Architecture)
		if err != nil {
			return Image{}, err
		}
		parts = append(parts, c)
		images = append(images, oci.Image{Platform: p, Created: b.created, Run: b.execution(r), Layers: c.layers})
	}
	archive, err := oci.New(reference, images)
	if err != nil {
		return Image{}, err
	}
	i := Image{
		Reference: reference, Imported: oci.FullName(reference), Digest: archive.Index.Digest,
		Archive: r.name + ".tar", Platforms: map[string]Platform{},
	}
	for n, w := range archive.Images {
		bill, err := b.billOfMaterials(r, parts[n], w)
		if err != nil {
			return Image{}, err
		}
		p := Platform{
			Digest: w.Manifest.Digest, Compressed: w.Compressed(), Unpacked: unpacked(parts[n].layers),
			Materials: fmt.Sprintf("%s-%s-%s.spdx.json", r.name, w.Platform.OS, w.Platform.Architecture),
		}
		if err := os.WriteFile(filepath.Join(out, p.Materials), bill, 0o644); err != nil {
			return Image{}, err
		}
		i.Platforms[w.Platform.String()] = p
	}
	return i, writeArchive(archive, filepath.Join(out, i.Archive))
}

func unpacked(layers []oci.Tree) int64 {
	var n int64
	for _, layer := range layers {
		for _, e := range layer {
			n += int64(len(e.Content))
		}
	}
	return n
}

// writeArchive writes a file that is whole under its name, or not there.
func writeArchive(a *oci.Archive, path string) error {
	var content bytes.Buffer
	if err := a.Write(&content); err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", content.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// writeRootFS writes what the Dockerfile of one image copies.
func writeRootFS(ctx context.Context, b *builder, s settings) error {
	wanted, err := chosen(s.only)
	if err != nil {
		return err
	}
	platforms, err := parsePlatforms(s.platforms)
	if err != nil {
		return err
	}
	if len(wanted) != 1 || len(platforms) != 1 {
		return errors.New("rootfs writes one image for one platform: name it with -only")
	}
	if _, err := tagOf(s.version); err != nil {
		return err
	}
	c, err := b.assemble(ctx, wanted[0], platforms[0].Architecture)
	if err != nil {
		return err
	}
	whole, err := c.whole()
	if err != nil {
		return err
	}
	return writeTree(whole, s.out)
}

// downloadSources downloads what the worker's image offers the sources of.
func downloadSources(ctx context.Context, b *builder, s settings) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	var missing []error // after which the others are still downloaded
	seen := map[string]bool{}
	for _, p := range slices.Concat(codecPackages, speechPackages, []debianPackage{authorities}) {
		opened, err := b.debianPackage(ctx, "amd64", p.name)
		if err != nil {
			return err
		}
		id := opened.Source + " " + opened.SourceVersion
		if seen[id] {
			continue
		}
		seen[id] = true
		b.log("downloading the source of %s", id)
		if err := b.archive.Source(ctx, "amd64", s.out, opened.Source, opened.SourceVersion); err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}
