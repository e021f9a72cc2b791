package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/runtime/childenv"
)

// player is a program that makes audio sound.
type player struct {
	name string
	form client.Format // what it is fed
	args []string      // to play standard input; with afterwards, in front of a file name
	file string        // how a user plays a file, after the name

	afterwards bool // it cannot play while we still write
}

// players are those we know, the best first. Bare samples leave nothing to guess about a length that is not known
// yet; ffplay gets a WAV because the option for the number of channels has changed its name.
var players = []player{
	{name: "ffplay", form: client.WAV, args: []string{"-nodisp", "-autoexit", "-loglevel", "error", "-i", "pipe:0"}, file: "-nodisp -autoexit -loglevel error"},
	{name: "aplay", form: client.PCM16, args: []string{"-q", "-t", "raw", "-f", "S16_LE", "-r", "24000", "-c", "1", "-"}, file: "-q"},
	{name: "paplay", form: client.PCM16, args: []string{"--raw", "--format=s16le", "--rate=24000", "--channels=1"}},
	{name: "play", form: client.PCM16, args: []string{"-q", "-t", "raw", "-e", "signed", "-b", "16", "-r", "24000", "-c", "1", "-"}, file: "-q"},
	{name: "afplay", form: client.WAV, afterwards: true},
}

func playerNames() string {
	var names []string
	for _, p := range players {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// findPlayer returns the first player that is installed, and where.
func findPlayer() (p player, path string, ok bool) {
	for _, p := range players {
		if path, err := exec.LookPath(p.name); err == nil {
			return p, path, true
		}
	}
	return player{}, "", false
}

// playing is a player at work.
type playing struct {
	player
	cmd       *exec.Cmd
	stdin     io.WriteCloser // nil for a player that plays afterwards
	file      *os.File       // for a player that reads files
	complaint bytes.Buffer
}

var errNoPlayer = fmt.Errorf("no program to play audio was found (%s); install ffmpeg, or write a file with -o speech.wav", playerNames())

func (a *app) newPlayer(ctx context.Context) (target, error) {
	p, path, ok := findPlayer()
	if !ok {
		return nil, errNoPlayer
	}
	t := &playing{player: p, cmd: exec.CommandContext(ctx, path, p.args...)}
	t.cmd.Env = childenv.Only("XDG_*", "PULSE_*", "PIPEWIRE_*", "ALSA_*", "AUDIODEV", "AUDIODRIVER", "SDL_*",
		"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
	t.cmd.Stderr = &t.complaint
	t.cmd.WaitDelay = time.Second
	var err error
	if p.afterwards {
		t.file, err = os.CreateTemp("", "swar-*.wav")
	} else {
		t.stdin, err = t.cmd.StdinPipe()
	}
	return t, err
}

func (t *playing) format() client.Format { return t.form }
func (t *playing) String() string        { return t.name }

// Write starts the player with the first audio, so that a refusal does not leave a silent one behind.
func (t *playing) Write(p []byte) (int, error) {
	if t.file != nil {
		return t.file.Write(p)
	}
	if t.cmd.Process == nil {
		if err := t.cmd.Start(); err != nil {
			return 0, fmt.Errorf("starting %s: %w", t.name, err)
		}
	}
	return t.stdin.Write(p)
}

func (t *playing) finish(err error) error {
	if t.file != nil {
		defer os.Remove(t.file.Name())
		if err = errors.Join(err, stateLength(t.file), t.file.Close()); err == nil {
			t.cmd.Args = append(t.cmd.Args, t.file.Name())
			err = t.cmd.Start()
		}
		if err != nil {
			return err
		}
		return t.verdict(t.cmd.Wait())
	}
	t.stdin.Close()
	if t.cmd.Process == nil {
		return err
	}
	switch _, gone := errors.AsType[*os.PathError](err); {
	case err == nil:
		return t.verdict(t.cmd.Wait())
	case gone: // our writing failed, because the player has left
		if played := t.verdict(t.cmd.Wait()); played != nil {
			return played
		}
		return fmt.Errorf("%s stopped playing before the end", t.name)
	default:
		_ = t.cmd.Wait() // err says more
		return err
	}
}

// verdict reports whether the player has played. ffplay exits with success also when it found no sound device.
func (t *playing) verdict(exit error) error {
	said := strings.TrimSpace(t.complaint.String())
	if exit == nil && !(t.name == "ffplay" && strings.Contains(said, "ailed")) {
		return nil
	}
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = said[i+1:]
	}
	if strings.Contains(t.complaint.String(), "audio open failed") {
		said = "it found no sound device"
	}
	if said == "" && exit != nil {
		said = exit.Error()
	}
	return fmt.Errorf("%s cannot play here (%s); write a file with -o speech.wav", t.name, said)
}
