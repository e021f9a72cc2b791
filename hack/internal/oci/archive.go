package oci

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// An Archive is one image for one platform or several, as a file that `ctr images import`, `docker load` and skopeo
// read.
type Archive struct {
	Reference string     // name and tag
	Index     Descriptor // what pulling by digest names, whatever the platform
	Images    []Written

	blobs   blobs
	created time.Time
}

// New packs images, one for each platform, under one reference.
func New(reference string, images []Image) (*Archive, error) {
	if len(images) == 0 {
		return nil, errors.New("an archive without an image")
	}
	a := &Archive{Reference: reference, blobs: blobs{}, created: images[0].Created}
	all := index{SchemaVersion: 2, MediaType: typeIndex}
	for _, i := range images {
		w, err := a.blobs.addImage(i)
		if err != nil {
			return nil, err
		}
		a.Images = append(a.Images, w)
		all.Manifests = append(all.Manifests, w.Manifest)
	}
	var err error
	a.Index, err = a.blobs.addJSON(typeIndex, all)
	return a, err
}

// FullName returns the reference as containerd and Docker keep it: a name whose first part is no host belongs to
// Docker's registry.
func FullName(reference string) string {
	first, _, several := strings.Cut(reference, "/")
	switch {
	case !several:
		return "docker.io/library/" + reference
	case first == "localhost" || strings.ContainsAny(first, ".:"):
		return reference
	}
	return "docker.io/" + reference
}

// Write writes the archive. What reads manifest.json, as older versions of Docker do, gets the first platform.
func (a *Archive) Write(w io.Writer) error {
	_, tag, _ := strings.Cut(a.Reference[strings.LastIndexByte(a.Reference, '/')+1:], ":")
	named := a.Index
	named.Annotations = map[string]string{
		"io.containerd.image.name":          FullName(a.Reference),
		"org.opencontainers.image.ref.name": tag,
	}
	top, err := json.Marshal(index{SchemaVersion: 2, MediaType: typeIndex, Manifests: []Descriptor{named}})
	if err != nil {
		return err
	}
	legacy, err := json.Marshal(a.dockerManifest())
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	file := func(name string, content []byte) {
		if err == nil {
			err = out.WriteHeader(&tar.Header{
				Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)),
				ModTime: a.created.Truncate(time.Second).UTC(),
			})
		}
		if err == nil {
			_, err = out.Write(content)
		}
	}
	file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	file("index.json", top)
	file("manifest.json", legacy)
	for _, d := range slices.Sorted(maps.Keys(a.blobs)) {
		file(blobPath(d), a.blobs[d])
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// dockerManifest is manifest.json, which `docker load` reads.
func (a *Archive) dockerManifest() any {
	type image struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	first := image{Config: blobPath(a.Images[0].config.Digest), RepoTags: []string{a.Reference}}
	for _, l := range a.Images[0].layers {
		first.Layers = append(first.Layers, blobPath(l.Digest))
	}
	return []image{first}
}

func blobPath(digest string) string { return "blobs/" + strings.Replace(digest, ":", "/", 1) }
