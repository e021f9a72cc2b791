package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/models/hub"
	"github.com/swar-tts/swar/models/pull"
	"github.com/swar-tts/swar/runtime/kokoro"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// pulling is a run of swar model pull, or of swar serve --pull.
type pulling struct {
	app     *app
	request pull.Request
	runtime engine.Runtime // what the bundle is tried with
	quiet   bool           // only the folder is printed
	limit   int64          // bytes that an archive may take with what is in it
}

func (a *app) modelPullCommand() *cobra.Command {
	var (
		voices []string
		limit  *int64
	)
	p := pulling{app: a}
	cmd := &cobra.Command{
		Use:   "pull NAME[@REVISION] | hf://OWNER/NAME[/CONFIG][@REVISION] | oci://… | https://…#sha256=… | file:…",
		Short: "Download a public model, convert it, and try it",
		Long: `Downloads a model from the Hugging Face hub, or from HF_ENDPOINT, converts it to a bundle, speaks once with every voice,
and puts it into the store. Every byte is hashed. An interrupted download resumes at the next pull.

A model has its own voices, else those of the catalogue or of --voice: a recording of 5 to 30 s of one person who has
agreed. Some models are gated: accept their terms on their page, and set HF_TOKEN to your token.

A finished bundle can come from a registry of container images, from an archive at an address with its hash, or from a
local file or folder.`,
		Example: `  swar model pull saryps-hindi
  swar model pull saryps-hindi --voice anjura=anjura.wav
  swar model pull kokoro --voice af_heart
  swar model pull hf://owner/name@v1 --precision fp32
  swar model pull https://models.example.org/hindi.tar.zst#sha256=9f2c…`,
		Args: launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.request.Reference = args[0]
			if err := p.check(cmd, voices); err != nil {
				return err
			}
			p.limit = *limit
			m, isNew, err := p.run(cmd.Context())
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			p.done(m, isNew)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&p.request.Name, "name", "",
		"what to call it here (default its `name` in the catalogue, or of the repository)")
	f.StringVar(&p.request.Precision, "precision", bundle.Int8, "`int8`, the fast one, or fp32, the exact model")
	f.StringArrayVar(&voices, "voice", nil,
		"a voice, `NAME=FILE`: a recording, or stored as safetensors, here or as hf://OWNER/NAME/FILE; "+
			"or the name of one that the model offers; can be repeated")
	f.StringVar(&p.request.Codec, "codec", "",
		"weights of the codec, a `file` or hf://OWNER/NAME/FILE, for models that are published without one")
	f.IntVar(&p.request.VoiceSeconds, "voice-seconds", defaultVoiceSeconds,
		"leave room for voices of `n` seconds, 0 to 30, which swar voice adds later")
	limit = launch.Size(f, "limit", defaultArchiveLimit,
		"limit for the archive and its contents together")
	f.BoolVar(&p.quiet, "quiet", false, "print only the folder of the bundle")
	p.runtime.Define(f)
	a.completeModels(cmd)
	return cmd
}

// defaultVoiceSeconds is what a good recording has. Each second takes 0.3 MB of each stream of six layers.
const defaultVoiceSeconds = 20

// pullModel downloads a model like swar model pull without flags.
func (a *app) pullModel(ctx context.Context, reference string) (models.Model, error) {
	p := pulling{app: a,
		request: pull.Request{Reference: reference, Precision: bundle.Int8, VoiceSeconds: defaultVoiceSeconds},
		limit:   defaultArchiveLimit}
	m, _, err := p.run(ctx)
	return m, err
}

// check refuses settings that cannot be meant.
func (p *pulling) check(cmd *cobra.Command, voices []string) error {
	if p.request.Precision != bundle.FP32 && p.request.Precision != bundle.Int8 {
		return launch.BadUsage(cmd, "--precision %q: want int8 or fp32", p.request.Precision)
	}
	if p.request.VoiceSeconds < 0 || p.request.VoiceSeconds > 30 {
		return launch.BadUsage(cmd, "--voice-seconds %d: want 0 to 30", p.request.VoiceSeconds)
	}
	p.request.Voices = make(map[string]string)
	for _, v := range voices {
		name, from, ok := strings.Cut(v, "=")
		if _, known := offered(p.request.Reference, v); known {
			ok, from = true, v
		}
		switch {
		case !ok || name == "" || from == "":
			return launch.BadUsage(cmd, "--voice %q: want NAME=FILE", v)
		case p.request.Voices[name] != "":
			return launch.BadUsage(cmd, "--voice %s is given twice", name)
		}
		p.request.Voices[name] = from
	}
	return nil
}

// offered returns the voice of that name that the catalogue offers for a model but does not download by default.
func offered(reference, voice string) (catalog.Voice, bool) {
	name, _, _ := strings.Cut(reference, "@")
	e, ok := catalog.Find(name)
	if !ok {
		return catalog.Voice{}, false
	}
	return e.VoiceNamed(voice)
}

// run pulls.
func (p *pulling) run(ctx context.Context) (m models.Model, isNew bool, err error) {
	if isElsewhere(p.request.Reference) {
		m, err = p.pullElsewhere(ctx)
		return m, err == nil, err
	}
	store, err := models.OpenStore()
	if err != nil {
		return m, false, err
	}
	h, err := hub.FromEnvironment(name+"/"+version, os.LookupEnv)
	if err != nil {
		return m, false, err
	}
	shown := p.newPace()
	defer shown.task.Clear()
	puller := &pull.Puller{
		Store: store, Hub: h, Progress: shown.at, Verify: p.verify, Measure: p.measure(),
		Notice: func(line string) {
			shown.task.Clear()
			p.printf("%s", line)
		},
	}
	plan, err := puller.Plan(ctx, p.request)
	shown.task.Clear()
	if err != nil {
		return m, false, err
	}
	p.show(plan)
	return puller.Pull(ctx, plan)
}

// measure returns a function that measures new voices, if ONNX Runtime is installed.
func (p *pulling) measure() pull.MeasureFunc {
	if p.runtime.Find() != nil {
		return nil
	}
	return kokoro.Measuring(p.runtime.Library)
}

// verify tries a bundle with the library of the neural engine, if there is one.
func (p *pulling) verify(ctx context.Context, folder string) error {
	v := &verifying{app: p.app, shown: p.app.NewTask(), dir: folder, quiet: p.quiet, lean: true}
	defer v.shown.Clear()
	if !p.runtime.Named() && p.runtime.Find() != nil {
		p.printf("ONNX Runtime was not found, so the model was not tested; see `%s doctor`",
			p.app.Invocation)
		return v.files()
	}
	return v.bundle(ctx, p.runtime)
}

// printf writes a line to stderr, unless the pull is quiet.
func (p *pulling) printf(format string, args ...any) {
	if !p.quiet {
		fmt.Fprintf(p.app.Err, format+"\n", args...)
	}
}

// show prints what will be downloaded, from where and under which licence.
func (p *pulling) show(plan *pull.Plan) {
	title := plan.Name
	if e := plan.Entry; e != nil {
		title += ": " + e.Title
	}
	p.printf("%s", p.app.Err.Bold(title))
	p.printf("  from     %s", plan.From())
	licence := plan.Licence()
	if licence == "" {
		licence = "not stated: read its page before you use it"
	}
	p.printf("  licence  %s", licence)
	if plan.Revision.Gate != "" {
		p.printf("  gate     its terms have to be accepted on its page")
	}
	if plan.Bytes > 0 {
		p.printf("  size     %s to download", launch.Megabytes(plan.Bytes))
	} else {
		p.printf("  size     all of it is here")
	}
	for _, v := range plan.Voices {
		p.printf("  voice    %s is %s (%s)", v.Name, v.Attribution, v.Licence)
		for _, n := range v.Notes {
			p.printf("           %s", n)
		}
	}
	if e := plan.Entry; e != nil {
		for _, n := range e.Notes {
			p.printf("  note     %s", n)
		}
	}
}

// done prints commands to try next.
func (p *pulling) done(m models.Model, isNew bool) {
	if p.quiet {
		fmt.Fprintln(p.app.Out, m.Folder)
		return
	}
	out := p.app.Out
	if !isNew {
		fmt.Fprintf(out, "%s %s@%s is installed already\n\n", out.Green("✓"), m.Name, m.Short())
	} else {
		fmt.Fprintf(out, "%s %s@%s: %s, %s, %s\n\n", out.Green("✓"), m.Name, m.Short(), m.Made.Precision,
			launch.Plural(len(m.Voices), "voice"),
			launch.Megabytes(m.Bytes))
	}
	fmt.Fprintf(out, "  %s say --model %s %s\n  %s serve --model %s\n", p.app.Invocation, m.Name,
		quote("Namaste! Kya haal hai?"), p.app.Invocation, m.Name)
}

// pace shows progress with its rate, and the time that is left.
type pace struct {
	task  *launch.Task
	quiet bool

	what      string
	begun     time.Time
	first     int64     // of done, when what began
	printedAt time.Time // when a line without a bar was printed
}

func (p *pulling) newPace() *pace { return &pace{task: p.app.NewTask(), quiet: p.quiet} }

const (
	paceAfter = 2 * time.Second  // a rate over less says little
	paceLines = 10 * time.Second // between lines, without a terminal
)

func (p *pace) at(done, total int64, what string) {
	if p.quiet {
		return
	}
	now := time.Now()
	if what != p.what {
		p.what, p.begun, p.first, p.printedAt = what, now, done, now
	}
	passed := now.Sub(p.begun)
	if done <= p.first || passed < paceAfter || total <= 0 {
		p.task.At(done, total, what)
		return
	}
	perSecond := float64(done-p.first) / passed.Seconds()
	left := time.Duration(float64(total-done) / perSecond * float64(time.Second)).Round(time.Second)
	p.task.With(fmt.Sprintf("%d %%, %v left", 100*done/total, left), now.Sub(p.printedAt) >= paceLines)
	if now.Sub(p.printedAt) >= paceLines {
		p.printedAt = now
	}
	p.task.At(done, total, what)
}
