package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/lexfile"
	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

func (a *app) normalizeCommand() *cobra.Command {
	var (
		where    remote
		own      engine.Flags
		enDigits bool
		asJSON   bool
		prepared bool
		why      bool
		names    string
	)
	cmd := &cobra.Command{
		Use:   "normalize TEXT… | -",
		Short: "Show how a text will be read, without speaking it",
		Long: `Shows how a text will be read: its chunks, and below them the rewritten pieces.

It works in this process, and counts tokens like espeak-ng, or like the model of --bundle. With --server it asks a server.

--engine-text shows the text that the model itself gets: some need Devanagari only, or no punctuation. The API returns the
text without this step.

--why explains the reading: which words made each sentence Hindi or English, with their weights; which rule read each piece,
which others match, and what made a number a code. Its wording may change.`,
		Example: `  swar normalize 'Total ₹499 hai, OTP 482913.'
  swar normalize --engine-text --bundle hindi-int8 'Aapka order kal aayega.'
  swar normalize --why 'Naya Savera Foundation planted 300 trees.'
  swar normalize --json - < message.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			here, err := a.here(cmd, &own, !cmd.Flags().Changed("server"))
			if err != nil {
				return err
			}
			text, err := a.text(cmd, args)
			if err != nil {
				return err
			}
			if err := checkText(text); err != nil {
				return err
			}
			if why {
				if prepared || !here {
					return launch.BadUsage(cmd,
						"--why explains the rules of this program, for which it needs no server and no model; "+
							"leave --server and --engine-text out")
				}
				if names != "" {
					return launch.BadUsage(cmd, "--why explains the rules, which run after --lexicon; leave that out")
				}
				return a.printWhy(normalize.Explain(text, normalize.Options{EnDigits: enDigits}), asJSON)
			}
			if prepared && !here {
				return launch.BadUsage(cmd, "--engine-text shows what a model in this process is given; "+
					"leave --server out and name its --bundle")
			}
			var n client.Normalized
			var given []string
			if here {
				u := speech.Utterance{Text: text, EnDigits: enDigits}
				if u.Lexicon, err = lexiconHere(names); err != nil {
					return err
				}
				n, given, err = normalizeHere(cmd.Context(), &own, u)
			} else {
				n, err = where.normalize(cmd, client.Request{Text: text, EnDigits: enDigits, Lexicon: names})
			}
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			switch {
			case prepared:
				return a.printEngineText(n.Chunks, given, asJSON)
			case asJSON:
				return a.PrintJSON(n)
			}
			a.printNormalized(text, n)
			return nil
		},
	}
	f := cmd.Flags()
	where.flags(f)
	f.BoolVar(&enDigits, "en-digits", false, "read codes and OTPs with English digit names")
	f.BoolVar(&asJSON, "json", false, "print what POST /v1/normalize answers")
	f.BoolVar(&prepared, "engine-text", false, "show the engine's text of each chunk")
	f.BoolVar(&why, "why", false, "show why the text is read as it is")
	f.StringVar(&names, "lexicon", "",
		"lexicon `file` (.csv or .pls); with --server: none, to preview without the lexicon")
	own.Define(f)
	return cmd
}

// lexiconHere reads the lexicon of a text that is read in this process.
func lexiconHere(path string) (*lexicon.Lexicon, error) {
	if path == "" || path == lexicon.None {
		return nil, nil //nolint:nilnil // a nil lexicon is one without entries
	}
	f, err := lexfile.Read(path)
	if err != nil {
		return nil, err
	}
	return lexicon.Compile(lexfile.ID, 1, f.Entries), nil
}

// printWhy shows the language of the message and the words that decided it, the sentences that are read otherwise, and
// the rule of each piece.
func (a *app) printWhy(w normalize.Why, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(w)
	}
	m := w.Message
	fmt.Fprintf(a.Out, "%s %s: %s in English, %d in Hindi%s\n", a.Out.Yellow("message"),
		a.Out.Bold(cmp.Or(m.Language, "without a language")), launch.Plural(m.English, "sentence"), m.Hindi,
		inCapitals(m))
	a.printEvidence(m.Words)
	for _, s := range w.Sentences {
		if s.Language == m.Language && s.InCapitals == m.InCapitals {
			continue
		}
		letters := ""
		if s.InCapitals != m.InCapitals {
			letters = map[bool]string{true: ", in capitals", false: ", not in capitals"}[s.InCapitals]
		}
		fmt.Fprintf(a.Out, "%s %s %+d%s\n", a.Out.Yellow(s.Text), a.Out.Bold(s.Language), s.Weight, letters)
		a.printEvidence(s.Words)
	}
	if len(w.Pieces) == 0 {
		return nil
	}
	fmt.Fprintln(a.Out)
	for _, p := range w.Pieces {
		reason := ""
		if p.Reason != "" {
			reason = ", by " + p.Reason
		}
		also := ""
		if len(p.Also) > 0 {
			also = ", before " + strings.Join(p.Also, ", ")
		}
		fmt.Fprintf(a.Out, "%s: %s, rule %q%s%s\n", a.Out.Yellow(p.Text), p.Kind, p.Rule, reason, also)
	}
	return nil
}

func (a *app) printEvidence(words []normalize.WhyWord) {
	for _, e := range words {
		fmt.Fprintf(a.Out, "  %+4d  %s: %s\n", e.Weight, e.Word, e.Evidence)
	}
}

func inCapitals(m normalize.WhyMessage) string {
	if !m.InCapitals {
		return ""
	}
	return fmt.Sprintf("; in capitals: %s, %d other", launch.Plural(m.Upper, "word"), m.Other)
}

func (r *remote) normalize(cmd *cobra.Command, request client.Request) (client.Normalized, error) {
	c, err := r.client(cmd)
	if err != nil {
		return client.Normalized{}, err
	}
	n, err := c.Preview(cmd.Context(), request)
	return n, call.Reached(r.base, "leave --server out to do without one", err)
}

// normalizeHere also returns what the engine is given of each chunk.
func normalizeHere(
	ctx context.Context, own *engine.Flags, u speech.Utterance,
) (n client.Normalized, given []string, err error) {
	e, err := own.OpenReader(ctx)
	if err != nil {
		return n, nil, err
	}
	speaker, err := engine.NewSpeaker(e, pool.Config{Workers: 1}, slog.New(slog.DiscardHandler))
	if err != nil {
		return n, nil, err
	}
	defer speaker.Close()
	spoken, err := speaker.Normalize(ctx, u)
	if err != nil {
		return n, nil, err
	}
	n = client.Normalized{
		Text: spoken.Text, Unspoken: spoken.Unspoken,
		Chars: utf8.RuneCountInString(spoken.Text), InputChars: spoken.InputChars,
		Chunks: []client.Chunk{}, Spans: []client.Span{}, // not null in JSON
	}
	for _, c := range spoken.Chunks {
		n.Chunks = append(n.Chunks, client.Chunk{
			Text: c.Text, Tokens: c.Tokens, CharStart: c.CharStart, CharEnd: c.CharEnd,
		})
		prepared := c.Text
		if p, ok := e.(synth.Preparer); ok {
			prepared = p.Prepared(c.Text)
		}
		given = append(given, prepared)
	}
	for _, s := range spoken.Spans {
		n.Spans = append(n.Spans, client.Span{
			Start: s.Start, End: s.End, Kind: string(s.Kind), Spoken: s.Spoken, OutStart: s.OutStart, OutEnd: s.OutEnd,
		})
	}
	return n, given, nil
}

// printEngineText shows what the engine is given of each chunk.
func (a *app) printEngineText(chunks []client.Chunk, given []string, asJSON bool) error {
	type engineChunk struct {
		Text       string `json:"text"`
		EngineText string `json:"engine_text"`
		Tokens     int    `json:"tokens"`
	}
	list := []engineChunk{} // not null in JSON
	for i, c := range chunks {
		list = append(list, engineChunk{c.Text, given[i], c.Tokens})
	}
	if asJSON {
		return a.PrintJSON(list)
	}
	fmt.Fprintln(a.Out, a.Out.Bold("chunk  tokens  text for the engine"))
	for i, c := range list {
		fmt.Fprintf(a.Out, "%5d  %6d  %s\n", i, c.Tokens, c.EngineText)
	}
	return nil
}

// printNormalized prints the rewritten parts in colour: yellow as written, green as spoken, and pale the disclosure.
// Texts come last in each line, because terminals disagree on the width of Devanagari.
func (a *app) printNormalized(text string, n client.Normalized) {
	fmt.Fprintln(a.Out, a.Out.Bold("chunk  tokens  spoken"))
	spans, before := n.Spans, n.Disclosure
	for i, c := range n.Chunks {
		var shown string
		if rest, ok := strings.CutPrefix(before, c.Text); ok {
			before, shown = strings.TrimSpace(rest), a.Out.Dim(c.Text) // nothing of it came from text
		} else {
			shown, spans = a.paintSpoken(c.Text, spans)
		}
		fmt.Fprintf(a.Out, "%5d  %6d  %s\n", i, c.Tokens, shown)
	}
	if n.Unspoken != "" {
		fmt.Fprintf(a.Out, "\n%s %s\n", a.Out.Yellow("left out:"), leftOut(n.Unspoken))
	}
	if len(n.Spans) == 0 {
		return
	}
	written := []rune(strings.TrimSpace(text))
	fmt.Fprintln(a.Out)
	fmt.Fprintln(a.Out, a.Out.Bold("from    to  kind          written → spoken"))
	for _, s := range n.Spans {
		was := "?" // of a server that counts differently
		if 0 <= s.Start && s.Start <= s.End && s.End <= len(written) {
			was = string(written[s.Start:s.End])
		}
		fmt.Fprintf(a.Out, "%4d  %4d  %-12s  %s %s %s\n", s.Start, s.End, s.Kind, a.Out.Yellow(was), a.Out.Dim("→"),
			a.Out.Green(s.Spoken))
	}
}

// paintSpoken paints what of the chunk came from spans, and returns the spans that lie behind it. A span that the end
// of a chunk cut in two is not found whole, and stays unpainted.
func (a *app) paintSpoken(chunk string, spans []client.Span) (string, []client.Span) {
	var b strings.Builder
	for {
		next := slices.IndexFunc(spans,
			func(s client.Span) bool { return s.Spoken != "" && strings.Contains(chunk, s.Spoken) })
		if next < 0 {
			return b.String() + chunk, spans
		}
		before, after, _ := strings.Cut(chunk, spans[next].Spoken)
		b.WriteString(before + a.Out.Green(spans[next].Spoken))
		chunk, spans = after, spans[next+1:]
	}
}
