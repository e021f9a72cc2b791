package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

// Reasons why a server with a bundle folder does not load the voices of a bundle. Everything else is a failure.
var (
	ErrNoServer    = errors.New("no server works on it")
	ErrOtherBundle = errors.New("its server speaks with another bundle")
	ErrNoBundle    = errors.New("its server speaks without a bundle")
)

// ReadVoices makes a running server load the voices of a bundle, and waits until they are ready. The server is found
// by its data folder.
func (a *Commands) ReadVoices(ctx context.Context, data, bundle string) (c portal.VoiceChange, err error) {
	server := control{data: data}
	server.useSocket(a)
	server.http.Timeout = 0 // a worker takes the time when it has spoken
	if bundle, err = filepath.Abs(bundle); err != nil {
		return c, err
	}
	_, err = server.do(ctx, http.MethodPost, "/operator/v1/voices/read?"+url.Values{"bundle": {bundle}}.Encode(), nil,
		&c)
	if _, away := errors.AsType[*noPortalError](err); away {
		return c, ErrNoServer
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		switch refused.Code {
		case "other_bundle":
			return c, ErrOtherBundle
		case "no_bundle":
			return c, ErrNoBundle
		}
	}
	return c, err
}
