package espeak

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/speech"
)

// errInterrupted is what read and feed return after interrupt.
var errInterrupted = errors.New("interrupted")

// process is one run of the program: a text in, its samples out. Only interrupt may be called beside another method.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr espeakng.Head
	stall  time.Duration // longest wait for the program to do anything

	cut    chan struct{} // closed by interrupt
	once   sync.Once
	exited chan struct{} // closed when the program was reaped
	exit   error         // of Wait; valid once exited is closed

	started    bool // the header was read
	gotSamples bool // and samples too
	leftover   int  // bytes of raw that the last read left over: half a sample, or part of the header
	raw        [8192]byte
	pcm        [4096]int16
}

// startProcess runs the program, which then waits for its text.
func startProcess(program espeakng.Program, args []string, stall time.Duration) (*process, error) {
	p := &process{stall: stall, cut: make(chan struct{}), exited: make(chan struct{})}
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, espeakng.StartFailure(err)
	}
	defer in.Close()
	stdout, out, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, espeakng.StartFailure(err)
	}
	defer out.Close()
	p.stdin, p.stdout = stdin, stdout
	//nolint:noctx // it may wait as a spare for longer than any call lasts; stop ends it
	p.cmd = exec.Command(program.Path, args...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, &p.stderr
	program.Confine(p.cmd)
	p.cmd.WaitDelay = time.Second // for a stray child of the program that holds stderr open
	if err := program.Start(p.cmd); err != nil {
		stdin.Close()
		stdout.Close()
		return nil, err
	}
	go func() {
		p.exit = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// feed gives the program its text. It fails when the program is already gone.
func (p *process) feed(text []byte) error {
	if err := p.stdin.SetWriteDeadline(time.Now().Add(p.stall)); err != nil {
		return p.broken(err)
	}
	if p.isCut() {
		return errInterrupted
	}
	if _, err := p.stdin.Write(text); err != nil {
		return p.broken(err)
	}
	if err := p.stdin.Close(); err != nil {
		return p.broken(err)
	}
	return nil
}

// read waits for samples and returns at least one; they are valid until the next read. It returns io.EOF when the
// program has ended well and was reaped.
func (p *process) read() ([]int16, error) {
	for {
		// In this order no interrupt is lost: it closes cut before it moves the deadline.
		if err := p.stdout.SetReadDeadline(time.Now().Add(p.stall)); err != nil {
			return nil, p.broken(err)
		}
		if p.isCut() {
			return nil, errInterrupted
		}
		n, err := p.stdout.Read(p.raw[p.leftover:])
		p.leftover += n
		if err == io.EOF {
			return nil, p.end()
		}
		if err != nil {
			return nil, p.broken(err)
		}
		data := p.raw[:p.leftover]
		if !p.started {
			if len(data) < headerBytes {
				continue
			}
			if err := checkHeader(data); err != nil {
				return nil, p.failure("speech program writes an unknown format", err)
			}
			p.started = true
			data = data[headerBytes:]
		}
		samples := len(data) / 2
		for i := range samples {
			p.pcm[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
		}
		p.leftover = copy(p.raw[:], data[2*samples:])
		if samples > 0 {
			p.gotSamples = true
			return p.pcm[:samples], nil
		}
	}
}

// interrupt makes a read or feed that is waiting, and every later one, return errInterrupted. It is safe for
// concurrent use.
func (p *process) interrupt() {
	p.once.Do(func() { close(p.cut) })
	past := time.Unix(1, 0)
	p.stdin.SetWriteDeadline(past)
	p.stdout.SetReadDeadline(past)
}

func (p *process) isCut() bool {
	select {
	case <-p.cut:
		return true
	default:
		return false
	}
}

// stop ends the program, whatever it is doing, and returns when it was reaped.
func (p *process) stop() {
	p.stdin.Close()
	p.stdout.Close()
	select {
	case <-p.exited:
	default:
		// Between the look and the kill the program may end and be reaped. Its number does not come round again that
		// fast.
		espeakng.Kill(p.cmd.Process)
		<-p.exited
	}
}

// end is what the end of the output means.
func (p *process) end() error {
	select {
	case <-p.exited:
	case <-p.cut:
		return errInterrupted
	case <-time.After(p.stall):
		return p.failure("speech program does not end", fmt.Errorf("it closed its output %v ago", p.stall))
	}
	switch {
	case p.exit != nil:
		return p.failure("speech program failed", p.exit)
	case !p.started:
		return p.failure("speech program said nothing", fmt.Errorf("it ended after %d bytes of header", p.leftover))
	case p.leftover > 0:
		return p.failure("speech program failed", errors.New("its audio ends inside a sample"))
	}
	p.stop()
	return io.EOF
}

// broken is what a failed read or write means.
func (p *process) broken(err error) error {
	switch {
	case p.isCut():
		return errInterrupted
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.failure("speech program does not answer", fmt.Errorf("nothing for %v", p.stall))
	}
	return p.failure("speech program failed", err)
}

// failure adds what the program complained about. The program is gone afterwards.
func (p *process) failure(text string, err error) error {
	p.stop()
	if said := p.stderr.String(); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return &speech.EngineError{Text: text, Err: err}
}

// headerBytes is the length of the WAV header that the program begins with. The lengths in it mean nothing in a stream.
const headerBytes = 44

func checkHeader(h []byte) error {
	format, channels := binary.LittleEndian.Uint16(h[20:]), binary.LittleEndian.Uint16(h[22:])
	rate, bits := binary.LittleEndian.Uint32(h[24:]), binary.LittleEndian.Uint16(h[34:])
	if !bytes.HasPrefix(h, []byte("RIFF")) || string(h[8:16]) != "WAVEfmt " || string(h[36:40]) != "data" {
		return fmt.Errorf("output starts with %q, not with a WAV header", h[:16])
	}
	if format != 1 || channels != 1 || rate != programRate || bits != 16 {
		return fmt.Errorf("output has format %d, %d channels, %d Hz, %d bits; want 1, 1, %d Hz, 16", format, channels,
			rate, bits, programRate)
	}
	return nil
}
