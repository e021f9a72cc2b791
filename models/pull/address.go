package pull

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/hub"
)

// fetchAddress brings a small file, such as a configuration, that lies at an address of its own. Its hash is known when
// it is here, unless the address says it: https://…#sha256=….
func (p *Puller) fetchAddress(ctx context.Context, f *file) error {
	const largest = 1 << 20
	if f.role != models.RoleConfig {
		return fmt.Errorf("%s: only configurations are read from addresses; large files come from a hub", f.from)
	}
	if p.Hub.Offline {
		return &hub.Error{Kind: hub.KindOffline,
			Text: f.from + " is not on this machine, and HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids to ask for it"}
	}
	address, want, _ := strings.Cut(f.from, "#sha256=")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", p.Hub.Agent)
	answer, err := p.Hub.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("%s was not reached: %w", address, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: the server answers %s", address, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, largest+1))
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if len(text) > largest {
		return fmt.Errorf("%s is larger than %d bytes: it is not a configuration", address, largest)
	}
	sum := sha256.Sum256(text)
	f.entry.SHA256, f.entry.Size, f.entry.Path = hex.EncodeToString(sum[:]), int64(len(text)), path.Base(address)
	if want != "" && want != f.entry.SHA256 {
		return fmt.Errorf("%s has the SHA-256 %s, not %s: it was changed; nothing is kept", address, f.entry.SHA256,
			want)
	}
	f.local = filepath.Join(p.Store.Files(), filepath.FromSlash(f.name()))
	return errors.Join(os.MkdirAll(filepath.Dir(f.local), 0o755), os.WriteFile(f.local, text, 0o644))
}
