package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/encode"
	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/onnx"
)

// finding is what a check found.
type finding struct {
	what string
	text string
	todo string // what to do; empty when all is well
	bad  bool   // without doing it, nothing works
}

var errUnwell = errors.New("a required part is missing; see above")

func (a *app) doctorCommand() *cobra.Command {
	var (
		listen, dir string
		r           engine.Runtime
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine has what Swar needs",
		Long: `Checks that this machine has what Swar needs, and how to install missing parts. With --bundle it also
loads that model; without it ONNX Runtime is optional.`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := []finding{checkBuild()}
			findings = append(findings, checkEspeak(dir == "")...)
			findings = append(findings, checkNeural(cmd.Context(), dir, r)...)
			findings = append(findings, checkOpus(), checkCPUs(launch.FindCPUs()), checkPort(cmd.Context(), listen),
				checkPlayer())
			return a.printFindings(findings)
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", defaultListen, "`address` that a server would listen on")
	f.StringVar(&dir, "bundle", "", "`folder` of a neural model to check as well")
	r.Define(f)
	return cmd
}

func (a *app) printFindings(findings []finding) error {
	var err error
	for _, f := range findings {
		mark := a.Out.Green("ok  ")
		switch {
		case f.bad:
			mark = a.Out.Red("MISS")
			err = errUnwell
		case f.todo != "":
			mark = a.Out.Yellow("note")
		}
		fmt.Fprintf(a.Out, "%s  %-11s %s\n", mark, f.what, f.text)
		if f.todo != "" {
			fmt.Fprintf(a.Out, "%18s→ %s\n", "", f.todo)
		}
	}
	return err
}

func checkBuild() finding {
	return finding{what: "swar", text: thisBuild().String()}
}

// checkEspeak looks for the embedded voice, which a server needs unless it speaks with a bundle.
func checkEspeak(needed bool) []finding {
	e, err := espeak.New(espeak.Config{})
	switch {
	case errors.Is(err, espeak.ErrNotInstalled):
		_, todo, _ := strings.Cut(espeak.ErrNotInstalled.Error(), ": ")
		return []finding{{what: "espeak-ng", text: "not installed; it is the voice of the embedded engine",
			todo: todo, bad: needed}}
	case err != nil:
		return []finding{{what: "espeak-ng", text: err.Error(),
			todo: "reinstall it, with its data (Debian: espeak-ng-data)", bad: needed}}
	}
	defer e.Close()
	path, _ := exec.LookPath("espeak-ng")
	var names []string
	for _, v := range e.Model().Voices {
		names = append(names, v.Name)
	}
	return []finding{
		{what: "espeak-ng", text: e.Version() + " at " + path},
		{what: "voices", text: strings.Join(names, ", ") + ", with its Hindi voice"},
	}
}

// checkNeural looks for the library of the neural engine and loads it, and then the bundle, if there is one.
func checkNeural(ctx context.Context, dir string, r engine.Runtime) []finding {
	needed := dir != "" || r.Named()
	if err := r.Find(); err != nil {
		text, todo, _ := strings.Cut(err.Error(), ": ")
		return []finding{{what: "onnxruntime", text: text + "; only neural models need it", todo: todo, bad: needed}}
	}
	if err := r.UseKernel(); err != nil {
		return []finding{{what: "integers", text: err.Error(), todo: "choose another with --kernel, or none",
			bad: true}}
	}
	if err := r.Load(); err != nil {
		text := strings.TrimSuffix(err.Error(), ": fetch it with `make onnxruntime`")
		return []finding{{what: "onnxruntime", text: text, todo: "fetch the right one with `make onnxruntime`",
			bad: needed}}
	}
	findings := []finding{{what: "onnxruntime", text: r.Release + " at " + r.Library}, checkIntegers()}
	if dir == "" {
		return findings
	}
	e, err := r.OpenBundle(ctx, dir, 1, -1)
	if err != nil {
		return append(findings,
			finding{what: "bundle", text: err.Error(),
				todo: "name another one, or convert it again with `swar bundle convert`", bad: true})
	}
	m, memory := e.Model(), e.Memory()
	f := finding{what: "bundle", text: fmt.Sprintf("model %s with %s; %d MB, and %d MB for each stream",
		m.ID, launch.Plural(len(m.Voices), "voice"), engine.MB(memory.Weights+memory.Prompts),
		engine.MB(memory.Stream))}
	if err := e.Close(); err != nil {
		f.todo, f.bad = err.Error(), true
	}
	return append(findings, f)
}

// checkIntegers says by which instructions models in int8 multiply, and whether they do it rightly.
func checkIntegers() finding {
	if err := onnx.CheckIntegers(); err != nil {
		text, todo, _ := strings.Cut(err.Error(), "): ")
		return finding{what: "integers", text: text + ")", todo: todo, bad: true}
	}
	text := "int8 models multiply with the kernel " + onnx.Kernel() + ", whose results are exact"
	if others := slices.DeleteFunc(onnx.Kernels(),
		func(name string) bool { return name == onnx.Kernel() }); len(others) > 0 {
		text += "; SWAR_KERNEL can choose " + strings.Join(others, ", ")
	}
	return finding{what: "integers", text: text}
}

func checkOpus() finding {
	return finding{what: "libopus", text: strings.TrimPrefix(encode.OpusVersion(), "libopus ")}
}

func checkCPUs(c launch.CPUs) finding {
	f := finding{what: "processors", text: fmt.Sprintf("%v: %s by default", c, launch.Plural(c.Whole(), "worker"))}
	if c.Quota > 0 && c.Quota < 1 {
		f.todo = "grant a whole CPU: with less, audio may be slower than playback"
	}
	return f
}

func checkPort(ctx context.Context, listen string) finding {
	f := finding{what: "port"}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err == nil {
		l.Close()
		f.text = listen + " is free"
		return f
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		f.text, f.todo = err.Error(), "choose another address with `swar serve --listen HOST:PORT`"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if c, err := client.New("http://"+listen, client.Options{}); err == nil {
		if h, err := c.Health(ctx); err == nil && h.Workers > 0 {
			f.text = fmt.Sprintf("a Swar server (%s) speaks at %s with %s", h.Version, listen,
				launch.Plural(h.Workers, "worker"))
			return f
		}
	}
	f.text = "another program listens on " + listen
	f.todo = "stop it, or choose another port with `swar serve --listen`"
	return f
}

func checkPlayer() finding {
	p, path, ok := findPlayer()
	if !ok {
		return finding{
			what: "player", text: "none found: `swar say` can only write files",
			todo: "install ffmpeg (ffplay) or alsa-utils (aplay) to listen to speech",
		}
	}
	return finding{what: "player", text: p.name + " at " + path}
}
