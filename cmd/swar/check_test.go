package main_test

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestCheckHearsAServer(t *testing.T) {
	s := newShell(t)
	base := s.serve("--workers", "1").base
	for name, args := range map[string][]string{
		"a sentence of its own": nil,
		"a letter":              {"a"},
		"digits":                {"1234567890"},
		"another voice":         {"--voice", "raj", "Namaste!"},
		"a dash before it":      {"--", "-- namaste"},
	} {
		r := s.run(append([]string{"check", "--server", base}, args...)...)
		if r.code != 0 || strings.Count(r.out, "\nok ") != 3 ||
			!strings.Contains(r.out, "24000 Hz, 1 channel, 16 bits") {
			t.Errorf("%s: exit code %d\n%s%s", name, r.code, r.out, r.err)
		}
	}
	if r := s.run("check", "--server", base, "--voice", "nobody", "--wait", "1h"); r.code != 4 ||
		!strings.Contains(r.err, "swar voices") {
		t.Errorf("a voice that there is not: exit code %d after no wait, %s", r.code, r.err)
	}
	if r := s.run("check", "--server", "http://127.0.0.1:1"); r.code != 3 {
		t.Errorf("nobody there: exit code %d, %s", r.code, r.err)
	}
	if r := s.run("check", "--wait=-1s"); r.code != 2 {
		t.Errorf("a wait that cannot be: exit code %d, %s", r.code, r.err)
	}
}

// TestWhatHelmTestRuns is the command of the chart's test, as it is rendered.
func TestWhatHelmTestRuns(t *testing.T) {
	text, err := os.ReadFile("../../hack/chart/testdata/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := bytes.Cut(text, []byte("\nkind: Pod\n"))
	var pod struct{ Spec corev1.PodSpec }
	if err := yaml.Unmarshal(text, &pod); err != nil || !found {
		t.Fatal(found, err)
	}
	s := newShell(t)
	base := s.serve("--workers", "1").base
	container := pod.Spec.Containers[0]
	args := container.Args
	for i, a := range args {
		if strings.HasPrefix(a, "--server=") {
			args[i] = "--server=" + base
		}
	}
	if r := s.run(args...); r.code != 0 || len(container.Command) != 1 || container.Command[0] != "swar" {
		t.Errorf("%v %v: exit code %d\n%s%s", container.Command, args, r.code, r.out, r.err)
	}
}

// wavOf makes a WAV of a rate and so many samples of a height.
func wavOf(rate uint32, samples int, height int16) []byte {
	b := append([]byte("RIFF\xff\xff\xff\xffWAVEfmt "), 16, 0, 0, 0, 1, 0, 1, 0)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, 2*rate)
	b = append(b, 2, 0, 16, 0)
	b = append(b, "data\xff\xff\xff\xff"...)
	for i := range samples {
		sample := height
		if i%2 == 1 {
			sample = -height
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(sample))
	}
	return b
}

// TestCheckHearsWhatIsWrong with what a server sends.
func TestCheckHearsWhatIsWrong(t *testing.T) {
	const second = 24000 // samples; whole frames make 1.04 s
	const whole = 13 * 1920
	s := bareShell(t)
	for name, tt := range map[string]struct {
		audio []byte
		want  string // empty: it is well
	}{
		"speech":                      {wavOf(second, whole, 1000), ""},
		"a page":                      {[]byte("<html>" + strings.Repeat(" ", 4000)), "BAD   format  it is not a WAV"},
		"another rate":                {wavOf(16000, whole, 1000), "BAD   format  16000 Hz"},
		"silence":                     {wavOf(second, whole, 999), "BAD   sound   0 of 13 frames"},
		"nothing":                     {wavOf(second, 0, 0), "BAD   length  0.00 s"},
		"part of a frame":             {wavOf(second, whole+1, 1000), "not whole frames"},
		"a frame for a long sentence": {wavOf(second, 1920, 1000), "BAD   length  0.08 s for 10 letters; want 0.15 to 7.00 s"},
		"seven seconds":               {wavOf(second, 87*1920, 1000), ""},
		"more than seven":             {wavOf(second, 88*1920, 1000), "BAD   length  7.04 s"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write(tt.audio)
		}))
		r := s.run("check", "--server", server.URL, "ten letter")
		server.Close()
		if tt.want == "" && r.code != 0 || tt.want != "" && (r.code != 1 || !strings.Contains(r.out, tt.want)) {
			t.Errorf("%s: exit code %d, want %q in\n%s%s", name, r.code, tt.want, r.out, r.err)
		}
	}
}

// TestCheckWaits for a server that is not ready, and not for one that refuses or cuts its audio off.
func TestCheckWaits(t *testing.T) {
	const early = 5 // calls before the server is ready; a client without patience makes three
	for name, tt := range map[string]struct {
		status      int // of the early calls; 0 for audio that is cut
		wait        string
		code, calls int
	}{
		"a server that starts":          {http.StatusServiceUnavailable, "30s", 0, early + 1},
		"a gateway without a route yet": {http.StatusNotFound, "30s", 0, early + 1},
		"one that starts, and no wait":  {http.StatusServiceUnavailable, "0", 4, 3},
		"one that wants a key":          {http.StatusUnauthorized, "30s", 4, 1},
		"one that cuts its audio off":   {0, "30s", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				audio := wavOf(24000, 13*1920, 1000)
				switch {
				case calls.Add(1) > early:
				case tt.status != 0:
					http.Error(w, `{"error": "no"}`, tt.status)
					return
				default:
					w.Header().Set("Content-Length", strconv.Itoa(len(audio)+1))
				}
				_, _ = w.Write(audio)
			}))
			defer server.Close()
			r := bareShell(t).run("check", "--server", server.URL, "--wait", tt.wait, "Namaste!")
			if r.code != tt.code || int(calls.Load()) != tt.calls {
				t.Errorf("exit code %d after %d calls, want %d after %d\n%s", r.code, calls.Load(), tt.code,
					tt.calls, r.err)
			}
		})
	}
}
