package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
)

// What npm installs, with the hashes that it checks, and the program that runs it.
var (
	//go:embed package.json
	packageFile []byte
	//go:embed package-lock.json
	lockFile []byte
	//go:embed sherpa.js
	sherpaProgram []byte
)

// peer is an installed sherpa-onnx.
type peer struct {
	dir     string
	version string
}

const peerLibrary = "sherpa-onnx-linux-x64"

// installPeer lets npm install the versions of the lock file into dir. The error says why there is no peer.
func installPeer(ctx context.Context, dir string) (*peer, error) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not installed", program)
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{"package.json": packageFile, "package-lock.json": lockFile,
		"sherpa.js": sherpaProgram} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return nil, err
		}
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(lockFile, &lock); err != nil {
		return nil, err
	}
	version := lock.Packages["node_modules/"+peerLibrary].Version
	if installedVersion(dir) == version {
		return &peer{dir, version}, nil
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm ci: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return &peer{dir, version}, nil
}

// installedVersion is empty where nothing is installed.
func installedVersion(dir string) string {
	var about struct {
		Version string `json:"version"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", peerLibrary, "package.json"))
	if err != nil || json.Unmarshal(data, &about) != nil {
		return ""
	}
	return about.Version
}

// speaker is a process that speaks.
type speaker struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
}

func start(name string, cmd *exec.Cmd) (*speaker, error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &speaker{name, cmd, in, bufio.NewScanner(out)}, nil
}

func (s *speaker) ask(r request) (answer, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("%s: %w", s.name, err)
	}
	for s.out.Scan() { // sherpa-onnx prints warnings of its own
		var a answer
		if json.Unmarshal(s.out.Bytes(), &a) == nil && a.Frames > 0 {
			return a, nil
		}
	}
	return answer{}, errors.Join(fmt.Errorf("%s ended without an answer", s.name), s.out.Err())
}

// stop lets the process end by itself.
func (s *speaker) stop() error {
	if err := errors.Join(s.in.Close(), s.cmd.Wait()); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// command is a program that sees the same processor as this one.
func (b *bench) command(program string, args ...string) *exec.Cmd {
	if mask := os.Getenv("CPUMASK"); mask != "" {
		script, err := filepath.Abs("hack/cpumask.sh")
		if err != nil {
			script = "hack/cpumask.sh"
		}
		return exec.CommandContext(b.ctx, script, append([]string{mask, program}, args...)...)
	}
	return exec.CommandContext(b.ctx, program, args...)
}

// own starts a process of this program with the model in dir.
func (b *bench) own(name, dir string, streams int) (*speaker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(name, b.command(program, "-library", b.library, "-speak", dir, "-streams", strconv.Itoa(streams)))
}

func (b *bench) sherpa(name, dir string) (*speaker, error) {
	cmd := b.command("node", filepath.Join(b.peer.dir, "sherpa.js"), dir)
	cmd.Dir = b.peer.dir
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Join(b.peer.dir, "node_modules", peerLibrary))
	return start(name, cmd)
}

// The lengths of an utterance, in frames. What one frame costs is the difference between the two, so that reading the
// text, and with sherpa-onnx the voice, is not part of it.
const (
	shortFrames = 30
	longFrames  = 90
	letters     = 29 // with the beginning of the text 30 tokens
	known       = 15 // tokens of a text that begins like another one
	fullCache   = 50 // texts that fill the prefill cache at full size, 1.5 MB each
	firstTexts  = 40 // begun beside others
)

// measureSpeakers lets every engine speak in turns.
func (b *bench) measureSpeakers() (err error) {
	var speakers []*speaker
	add := func(s *speaker, e error) {
		err = errors.Join(err, e)
		if e == nil {
			speakers = append(speakers, s)
		}
	}
	for _, precision := range b.precisions {
		add(b.own("swar "+precision, b.native(precision), 1))
		if b.peer != nil {
			add(b.sherpa("sherpa "+precision, b.public(layouttest.Sherpa, precision)))
		}
	}
	add(b.own("layout int8", b.public(layouttest.KevinAHMv2, bundle.Int8), 1))
	defer func() {
		for _, s := range speakers {
			err = errors.Join(err, s.stop())
		}
	}()
	if err != nil {
		return err
	}
	for round := range b.rounds {
		for _, s := range speakers {
			b.say(fmt.Sprintf("%s speaks, round %d of %d", s.name, round+1, b.rounds))
			if err := b.listen(s, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// listen asks one engine for a short and a long utterance, each of a text that is new, and for the start of one that is
// not.
func (b *bench) listen(s *speaker, round int) error {
	if round == 0 { // what is slow once only: memory that was never touched
		if _, err := s.ask(request{Text: newText(letters, 1000), Frames: shortFrames}); err != nil {
			return err
		}
	}
	short, err := s.ask(request{Text: newText(letters, uint64(2000+round)), Frames: shortFrames})
	if err != nil {
		return err
	}
	text := newText(letters, uint64(3000+round))
	long, err := s.ask(request{Text: text, Frames: longFrames})
	if err != nil {
		return err
	}
	again, err := s.ask(request{Text: text, Frames: 1})
	if err != nil {
		return err
	}
	alike, err := s.ask(request{Text: text[:known-1] + newText(letters-known+1, uint64(4000+round)), Frames: 1})
	if err != nil {
		return err
	}
	if short.Frames != shortFrames || long.Frames != longFrames {
		return fmt.Errorf("%s spoke %d and %d frames, want %d and %d", s.name, short.Frames, long.Frames,
			shortFrames, longFrames)
	}
	b.add("frame "+s.name, (long.CPU-short.CPU)/(longFrames-shortFrames))
	b.add("utterance "+s.name, long.CPU/longFrames)
	b.add("first "+s.name, long.FirstCPU)
	if again.Cached {
		b.add("again "+s.name, again.FirstCPU)
		b.add("alike "+s.name, alike.FirstCPU)
	}
	b.add("resident "+s.name, float64(long.Resident)/1e6)
	b.add("peak "+s.name, float64(long.Peak)/1e6)
	return nil
}

// measureMemory lets fresh processes speak one stream, and eight at once.
func (b *bench) measureMemory() error {
	for _, precision := range b.precisions {
		for _, streams := range []int{1, 8} {
			name := fmt.Sprintf("%d streams %s", streams, precision)
			b.say(name + " in a fresh process")
			s, err := b.own(name, b.native(precision), streams)
			if err != nil {
				return err
			}
			a, err := s.ask(request{Text: newText(letters, 5000), Frames: longFrames})
			if err != nil {
				return errors.Join(err, s.stop())
			}
			b.add("memory "+name, float64(a.Resident)/1e6)
			b.add("memory peak "+name, float64(a.Peak)/1e6)
			b.add("shared "+name, a.CPU/float64(a.Frames))
			r := request{Text: newText(letters, 6000), Frames: longFrames, Fill: fullCache}
			if streams > 1 {
				r.Firsts = firstTexts
			}
			full, err := s.ask(r)
			if err := errors.Join(err, s.stop()); err != nil {
				return err
			}
			b.add("full memory "+name, float64(full.Resident)/1e6)
			b.add("full memory peak "+name, float64(full.Peak)/1e6)
			for i := range full.Beside {
				b.add("alone "+name, full.Alone[i])
				b.add("beside "+name, full.Beside[i])
			}
		}
	}
	return nil
}
