// Package dialects has the settings of the APIs of other vendors, for programs that answer clients.
package dialects

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/bridge"
	"github.com/swar-tts/swar/runtime/dialect/cartesia"
	"github.com/swar-tts/swar/runtime/dialect/deepgram"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs"
	"github.com/swar-tts/swar/runtime/dialect/jambonz"
	"github.com/swar-tts/swar/runtime/dialect/openai"
	"github.com/swar-tts/swar/runtime/dialect/sarvam"
	"github.com/swar-tts/swar/runtime/dialect/vapi"
	"github.com/swar-tts/swar/runtime/serve"
	"github.com/swar-tts/swar/runtime/voiceout"
)

// all are the dialects that can be served.
var all = []*dialect.Dialect{
	openai.Dialect,
	deepgram.Dialect,
	elevenlabs.Dialect,
	sarvam.Dialect,
	cartesia.Dialect,
	vapi.Dialect,
	jambonz.Dialect,
	bridge.New(""),
}

// none is the word for no dialects.
const none = "none"

// Flags select the dialects to serve.
type Flags struct {
	names  []string
	twilio string // token
	served []*dialect.Dialect
}

// Define defines the flags.
func (o *Flags) Define(f *pflag.FlagSet) {
	f.StringSliceVar(&o.names, "dialects", names(),
		"also serve clients of these APIs: `NAME,…`, or "+none)
	f.StringVar(&o.twilio, "twilio-token", "",
		"accept only media streams of Twilio that are signed with this `token` of the account")
}

func names() []string {
	all := make([]string, len(Names()))
	for i, n := range Names() {
		all[i] = string(n)
	}
	return all
}

// Names returns the dialects that can be served.
func Names() []dialect.Name {
	var names []dialect.Name
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

// Check refuses unknown names of dialects.
func (o *Flags) Check(cmd *cobra.Command) error {
	o.served = nil
	token := strings.TrimSpace(o.twilio) // files end in a newline
	if token == "" && o.twilio != "" {
		return launch.BadUsage(cmd, "--twilio-token is blank: want the token of the account at Twilio")
	}
	for _, name := range o.names {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == none && len(o.names) == 1 {
			return nil
		}
		d := find(name)
		if d == nil {
			return launch.BadUsage(cmd, "--dialects %s: %q is not one of %s, and %s stands alone",
				strings.Join(o.names, ","), name,
				strings.Join(names(), ", "), none)
		}
		if d.Name == dialect.Bridge {
			d = bridge.New(token)
		}
		o.served = append(o.served, d)
	}
	return nil
}

func find(name string) *dialect.Dialect {
	for _, d := range all {
		if string(d.Name) == name {
			return d
		}
	}
	return nil
}

// Apply sets them in the configuration of the API.
func (o *Flags) Apply(c *serve.Config) { c.Dialects, c.Encoders = o.served, encoders{} }

// encoders returns the encoders of package voiceout.
type encoders struct{}

// Encodes implements [dialect.Encoders].
func (encoders) Encodes(a dialect.Audio) bool {
	_, err := format(a).Check()
	return err == nil
}

// NewEncoder implements [dialect.Encoders].
func (encoders) NewEncoder(a dialect.Audio, tags []string) (dialect.Encoder, error) {
	return voiceout.New(format(a), tags...)
}

// format is a in the words of voiceout, which are the same.
func format(a dialect.Audio) voiceout.Format {
	return voiceout.Format{
		Container: voiceout.Container(a.Container), Encoding: voiceout.Encoding(a.Encoding), Rate: a.Rate,
		Bitrate: a.BitRate, Speed: a.Speed,
	}
}
