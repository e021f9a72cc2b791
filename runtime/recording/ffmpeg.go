package recording

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/childenv"
)

// command is what makes a file that can be read of one that cannot.
func command(path string) string {
	return "ffmpeg -i " + quote(path) + " -ac 1 -ar 24000 -c:a pcm_s16le voice.wav"
}

// quote makes one word of a shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ffmpegTime is the longest that ffmpeg may take for an hour of sound.
const ffmpegTime = 2 * time.Minute

// containers are the formats that ffmpeg may open. Among those it knows besides are lists of other files and
// addresses.
const containers = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,ogg,amr,amrnb,amrwb,aac,ac3,asf,mp3,flac,wav,w64,aiff,caf,au," +
	"avi,mpegts,mpeg,wv,ape,tta"

// byFFmpeg lets ffmpeg make a WAV file of the first stream of sound in path, and reads that while it comes. name is
// the format of path, and why says for what reason it is not read here.
func byFFmpeg(s *sound, path, name, why string) error {
	program, err := exec.LookPath("ffmpeg")
	if err != nil {
		return fmt.Errorf("it is %s%s: install ffmpeg, which may read it, or make a file of it that is read without: %s",
			name, why, command(path))
	}
	absolute, err := filepath.Abs(path) // a name such as -y or http: is not what it looks like
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(s.ctx, ffmpegTime, fmt.Errorf("ffmpeg took longer than %v", ffmpegTime))
	defer stop()
	cmd := exec.CommandContext(ctx, program, "-nostdin", "-hide_banner", "-loglevel", "error",
		"-protocol_whitelist", "file,pipe", "-format_whitelist", containers, "-i", "file:"+absolute,
		"-map", "0:a:0", "-map_metadata", "-1", "-c:a", "pcm_f32le", "-f", "wav", "pipe:1")
	said := &tail{}
	cmd.Stderr = said
	cmd.Env = childenv.Only()
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { kill(cmd.Process); return nil }
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting ffmpeg: %w", err)
	}
	s.format = name
	read := decodeWAV(s, out)
	if read != nil {
		stop() // it may have more than anybody reads
	}
	ended := cmd.Wait()
	switch {
	case context.Cause(s.ctx) != nil:
		return context.Cause(s.ctx)
	case ctx.Err() != nil && read == nil:
		return context.Cause(ctx)
	case read != nil && s.frames > 0:
		return read
	case ended != nil && s.frames > 0:
		s.broken = "ffmpeg: " + said.last()
		return nil
	case ended != nil || read != nil:
		return fmt.Errorf("it is %s%s, and ffmpeg cannot read it: %s", name, why, said.last())
	}
	return nil
}

// tail keeps the end of what a program complains about.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 1 << 12
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-most):]
	return len(p), nil
}

func (t *tail) last() string {
	lines := bytes.Split(bytes.TrimSpace(t.b), []byte("\n"))
	line := strings.ToValidUTF8(string(bytes.TrimSpace(lines[len(lines)-1])), "?")
	if line == "" {
		return "it says nothing"
	}
	return line
}
