// Package label has the settings by which programs that answer clients mark speech as synthetic.
package label

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/serve"
	"github.com/swar-tts/swar/runtime/speech"
)

// Flags set the disclosure before every text, and the metadata in audio.
type Flags struct {
	service    string
	disclosure string
	required   bool
}

// Define defines the flags.
func (l *Flags) Define(f *pflag.FlagSet) {
	f.StringVar(&l.service, "service-name", "Swar Hinglish TTS", "`name` of this service in audio and GET /")
	f.StringVar(&l.disclosure, "disclosure", "",
		"speak this `text` before every text, unless the key or its organisation has another; it is billed like the rest")
	f.BoolVar(&l.required, "disclosure-required", false, "do not let keys and organisations disable the disclosure")
}

// maxService is how many characters the name of a service may have.
const maxService = 80

// Check refuses what cannot be a disclosure or a name.
func (l *Flags) Check(cmd *cobra.Command) (err error) {
	l.service = strings.TrimSpace(l.service)
	foreign := func(r rune) bool { return r < ' ' || r > '~' } // it is also sent in a header
	if n := len(l.service); n == 0 || n > maxService || strings.ContainsFunc(l.service, foreign) {
		return launch.BadUsage(cmd, "--service-name must be 1 to %d characters of ASCII", maxService)
	}
	if l.disclosure, err = speech.CleanDisclosure(l.disclosure); err != nil {
		return launch.BadUsage(cmd, "--disclosure: %v", err)
	}
	if l.required && l.disclosure == "" {
		return launch.BadUsage(cmd, "--disclosure-required needs --disclosure, for keys without one")
	}
	return nil
}

// Apply sets them in the configuration of the API.
func (l *Flags) Apply(c *serve.Config) {
	c.Service, c.Disclosure, c.DisclosureRequired = l.service, l.disclosure, l.required
}

// CheckSpeaker refuses a disclosure that the model cannot speak. command is named in the error.
func (l *Flags) CheckSpeaker(ctx context.Context, command string, s speech.Speaker) error {
	if l.disclosure == "" {
		return nil
	}
	n, err := s.Normalize(ctx, speech.Utterance{Text: l.disclosure})
	switch {
	case err != nil:
		return err
	case n.Unspoken != "":
		err = fmt.Errorf("--disclosure: the model cannot speak %s", n.Unspoken)
	case len(n.Chunks) == 0:
		err = errors.New("--disclosure: nothing in it can be spoken")
	default:
		return nil
	}
	return &launch.UsageError{Command: command, Err: err}
}
