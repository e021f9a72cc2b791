package main_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudo-terminal: what a program sees as one, and what is on its screen.
func openTerminal(t testing.TB) (program, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { program.Close() })
	return program, screen
}

// runOnTerminal runs a command whose standard input and error are a terminal, and its standard output too if out is
// nil.
func (s *shell) runOnTerminal(out io.Writer, args ...string) (code int, shown string) {
	s.t.Helper()
	tty, screen := openTerminal(s.t)
	cmd := s.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	tty.Close()
	text, _ := io.ReadAll(screen) // ends with EIO when the program has left
	return codeOf(s.t, cmd.Wait()), string(text)
}

const escape = "\x1b["

func TestOnATerminal(t *testing.T) {
	openTerminal(t) // skips all of it where there is none
	s := newShell(t)
	base := s.serve("--workers", "1").base

	t.Run("what was spoken is summed up, in colour", func(t *testing.T) {
		code, shown := s.runOnTerminal(nil, "say", "--server", base, "--seed", "7", "-o", "x.wav", order)
		if code != 0 || !strings.Contains(shown, " s of speech to x.wav in ") || !strings.Contains(shown, "seed 7") ||
			!strings.Contains(shown, escape+"32m✓") {
			t.Errorf("exit code %d, %q", code, shown)
		}
	})
	t.Run("without colours, if so wanted", func(t *testing.T) {
		for _, setting := range []string{"NO_COLOR=1", "TERM=dumb"} {
			plain := *s
			plain.env = append(append([]string{}, s.env...), setting)
			if code, shown := plain.runOnTerminal(nil, "voices", "--server", "http://127.0.0.1:1"); code != 3 ||
				strings.Contains(shown, escape) {
				t.Errorf("%s: exit code %d, %q", setting, code, shown)
			}
		}
		if code, shown := s.runOnTerminal(nil, "voices", "--server", "http://127.0.0.1:1"); code != 3 ||
			!strings.Contains(shown, escape+"31mswar:") {
			t.Errorf("with colours: exit code %d, %q", code, shown)
		}
	})
	t.Run("what was rewritten is painted", func(t *testing.T) {
		code, shown := s.runOnTerminal(nil, "normalize", "Total ₹499 hai, OTP 482913.")
		for _, want := range []string{
			"Total " + escape + "32mचार सौ निन्यानबे रुपये" + escape + "0m hai", escape + "33m₹499" + escape + "0m", escape + "33m482913", escape + "32mचार आठ दो नौ एक तीन",
		} {
			if code != 0 || !strings.Contains(shown, want) {
				t.Errorf("exit code %d, %q; want it to hold %q", code, shown, want)
			}
		}
	})
	t.Run("what is spoken before a text is pale", func(t *testing.T) {
		own := s.serve("--workers", "1", "--disclosure", "Yeh 5 hai.").base
		code, shown := s.runOnTerminal(nil, "normalize", "--server", own, "Kul 5 hai")
		for _, want := range []string{escape + "2mYeh पाँच hai." + escape,
			"Kul " + escape + "32mपाँच" + escape + "0m hai"} {
			if code != 0 || !strings.Contains(shown, want) {
				t.Errorf("exit code %d, %q; want it to hold %q", code, shown, want)
			}
		}
	})
	t.Run("audio stays off it", func(t *testing.T) {
		code, shown := s.runOnTerminal(nil, "say", "--server", base, "-o", "-", order)
		if code != 2 || !strings.Contains(shown, "audio cannot be written to a terminal") ||
			strings.Contains(shown, "RIFF") {
			t.Errorf("exit code %d, %q", code, shown)
		}
	})
	t.Run("nothing to say is asked for", func(t *testing.T) {
		code, shown := s.runOnTerminal(nil, "say", "-o", "x.wav")
		if code != 2 || !strings.Contains(shown, "nothing to say; give a text, or - to read standard input") {
			t.Errorf("exit code %d, %q", code, shown)
		}
	})
	t.Run("piped audio is whole", func(t *testing.T) {
		f, err := os.Create(s.path("piped.pcm"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		code, shown := s.runOnTerminal(f, "say", "--server", base, "--seed", "7", "-o", "-", "--format", "pcm16", order)
		if code != 0 || string(s.read("piped.pcm")) != s.ok("say", "--server", base, "--seed", "7", "-o", "-",
			"--format", "pcm16", order).out {
			t.Errorf("exit code %d, %q", code, shown)
		}
	})
}

func TestBundlesOnATerminal(t *testing.T) {
	openTerminal(t)
	s := neuralShell(t)
	code, shown := s.runOnTerminal(nil, "bundle", "synth-random", "-o", "tiny")
	drawn, said, _ := strings.Cut(shown, escape+"32m✓"+escape+"0m tiny: model ")
	if code != 0 || !strings.Contains(drawn, "making up weights") || !strings.HasSuffix(drawn, "\r") ||
		strings.Contains(said, "making up weights") {
		t.Errorf("exit code %d, %q; want progress that is gone before the result", code, shown)
	}
	code, shown = s.runOnTerminal(nil, "bundle", "verify", "tiny")
	for _, want := range []string{"hashing the files", escape + "32mok" + escape + "0m  files ",
		escape + "32mok" + escape + "0m  voice    raj: "} {
		if code != 0 || !strings.Contains(shown, want) {
			t.Errorf("exit code %d, %q; want it to hold %q", code, shown, want)
		}
	}
	if end := lastLine(shown); !strings.Contains(end, "voice    raj: ") {
		t.Errorf("the last line is %q", end)
	}
}

// A person who starts a server sees the key in the line to copy; a log file never does.
func TestTheReadyLineOnATerminalHoldsTheKey(t *testing.T) {
	s := newShell(t)
	tty, screen := openTerminal(t)
	cmd := s.command("serve", "--listen", "127.0.0.1:0", "--workers", "1", "--portal", "off", "--api-key",
		"it's-me=raj", "--log-format", "json")
	cmd.Stderr = tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	shown := ""
	for buf := make([]byte, 4096); !strings.Contains(shown, " say "); {
		n, err := screen.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, shown)
		}
		shown += string(buf[:n])
	}
	cmd.Process.Signal(syscall.SIGTERM)
	go io.Copy(io.Discard, screen) // a program that writes to a full terminal would not end
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(shown) {
		curl := strings.TrimSpace(line)
		if !strings.HasPrefix(curl, "curl ") {
			continue
		}
		out, err := exec.Command("sh", "-c", strings.Replace(curl, "curl ", "printf '%s\n' ", 1)).Output()
		if err != nil || !strings.Contains(string(out), "\nx-api-key: it's-me\n") ||
			!strings.Contains(string(out), `"voice":"raj","stream":false}`) {
			t.Errorf("a shell reads %q as\n%s%v", curl, out, err)
		}
		return
	}
	t.Errorf("no curl line in %q", shown)
}

func TestConsentIsAskedForOnATerminal(t *testing.T) {
	openTerminal(t)
	s := cloner(t)
	for answer, code := range map[string]int{"no\n": 1, "\n": 1, "yesterday\n": 1, "Yes\n": 0} {
		tty, screen := openTerminal(t)
		cmd := s.command("voice", "add", "asha=mono16.opus", "--bundle", "b", "--config", "config.yaml", "--from",
			"whole.safetensors")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		if _, err := io.WriteString(screen, answer); err != nil {
			t.Fatal(err)
		}
		shown, _ := io.ReadAll(screen)
		if got := codeOf(t, cmd.Wait()); got != code ||
			!strings.Contains(string(shown), "Type yes if the speaker has agreed") {
			t.Errorf("%q: exit code %d, want %d; %s", answer, got, code, shown)
		}
		said := strings.Contains(string(shown), "nothing was changed: cloning a voice needs the speaker's consent")
		if in := strings.Contains(s.ok("bundle", "inspect", "b").out, "Answered with yes"); in != (code == 0) ||
			said != (code == 1) {
			t.Errorf("%q: %s", answer, shown)
		}
		if code == 0 {
			s.ok("voice", "rm", "asha", "--bundle", "b")
		}
	}
}
