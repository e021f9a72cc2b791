package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/peer"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/runtime/speech"
)

// language is what every voice speaks, as the API names it.
const language = "hi-IN+en-IN"

// options are the settings of the server.
type options struct {
	listen    string
	dataplane string
	probes    string
	model     string
	voices    []string
	apiURL    string
	store     portal.StoreFlags
	signIn    portal.SignInFlags
	proxies   launch.ProxyFlags
	peers     peer.Flags
	logging   launch.LogFlags
}

func (o *options) define(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", ":8081", "serve the API on this `address`")
	f.StringVar(&o.dataplane, "dataplane", ":8082", "serve routers (keys and usage) on this `address`, over gRPC")
	f.StringVar(&o.probes, "http", ":8083", "serve /healthz, /readyz and /metrics on this `address`")
	f.StringVar(&o.model, "model-id", "", "`identifier` of the model that the fleet speaks with")
	f.StringArrayVar(&o.voices, "voice", nil, "`voice` of that model, which keys may be restricted to; can be repeated")
	f.StringVar(&o.apiURL, "api-url", "",
		"the routers' public `address`, which the playground speaks by (default that of this page)")
	o.store.Define(f)
	o.signIn.Define(f)
	o.proxies.Define(f)
	o.peers.Define(f)
	o.logging.Define(f)
}

// check refuses settings that cannot be meant.
func (o *options) check(cmd *cobra.Command) error {
	for _, a := range []struct{ flag, address string }{
		{"--listen", o.listen}, {"--dataplane", o.dataplane}, {"--http", o.probes},
	} {
		if err := launch.CheckAddress(cmd, a.flag, a.address); err != nil {
			return err
		}
	}
	isNoName := func(voice string) bool { return voice == "" || strings.ContainsAny(voice, " \t\r\n,=") }
	sorted := slices.Sorted(slices.Values(o.voices))
	switch i := slices.IndexFunc(o.voices, isNoName); {
	case o.model == "":
		return launch.BadUsage(cmd, "name the model that the fleet speaks with, with --model-id")
	case len(o.voices) == 0:
		return launch.BadUsage(cmd, "name the voices of the model, each with --voice")
	case i >= 0:
		return launch.BadUsage(cmd, "--voice %q: want the name of one voice; repeat the flag for others", o.voices[i])
	case len(slices.Compact(sorted)) < len(o.voices):
		return launch.BadUsage(cmd, "--voice names a voice twice")
	}
	return errors.Join(o.store.Check(cmd), o.signIn.Check(cmd), o.proxies.Check(cmd), o.checkPeers(cmd))
}

func (o *options) checkPeers(cmd *cobra.Command) error {
	if err := o.peers.Check(cmd); err != nil {
		return err
	}
	return o.peers.CheckListen(cmd, "--dataplane", o.dataplane)
}

// fleetModel is the model of the fleet.
func (o *options) fleetModel() speech.Model {
	m := speech.Model{ID: o.model}
	for _, voice := range o.voices {
		m.Voices = append(m.Voices, speech.Voice{Name: voice, Language: language, SampleRate: speech.SampleRate})
	}
	return m
}
