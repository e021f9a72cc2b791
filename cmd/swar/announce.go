package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

// firstWords is the sentence of the printed curl line.
const firstWords = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."

// announce prints that the server is ready, and a command that speaks. The first start also prints the first key.
func (s *site) announce(ctx context.Context, took time.Duration) error {
	c := s.speaker.Capacity()
	attrs := []any{"listen", s.address, "model", s.speaker.Model().ID, "workers", c.Workers, "queue", c.QueueLimit,
		"keys", len(s.options.keys), "took_ms", took.Milliseconds()}
	first := ""
	var setup []string
	if s.portal != nil {
		var err error
		if first, err = firstKey(ctx, s.portal); err != nil {
			return fmt.Errorf("making the first key: %w", err)
		}
		if setup, err = setupLinks(ctx, s.portal); err != nil {
			return fmt.Errorf("making the link for setting up: %w", err)
		}
		keys, _ := s.portal.Keys().Size()
		attrs = append(attrs, "portal_keys", keys, "data", s.options.store.Data)
	}
	s.log.Info("ready", attrs...)
	e := s.app.Err
	open := s.invitation(setup)
	if first == "" { // the other lines contain no secret
		fmt.Fprint(s.secrets(), open)
	}
	switch {
	case first != "":
		e = s.secrets()
	case !s.proseAllowed():
		return nil
	}
	var b strings.Builder
	if !s.options.wantsKey() {
		fmt.Fprintf(&b, "\n%s\n",
			e.Yellow("This server is open: everyone who can connect may use it. --api-key KEY restricts it."))
	}
	base, others := s.addresses()
	curl, say := s.firstCommands(base, first)
	fmt.Fprintf(&b, "\n%s %s\n", e.Green("Swar is ready at"), base)
	if len(others) > 0 {
		fmt.Fprintf(&b, "Other machines reach it at %s\n", strings.Join(others, " or "))
	}
	if first != "" {
		fmt.Fprintf(&b, "%s\nThis is your first key. It is shown only now:\n\n  %s\n", open, e.Bold(first))
	}
	fmt.Fprintf(&b, "\n  %s\n", curl)
	if p, _, ok := findPlayer(); !ok {
		fmt.Fprint(&b, "\nand open namaste.wav with any player\n")
	} else if !strings.Contains(p.name, "paplay") {
		fmt.Fprintf(&b, "  %s namaste.wav\n", strings.TrimSpace(p.name+" "+p.file))
	}
	fmt.Fprintf(&b, "\nor\n\n  %s\n\n", say)
	if s.portal != nil && first == "" && len(s.options.keys) == 0 {
		fmt.Fprintf(&b, "A key is shown only once. To create another one:\n\n  %s\n\n", s.newKeyCommand())
	}
	_, err := fmt.Fprint(e, b.String())
	if first == "" {
		return nil // a closed terminal loses nothing
	}
	if err != nil {
		s.log.Warn("the first key could not be shown; create another one with `swar keys create`", "error", err)
	}
	return nil
}

// invitation returns the line about the setup link; empty without one.
func (s *site) invitation(setup []string) string {
	if len(setup) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nOpen %s\n", s.secrets().Bold(setup[0]))
	for _, link := range setup[1:] {
		fmt.Fprintf(&b, "or, on another machine, %s\n", s.secrets().Bold(link))
	}
	b.WriteString("and become its owner. Single use; expires in 24 hours.\n")
	return b.String()
}

// addresses are those by which clients on this machine call the server, and all others.
func (s *site) addresses() (base string, others []string) {
	all := launch.URLsOf(s.address)
	if s.portal != nil {
		if public := s.portal.PublicURL(); public != "" && public != all[0] {
			all = append(all[:1], public)
		}
	}
	return all[0], all[1:]
}

// secrets is where what only people may see is written: standard output, unless standard error is a terminal.
// Elsewhere that ends up in log files.
func (s *site) secrets() *launch.Screen {
	if s.app.Err.Terminal {
		return s.app.Err
	}
	return s.app.Out
}

// newKeyCommand makes a key of this server's portal.
func (s *site) newKeyCommand() string {
	command := s.app.Invocation + " keys create"
	if s.options.store.Data != portal.DefaultData {
		command += " --data " + shellWord(s.options.store.Data)
	}
	return command
}

// firstCommands are two ways to make the server speak. They hold the first key, which is shown now or never, but a
// key of the command line only on a terminal: anywhere else standard error ends up in log files.
func (s *site) firstCommands(base, first string) (curl, say string) {
	body := `{"text":"` + firstWords + `"`
	key, voices := first, ""
	if first == "" && s.options.wantsKey() {
		key = "YOUR_KEY"
		if len(s.options.keys) > 0 {
			var static string
			static, voices, _ = strings.Cut(s.options.keys[0], "=")
			if s.app.Err.Terminal {
				key = static
			}
		}
	}
	voice := onlyVoice(voices, s.speaker.Model().DefaultVoice())
	if voice != "" {
		body += `,"voice":"` + voice + `"`
	}
	curl = "curl -sS " + base + "/v1/tts -H 'content-type: application/json'"
	say = s.app.Invocation + " say"
	if base != call.DefaultServer {
		say += " --server " + base
	}
	if key != "" {
		curl += " -H " + quote("x-api-key: "+key)
		say = "SWAR_KEY=" + quote(key) + " " + say
	}
	if voice != "" {
		say += " --voice " + voice
	}
	body += `,"stream":false}` // a file states its length
	return curl + " -d " + quote(body) + " -o namaste.wav", say + " " + quote(firstWords)
}

// onlyVoice returns the voice to ask for with a key that does not allow the default one.
func onlyVoice(allowed, usual string) string {
	first, _, _ := strings.Cut(allowed, ",")
	for v := range strings.SplitSeq(allowed, ",") {
		if strings.TrimSpace(v) == usual {
			return ""
		}
	}
	return strings.TrimSpace(first)
}

// quote makes s one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
