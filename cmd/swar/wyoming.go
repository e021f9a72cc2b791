package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/dialect/wyoming"
)

const (
	defaultWyoming = "127.0.0.1:10200"
	wyomingCommand = "swar wyoming" // in messages
)

func (a *app) wyomingCommand() *cobra.Command {
	var (
		where   remote
		listen  string
		open    bool
		logging launch.LogFlags
	)
	cmd := &cobra.Command{
		Use:   "wyoming",
		Short: "Run a Wyoming server for Home Assistant, in front of a running server",
		Long: `Serves the Wyoming protocol of Home Assistant with the voices of a running server, such as a fleet. swar serve --wyoming
needs no separate command.

The protocol has neither keys nor TLS: every client that reaches the address uses the key of this command. An address that
other machines reach requires --open.`,
		Example: `  swar wyoming --server https://tts.example.com --key KEY
  SWAR_SERVER=https://tts.example.com SWAR_KEY=KEY swar wyoming --listen :10200 --open`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkWyoming(cmd, "--listen", listen, open); err != nil {
				return err
			}
			c, err := where.client(cmd)
			if err != nil {
				return err
			}
			log, err := logging.Open(a.Err, a.Err.Terminal)
			if err != nil {
				return err
			}
			l, err := launch.Listen(cmd.Context(), wyomingCommand, "--listen", listen)
			if err != nil {
				return err
			}
			log.Info("serving Wyoming", "address", l.Addr().String(), "server", where.base)
			s := wyomingSite{wyoming.New(wyoming.Config{Speech: remoteSpeech{c, where.base}, Version: version,
				Log: log}), l}
			drain := s.start(cmd.Context())
			<-cmd.Context().Done()
			limit, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), drainLimit)
			defer cancel()
			drain(limit)
			return nil
		},
	}
	f := cmd.Flags()
	where.flags(f)
	f.StringVar(&listen, "listen", defaultWyoming, "serve on this `address`")
	f.BoolVar(&open, "open", false, "allow access from other machines without a key")
	logging.Define(f)
	return cmd
}

// wyomingFlags are the settings of Wyoming in swar serve.
type wyomingFlags struct{ address, key string }

func (o *wyomingFlags) define(f *pflag.FlagSet) {
	f.StringVar(&o.address, "wyoming", "",
		"serve Home Assistant by the Wyoming protocol on this `address`, such as "+defaultWyoming)
	f.StringVar(&o.key, "wyoming-key", "",
		"the API `key` of all requests over Wyoming; without one they are not billed")
}

func (o *wyomingFlags) check(cmd *cobra.Command, open bool) error {
	switch {
	case o.address == "" && o.key != "":
		return launch.BadUsage(cmd, "--wyoming-key needs --wyoming")
	case o.address == "":
		return nil
	}
	return checkWyoming(cmd, "--wyoming", o.address, open)
}

// checkWyoming refuses an address that other machines reach, unless a flag allows it: the protocol has no keys.
func checkWyoming(cmd *cobra.Command, flag, address string, open bool) error {
	if err := launch.CheckAddress(cmd, flag, address); err != nil {
		return err
	}
	if open || launch.IsLoopback(cmd.Context(), address) {
		return nil
	}
	return launch.BadUsage(cmd,
		"%s %s is reached by other machines, and Wyoming has no keys; give a loopback address such as %s, or --open to let everyone speak",
		flag, address, defaultWyoming)
}
