package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	kokoro "github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/manifest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/speech"
)

func (a *app) inspectCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect DIR",
		Short: "Show the contents of a bundle",
		Long: `Shows the contents of a bundle from its manifest, without a library and without reading weights. For a folder in a
published layout it names the layout.`,
		Example: "  swar bundle inspect hindi-int8",
		Args:    oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			kind, err := engine.FindLayout(dir)
			if err != nil {
				return err
			}
			if kind != layout.None {
				return a.printLayout(dir, kind, asJSON)
			}
			b, err := manifest.Open(dir)
			if err != nil {
				return err
			}
			if asJSON {
				return a.PrintJSON(b.Manifest)
			}
			return a.printBundle(dir, &b)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the manifest")
	return cmd
}

// oneFolder wants exactly the name of a bundle.
func oneFolder(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one folder: %s DIR", cmd.CommandPath())
	}
	return nil
}

func (a *app) printLayout(dir string, kind layout.Kind, asJSON bool) error {
	bytes, err := folderBytes(dir)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(struct {
			Layout string `json:"layout"`
			Bytes  int64  `json:"bytes"`
		}{kind.String(), bytes})
	}
	fmt.Fprintf(a.Out, "%s is in the %s layout (%s). It loads as it is:\n\n  %s serve --bundle %s\n\n",
		a.Out.Bold(dir), kind, launch.Megabytes(bytes), a.Invocation, shellWord(dir))
	fmt.Fprint(a.Out,
		"Made with `swar bundle convert` from the checkpoint behind it, the same model is faster and smaller.\n")
	return nil
}

// printBundle prints what a bundle says of itself.
func (a *app) printBundle(dir string, b *manifest.Bundle) error {
	switch m := b.Manifest.(type) {
	case bundle.Manifest:
		return a.printManifest(dir, &m)
	case kokoro.Manifest:
		return a.printKokoro(dir, &m)
	}
	return fmt.Errorf("%s is for the engine %s; this program has no details", dir, b.Engine)
}

// printKokoro prints the manifest of a bundle of Kokoro.
func (a *app) printKokoro(dir string, m *kokoro.Manifest) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(a.Out, "%s\n\n", a.Out.Bold(dir))
	for _, row := range [][2]string{
		{"model", m.Model.ID}, {"engine", m.Engine}, {"revision", cmp.Or(m.Model.Revision, "not stated")},
		{"licence", cmp.Or(m.Model.Licence, "not stated")}, {"languages", strings.Join(m.Model.Languages, ", ")},
		{"weights", "SHA-256 " + m.Model.Weights}, {"precision", "int8, for ONNX Runtime " + m.MinRuntime + " or later"},
	} {
		fmt.Fprintf(t, "%s\t%s\n", row[0], row[1])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(a.Out, "\n")
	fmt.Fprintln(t, "voice\tpublished as\tlanguage\tgain\tfile\tsize")
	for _, v := range m.Voices {
		fmt.Fprintf(t, "%s\t%s\t%s\t%+.1f dB\t%s\t%s\n", v.Name, v.Source, v.Language, v.GainDB, v.File.File,
			launch.Megabytes(v.Bytes))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(a.Out, "\n")
	fmt.Fprintln(t, "file\tsize\tSHA-256")
	for _, f := range []kokoro.File{m.Text, m.Prosody, m.Vocoder} {
		fmt.Fprintf(t, "%s\t%s\t%s…\n", f.File, launch.Megabytes(f.Bytes), f.SHA256[:16])
	}
	fmt.Fprintf(t, "all of it\t%s\t\n", launch.Megabytes(m.Bytes()))
	return t.Flush()
}

func (a *app) printManifest(dir string, m *bundle.Manifest) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	orNone := func(s string) string {
		if s == "" {
			return "not stated"
		}
		return s
	}
	d, s, l := m.Dims, m.Sampling, m.Limits
	fmt.Fprintf(a.Out, "%s\n\n", a.Out.Bold(dir))
	row("model", "%s", m.Model.ID)
	row("revision", "%s", orNone(m.Model.Revision))
	row("licence", "%s", orNone(m.Model.Licence))
	row("languages", "%s", strings.Join(m.Model.Languages, ", "))
	row("weights", "SHA-256 %s", m.Model.Weights)
	row("size", "%s, width %d, %s of %d, feed-forward %d, %d pieces, latent %d", launch.Plural(d.Layers, "layer"),
		d.Width, launch.Plural(d.Heads, "head"), d.HeadDim, d.FFN, d.Vocab, d.Latent)
	row("codec", "width %d, %s, window %d, %d positions a frame", d.CodecWidth, launch.Plural(d.CodecHeads, "head"),
		d.CodecWindow, d.Upsample)
	row("precision", "%s, for ONNX Runtime %s or later", m.Precision, m.MinRuntime)
	if q := m.Quantised; q != (bundle.Quantised{}) {
		row("integers", "the matrices %s", q.Matrices)
	}
	row("flow", "%s, %s, width %d; GELU %s; %s", m.Flow.Type, launch.Plural(m.Flow.Steps, "step"), d.FlowWidth,
		m.GELU, startRow(m.BOS))
	row("text", "%s", textRules(&m.Text))
	if m.Trained != (bundle.Trained{}) {
		row("trained on", "%s", trainedOn(&m.Trained))
	}
	row("sampling", "temperature %g, %s", s.Temperature, clamp(s.NoiseClamp))
	row("end", "logit above %g, not in the first %s; then %s more, %d after at most %s", s.EOSThreshold,
		launch.Plural(s.MinFrames, "frame"),
		launch.Plural(s.FramesAfterEOS, "frame"), s.FramesAfterEOSShort, launch.Plural(s.ShortWords, "word"))
	row("limits", "%s and %s a chunk (%.1f s), %d positions", launch.Plural(l.MaxTokens, "token"),
		launch.Plural(l.MaxFrames(l.MaxTokens), "frame"),
		speech.Seconds(l.MaxFrames(l.MaxTokens)), l.Positions)
	row("decoding", "%s at a time, the first %s of a chunk faded in", framePlan(m.Decode.Plan),
		launch.Plural(m.Decode.FadeIn, "sample"))

	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	fmt.Fprintln(t, "voice\tlanguage\tprompt\tfile\tsize")
	total := int64(0)
	for _, v := range m.Voices {
		fmt.Fprintf(t, "%s\t%s\t%d positions\t%s\t%s\n", v.Name, v.Language, v.PromptFrames, v.File.File,
			launch.Megabytes(v.Bytes))
		total += v.Bytes
	}
	if err := t.Flush(); err != nil {
		return err
	}
	a.printOrigins(m)
	fmt.Fprintln(a.Out)
	fmt.Fprintln(t, "file\tsize\tSHA-256")
	for _, f := range []bundle.File{m.LM.File, m.FlowHead.File, m.Codec.File, m.Host, m.Tokenizer.File} {
		fmt.Fprintf(t, "%s\t%s\t%s…\n", f.File, launch.Megabytes(f.Bytes), f.SHA256[:16])
		total += f.Bytes
	}
	fmt.Fprintf(t, "all of it\t%s\t\n", launch.Megabytes(total))
	return t.Flush()
}

// printOrigins prints the recordings that voices were cloned from, and the speakers' consents.
func (a *app) printOrigins(m *bundle.Manifest) {
	for _, v := range m.Voices {
		if r := v.Recording; r != (bundle.Recording{}) {
			fmt.Fprintf(a.Out, "\n%s was cloned from %.1f s of %s, SHA-256 %s\n", v.Name, r.Seconds, r.Format, r.SHA256)
		}
		if c := v.Consent; c != (bundle.Consent{}) {
			fmt.Fprintf(a.Out, "consent of %s, noted on %s: %s\n", v.Name, c.Date, oneLine(c.Text))
		}
	}
}

// oneLine makes foreign text safe for a terminal: one line, without control characters. "a\nb\x1b[2J" → "a b [2J"
func oneLine(text string) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return strings.Join(strings.FieldsFunc(text, blank), " ")
}

func framePlan(plan []int) string {
	var parts []string
	for _, n := range plan {
		parts = append(parts, launch.Plural(n, "frame"))
	}
	return strings.Join(parts, ", then ")
}

func startRow(before bool) string {
	if before {
		return "a start row before the voice"
	}
	return "no start row before the voice"
}

func clamp(limit float64) string {
	if limit == 0 {
		return "noise not clamped"
	}
	return fmt.Sprintf("noise clamped to ±%g", limit)
}

// trainedOn describes the text that the model was trained on.
func trainedOn(t *bundle.Trained) string {
	known := []string{map[bundle.Script]string{
		bundle.Devanagari:      "Devanagari, also for English",
		bundle.DevanagariLatin: "Devanagari, with English in Latin letters",
	}[t.Script]}
	if known[0] == "" {
		known[0] = "any script that its tokenizer has"
	}
	switch t.Punctuation {
	case "":
	case bundle.NoPunctuation:
		known = append(known, "no punctuation")
	default:
		known = append(known, "the marks "+t.Punctuation)
	}
	if t.Numbers == bundle.NumbersAsWords {
		known = append(known, "numbers as words")
	}
	return strings.Join(known, "; ")
}

func textRules(t *bundle.Text) string {
	var rules []string
	for _, rule := range []struct {
		on   bool
		text string
	}{
		{t.Capitalise, "first letter in upper case"}, {t.TerminalPunctuation, "a full stop if there is no end mark"},
		{t.RemoveSemicolons, "; becomes ,"}, {t.PadShort, "eight spaces before fewer than five words"},
	} {
		if rule.on {
			rules = append(rules, rule.text)
		}
	}
	for _, r := range t.Replace {
		rules = append(rules, fmt.Sprintf("%q becomes %q", r.From, r.To))
	}
	if len(rules) == 0 {
		return "as it is"
	}
	return strings.Join(rules, "; ")
}
