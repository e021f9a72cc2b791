package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/dialects"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/label"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/lexfile"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

const (
	defaultListen = "127.0.0.1:8080"
	serveCommand  = "swar serve" // in messages
)

// serving is the settings of `swar serve`.
type serving struct {
	listen   string
	wyoming  wyomingFlags
	open     bool
	keys     []string
	workers  engine.WorkerFlags
	queue    int
	spool    *int64 // bytes
	label    label.Flags
	lexicon  lexfile.Flag
	dialects dialects.Flags
	pprof    string
	metrics  string
	logging  launch.LogFlags
	engine   engine.Flags
	portal   *string
	store    portal.StoreFlags
	signIn   portal.SignInFlags
	proxies  launch.ProxyFlags
}

func (a *app) serveCommand() *cobra.Command {
	var o serving
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Serves the API on one address until SIGINT or SIGTERM. The first signal drains: new utterances are refused,
and running ones finish, for at most two minutes. A second signal stops at once.

The portal keeps organisations, keys, usage and bills in the folder --data. The first start prints a key, once; swar keys
creates more.

With --portal off only the keys of --api-key are valid; without any, everyone who can connect may use the server, which
needs --open on an address that other machines reach. Each --api-key is KEY, or KEY=voice,voice to allow only some voices;
its usage is not billed. In SWAR_API_KEY white space separates several of them, and the process list does not show it.`,
		Example: `  swar serve
  swar serve --model kokoro --pull --or-espeak
  swar serve --bundle hindi-int8
  swar serve --listen :8080 --data /var/lib/swar
  SWAR_API_KEY='secret1 secret2=raj,anjura' swar serve --portal off --listen :8080 --log-format json`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd, launch.FindCPUs()); err != nil {
				return err
			}
			return a.serve(cmd.Context(), &o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", defaultListen, "serve on this `address`")
	o.wyoming.define(f)
	f.StringArrayVar(&o.keys, "api-key", nil, "API key, `KEY` or KEY=voice,voice; can be repeated")
	f.BoolVar(&o.open, "open", false, "allow everyone to use a server without keys that other machines reach")
	o.workers.Define(f)
	f.IntVar(&o.queue, "queue", 8, "queue at most `n` utterances for a worker, for 2 s at most; 0 means none")
	o.engine.DefineCache(f)
	o.spool = launch.Size(f, "spool", 256<<20,
		"memory for audio that slow clients have not read yet, a `size` for all of them; 0 means none")
	o.label.Define(f)
	o.lexicon.Define(f)
	o.dialects.Define(f)
	o.logging.Define(f)
	f.StringVar(&o.metrics, "metrics-listen", "", "serve /metrics on this `address` instead of the main one")
	f.StringVar(&o.pprof, "pprof", "", "serve profiles on this loopback `address`")
	o.engine.Define(f)
	o.engine.DefinePull(f, a.pullModel, func(line string) { fmt.Fprintln(a.Err, name+": "+line) })
	o.portal = launch.Choice(f, "portal", "organisations, keys, usage and bills", "on", "off")
	o.store.Define(f)
	o.signIn.Define(f)
	o.proxies.Define(f)
	return cmd
}

// check refuses settings that cannot be meant, and fills in what depends on others.
func (o *serving) check(cmd *cobra.Command, cpus launch.CPUs) error {
	if err := errors.Join(o.engine.Check(cmd), o.workers.Check(cmd, cpus), o.proxies.Check(cmd), o.label.Check(cmd),
		o.lexicon.Check(cmd), o.dialects.Check(cmd)); err != nil {
		return err
	}
	if o.withPortal() {
		if err := errors.Join(o.store.Check(cmd), o.signIn.Check(cmd)); err != nil {
			return err
		}
	}
	if err := o.wyoming.check(cmd, o.open); err != nil {
		return err
	}
	for flag, address := range map[string]string{"--listen": o.listen, "--metrics-listen": o.metrics,
		"--pprof": o.pprof} {
		if address == "" && flag != "--listen" {
			continue
		}
		if err := launch.CheckAddress(cmd, flag, address); err != nil {
			return err
		}
	}
	switch {
	case o.open && o.withPortal():
		return launch.BadUsage(cmd, "--open needs --portal off: a server with the portal is never open")
	case o.open && len(o.keys) > 0:
		return launch.BadUsage(cmd, "--open and --api-key contradict each other; drop one of them")
	case o.lexicon.Set() && o.withPortal() && len(o.keys) == 0:
		return launch.BadUsage(cmd,
			"--lexicon is for keys of --api-key; with the portal each project has a list: swar lexicon import")
	case o.queue < 0:
		return launch.BadUsage(cmd, "--queue %d: want 0 or more", o.queue)
	case o.pprof != "" && !launch.IsLoopback(cmd.Context(), o.pprof):
		return launch.BadUsage(cmd,
			"--pprof %s: profiles reveal texts: only a loopback address such as 127.0.0.1:6060 is allowed", o.pprof)
	case !o.withPortal() && len(o.keys) == 0 && !o.open && !launch.IsLoopback(cmd.Context(), o.listen):
		return launch.BadUsage(cmd,
			"--listen %s is reached by other machines; give an --api-key, or --open to let everyone use it", o.listen)
	}
	return nil
}

func (o *serving) withPortal() bool { return *o.portal == "on" }

// wantsKey reports whether the server requires a key.
func (o *serving) wantsKey() bool { return o.withPortal() || len(o.keys) > 0 }
