package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/measure"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// request is a line to a process that speaks: this one with -speak, or sherpa.js.
type request struct {
	Text   string `json:"text"`
	Frames int    `json:"frames"`
	Fill   int    `json:"fill,omitempty"`   // texts to read before, to fill the prefill cache
	Firsts int    `json:"firsts,omitempty"` // new texts to begin one after the other while the other streams run
}

// answer is the line that comes back. Times are of the processor unless their name says otherwise.
type answer struct {
	Frames   int     `json:"frames"`
	FirstCPU float64 `json:"first_cpu_ms"` // until the first audio
	First    float64 `json:"first_ms"`     // the same, by the clock
	CPU      float64 `json:"cpu_ms"`
	Resident int64   `json:"resident_bytes"`
	Peak     int64   `json:"peak_bytes"`
	Empty    int64   `json:"empty_bytes"` // of the process before it had a model
	Cached   bool    `json:"cached"`

	// Of each of the new texts, time of the processor until its first audio: by itself, and while the other streams
	// keep it busy.
	Alone  []float64 `json:"alone_ms,omitempty"`
	Beside []float64 `json:"beside_ms,omitempty"`
}

// serve answers requests with the model in dir, each on all streams at once.
func serve(ctx context.Context, dir, library string, streams int, in io.Reader, out io.Writer) (err error) {
	empty, _ := memory()
	e, err := onnx.New(onnx.Config{Bundle: dir, Library: library, Workers: streams, Threads: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	workers := make([]synth.Worker, streams)
	for i := range workers {
		if workers[i], err = e.NewWorker(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, workers[i].Close()) }()
	}
	voice := e.Model().Voices[0].Name
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		if err := fill(ctx, workers, voice, r.Fill); err != nil {
			return err
		}
		a, err := speak(ctx, workers, voice, r)
		if err != nil {
			return err
		}
		if err := a.begin(ctx, workers, voice, r.Firsts); err != nil {
			return err
		}
		a.Empty = empty
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

func speak(ctx context.Context, workers []synth.Worker, voice string, r request) (answer, error) {
	var (
		a     answer
		mu    sync.Mutex
		wg    sync.WaitGroup
		wrong error
	)
	cpu, clock := measure.Process(), time.Now()
	for i, w := range workers {
		wg.Go(func() {
			text := r.Text
			if i > 0 {
				text = newText(len(r.Text), uint64(i)) // or all but one would come out of the cache
			}
			first := func(cached bool) {
				mu.Lock()
				defer mu.Unlock()
				if a.FirstCPU == 0 {
					a.FirstCPU, a.First, a.Cached = ms(measure.Process()-cpu), ms(time.Since(clock)), cached
				}
			}
			frames, err := chunk(ctx, w, synth.Options{Voice: voice, Text: text, Seed: int64(i), Temperature: .3},
				r.Frames, first)
			mu.Lock()
			defer mu.Unlock()
			a.Frames += frames
			wrong = errors.Join(wrong, err)
		})
	}
	wg.Wait()
	a.CPU = ms(measure.Process() - cpu)
	a.Resident, a.Peak = memory()
	return a, wrong
}

// chunk speaks so many frames of a chunk.
func chunk(
	ctx context.Context, w synth.Worker, o synth.Options, want int, first func(cached bool),
) (frames int, err error) {
	cached, err := w.Prefill(ctx, o)
	if err != nil {
		return 0, err
	}
	pcm := make([]int16, synth.GroupFrames*speech.FrameSamples)
	for group := synth.FirstFrames; frames < want; group = synth.GroupFrames {
		n, done, _, err := w.Next(ctx, pcm, min(group, want-frames))
		if err != nil {
			return frames, err
		}
		if frames == 0 {
			first(cached)
		}
		if frames += n; done && frames < want {
			return frames, fmt.Errorf("%d frames, want %d: a random model should not end by itself", frames, want)
		}
	}
	return frames, nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// memory returns the resident size of this process, now and at most, in bytes.
func memory() (now, peak int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	return statusBytes(string(status), "VmRSS"), statusBytes(string(status), "VmHWM")
}

// statusBytes finds a size in the text of /proc/PID/status.
func statusBytes(status, name string) int64 {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			if err == nil {
				return n << 10
			}
		}
	}
	return 0
}

// newText makes up a text of so many letters and a full stop, which is a token for each and one for the beginning.
func newText(length int, seed uint64) string {
	draw := rand.New(rand.NewPCG(seed, 4))
	text := make([]byte, length)
	for i := range text {
		text[i] = byte('A' + draw.IntN(26))
	}
	text[length-1] = '.'
	return string(text)
}
