package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
)

func (a *app) mcpCommand() *cobra.Command {
	var (
		where  remote
		folder string
	)
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Run a Model Context Protocol server for language models",
		Long: `Serves the Model Context Protocol on standard input and output, for programs such as Claude Desktop or an editor, which
start it. It offers three tools:

  say           speaks a text into a file of the folder
  normalize     shows how a text will be read
  list_voices   lists the voices that the key may use

It needs a running server. Standard output has only the protocol; errors are results of the tool.`,
		Example: `  swar mcp --server http://127.0.0.1:8080 --key KEY --mcp-dir ~/speech
  SWAR_SERVER=https://tts.example.com SWAR_KEY=KEY swar mcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := where.client(cmd)
			if err != nil {
				return err
			}
			if folder == "" {
				folder = os.TempDir()
			}
			t, err := openTools(c, where.base, folder)
			if err != nil {
				return err
			}
			defer func() { _ = t.folder.Close() }()
			err = t.server().Run(cmd.Context(), &mcp.IOTransport{Reader: io.NopCloser(a.In), Writer: quietClose{a.Out}})
			if errors.Is(err, io.EOF) || cmd.Context().Err() != nil { // the program that started this one has gone
				return nil
			}
			return err
		},
	}
	where.flags(cmd.Flags())
	cmd.Flags().StringVar(&folder, "mcp-dir", "",
		"write audio only into this `folder` (default the temporary one)")
	return cmd
}

// quietClose keeps standard output open for whatever the program has to say at its end.
type quietClose struct{ io.Writer }

func (quietClose) Close() error { return nil }

// tools are what a language model may do.
type tools struct {
	client *client.Client
	base   string
	folder *os.Root // audio is written here; a name that leads out of it is refused, through links too
}

func openTools(c *client.Client, base, folder string) (*tools, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, fmt.Errorf("--mcp-dir %s: %w; create the folder first", folder, err)
	}
	return &tools{c, base, root}, nil
}

func (t *tools) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Title: "Swar", Version: version}, &mcp.ServerOptions{
		Instructions: "Swar speaks Hinglish: Devanagari, Roman Hindi and English in one sentence. Write amounts, dates and codes as digits; it reads them.",
	})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(s, &mcp.Tool{
		Name: "list_voices", Description: "List the voices that can speak, with their languages.", Annotations: reads,
	}, t.listVoices)
	mcp.AddTool(s, &mcp.Tool{
		Name: "normalize", Description: "Show how a text will be read aloud, without speaking it. It is free.",
		Annotations: reads,
	}, t.normalize)
	mcp.AddTool(s, &mcp.Tool{
		Name:        "say",
		Description: "Speak a text of at most 4000 characters into an audio file, and return its path, its length and the voice.",
	}, t.say)
	return s
}

// reached returns an error for an unreachable server; the model shows it to its user.
func (t *tools) reached(err error) error {
	if err = call.Reached(t.base, "", err); err == nil {
		return nil
	}
	return errors.New(call.Explain(serveCommand, err))
}

func (t *tools) listVoices(ctx context.Context, _ *mcp.CallToolRequest,
	_ struct{}) (*mcp.CallToolResult, client.Voices, error) {
	v, err := t.client.Voices(ctx)
	return nil, v, t.reached(err)
}

type normalizeInput struct {
	Text     string `json:"text" jsonschema:"the text as it is written"`
	EnDigits bool   `json:"en_digits,omitempty" jsonschema:"read codes and OTPs with English digit names"`
}

type normalizeOutput struct {
	Normalized string `json:"normalized" jsonschema:"the text as it is spoken"`
	Chunks     int    `json:"chunks" jsonschema:"the number of pieces in which it is spoken"`
}

func (t *tools) normalize(ctx context.Context, _ *mcp.CallToolRequest,
	in normalizeInput) (*mcp.CallToolResult, normalizeOutput, error) {
	n, err := t.client.Normalize(ctx, in.Text, in.EnDigits)
	if err != nil {
		return nil, normalizeOutput{}, t.reached(err)
	}
	return said(n.Text), normalizeOutput{n.Text, len(n.Chunks)}, nil
}

type sayInput struct {
	Text   string `json:"text" jsonschema:"the text to speak"`
	Voice  string `json:"voice,omitempty" jsonschema:"one of list_voices; default: the server's"`
	Format string `json:"format,omitempty" jsonschema:"wav (the default), opus or pcm16"`
	File   string `json:"file,omitempty" jsonschema:"name of the file in the folder of this server; default: a new name"`
}

type sayOutput struct {
	Path    string  `json:"path"`
	Seconds float64 `json:"seconds" jsonschema:"length in seconds; 0 if unknown"`
	Voice   string  `json:"voice"`
}

func (t *tools) say(ctx context.Context, _ *mcp.CallToolRequest, in sayInput) (*mcp.CallToolResult, sayOutput, error) {
	file, format, err := t.file(in)
	if err != nil {
		return nil, sayOutput{}, err
	}
	audio, err := t.client.Speak(ctx, client.Request{Text: in.Text, Voice: in.Voice, Format: format})
	if err != nil {
		return nil, sayOutput{}, t.reached(err)
	}
	defer func() { _ = audio.Close() }()
	length, err := t.write(file, format, audio)
	if err != nil {
		return nil, sayOutput{}, err
	}
	out := sayOutput{filepath.Join(t.folder.Name(), file), float64(length.Milliseconds()) / 1000, audio.Voice}
	text := fmt.Sprintf("%s: %.1f s, voice %s", out.Path, out.Seconds, out.Voice)
	if audio.Unspoken != "" {
		text += "; left out: " + leftOut(audio.Unspoken)
	}
	return said(text), out, nil
}

// file returns the name below the folder, and the format that its ending or the caller chooses.
func (t *tools) file(in sayInput) (name string, format client.Format, err error) {
	format = client.Format(in.Format)
	if format != "" && !slices.Contains(writtenFormats, in.Format) {
		return "", "", fmt.Errorf("format %q: want %s", in.Format, strings.Join(writtenFormats, ", "))
	}
	if in.File == "" {
		if format == "" {
			format = client.WAV
		}
		ending := map[client.Format]string{client.WAV: ".wav", client.Opus: ".opus", client.PCM16: ".pcm"}[format]
		return fmt.Sprintf("swar-%s-%08x%s", time.Now().Format("20060102-150405"), rand.Uint32(), ending), format, nil
	}
	name = filepath.Clean(in.File)
	if filepath.IsAbs(name) {
		if name, err = filepath.Rel(t.folder.Name(), name); err != nil {
			return "", "", err
		}
	}
	if !filepath.IsLocal(name) || name == "." {
		return "", "", fmt.Errorf("file %q is outside of %s; give a name in that folder", in.File, t.folder.Name())
	}
	if format == "" {
		var known bool
		if format, known = formats[strings.ToLower(filepath.Ext(name))]; !known {
			return "", "",
				fmt.Errorf("file %q: a name must end in .wav, .opus, .ogg, .pcm or .raw; or give format", in.File)
		}
	}
	return name, format, nil
}

// write lets the file appear when it is complete, and returns how long it sounds.
func (t *tools) write(name string, format client.Format, audio *client.Audio) (length time.Duration, err error) {
	if info, err := t.folder.Stat(name); err == nil && !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s cannot be replaced, because it is not a regular file; give another name", name)
	}
	temporary := fmt.Sprintf("%s.%08x.part", name, rand.Uint32())
	w, err := t.folder.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, fmt.Errorf("creating %s: %w", name, err)
	}
	bytes, err := io.Copy(w, audio.ReadAhead())
	if err == nil && format == client.WAV {
		err = stateLength(w)
	}
	if err = errors.Join(err, w.Close()); err == nil {
		err = t.folder.Rename(temporary, name)
	}
	if err != nil {
		return 0, errors.Join(err, t.folder.Remove(temporary))
	}
	if proof, ok := audio.Proof(); ok {
		return proof.Length, nil
	}
	if format == client.Opus { // a proxy dropped the trailers
		return 0, nil
	}
	return time.Duration(bytes) * time.Second / (2 * client.SampleRate), nil
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
