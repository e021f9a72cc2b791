package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/layout"
)

func isDigest(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size
}

// checkDigest refuses a bundle whose manifest is not the one that is pinned. The manifest names the hash of every other
// file, which loading compares; a published layout has none.
func (s *Flags) checkDigest() error {
	if s.digest == "" {
		return nil
	}
	kind, err := FindLayout(s.bundle)
	if err != nil {
		return err
	}
	if kind != layout.None {
		return fmt.Errorf("%s has a published layout, without a manifest to pin; "+
			"convert it with `swar bundle convert`, or drop --bundle-digest", s.bundle)
	}
	data, err := bundle.ReadSmall(filepath.Join(s.bundle, bundle.ManifestFile), bundle.MaxManifest)
	if err != nil {
		return err
	}
	got := sha256.Sum256(data)
	if !strings.EqualFold(hex.EncodeToString(got[:]), s.digest) {
		return fmt.Errorf("the bundle in %s is another one than --bundle-digest pins: its %s has the SHA-256 %x",
			s.bundle, bundle.ManifestFile, got)
	}
	return nil
}

// Identity distinguishes bundles that have the same name. It is the hash of what describes the bundle, its weights
// and voices included. It is empty where no bundle speaks, or it has no such description.
func (s *Flags) Identity() string {
	if !s.Neural() {
		return ""
	}
	described, err := bundle.ReadSmall(filepath.Join(s.bundle, bundle.ManifestFile), bundle.MaxManifest)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(described)
	return hex.EncodeToString(sum[:])
}
