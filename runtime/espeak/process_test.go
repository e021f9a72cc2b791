package espeak

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

func TestAProgramThatMisbehavesIsAnError(t *testing.T) {
	for _, tt := range []struct {
		how, text, cause string
		frames           int
	}{
		{"fails", "speech program failed", "exit status 3: Error: no voice data", 2},
		{"fails loudly", "speech program failed", "exit status 1: " + strings.Repeat("x", espeakng.MaxComplaint), 0},
		{"says nothing", "speech program said nothing", "it ended after 0 bytes of header", 0},
		{"cuts its header", "speech program said nothing", "it ended after 43 bytes of header", 0},
		{"cuts a sample", "speech program failed", "its audio ends inside a sample", 0},
		{"speaks at 16 kHz", "speech program writes an unknown format",
			"output has format 1, 1 channels, 16000 Hz, 16 bits; want 1, 1, 22050 Hz, 16", 0},
		{"speaks Ogg", "speech program writes an unknown format",
			`output starts with "OggS\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", not with a WAV header`, 0},
	} {
		t.Run(tt.how, func(t *testing.T) {
			w := openWorker(t, fakeEngine(t, tt.how))
			pcm, err := speak(t, w, synth.Options{Voice: "raj", Text: "नमस्ते"})
			wantFailure(t, err, tt.text, tt.cause)
			if got := len(pcm) / speech.FrameSamples; got != tt.frames {
				t.Errorf("%d frames before the error, want %d", got, tt.frames)
			}
			if _, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1); err != errNotPrefilled {
				t.Errorf("Next after the error = %v, want %v", err, errNotPrefilled)
			}
		})
	}
}

func TestTheProgramSeesNoSecrets(t *testing.T) {
	t.Setenv("SWAR_SMTP_PASSWORD", "secret")
	t.Setenv("SWAR_API_KEY", "secret")
	t.Setenv("ESPEAK_DATA_PATH", "/data")
	w := openWorker(t, fakeEngine(t, "shows its environment"))
	_, err := speak(t, w, synth.Options{Voice: "raj", Text: "नमस्ते"})
	wantFailure(t, err, "speech program failed", "exit status 3: /data")
}

func TestAProgramThatHangsIsKilledAndReported(t *testing.T) {
	for _, tt := range []struct {
		how, text, cause string
		limit            time.Duration
	}{
		{"hangs", "speech program does not answer", "nothing for 100ms", 100 * time.Millisecond},
		{"hangs after a second", "speech program does not answer", "nothing for 100ms", 100 * time.Millisecond},
		// which starts in less
		{"does not end", "speech program does not end", "it closed its output 2s ago", 2 * time.Second},
	} {
		t.Run(tt.how, func(t *testing.T) {
			e := fakeEngine(t, tt.how)
			e.limits = limits{stall: tt.limit, first: tt.limit}
			w := openWorker(t, e)
			if _, err := w.Prefill(t.Context(), synth.Options{Voice: "anjura", Text: "नमस्ते"}); err != nil {
				t.Fatal(err)
			}
			p := w.speaking
			_, _, _, err := w.Next(t.Context(), make([]int16, 20*speech.FrameSamples), 20)
			wantFailure(t, err, tt.text, tt.cause)
			wantReaped(t, p)
		})
	}
}

func TestATextThatNobodyReadsDoesNotBlockForever(t *testing.T) {
	e := fakeEngine(t, "never reads")
	e.limits = limits{stall: 200 * time.Millisecond, first: 200 * time.Millisecond}
	w := openWorker(t, e)
	o := synth.Options{Voice: "anjura", Text: strings.Repeat("नमस्ते ", 20_000)}
	_, err := w.Prefill(t.Context(), o)
	wantFailure(t, err, "speech program does not answer", "nothing for 200ms")

	e.limits = fakeLimits
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(speech.ErrClientGone) })
	if _, err := w.Prefill(ctx, o); !errors.Is(err, speech.ErrClientGone) {
		t.Errorf("Prefill after the cancel = %v, want %v", err, speech.ErrClientGone)
	}
}

func TestCancelKillsAProgramThatHangs(t *testing.T) {
	for _, how := range []string{"hangs", "hangs after a second", "does not end"} {
		t.Run(how, func(t *testing.T) {
			w := openWorker(t, fakeEngine(t, how))
			ctx, cancel := context.WithCancelCause(t.Context())
			if _, err := w.Prefill(ctx, synth.Options{Voice: "anjura", Text: "नमस्ते"}); err != nil {
				t.Fatal(err)
			}
			p := w.speaking
			time.AfterFunc(50*time.Millisecond, func() { cancel(speech.ErrTimeout) })
			_, done, _, err := w.Next(ctx, make([]int16, 20*speech.FrameSamples), 20)
			if done || !errors.Is(err, speech.ErrTimeout) {
				t.Errorf("Next = done %v, %v; want %v", done, err, speech.ErrTimeout)
			}
			wantReaped(t, p)
		})
	}
}

func TestOutputThatComesByteByByteIsWhole(t *testing.T) {
	w := openWorker(t, fakeEngine(t, "dribbles"))
	pcm, err := speak(t, w, synth.Options{Voice: "anjura", Text: "नमस्ते"})
	if err != nil || len(pcm) != speech.FrameSamples {
		t.Errorf("%d samples, %v; want one frame", len(pcm), err)
	}
}

func TestTheLastFrameIsPaddedWithSilence(t *testing.T) {
	e := fakeEngine(t, "counts")
	w := openWorker(t, e)
	// Each letter is a second, and a frame is 80 ms: 12.5 frames.
	pcm, err := speak(t, w, synth.Options{Voice: "anjura", Text: "5"})
	if want := 13 * speech.FrameSamples; err != nil || len(pcm) != want {
		t.Errorf("%d samples, %v; want %d", len(pcm), err, want)
	}
}

func TestAProgramThatIsKilledIsAnError(t *testing.T) {
	w := openWorker(t, installed(t))
	if _, err := w.Prefill(t.Context(), synth.Options{Voice: "anjura", Text: longText}); err != nil {
		t.Fatal(err)
	}
	dst := make([]int16, 4*speech.FrameSamples)
	if _, _, _, err := w.Next(t.Context(), dst, 1); err != nil {
		t.Fatal(err)
	}
	p := w.speaking
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var err error
	for frames := 1; err == nil && frames > 0; {
		var done bool
		if frames, done, _, err = w.Next(t.Context(), dst, 4); done {
			t.Fatal("the chunk ended as if nothing had happened")
		}
	}
	wantFailure(t, err, "speech program failed", "signal: killed")
	wantReaped(t, p)
	if pcm, err := speak(t, w, synth.Options{Voice: "anjura", Text: "नमस्ते"}); err != nil || len(pcm) == 0 {
		t.Errorf("the next chunk has %d samples, %v", len(pcm), err)
	}
}

func TestASpareProcessThatDiedCostsNothing(t *testing.T) {
	w := openWorker(t, installed(t))
	o := synth.Options{Voice: "anjura", Text: "नमस्ते"}
	want, err := speak(t, w, o)
	if err != nil {
		t.Fatal(err)
	}
	<-w.spare.ready
	p := w.spare.process
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.exited // reaped at once, though nobody asked
	if got, err := speak(t, w, o); err != nil || len(got) != len(want) {
		t.Errorf("%d samples, %v; want %d", len(got), err, len(want))
	}
}

func TestAWorkerThatWasLeftHasASpareProcess(t *testing.T) {
	w := openWorker(t, installed(t))
	w.dismiss()
	ctx, leave := context.WithCancel(t.Context())
	if _, err := w.Prefill(ctx, synth.Options{Voice: "raj", Text: longText, WarmUp: true}); err != nil {
		t.Fatal(err)
	}
	dst := make([]int16, speech.FrameSamples)
	if frames, _, _, err := w.Next(ctx, dst, 1); frames != 1 || err != nil {
		t.Fatalf("%d frames, error %v; want one", frames, err)
	}
	leave()
	if _, _, _, err := w.Next(ctx, dst, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after leaving: %v, want the cancel", err)
	}
	if w.speaking != nil || w.spare == nil || w.spare.voice.name != "raj" {
		t.Errorf("speaking %v, spare %v; want a spare process of the voice and no other", w.speaking, w.spare)
	}
}

// TestAStaleSpareCostsNothing is about spares that take the text and then say nothing.
func TestAStaleSpareCostsNothing(t *testing.T) {
	o := synth.Options{Voice: "anjura", Text: "नमस्ते", Temperature: 1, Seed: 5}
	want, err := speak(t, openWorker(t, installed(t)), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"fails loudly", "says nothing", "cuts its header", "speaks Ogg", "hangs", "fails"} {
		t.Run(how, func(t *testing.T) {
			e := installed(t)
			e.limits.first = 100 * time.Millisecond
			w := openWorker(t, e)
			w.dismiss()
			w.spare = w.spawner.launch(fakeEngine(t, how), voices[0])
			<-w.spare.ready
			stale, begin := w.spare.process, time.Now()
			got, err := speak(t, w, o)
			if took := time.Since(begin); took > usualLimits.stall/2 {
				t.Errorf("it took %v", took)
			}
			if how == "fails" { // when it has spoken already
				wantFailure(t, err, "speech program failed", "exit status 3: Error: no voice data")
			} else if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d samples, %v; want the %d of a fresh process", len(got), err, len(want))
			}
			wantReaped(t, stale)
		})
	}
	t.Run("one that is stopped", func(t *testing.T) {
		e := installed(t)
		e.limits.first = 100 * time.Millisecond
		w := openWorker(t, e)
		<-w.spare.ready
		if err := w.spare.process.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if got, err := speak(t, w, o); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d samples, %v; want the %d of a fresh process", len(got), err, len(want))
		}
	})
}

func TestOnlyASpareIsReplaced(t *testing.T) {
	o := synth.Options{Voice: "anjura", Text: "नमस्ते"}
	w := openWorker(t, fakeEngine(t, "fails with its number"))
	for i, spare := range []bool{false, true, false} {
		if !spare {
			w.dismiss()
		}
		if _, err := w.Prefill(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		number := strconv.Itoa(w.speaking.cmd.Process.Pid)
		_, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1)
		if err == nil || strings.HasSuffix(err.Error(), " "+number) == spare {
			t.Errorf("chunk %d: %v of process %s, want the error of another one: %v", i, err, number, spare)
		}
	}
}

func TestASpareThatSpeaksMayPause(t *testing.T) {
	e := fakeEngine(t, "pauses")
	e.limits.first = time.Second
	w := openWorker(t, e)
	<-w.spare.ready
	pcm, err := speak(t, w, synth.Options{Voice: "anjura", Text: "नमस्ते"})
	if err != nil || len(pcm) != 2*speech.FrameSamples || !w.wasSpare {
		t.Errorf("%d samples, %v, of the spare process: %v; want two frames of that", len(pcm), err, w.wasSpare)
	}
}

func TestACancelIsNoReasonForAnotherProcess(t *testing.T) {
	w := openWorker(t, fakeEngine(t, "hangs"))
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := w.Prefill(ctx, synth.Options{Voice: "anjura", Text: "नमस्ते"}); err != nil {
		t.Fatal(err)
	}
	if !w.wasSpare {
		t.Fatal("the spare was not used")
	}
	time.AfterFunc(50*time.Millisecond, func() { cancel(&speech.EngineError{Text: "an engine that was closed"}) })
	begin := time.Now()
	_, _, _, err := w.Next(ctx, make([]int16, speech.FrameSamples), 1)
	if took := time.Since(begin); err != context.Cause(ctx) || took > fakeLimits.first/2 {
		t.Errorf("Next = %v after %v, want the cause of the cancel at once", err, took)
	}
}

func TestAProgramThatNeverEndsIsCut(t *testing.T) {
	const text = "नम" // two characters: 12 seconds, 150 frames
	for _, plan := range []int{1, 4, 200} {
		w := openWorker(t, fakeEngine(t, "never ends"))
		if _, err := w.Prefill(t.Context(), synth.Options{Voice: "raj", Text: text}); err != nil {
			t.Fatal(err)
		}
		p := w.speaking
		dst := make([]int16, plan*speech.FrameSamples)
		total := 0
		for {
			frames, done, _, err := w.Next(t.Context(), dst, plan)
			total += frames
			if err != nil {
				wantFailure(t, err, "speech program does not end", "more than 150 frames for 6 bytes of text")
				break
			}
			if done || total > 150 {
				t.Fatalf("by %d: %d frames, done %v", plan, total, done)
			}
		}
		if total != 150 {
			t.Errorf("by %d: %d frames, want 150", plan, total)
		}
		wantReaped(t, p)
	}
}

func TestTheLimitOfFrames(t *testing.T) {
	const text, samplesPerFrame = "नम", programRate * 80 / 1000
	for name, tt := range map[string]struct {
		samples, frames int
		fails           bool
	}{
		"one frame below":  {149 * samplesPerFrame, 149, false},
		"exactly":          {150 * samplesPerFrame, 150, false},
		"a sample above":   {150*samplesPerFrame + 1, 150, true},
		"one sample below": {150*samplesPerFrame - 1, 150, false},
	} {
		w := openWorker(t, fakeEngine(t, "samples "+strconv.Itoa(tt.samples)))
		pcm, err := speak(t, w, synth.Options{Voice: "raj", Text: text})
		if got := len(pcm) / speech.FrameSamples; (err != nil) != tt.fails || got != tt.frames {
			t.Errorf("%s: %d frames, %v; want %d, an error: %v", name, got, err, tt.frames, tt.fails)
		}
	}
}

// TestTheSlowestTextsAreFarFromTheLimit: numbers, marks and letters, as many as a chunk holds.
func TestTheSlowestTextsAreFarFromTheLimit(t *testing.T) {
	w := openWorker(t, installed(t))
	for _, text := range []string{
		strings.Repeat("9999 ", 20), strings.Repeat("99999999 ", 10),
		"1" + strings.Repeat(".1", 12), "क" + strings.Repeat("? क", 12),
		strings.Repeat("क9", 20), strings.Repeat("bcdf ", 10), "W", "9", strings.Repeat("कौंः", 40),
	} {
		pcm, err := speak(t, w, synth.Options{Voice: "raj", Text: text, Temperature: 2, Seed: 3})
		if frames := len(pcm) / speech.FrameSamples; err != nil || 2*frames > w.limit {
			t.Errorf("%.20q: %d frames, %v; want less than half of the limit of %d", text, frames, err, w.limit)
		}
	}
}

func TestOneProcessForEachChunk(t *testing.T) {
	w := openWorker(t, installed(t))
	var before *process
	seen := map[int]bool{}
	for _, voice := range []string{"anjura", "anjura", "raj", "anjura"} {
		if _, err := w.Prefill(t.Context(), synth.Options{Voice: voice, Text: longText}); err != nil {
			t.Fatal(err)
		}
		p := w.speaking
		if seen[p.cmd.Process.Pid] {
			t.Errorf("process %d speaks a second time", p.cmd.Process.Pid)
		}
		seen[p.cmd.Process.Pid] = true
		if before != nil {
			wantReaped(t, before)
		}
		before = p
	}
}

func TestAProgramThatIsGoneIsAnError(t *testing.T) {
	e := fakeEngine(t, "counts")
	e.program.Path += ".gone"
	w := openWorker(t, e)
	if _, err := w.Prefill(t.Context(), synth.Options{Voice: "raj", Text: "नमस्ते"}); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("Prefill without the program = %v, want ErrNotInstalled", err)
	}
}

func TestSilentTextEndsAtOnce(t *testing.T) {
	w := openWorker(t, installed(t))
	for _, text := range []string{"", "।", "😀", "[[ ]]"} {
		pcm, err := speak(t, w, synth.Options{Voice: "anjura", Text: text})
		if err != nil || len(pcm) != 0 {
			t.Errorf("%q: %d samples, %v; want none", text, len(pcm), err)
		}
	}
}

func wantFailure(t *testing.T, err error, text, cause string) {
	t.Helper()
	e, ok := errors.AsType[*speech.EngineError](err)
	if !ok {
		t.Fatalf("error %v, want an EngineError", err)
	}
	if e.Text != text || e.Err.Error() != cause {
		t.Errorf("error %q because of %q, want %q because of %q", e.Text, e.Err, text, cause)
	}
}

func wantReaped(t *testing.T, p *process) {
	t.Helper()
	select {
	case <-p.exited:
	default:
		t.Errorf("process %d is not reaped", p.cmd.Process.Pid)
	}
}
