package oci

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Media types of the image specification, version 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// A Platform is what an image runs on.
type Platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"` // as Go calls it
}

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// A Descriptor names a blob, as the image specification has it.
type Descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    *Platform         `json:"platform,omitempty"`
}

// Execution says how a container of the image starts.
type Execution struct {
	User         string              `json:"User,omitempty"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts,omitempty"`
	Env          []string            `json:"Env,omitempty"`
	Entrypoint   []string            `json:"Entrypoint,omitempty"`
	WorkingDir   string              `json:"WorkingDir,omitempty"`
	Labels       map[string]string   `json:"Labels,omitempty"`
	StopSignal   string              `json:"StopSignal,omitempty"`
}

// An Image is what one platform runs.
type Image struct {
	Platform Platform
	Created  time.Time
	Run      Execution
	Layers   []Tree // the first one lies at the bottom; what changes least belongs there
}

// A Written is an image as it lies in an archive.
type Written struct {
	Platform Platform
	Manifest Descriptor
	config   Descriptor
	layers   []Descriptor
}

// Compressed is how many bytes of layers are downloaded.
func (w Written) Compressed() int64 {
	var n int64
	for _, l := range w.layers {
		n += l.Size
	}
	return n
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

type config struct {
	Created time.Time `json:"created"`
	Platform
	Config Execution `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        Descriptor   `json:"config"`
	Layers        []Descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []Descriptor `json:"manifests"`
}

// blobs is what an archive holds, by digest.
type blobs map[string][]byte

func (b blobs) add(mediaType string, content []byte) Descriptor {
	d := Descriptor{MediaType: mediaType, Digest: digest(content), Size: int64(len(content))}
	b[d.Digest] = content
	return d
}

func (b blobs) addJSON(mediaType string, v any) (Descriptor, error) {
	content, err := json.Marshal(v)
	if err != nil {
		return Descriptor{}, err
	}
	return b.add(mediaType, content), nil
}

// addImage adds an image with its layers and its configuration.
func (b blobs) addImage(i Image) (Written, error) {
	created := i.Created.Truncate(time.Second).UTC()
	c := config{Created: created, Platform: i.Platform, Config: i.Run}
	c.RootFS.Type = "layers"
	w := Written{Platform: i.Platform}
	for n, tree := range i.Layers {
		packed, diffID, err := pack(tree, created)
		if err != nil {
			return w, fmt.Errorf("layer %d: %w", n, err)
		}
		w.layers = append(w.layers, b.add(typeLayer, packed))
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, diffID)
		c.History = append(c.History, history{Created: created, CreatedBy: "hack/images"})
	}
	var err error
	if w.config, err = b.addJSON(typeConfig, c); err != nil {
		return w, err
	}
	m := manifest{SchemaVersion: 2, MediaType: typeManifest, Config: w.config, Layers: w.layers}
	if w.Manifest, err = b.addJSON(typeManifest, m); err != nil {
		return w, err
	}
	w.Manifest.Platform = &i.Platform
	return w, nil
}

// pack returns the layer, compressed, and the digest that it has when it is not.
func pack(t Tree, at time.Time) (packed []byte, diffID string, err error) {
	var out bytes.Buffer
	plain := sha256.New()
	z := gzip.NewWriter(&out) // whose header has neither name nor time unless it is told one
	if err := t.writeTar(io.MultiWriter(z, plain), at); err != nil {
		return nil, "", err
	}
	if err := z.Close(); err != nil {
		return nil, "", err
	}
	return out.Bytes(), fmt.Sprintf("sha256:%x", plain.Sum(nil)), nil
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }
