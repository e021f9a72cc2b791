// Command swar-worker synthesises speech for routers. It holds a model and its workers, and has no queue: without a
// free slot it refuses at once. It knows neither clients nor tenants.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/peer"
	"github.com/swar-tts/swar/cmd/internal/trace"
)

// version is set by the linker.
var version = launch.Development

const name = "swar-worker"

func main() {
	p := launch.NewProgram(name)
	os.Exit(p.Main(command(p)))
}

// options is the settings of the program.
type options struct {
	listen  string
	http    string
	workers engine.WorkerFlags
	linger  time.Duration
	engine  engine.Flags
	peers   peer.Flags
	logging launch.LogFlags
	traces  trace.Flags
}

func command(p *launch.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   name,
		Short: "Speak for routers",
		Long: `Speaks utterances of routers (swar-router) until SIGINT or SIGTERM. Each worker speaks one utterance at a time, without a
queue. The first signal drains, after --linger: new utterances are refused and running ones finish, for at most two minutes.
A second signal stops at once.

Probes and metrics have another address: /healthz, /readyz and /metrics on --http. It is ready when every worker has spoken
with each voice.

Every flag can also be set in the environment: --log-level as SWAR_LOG_LEVEL. The command line wins.`,
		Example: `  swar-worker --listen 127.0.0.1:9090 --http 127.0.0.1:9091 --token-file token
  swar-worker --bundle hindi-int8 --bundle-digest 9f2c… --tls-cert tls.crt --tls-key tls.key --tls-ca ca.crt`,
		Args:    launch.Exactly(0),
		Version: fmt.Sprintf("%s %s", name, launch.ThisBuild(version)),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), p, &o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", ":9090", "serve routers on this `address`")
	f.StringVar(&o.http, "http", ":9091", "serve probes and metrics on this `address`")
	f.DurationVar(&o.linger, "linger", 0, "after a first signal, accept utterances for so long, or until a router "+
		"has another pod (at most 30s)")
	o.workers.Define(f)
	o.engine.DefineCache(f)
	o.engine.Define(f)
	o.engine.DefineDigest(f)
	o.peers.Define(f)
	o.logging.Define(f)
	o.traces.Define(f)
	return cmd
}

// check refuses settings that cannot be meant.
func (o *options) check(cmd *cobra.Command) error {
	if err := o.engine.Check(cmd); err != nil {
		return err
	}
	if err := o.workers.Check(cmd, launch.FindCPUs()); err != nil {
		return err
	}
	if o.linger < 0 || o.linger > maxLinger {
		return launch.BadUsage(cmd, "--linger %v: want 0s to %v", o.linger, maxLinger)
	}
	if err := errors.Join(o.peers.Check(cmd), o.traces.Check(cmd)); err != nil {
		return err
	}
	if err := launch.CheckAddress(cmd, "--listen", o.listen); err != nil {
		return err
	}
	if err := o.peers.CheckListen(cmd, "--listen", o.listen); err != nil {
		return err
	}
	return launch.CheckAddress(cmd, "--http", o.http)
}
