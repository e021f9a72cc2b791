package phoneme

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/internal/quickexit"
)

// The tests run this binary again as a program that behaves as the environment says, by a variable that every
// program is given because its name begins like those of a language.
const fakeEnv = "LC_SWAR_TEST_FAKE"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeEnv); how != "" {
		fake(how)
	}
	goleak.VerifyTestMain(m)
}

// fake answers questions as the program does. To a text it answers what is in it, or misbehaves.
func fake(how string) {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case "--version":
			version, isVersion := strings.CutPrefix(how, "version ")
			if !isVersion {
				version = "1.52"
			}
			fmt.Println("eSpeak NG text-to-speech: " + version + "  Data at: /nowhere")
		case "--voices=hi":
			fmt.Println("Pty Language       Age/Gender VoiceName          File                 Other Languages")
			if how != "has no Hindi" {
				fmt.Println(" 5  hi              --/M      Hindi              inc/hi               ")
			}
		}
		quickexit.Exit(0)
	}
	if how == "hangs" {
		time.Sleep(time.Hour)
	}
	in, _ := io.ReadAll(os.Stdin)
	switch how {
	case "fails":
		fmt.Fprintln(os.Stderr, "Error: no voice data")
		quickexit.Exit(3)
	case "is killed":
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Signal(syscall.SIGKILL)
		}
		time.Sleep(time.Hour)
	case "shows its environment":
		fmt.Fprint(os.Stderr, os.Getenv("SWAR_API_KEY")+" "+os.Getenv("ESPEAK_DATA_PATH"))
		quickexit.Exit(3)
	}
	for line := range strings.Lines(string(in)) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case line == sentinel && how != "loses a line":
			fmt.Println(sentinelSaid)
		case line == sentinel:
		case how == "prints two lines":
			fmt.Println(strings.ReplaceAll(line, " ", "\n"))
		case how == "says nothing":
			fmt.Println("(^e^n)")
		default:
			fmt.Println(line)
		}
	}
	if how == "goes on" {
		fmt.Println("a")
	}
	quickexit.Exit(0)
}

// fakeReader reads with a program that behaves as named.
func fakeReader(t *testing.T, how string) *Reader {
	t.Helper()
	return newReader(espeakng.Program{Path: setFake(t, how)}, "hi")
}

// setFake decides how this binary behaves when it is run as a program, and returns its path.
func setFake(t *testing.T, how string) string {
	t.Helper()
	t.Setenv(fakeEnv, how)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// installed is a reader with the real program.
func installed(t testing.TB) *Reader {
	t.Helper()
	r, err := Open("")
	if err != nil {
		t.Skipf("SKIPPED, because the program cannot be run: %v", err)
	}
	return r
}

// spelled writes ids as symbols.
func spelled(ids []int64) string {
	var out strings.Builder
	for _, id := range ids {
		for symbol, other := range vocabulary {
			if id == other {
				out.WriteRune(symbol)
			}
		}
	}
	return out.String()
}
