// Package recording reads recordings for making voices, in common formats, and reports their flaws.
package recording

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/swar-tts/swar/runtime/resample"
	"github.com/swar-tts/swar/runtime/speech"
)

// What a recording may be.
const (
	MaxBytes    = 200 << 20 // of a file
	MaxSeconds  = 3600      // of sound in it
	UsedSeconds = 30        // of sound that a voice is made of, from the beginning

	maxChannels = 16
	minRate     = 4000 // Hz; telephones have 8000
	maxRate     = 768_000
)

// A Recording is the beginning of the sound of a file, and what the file was.
type Recording struct {
	Samples  []float32 // mono at 24 kHz, at most [UsedSeconds]; full scale is 1
	Format   string    // such as "WAV, 16 bits", "FLAC", "MP3" or "Ogg Opus"
	Rate     int       // Hz, of the file
	Channels int       // of the file
	Seconds  float64   // of the whole file
	SHA256   string    // of the whole file, in lower-case hexadecimal digits
	Findings []Finding // what makes a worse voice than necessary, most serious first
}

var errTooLong = fmt.Errorf("it is longer than %d minutes: cut out what shall be the voice, 8 to 20 seconds of speech",
	MaxSeconds/60)

// Read reads the recording in a file, whose format it finds out from its content. Channels are averaged. Of a file
// that breaks off it takes what is whole; one that is silent is an error.
//
// Formats other than WAV, FLAC, MP3 and Ogg Opus are read with ffmpeg where PATH has it. Where not, the error says
// what to type. Read needs memory for a minute of sound, whatever the file claims to hold, and ends soon after
// ctx.
func Read(ctx context.Context, path string) (*Recording, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	r, err := read(ctx, f, path)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// open opens a regular file of bearable size. Others, such as a pipe that nobody writes to, it does not wait for.
func open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() > MaxBytes:
		return nil, fmt.Errorf("%s has %d MiB, more than %d: cut out what shall be the voice, 8 to 20 seconds of speech",
			path, info.Size()>>20, MaxBytes>>20)
	}
	return os.Open(path)
}

func read(ctx context.Context, f *os.File, path string) (*Recording, error) {
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(f, MaxBytes+1)); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	s := &sound{ctx: ctx}
	if err := decode(s, f, path); err != nil {
		return nil, err
	}
	r, err := s.recording()
	if err != nil {
		return nil, err
	}
	r.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return r, nil
}

// decode reads the sound of the file. Decoders may panic over damaged files: what came before is kept.
func decode(s *sound, f *os.File, path string) (err error) {
	defer func() {
		r := recover()
		switch {
		case r == nil:
		case s.frames > 0:
			s.broken, err = "a damaged frame", nil
		default:
			err = fmt.Errorf("the file is damaged: its decoder failed with %v", r)
		}
	}()
	head := make([]byte, headBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	name, own := recognise(head[:n], func(at int64) []byte {
		there := make([]byte, 4)
		n, _ := f.ReadAt(there, at)
		return there[:n]
	})
	if own != nil {
		s.format = name
		err := own(s, f)
		if other, is := errors.AsType[otherKind](err); is {
			return byFFmpeg(s, path, name, " ("+string(other)+")")
		}
		return err
	}
	if name == "" {
		name = "no format of sound that is known here"
	}
	return byFFmpeg(s, path, name, "")
}

// recording returns what was heard, at the rate and of the length that voices are made of.
func (s *sound) recording() (*Recording, error) {
	if s.frames == 0 {
		return nil, errors.New("it holds no sound")
	}
	filter, err := resample.New(s.rate, speech.SampleRate, resample.Recorded)
	if err != nil {
		return nil, fmt.Errorf("%w: make one of 24000 Hz of it: %s", err, command("recording"))
	}
	samples := filter.All(s.kept)
	r := &Recording{
		Samples: samples[:cut(samples, UsedSeconds*speech.SampleRate)],
		Format:  s.format, Rate: s.rate, Channels: s.channels, Seconds: float64(s.frames) / float64(s.rate),
	}
	return r, r.judge(s)
}

// Trim cuts r to at most so many samples, where [Read] would have cut it for that limit.
func (r *Recording) Trim(most int) {
	if len(r.Samples) <= most {
		return
	}
	r.Samples = r.Samples[:cut(r.Samples, most)]
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Kind == Cut })
	r.Findings = append(r.Findings, r.cutAt(most))
}

// cutAt says where r was cut.
func (r *Recording) cutAt(most int) Finding {
	return Finding{Cut, fmt.Sprintf("It has %.1f s: the first %.2f are used, up to the quietest place before %.4g s.",
		r.Seconds, float64(len(r.Samples))/speech.SampleRate, float64(most)/speech.SampleRate)}
}

// cut returns how much of a recording is used: all, or what ends with the quietest 20 ms of the last second before
// the limit. A voice that stops in the middle of a word goes on with it when it speaks.
func cut(samples []float32, limit int) int {
	const (
		second = speech.SampleRate
		block  = speech.SampleRate / 50
		step   = block / 4
	)
	if len(samples) <= limit || limit < block {
		return min(len(samples), limit)
	}
	best, quietest := limit, power(samples[limit-block:limit])
	for end := max(0, limit-second) + block; end < limit; end += step {
		if p := power(samples[end-block : end]); p < quietest {
			best, quietest = end, p
		}
	}
	return best
}

// power returns the mean square.
func power(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum / float64(len(x))
}
