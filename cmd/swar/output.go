package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/wav"
)

// formats maps what a file name may end in.
var formats = map[string]client.Format{
	".wav": client.WAV, ".opus": client.Opus, ".ogg": client.Opus, ".pcm": client.PCM16, ".raw": client.PCM16,
}

// target is where audio goes to.
type target interface {
	io.Writer
	format() client.Format
	String() string

	// finish is called once, with why the audio ended: nil when all of it was written.
	finish(error) error
}

// writtenFormats are the values of --format.
var writtenFormats = []string{string(client.WAV), string(client.Opus), string(client.PCM16)}

// target chooses a file, standard output or a player.
func (a *app) target(cmd *cobra.Command, output, format string) (target, error) {
	f := client.Format(format)
	switch {
	case f != "" && !slices.Contains(writtenFormats, format):
		return nil, launch.BadUsage(cmd, "--format %q: want %s", format, strings.Join(writtenFormats, ", "))
	case output == "" && f != "":
		return nil, launch.BadUsage(cmd, "--format requires -o")
	case output == "":
		return a.newPlayer(cmd.Context())
	case output == "-":
		if a.Out.Terminal {
			return nil, launch.BadUsage(cmd, "audio cannot be written to a terminal; redirect it, or use -o with a file name")
		}
		if f == "" {
			f = client.WAV
		}
		return &plain{Writer: a.Out, form: f, name: "standard output"}, nil
	case f == "":
		var ok bool
		if f, ok = formats[strings.ToLower(filepath.Ext(output))]; !ok {
			return nil, launch.BadUsage(cmd,
				"-o %q: a file name must end in .wav, .opus, .ogg, .pcm or .raw; or say --format", output)
		}
	}
	return openFile(output, f)
}

// plain is a target that takes bytes as they come, such as standard output.
type plain struct {
	io.Writer
	form client.Format
	name string
	file *os.File // to be closed; nil for standard output
}

func (p *plain) format() client.Format { return p.form }
func (p *plain) String() string        { return p.name }

func (p *plain) finish(err error) error {
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
	}
	return err
}

// file is a target that appears under its name when it is complete, and replaces what had that name only then.
type file struct {
	*os.File
	form client.Format
	name string
}

// openFile opens the file output. It writes directly to a pipe or a device.
func openFile(output string, f client.Format) (target, error) {
	if linked, err := filepath.EvalSymlinks(output); err == nil {
		output = linked // so that a link stays one
	}
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(output); err == nil {
		if info.IsDir() {
			return nil, fmt.Errorf("%s is a folder; name a file in it", output)
		}
		if !info.Mode().IsRegular() {
			w, err := os.OpenFile(output, os.O_WRONLY, 0)
			return &plain{w, f, output, w}, err
		}
		mode = info.Mode().Perm()
	}
	temporary := filepath.Join(filepath.Dir(output), fmt.Sprintf(".%s.%08x.part", filepath.Base(output), rand.Uint32()))
	w, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", output, errors.Unwrap(err))
	}
	return &file{w, f, output}, nil
}

func (f *file) format() client.Format { return f.form }
func (f *file) String() string        { return f.name }

func (f *file) finish(err error) error {
	if err == nil && f.form == client.WAV {
		err = stateLength(f.File)
	}
	temporary := f.File.Name()
	err = errors.Join(err, f.File.Close())
	if err == nil {
		if err = os.Rename(temporary, f.name); err == nil {
			return nil
		}
	}
	return errors.Join(err, os.Remove(temporary))
}

// stateLength writes the true length into the header of a WAV that was streamed, because many editors believe the
// placeholder.
func stateLength(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var header [wav.HeaderBytes]byte
	switch n, err := f.ReadAt(header[:], 0); {
	case err != nil && err != io.EOF:
		return err
	case n < len(header), string(header[:4]) != "RIFF", string(header[36:40]) != "data":
		return nil // another server may write another header, which we better leave alone
	}
	if info.Size() > math.MaxUint32 {
		return nil // the placeholder serves better than what would fit
	}
	binary.LittleEndian.PutUint32(header[4:], uint32(info.Size()-8))
	binary.LittleEndian.PutUint32(header[40:], uint32(info.Size()-wav.HeaderBytes))
	_, err = f.WriteAt(header[:], 0)
	return err
}

// streamedWAV is the header of a WAV whose length is not known yet; [stateLength] may complete it.
func streamedWAV() []byte {
	h := wav.Header(wav.Streaming)
	return h[:]
}
