// Command swar-router answers clients of the API and has worker pods speak. Any number of routers use the same pods at
// the same time. It links no engine, and nothing of the portal but what a router needs to know.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/dialects"
	"github.com/swar-tts/swar/cmd/internal/label"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/lexfile"
	"github.com/swar-tts/swar/cmd/internal/peer"
	"github.com/swar-tts/swar/cmd/internal/trace"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// version is set by the linker.
var version = launch.Development

const name = "swar-router"

const (
	minKeyGrace = time.Minute
	maxKeyGrace = 24 * time.Hour

	defaultQueueWait = 2 * time.Second
	minQueueWait     = time.Millisecond
	maxQueueWait     = 10 * time.Second

	// refusing is the part of a wait that is left for the refusal itself, to be written, sent and read.
	refusing = defaultQueueWait - route.DefaultQueueWait
)

// Values of --affinity.
const (
	affinityPrefill = "prefill"
	affinityNone    = "none"
)

func main() {
	p := launch.NewProgram(name)
	os.Exit(p.Main(command(p)))
}

// options is the settings of the program.
type options struct {
	listen      string
	http        string
	watch       string
	data        string
	pods        podFlags
	portal      string
	portalPeer  peer.Override
	keys        []string
	open        bool
	modelID     string
	voices      []string
	queue       int
	queueWait   time.Duration
	affinity    *string
	samples     bool
	keyGrace    time.Duration
	linger      time.Duration
	spool       *int64 // bytes
	label       label.Flags
	lexicon     lexfile.Flag
	dialects    dialects.Flags
	zone        string
	hideMetrics bool
	pages       string
	pprof       string
	proxies     launch.ProxyFlags
	peers       peer.Flags
	logging     launch.LogFlags
	traces      trace.Flags
}

func command(p *launch.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   name,
		Short: "Answer clients, and have worker pods speak",
		Long: `Serves the API on --listen and sends utterances to worker pods (swar-worker), until SIGINT or SIGTERM. The first signal
drains: requests are still served for --linger, then new ones are refused and running ones finish, for at most two minutes.
A second signal stops at once.

It finds pods by --endpoints, --endpoints-dns or --endpoint-slices. Keys come from a portal (swar-portal, --portal-addr) or
from --api-key. Usage stays in the folder --data until the portal has it.

Probes and metrics have another address: /healthz, /readyz and /metrics on --http.

Every flag can also be set in the environment: --log-level as SWAR_LOG_LEVEL. The command line wins.`,
		Example: `  swar-router --listen 127.0.0.1:8080 --endpoints 127.0.0.1:9090,127.0.0.1:9190 --api-key secret --token-file token
  swar-router --endpoint-slices swar/workers --endpoints-dns workers.swar.svc:9090 --portal-addr portal:8082 --token-file token \
    --tls-cert tls.crt --tls-key tls.key --tls-ca ca.crt`,
		Args:    launch.Exactly(0),
		Version: fmt.Sprintf("%s %s", name, launch.ThisBuild(version)),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), p, &o)
		},
	}
	o.define(cmd)
	return cmd
}

func (o *options) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", ":8080", "serve the API on this `address`")
	f.StringVar(&o.http, "http", ":8090", "serve probes and metrics on this `address`")
	f.StringVar(&o.watch, "watch", ":8091", "serve load reports to autoscalers on this `address`; empty for none")
	f.StringVar(&o.data, "data", "./data",
		"keep usage that the portal does not have yet, and hashes of keys, in this `folder`")
	o.pods.define(f)
	f.StringVar(&o.portal, "portal-addr", "", "`HOST:PORT` of the portal's dataplane")
	o.portalPeer.Define(f, "portal")
	f.StringArrayVar(&o.keys, "api-key", nil, "API key, `KEY` or KEY=voice,voice; can be repeated; not billed")
	f.BoolVar(&o.open, "open", false, "allow everyone to use a router without keys that other machines reach")
	f.StringVar(&o.modelID, "model-id", "",
		"use only pods that speak with the model of this `name` (default that of the first pod)")
	f.StringArrayVar(&o.voices, "voice", nil,
		"offer the voice of this `name`; can be repeated (default all voices of the first pod)")
	f.IntVar(&o.queue, "queue", 8, "queue at most `n` utterances for a slot; 0 means none")
	f.DurationVar(&o.queueWait, "queue-wait", defaultQueueWait, "refuse what has waited for a slot for so long")
	f.BoolVar(&o.samples, "samples", false,
		"record a sample of each voice while a slot is free, for GET /samples/VOICE.wav")
	o.affinity = launch.Choice(f, "affinity", "which of the pods with a free slot speaks: "+
		"the one that is likely to have the text cached, or any", affinityPrefill, affinityNone)
	f.DurationVar(&o.keyGrace, "key-grace", 15*time.Minute, "how long cached keys stay valid while the portal is unreachable")
	f.DurationVar(&o.linger, "linger", 10*time.Second,
		"keep serving for so long after the signal, until load balancers have noticed")
	o.spool = launch.Size(f, "spool", 256<<20,
		"memory for audio that clients have not read yet, in total, so that slots are free earlier; 0 means none")
	o.label.Define(f)
	o.lexicon.Define(f)
	o.dialects.Define(f)
	f.StringVar(&o.zone, "zone", "", "`name` of the zone of this router; pods there are preferred")
	f.StringVar(&o.pages, "pages", "",
		"send people who open / in a browser to this `address`, a URL or a path: that of the portal's pages")
	f.BoolVar(&o.hideMetrics, "hide-metrics", false, "serve /metrics on --http only")
	f.StringVar(&o.pprof, "pprof", "", "serve profiles on this loopback `address`")
	o.proxies.Define(f)
	o.peers.Define(f)
	o.logging.Define(f)
	o.traces.Define(f)
}

// check refuses settings that cannot be meant.
func (o *options) check(cmd *cobra.Command) error {
	for _, check := range []func(*cobra.Command) error{
		o.pods.check, o.peers.Check, o.proxies.Check, o.checkAddresses, o.checkAccess, o.checkVoices, o.label.Check,
		o.lexicon.Check, o.dialects.Check, o.traces.Check,
	} {
		if err := check(cmd); err != nil {
			return err
		}
	}
	switch {
	case o.queue < 0:
		return launch.BadUsage(cmd, "--queue %d: want 0 or more", o.queue)
	case o.queueWait < minQueueWait || o.queueWait > maxQueueWait:
		return launch.BadUsage(cmd, "--queue-wait %v: want %v to %v", o.queueWait, minQueueWait, maxQueueWait)
	case o.linger < 0 || o.linger > speech.UtteranceTimeout:
		return launch.BadUsage(cmd, "--linger %v: want 0 to %v", o.linger, speech.UtteranceTimeout)
	case o.keyGrace < minKeyGrace || o.keyGrace > maxKeyGrace:
		return launch.BadUsage(cmd, "--key-grace %v: want 1m to 24h", o.keyGrace)
	case o.pprof != "" && !launch.IsLoopback(cmd.Context(), o.pprof):
		return launch.BadUsage(cmd, "--pprof %s: profiles reveal texts: only a loopback address such as "+
			"127.0.0.1:6060 is allowed", o.pprof)
	}
	return nil
}

func (o *options) checkAddresses(cmd *cobra.Command) error {
	for _, a := range []struct {
		flag, address string
		optional      bool
	}{
		{"--listen", o.listen, false}, {"--http", o.http, false}, {"--watch", o.watch, true}, {"--pprof", o.pprof, true},
		{"--portal-addr", o.portal, true},
	} {
		if a.address == "" && a.optional {
			continue
		}
		if err := launch.CheckAddress(cmd, a.flag, a.address); err != nil {
			return err
		}
	}
	if err := o.portalPeer.Check(cmd, &o.peers, o.portal != ""); err != nil {
		return err
	}
	dialled := o.pods.dialled()
	if o.portal != "" {
		dialled = append(dialled, [2]string{"--portal-addr", o.portal})
	}
	for _, d := range dialled {
		if err := o.peers.CheckDial(cmd, d[0], d[1]); err != nil {
			return err
		}
	}
	if o.watch == "" {
		return nil
	}
	return o.peers.CheckListen(cmd, "--watch", o.watch)
}

// checkAccess refuses a router that accepts no client, or every client, by mistake.
func (o *options) checkAccess(cmd *cobra.Command) error {
	hasKeys := o.portal != "" || len(o.keys) > 0
	switch {
	case o.open && hasKeys:
		return launch.BadUsage(cmd, "--open contradicts keys: drop it, or --portal-addr and --api-key")
	case !o.open && !hasKeys && !launch.IsLoopback(cmd.Context(), o.listen):
		return launch.BadUsage(cmd,
			"--listen %s is reached by other machines; name a portal with --portal-addr, give an --api-key, "+
				"or --open to let everyone use it", o.listen)
	}
	return nil
}

func (o *options) checkVoices(cmd *cobra.Command) error {
	for _, v := range o.voices {
		if v == "" || strings.TrimSpace(v) != v {
			return launch.BadUsage(cmd, "--voice %q: want the name of a voice", v)
		}
	}
	if len(o.voices) > 0 && o.modelID == "" {
		return launch.BadUsage(cmd, "--voice needs --model-id: voices are those of one model")
	}
	return nil
}

// model is what pods must speak with, as far as it is set.
func (o *options) model() speech.Model {
	m := speech.Model{ID: o.modelID}
	for _, v := range o.voices {
		m.Voices = append(m.Voices, speech.Voice{Name: v, SampleRate: speech.SampleRate})
	}
	return m
}

// routing returns the configuration of pod selection and queueing.
func (o *options) routing(seed uint64) route.Config {
	return route.Config{
		Zone: o.zone, QueueLen: launch.OrNone(o.queue), AtRandom: *o.affinity == affinityNone, Seed: seed,
	}
}

// slotWait is for how long a slot is waited for, so that a refusal is read before --queue-wait is over.
func (o *options) slotWait() time.Duration { return o.queueWait - min(refusing, o.queueWait/2) }
