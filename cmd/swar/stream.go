package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

func (a *app) streamCommand() *cobra.Command {
	var (
		where         remote
		how           manner
		output        string
		asJSON, words bool
		appends       bool
	)
	cmd := &cobra.Command{
		Use:   "stream [TEXT…]",
		Short: "Speak line after line over one WebSocket, and show what happens",
		Long: `Opens one WebSocket and speaks each argument, or each line of standard input as it comes, as a separate utterance. Every event is
shown with the time since the utterance was sent.

With --append the text is appended to one utterance as it arrives, word by word, and each sentence is spoken as soon as it
is complete: for the output of a language model. After 30 sentences, or 1500 characters, another utterance begins.

-o collects all audio in one file (.wav, .opus, .ogg, .pcm or .raw); -o - writes it to standard output, and the events to standard
error. The file is complete when the command ends, also when it ends by Ctrl-C.`,
		Example: `  swar stream 'Namaste!' 'Kya haal hai?'
  tail -f lines.txt | swar stream -o all.wav
  llm 'Ek kahani sunao' | swar stream --append -o story.wav
  swar stream --json 'Namaste!'
  swar stream --words 'Namaste!'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, text := range args {
				if appends {
					break
				}
				if _, err := utteranceOf(how.request(cmd.Flags(), text)); err != nil {
					return err
				}
			}
			s := &streaming{app: a, events: a.Out, asJSON: asJSON, words: words, how: how, flags: cmd.Flags()}
			if output == "" {
				s.audio = &plain{Writer: io.Discard, form: client.PCM16}
			} else {
				to, err := a.target(cmd, output, "")
				if err != nil {
					return err
				}
				s.audio = to
				if output == "-" {
					s.events = a.Err
				}
			}
			c, err := where.client(cmd)
			if err != nil {
				return errors.Join(err, s.audio.finish(err))
			}
			conn, err := c.Stream(cmd.Context())
			if err != nil {
				return launch.Interrupted(cmd.Context(), s.audio.finish(call.Reached(where.base, "", err)))
			}
			defer conn.Close()
			if appends {
				s.feeder = &feeder{conn: conn, request: s.request("")}
				return s.run(cmd.Context(), conn, a.pieces(args))
			}
			return s.run(cmd.Context(), conn, a.lines(args))
		},
	}
	f := cmd.Flags()
	where.flags(f)
	how.flags(f)
	f.StringVarP(&output, "output", "o", "", "collect the audio in this `file`; - means standard output")
	f.BoolVar(&asJSON, "json", false, "print the events as they come, one JSON object a line")
	f.BoolVar(&words, "words", false, "show when each word is heard; estimated, where the model has no word times")
	f.BoolVar(&appends, "append", false, "feed the text to one utterance, word by word as it comes")
	launch.Complete(cmd, "voice", a.offerVoices(&where))
	return cmd
}

// lines yields the arguments, or the lines of standard input without the empty ones. Its end is the end of the channel.
func (a *app) lines(args []string) <-chan string {
	lines := make(chan string)
	// Reading a terminal cannot be interrupted, so this goroutine may outlive the command; the process ends soon
	// after that.
	go func() {
		defer close(lines)
		if len(args) > 0 {
			for _, text := range args {
				lines <- text
			}
			return
		}
		for in := bufio.NewReader(a.In); ; {
			line, err := in.ReadString('\n')
			if line = strings.TrimSpace(line); line != "" {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// pieces yields the words of the arguments, or of standard input as they arrive, with the white space after them. It
// ends when the channel closes.
func (a *app) pieces(args []string) <-chan string {
	pieces := make(chan string)
	send := func(text string) {
		for word := range strings.SplitAfterSeq(text, " ") {
			if word != "" {
				pieces <- strings.ToValidUTF8(word, "\ufffd")
			}
		}
	}
	go func() { // may outlive the command, as that of lines
		defer close(pieces)
		if len(args) > 0 {
			send(strings.Join(args, " "))
			return
		}
		block := make([]byte, 4<<10)
		kept := 0 // bytes of a character that has not come as a whole
		for {
			n, err := a.In.Read(block[kept:])
			n += kept
			kept = halfRune(block[:n])
			if err != nil {
				kept = 0
			}
			send(string(block[:n-kept]))
			if err != nil {
				return
			}
			copy(block, block[n-kept:n])
		}
	}()
	return pieces
}

// halfRune returns how many bytes at the end of text begin a character that is not complete.
func halfRune(text []byte) int {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// streaming is one run of the command.
type streaming struct {
	app    *app
	events *launch.Screen
	audio  target
	asJSON bool
	words  bool
	how    manner
	flags  *pflag.FlagSet
	feeder *feeder // nil: each text is a separate utterance
	failed error   // of the first utterance that was refused or failed

	collected bool // some audio
}

// window is how many utterances are sent ahead. A server takes 32; fewer keep what is shown close to what was typed.
const window = 4

// sent is an utterance that has not ended.
type sent struct {
	text       string
	at         time.Time
	begun      bool // something of it was shown
	audioBytes int  // bytes of its audio
}

func (s *streaming) run(ctx context.Context, conn *client.Conn, lines <-chan string) error {
	received := make(chan client.Event)
	ended := make(chan error, 1)
	go func() { // ends with the connection
		for e, err := range conn.Events() {
			if err != nil {
				ended <- err
				return
			}
			select {
			case received <- e:
			case <-ctx.Done():
				return
			}
		}
		ended <- io.ErrUnexpectedEOF // we have not said goodbye yet
	}()

	running := make(map[string]*sent)
	for lines != nil || len(running) > 0 {
		next := lines
		if len(running) >= window {
			next = nil
		}
		select {
		case text, ok := <-next:
			if !ok {
				lines = nil
				if s.feeder == nil {
					continue
				}
				if err := s.feeder.finish(); err != nil {
					return launch.Interrupted(ctx, s.finish(err))
				}
				continue
			}
			if err := s.send(conn, text, running); err != nil {
				return launch.Interrupted(ctx, s.finish(err))
			}
		case e := <-received:
			if err := s.show(e, running); err != nil {
				return launch.Interrupted(ctx, s.finish(err))
			}
		case err := <-ended:
			return launch.Interrupted(ctx,
				s.finish(fmt.Errorf("%s cut short: %w", launch.Plural(len(running), "utterance"), err)))
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), s.finish(nil))
		}
	}
	return errors.Join(s.failed, s.finish(nil))
}

// finish completes the audio with what there is, and returns err or what went wrong with that. Nothing makes no file.
func (s *streaming) finish(err error) error {
	if !s.collected {
		_ = s.audio.finish(errNoAudio)
		return err
	}
	return errors.Join(err, s.audio.finish(nil))
}

var errNoAudio = errors.New("no audio")

// request asks for text to be spoken in the format that is collected.
func (s *streaming) request(text string) client.Request {
	r := s.how.request(s.flags, text)
	r.Format, r.WordTimes = client.PCM16, s.words
	if s.audio.format() == client.Opus {
		r.Format = client.Opus
	}
	return r
}

func (s *streaming) send(conn *client.Conn, text string, running map[string]*sent) error {
	u := &sent{text: text, at: time.Now()}
	if s.feeder != nil {
		opened, err := s.feeder.feed(text)
		if opened != "" {
			u.text = "as it comes"
			running[opened] = u
		}
		return err
	}
	id, err := conn.Send(s.request(text))
	if err != nil {
		return err
	}
	running[id] = u
	return nil
}

func (s *streaming) show(e client.Event, running map[string]*sent) error {
	head := e.About()
	u := running[head.RequestID]
	if u == nil {
		u = &sent{at: time.Now()} // an utterance of another client
	}
	if audio, ok := e.(*client.AudioEvent); ok {
		return s.collect(audio.Data, u)
	}
	if s.asJSON {
		if _, err := fmt.Fprintf(s.events, "%s\n", head.JSON); err != nil {
			return err
		}
	} else {
		if !u.begun { // only now, or the lines of several utterances would mix
			u.begun = true
			fmt.Fprintf(s.events, "%s %s\n", s.app.Out.Bold(u.text), s.app.Out.Dim(head.RequestID))
		}
		s.print(e, time.Since(u.at))
	}
	switch e := e.(type) {
	case *client.ErrorEvent:
		if s.failed == nil {
			s.failed = e.Err
		}
		delete(running, head.RequestID)
		if s.feeder != nil {
			s.feeder.ended(head.RequestID)
		}
	case *client.EndEvent, *client.CancelledEvent:
		delete(running, head.RequestID)
	}
	return nil
}

// collect keeps audio. All utterances go into one WAV; several Ogg streams behind one another are one Ogg file.
func (s *streaming) collect(data []byte, u *sent) error {
	first := !s.collected
	s.collected = true
	if s.audio.format() == client.WAV && first {
		if _, err := s.audio.Write(streamedWAV()); err != nil {
			return err
		}
	}
	if u.audioBytes == 0 && !s.asJSON {
		s.line(time.Since(u.at), "audio", "the first %d bytes are here", len(data))
	}
	u.audioBytes += len(data)
	_, err := s.audio.Write(data)
	return err
}

func (s *streaming) print(e client.Event, after time.Duration) {
	switch e := e.(type) {
	case *client.StartEvent:
		s.line(after, "start", "%s, %s, %s, waited %v, seed %d", e.Voice, e.Format, launch.Plural(e.Chunks, "chunk"),
			e.Queue, e.Seed)
		if e.Unspoken != "" {
			s.line(after, s.app.Out.Yellow("left out"), "%s", leftOut(e.Unspoken))
		}
		if s.words && !e.WordTimes {
			s.line(after, s.app.Out.Yellow("no words"), "this server has no word times")
		}
	case *client.ChunkEvent:
		s.line(after, "chunk", "%d: %s (%s)", e.Chunk, e.Text, launch.Plural(e.Tokens, "token"))
	case *client.FirstAudioEvent:
		s.line(after, "first audio", "%v after the server had the request", e.After)
	case *client.WordsEvent:
		about := ""
		if e.Estimated {
			about = "about "
		}
		for _, w := range e.Words {
			s.line(after, "word", "%s%.2f to %.2f s: %s", about, w.Start.Seconds(), w.End.Seconds(), w.Text)
		}
	case *client.ChunkEndEvent:
		cached := "prefilled"
		if e.PrefillCached {
			cached = "prefilled from the cache"
		}
		s.line(after, "chunk end", "%d: %v of speech, %s in %v", e.Chunk, e.Length, cached, e.Prefill)
	case *client.EndEvent:
		s.line(after, "end", "%v of speech in %v, first frame after %v, RTF %.3f", e.Length, e.Wall, e.TTFA, e.RTF)
	case *client.CancelledEvent:
		s.line(after, "cancelled", "after %v of speech", e.Length)
	case *client.ErrorEvent:
		s.line(after, s.app.Out.Red("error"), "%s", call.Explain(serveCommand, e.Err))
	}
}

func (s *streaming) line(after time.Duration, what, format string, args ...any) {
	fmt.Fprintf(s.events, "  %8.1f ms  %-11s  %s\n", float64(after)/float64(time.Millisecond), what,
		fmt.Sprintf(format, args...))
}
