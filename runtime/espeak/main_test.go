package espeak

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/internal/quickexit"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// The tests run this binary again as a program that misbehaves, or as a server that is killed. The environment says
// which, by variables that every program is given because their names begin like those of a language.
const (
	fakeEnv   = "LC_SWAR_TEST_FAKE"
	serverEnv = "LC_SWAR_TEST_SERVER"
	markEnv   = "LC_SWAR_TEST_MARK"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(serverEnv) != "":
		serveUntilKilled()
	case os.Getenv(fakeEnv) != "":
		fake(os.Getenv(fakeEnv))
	}
	goleak.VerifyTestMain(m)
}

// fake behaves as named, from a start like the program's: it waits for the whole text.
func fake(how string) {
	if len(os.Args) == 2 {
		answer(how, os.Args[1])
	}
	if how == "never reads" {
		time.Sleep(time.Hour)
	}
	text, _ := io.ReadAll(os.Stdin)
	samples := func(n int) { os.Stdout.Write(make([]byte, 2*n)) }
	if n, ok := strings.CutPrefix(how, "samples "); ok {
		os.Stdout.Write(header(programRate))
		count, _ := strconv.Atoi(n)
		samples(count)
		quickexit.Exit(0)
	}
	switch how {
	case "counts": // a second of audio for every letter
		os.Stdout.Write(header(programRate))
		samples(programRate * len(text))
	case "fails":
		os.Stdout.Write(header(programRate))
		samples(4000)
		fmt.Fprintln(os.Stderr, "Error: no voice data")
		quickexit.Exit(3)
	case "fails loudly":
		fmt.Fprint(os.Stderr, strings.Repeat("x", 1<<20))
		quickexit.Exit(1)
	case "says nothing":
	case "cuts its header":
		os.Stdout.Write(header(programRate)[:43])
	case "cuts a sample":
		os.Stdout.Write(header(programRate))
		os.Stdout.Write(make([]byte, 3))
	case "speaks at 16 kHz":
		os.Stdout.Write(header(16000))
	case "speaks Ogg":
		os.Stdout.Write(append([]byte("OggS"), make([]byte, 100)...))
	case "hangs":
		time.Sleep(time.Hour)
	case "hangs after a second":
		os.Stdout.Write(header(programRate))
		samples(programRate)
		time.Sleep(time.Hour)
	case "does not end":
		os.Stdout.Write(header(programRate))
		samples(100)
		os.Stdout.Close()
		time.Sleep(time.Hour)
	case "shows its environment":
		fmt.Fprint(os.Stderr,
			os.Getenv("SWAR_SMTP_PASSWORD")+os.Getenv("SWAR_API_KEY")+" "+os.Getenv("ESPEAK_DATA_PATH"))
		quickexit.Exit(3)
	case "fails with its number":
		fmt.Fprintln(os.Stderr, os.Getpid())
		quickexit.Exit(3)
	case "pauses": // for longer than a spare process may before it speaks
		os.Stdout.Write(header(programRate))
		samples(1764)
		time.Sleep(1300 * time.Millisecond)
		samples(1764)
	case "never ends":
		os.Stdout.Write(header(programRate))
		for {
			if _, err := os.Stdout.Write(make([]byte, 1<<16)); err != nil {
				quickexit.Exit(1)
			}
		}
	case "dribbles": // byte by byte, so that every read ends in the middle of something
		for _, b := range append(header(programRate), make([]byte, 2*1764)...) {
			os.Stdout.Write([]byte{b})
		}
	}
	quickexit.Exit(0)
}

// answer is what a fake says to the questions at the start.
func answer(how, question string) {
	switch {
	case how == "never answers":
		time.Sleep(time.Hour)
	case how == "never stops answering":
		for {
			os.Stdout.Write(make([]byte, 1<<16))
		}
	case how == "fails at once":
		fmt.Fprintln(os.Stderr, "Error: no data")
		quickexit.Exit(2)
	case question == "--version" && how == "is another program":
		fmt.Println("hello 1.0")
	case question == "--version":
		fmt.Println("eSpeak NG text-to-speech: 9.9-dev  Data at: /nowhere")
	case question == "--voices=hi":
		fmt.Println("Pty Language       Age/Gender VoiceName          File                 Other Languages")
		fmt.Println(" 1  hi              --/M      hindi-mbrola-1     mb/mb-in1            ")
		if how != "has no Hindi" {
			fmt.Println(" 5  hi              --/M      Hindi              inc/hi               ")
		}
	case question == "--voices=variant" && how != "has no variants":
		fmt.Println(" 5  variant         --/F      female2            !v/f2                ")
	}
	quickexit.Exit(0)
}

func header(rate uint32) []byte {
	h := []byte("RIFF\xff\xff\xff\x7fWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	h = binary.LittleEndian.AppendUint32(h, rate)
	h = binary.LittleEndian.AppendUint32(h, 2*rate)
	return append(h, "\x02\x00\x10\x00data\xff\xff\xff\x7f"...)
}

// fakeLimits leave a slow machine its time, and programs with the race detector, which are large, their memory.
var fakeLimits = limits{stall: 10 * time.Second, first: 10 * time.Second}

// fakeEngine is an engine on a program that behaves as named.
func fakeEngine(t *testing.T, how string) *Engine {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	setFake(t, how)
	return &Engine{program: espeakng.Program{Path: self}, hindi: "hi", limits: fakeLimits,
		cache: synth.NewCache[*script](defaultCacheBytes)}
}

// setFake decides how this binary behaves when it is run as a program.
func setFake(t *testing.T, how string) {
	t.Setenv(fakeEnv, how)
}

// longText keeps the program busy: it is minutes of audio, which no pipe holds.
var longText = strings.Repeat("नमस्ते, आपका order कल सुबह तक पहुँच जाएगा। ", 40)

// serveUntilKilled is a server in the middle of a chunk. It names its processes and then waits for its end.
func serveUntilKilled() {
	program := os.Getenv(serverEnv)
	os.Unsetenv(serverEnv) // or what it starts would be servers too
	e := &Engine{program: espeakng.Program{Path: program}, hindi: "inc/hi", limits: fakeLimits,
		cache: synth.NewCache[*script](0)}
	w := newWorker(e)
	if _, err := w.Prefill(context.Background(), synth.Options{Voice: "anjura", Text: longText}); err != nil {
		panic(err)
	}
	if os.Getenv(fakeEnv) == "" {
		if n, _, _, err := w.Next(context.Background(), make([]int16, speech.FrameSamples), 1); n != 1 || err != nil {
			panic(fmt.Sprint(n, err))
		}
	}
	w.prepare(w.voice)
	<-w.spare.ready
	fmt.Println(w.speaking.cmd.Process.Pid, w.spare.process.cmd.Process.Pid)
	select {}
}
