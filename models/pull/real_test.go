package pull

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/runtime/kokoro/convert"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
)

// TestTheCatalogueNamesWhatIsPublished puts the published files where downloads lie, and pulls without a network.
func TestTheCatalogueNamesWhatIsPublished(t *testing.T) {
	from := kokorotest.Folder(t)
	w := newWorld(t)
	w.Hub.Offline = true
	e, ok := catalog.Find("kokoro")
	if !ok {
		t.Fatal("there is no kokoro")
	}
	const weights = 1 // of the exports: the one that packages hold
	for hash, file := range map[string]string{
		e.Exports[weights].SHA256 + "/" + e.Exports[weights].File: kokorotest.ModelFile,
		e.Voices[0].SHA256 + "/hf_beta.bin":                       "voices/hf_beta.bin",
		e.Voices[1].SHA256 + "/hm_omega.bin":                      "voices/hm_omega.bin",
	} {
		to := filepath.Join(w.Store.Files(), filepath.FromSlash(hash))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(from, file))
		if err == nil {
			err = os.WriteFile(to, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	plan, err := w.Plan(t.Context(), Request{Reference: "kokoro", Precision: "int8", Name: "voice-of-tests"})
	if err != nil {
		t.Fatal(err)
	}
	var c convert.Conversion
	for p := plan; p != nil; p = p.next {
		p.maker = func(ctx context.Context, to string, plan *Plan) error {
			c = w.kokoro(plan)
			return w.make(ctx, to, plan)
		}
	}
	m, _, err := w.Pull(t.Context(), plan)
	if err != nil || m.Revision != e.Exports[weights].SHA256 {
		t.Fatalf("%s, %v", m.Revision, err)
	}
	if c.ID != "voice-of-tests" || c.Licence != "Apache-2.0" || len(c.Voices) != 2 ||
		filepath.Base(c.Model) != e.Exports[weights].File {
		t.Errorf("it is converted as %+v", c)
	}
	for i, want := range []convert.Voice{{Name: "anjura", Source: "hf_beta"}, {Name: "raj", Source: "hm_omega"}} {
		if v := c.Voices[i]; v.Name != want.Name || v.Source != want.Source || v.GainDB == 0 ||
			v.Language != "hi-IN+en-IN" {
			t.Errorf("a voice is converted as %+v", v)
		}
	}
}
