// Command scratch writes an image with one file, a static program, as an OCI archive:
//
//	scratch -name swar.test/pause:1 -o pause.tar bin/pause
//
// The program lies in the image's root and is its entry point. The same program gives the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	log.SetFlags(0)
	name := flag.String("name", "", "name of the image, as host/repository:tag")
	out := flag.String("o", "", "file to write")
	flag.Parse()
	if *name == "" || *out == "" || flag.NArg() != 1 {
		log.Fatal("usage: scratch -name host/repository:tag -o FILE PROGRAM")
	}
	if err := write(*out, *name, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func write(out, name, program string) error {
	body, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	base := filepath.Base(program)
	var layer bytes.Buffer
	if err := pack(&layer, []file{{base, 0o755, body}}); err != nil {
		return fmt.Errorf("packing the layer: %w", err)
	}
	files, err := layout(name, "/"+base, layer.Bytes())
	if err != nil {
		return err
	}
	var image bytes.Buffer
	if err := pack(&image, files); err != nil {
		return fmt.Errorf("packing the image: %w", err)
	}
	return os.WriteFile(out, image.Bytes(), 0o644)
}

// layout returns the files of an OCI image layout with one image.
// See https://github.com/opencontainers/image-spec/blob/main/image-layout.md.
func layout(name, entrypoint string, layer []byte) ([]file, error) {
	const media = "application/vnd.oci.image."
	var files []file
	add := func(mediaType string, content []byte) map[string]any {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		files = append(files, file{"blobs/sha256/" + sum, 0o644, content})
		return map[string]any{"mediaType": media + mediaType, "digest": "sha256:" + sum, "size": len(content)}
	}
	packed := add("layer.v1.tar", layer)
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{entrypoint}, "User": "65532:65532"},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []any{packed["digest"]}},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     media + "manifest.v1+json",
		"config":        add("config.v1+json", config),
		"layers":        []any{packed},
	})
	if err != nil {
		return nil, err
	}
	image := add("manifest.v1+json", manifest)
	image["annotations"] = map[string]string{"io.containerd.image.name": name}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": []any{image}})
	if err != nil {
		return nil, err
	}
	return append(files, file{"index.json", 0o644, index},
		file{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}), nil
}

type file struct {
	name string
	mode int64
	body []byte
}

// pack writes the files as a tar archive that says nothing of when it was made.
func pack(w io.Writer, files []file) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.body)), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.body); err != nil {
			return err
		}
	}
	return t.Close()
}
