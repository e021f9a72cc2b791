package main

import (
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
	"github.com/swar-tts/swar/runtime/pool"
)

func (a *app) normalizeCommand() *cobra.Command {
	var (
		where    remote
		own      engine.Flags
		enDigits bool
		asJSON   bool
	)
	cmd := &cobra.Command{
		Use:   "normalize TEXT… | -",
		Short: "Show how a text will be read, without speaking it",
		Long: `Shows how a text will be read: the chunks in which it is spoken, and below them what was rewritten.

It works in this process, and counts tokens as the embedded voice does, or the model of --bundle. With --server it asks one.`,
		Example: `  swar normalize 'Total ₹499 hai, OTP 482913.'
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
			var n client.Normalized
			if here {
				n, err = normalizeHere(cmd.Context(), &own, text, enDigits)
			} else {
				n, err = where.normalize(cmd, text, enDigits)
			}
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			if asJSON {
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
	own.Define(f)
	return cmd
}

func (r *remote) normalize(cmd *cobra.Command, text string, enDigits bool) (client.Normalized, error) {
	c, err := r.client(cmd)
	if err != nil {
		return client.Normalized{}, err
	}
	n, err := c.Normalize(cmd.Context(), text, enDigits)
	return n, call.Reached(r.base, "leave --server out to do without one", err)
}

func normalizeHere(ctx context.Context, own *engine.Flags, text string, enDigits bool) (n client.Normalized, err error) {
	e, err := own.OpenReader(ctx)
	if err != nil {
		return n, err
	}
	speaker, err := engine.NewSpeaker(e, pool.Config{Workers: 1}, slog.New(slog.DiscardHandler))
	if err != nil {
		return n, err
	}
	defer speaker.Close()
	spoken, err := speaker.Normalize(ctx, text, enDigits)
	if err != nil {
		return n, err
	}
	n = client.Normalized{
		Text: spoken.Text, Unspoken: spoken.Unspoken,
		Chars: utf8.RuneCountInString(spoken.Text), InputChars: spoken.InputChars,
		Chunks: []client.Chunk{}, Spans: []client.Span{}, // not null in JSON
	}
	for _, c := range spoken.Chunks {
		n.Chunks = append(n.Chunks, client.Chunk{Text: c.Text, Tokens: c.Tokens})
	}
	for _, s := range spoken.Spans {
		n.Spans = append(n.Spans, client.Span{Start: s.Start, End: s.End, Kind: string(s.Kind), Spoken: s.Spoken})
	}
	return n, nil
}

// printNormalized shows what was rewritten in colour: yellow as written, green as spoken. It puts the texts last in each line, because
// nobody agrees on how wide Devanagari is on a terminal.
func (a *app) printNormalized(text string, n client.Normalized) {
	fmt.Fprintln(a.Out, a.Out.Bold("chunk  tokens  spoken"))
	spans := n.Spans
	for i, c := range n.Chunks {
		var shown string
		shown, spans = a.paintSpoken(c.Text, spans)
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
		fmt.Fprintf(a.Out, "%4d  %4d  %-12s  %s %s %s\n", s.Start, s.End, s.Kind, a.Out.Yellow(was), a.Out.Dim("→"), a.Out.Green(s.Spoken))
	}
}

// paintSpoken paints what of the chunk came from spans, and returns the spans that lie behind it. A span that the end of a chunk cut in
// two is not found whole, and stays unpainted.
func (a *app) paintSpoken(chunk string, spans []client.Span) (string, []client.Span) {
	var b strings.Builder
	for {
		next := slices.IndexFunc(spans, func(s client.Span) bool { return s.Spoken != "" && strings.Contains(chunk, s.Spoken) })
		if next < 0 {
			return b.String() + chunk, spans
		}
		before, after, _ := strings.Cut(chunk, spans[next].Spoken)
		b.WriteString(before + a.Out.Green(spans[next].Spoken))
		chunk, spans = after, spans[next+1:]
	}
}
