//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/swar-tts/swar/internal/testenv/onnxruntimetest"
)

const vectors = "../../runtime/onnx/testdata"

// library names the library of the neural engine to the programs that the test starts. Where there is none it ends the
// test, see onnxruntimetest.Library.
func library(t testing.TB) {
	t.Helper()
	t.Setenv("SWAR_ONNXRUNTIME", onnxruntimetest.Library(t))
}

// swar runs the program to its end.
func swar(t testing.TB, args ...string) (code int, out, complaint string) {
	t.Helper()
	return runProgram(t, "swar", args...)
}

// runProgram runs one of ours to its end.
func runProgram(t testing.TB, name string, args ...string) (code int, out, complaint string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, name), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func mustSwar(t testing.TB, args ...string) string {
	t.Helper()
	code, out, complaint := swar(t, args...)
	if code != 0 {
		t.Fatalf("swar %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, complaint)
	}
	return out
}

// randomBundle makes and verifies a tiny random model.
func randomBundle(t testing.TB) string {
	t.Helper()
	library(t)
	dir := filepath.Join(t.TempDir(), "tiny")
	mustSwar(t, "bundle", "synth-random", "--size", "tiny", "-o", dir)
	if out := mustSwar(t, "bundle", "verify", dir); strings.Count(out, "ok  voice ") != 2 {
		t.Fatalf("verify says\n%s", out)
	}
	return dir
}

// liteBundle makes a random model that takes its time and does not end by itself.
func liteBundle(t testing.TB) string {
	t.Helper()
	library(t)
	dir := filepath.Join(t.TempDir(), "lite")
	mustSwar(t, "bundle", "synth-random", "--size", "lite", "-o", dir)
	return dir
}

func TestABundleIsServed(t *testing.T) {
	bundle := randomBundle(t)
	s := start(t, "--workers", "2", "--oversubscribe", "--bundle", bundle)
	fields := func(format string) map[string]any {
		return map[string]any{"text": sentence, "seed": 7, "format": format}
	}
	pcm := readFile(t, curl(t, s, "a.pcm", fields("pcm16")))
	if len(pcm) == 0 || len(pcm)%3840 != 0 {
		t.Fatalf("%d bytes of pcm, want whole frames", len(pcm))
	}

	t.Run("ffprobe hears as many frames as there are", func(t *testing.T) {
		frames := len(pcm) / 3840
		got := run(t, "ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0",
			curl(t, s, "a.wav", map[string]any{"text": sentence, "seed": 7, "stream": false}))
		duration, err := strconv.ParseFloat(strings.TrimSpace(got), 64)
		if want := float64(frames) * .08; err != nil || duration < want-.001 || duration > want+.001 {
			t.Errorf("%s s (%v), want %d frames, %.2f s", strings.TrimSpace(got), err, frames, want)
		}
	})
	t.Run("the same seed sounds the same, also at the same time", func(t *testing.T) {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				resp, err := s.post(t.Context(), "/v1/tts", body(t, fields("pcm16")))
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK ||
					!bytes.Equal(got, pcm) {
					t.Errorf("status %s, %d bytes (%v), equal is %v", resp.Status, len(got), err, bytes.Equal(got, pcm))
				}
			})
		}
		all.Wait()
	})
	t.Run("another seed does not", func(t *testing.T) {
		if other := readFile(t, curl(t, s, "b.pcm",
			map[string]any{"text": sentence, "seed": 8, "format": "pcm16"})); bytes.Equal(other, pcm) {
			t.Error("seeds 7 and 8 sound the same")
		}
	})
	t.Run("a WebSocket carries the same", func(t *testing.T) {
		if got := overSocket(t, s, fields("pcm16")); !bytes.Equal(got, pcm) {
			t.Errorf("%d bytes, want the same %d", len(got), len(pcm))
		}
	})
	t.Run("so does say, with and without the server", func(t *testing.T) {
		for _, where := range [][]string{{"--server", s.base}, {"--bundle", bundle}} {
			path := filepath.Join(t.TempDir(), "x.pcm")
			mustSwar(t, slices.Concat([]string{"say", "--seed", "7", "-o", path}, where, []string{sentence})...)
			if got := readFile(t, path); !bytes.Equal(got, pcm) {
				t.Errorf("%v: %d bytes, want the same %d", where, len(got), len(pcm))
			}
		}
	})
	t.Run("the metrics tell of hits", func(t *testing.T) {
		for _, name := range []string{"tts_prefill_cache_hits_total", "tts_prefill_cache_misses_total",
			"tts_prefill_cache_bytes", "tts_batch_size_sum"} {
			if v := s.metric(t, name); v <= 0 {
				t.Errorf("%s = %g, want more than 0", name, v)
			}
		}
		if v := s.metric(t, "tts_broken_outputs_total"); v != 0 {
			t.Errorf("%g broken outputs", v)
		}
	})
	t.Run("doctor sees it", func(t *testing.T) {
		out := mustSwar(t, "doctor", "--bundle", bundle, "--listen", strings.TrimPrefix(s.base, "http://"))
		for _, want := range []string{"ok    onnxruntime ", "ok    bundle ", "a Swar server ("} {
			if !strings.Contains(out, want) {
				t.Errorf("it lacks %q:\n%s", want, out)
			}
		}
	})
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// overSocket speaks one utterance over a WebSocket of its own and returns its audio.
func overSocket(t *testing.T, s *server, fields map[string]any) (audio []byte) {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.base, "http")+"/v1/tts/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := conn.WriteJSON(fields); err != nil {
		t.Fatal(err)
	}
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.BinaryMessage {
			audio = append(audio, message...)
			continue
		}
		var e struct{ Type string }
		if err := json.Unmarshal(message, &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "end":
			return audio
		case "error", "cancelled":
			t.Fatalf("%s", message)
		}
	}
}

// TestReadyOnlyWhenWarm asks from the first moment on: 503 until the announcement, 200 from then on, and never speech
// before that.
func TestReadyOnlyWhenWarm(t *testing.T) {
	s := begin(t, "--workers", "1", "--bundle", liteBundle(t)) // whose warming up takes long enough to be seen
	unready := 0
	eventually(t, "the server is ready", 60*time.Second, func() bool {
		resp, err := http.Get(s.base + "/readyz")
		if err != nil {
			return false // it does not listen yet
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			if unready++; unready == 1 { // it has just begun
				early, err := s.post(t.Context(), "/v1/tts", `{"text":"jaldi"}`)
				if err != nil {
					t.Fatal(err)
				}
				_ = early.Body.Close()
				if early.StatusCode != http.StatusServiceUnavailable {
					t.Errorf("speech before it is ready: %s", early.Status)
				}
			}
		}
		return resp.StatusCode == http.StatusOK
	})
	if unready == 0 {
		t.Error("it was never seen warming up: the test tests nothing")
	}
	if !strings.Contains(s.output(), `"msg":"engine"`) {
		t.Errorf("it did not tell its memory:\n%s", s.output())
	}
}

func TestTermDrainsABundle(t *testing.T) {
	s := start(t, "--workers", "1", "--bundle", liteBundle(t))
	// a minute of audio: a lite model speaks up to its limit
	resp := beginToSpeak(t, s, strings.Repeat("Aapka order kal aayega. ", 6))
	defer resp.Body.Close()
	if busy := s.health(t).Busy; busy != 1 {
		t.Fatalf("%d workers are busy: the test tests nothing", busy)
	}
	s.term(t)
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.Trailer.Get("x-audio-s") == "" {
		t.Errorf("the running stream ended after %d more bytes with %v, trailers %v; want it complete", n, err,
			resp.Trailer)
	}
	s.wait(t)
}

func TestAPublishedModelIsConvertedVerifiedAndSpeaks(t *testing.T) {
	library(t)
	dir := t.TempDir()
	published, err := filepath.Abs(filepath.Join(vectors, "01-v2-tanh"))
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "tokenizer.model")
	if err := os.WriteFile(model, tokenizerOf(t, "../../runtime/tokenize/testdata/unigram_nfkc_symbols.model", 400),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, precision := range []string{"fp32", "int8"} {
		t.Run(precision, func(t *testing.T) {
			bundle := filepath.Join(dir, precision)
			out := mustSwar(t, "bundle", "convert", "--config", filepath.Join(published, "config.yaml"), "--from",
				filepath.Join(published, "model.safetensors"),
				"--tokenizer", model, "--voice", "meera="+filepath.Join(published, "voice.safetensors"), "--precision", precision, "--licence", "CC0-1.0", "-o", bundle)
			if !strings.Contains(out, "bundle verify "+bundle) || !strings.Contains(out, "serve --bundle "+bundle) {
				t.Errorf("it does not say what is next:\n%s", out)
			}
			if out := mustSwar(t, "bundle", "inspect", bundle); !strings.Contains(out, "CC0-1.0") ||
				!strings.Contains(out, precision+", for ONNX Runtime") {
				t.Errorf("inspect says\n%s", out)
			}
			if out := mustSwar(t, "bundle", "verify", bundle); !strings.Contains(out, "ok  voice    meera: ") {
				t.Errorf("verify says\n%s", out)
			}
			path := filepath.Join(dir, precision+".wav")
			mustSwar(t, "say", "--bundle", bundle, "-o", path, "Namaste!")
			if got := run(t, "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,sample_rate,channels", "-of",
				"csv=p=0", path); !strings.HasPrefix(got, "pcm_s16le,24000,1") {
				t.Errorf("ffprobe says %q", got)
			}
		})
	}
}

// tokenizerOf is a SentencePiece model with fewer pieces: the small models of the vectors have their own number of
// them.
func tokenizerOf(t *testing.T, path string, pieces int) (model []byte) {
	t.Helper()
	const fieldPieces = 1
	for rest, n := readFile(t, path), 0; len(rest) > 0; {
		number, kind, tag := protowire.ConsumeTag(rest)
		size := protowire.ConsumeFieldValue(number, kind, rest[max(tag, 0):])
		if tag < 0 || size < 0 {
			t.Fatalf("%s is not a protobuf", path)
		}
		if number != fieldPieces || n < pieces {
			model = append(model, rest[:tag+size]...)
		}
		if number == fieldPieces {
			n++
		}
		rest = rest[tag+size:]
	}
	return model
}

func TestASpoiledBundleStartsNothing(t *testing.T) {
	bundle := randomBundle(t)
	path := filepath.Join(bundle, "codec.onnx")
	data := readFile(t, path)
	data[len(data)/3] ^= 0x40
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	name, args := "swar", []string{"serve", "--listen", address}
	if isFleet(t) {
		name, args = "swar-worker", []string{"--listen", freeAddress(t), "--http", address, "--token-file",
			writeToken(t)}
	}
	code, out, complaint := runProgram(t, name, append(args, "--bundle", bundle)...)
	if code != 1 || out != "" || strings.Count(complaint, "\n") != 1 {
		t.Errorf("exit code %d, %q, %q; want 1 and one sentence", code, out, complaint)
	}
	if !strings.Contains(complaint, name+": ") || !strings.Contains(complaint, "codec.onnx has SHA-256 ") {
		t.Errorf("complains %q, want what is wrong with codec.onnx", complaint)
	}
	if resp, err := http.Get("http://" + address + "/healthz"); err == nil {
		_ = resp.Body.Close()
		t.Errorf("something serves: %s", resp.Status)
	}
}
