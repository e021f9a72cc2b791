package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/measure"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Texts of these seeds are read to fill the cache and begun beside others. Those that are spoken have others.
const (
	fillSeed   = 100_000
	firstSeed  = 200_000
	othersSeed = 300_000
)

// fill reads so many texts.
func fill(ctx context.Context, workers []synth.Worker, voice string, texts int) error {
	for i := range texts {
		o := synth.Options{Voice: voice, Text: newText(letters, fillSeed+uint64(i))}
		if _, err := workers[i%len(workers)].Prefill(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// begin speaks the first frame of new texts on the first worker, in turns by themselves and while all others speak as
// fast as they can. The engine has one thread, which the others keep busy, so that waiting for it is time of the
// processor, too.
func (a *answer) begin(ctx context.Context, workers []synth.Worker, voice string, texts int) error {
	const turn = 5
	for i := 0; i < texts; i += turn {
		alone, err := firsts(ctx, workers[:1], voice, 2*i, turn)
		if err != nil {
			return err
		}
		beside, err := firsts(ctx, workers, voice, 2*i+turn, turn)
		if err != nil {
			return err
		}
		a.Alone, a.Beside = append(a.Alone, alone...), append(a.Beside, beside...)
	}
	return nil
}

// firsts returns the time until the first audio of each of some texts on the first worker, while all others speak.
func firsts(ctx context.Context, workers []synth.Worker, voice string, seed, texts int) (times []float64, err error) {
	others, leave := context.WithCancel(ctx)
	defer leave()
	var speaking, underWay sync.WaitGroup
	wrong := make(chan error, len(workers))
	for i, w := range workers[1:] {
		underWay.Add(1)
		speaking.Go(func() {
			err := speakOn(others, w, voice, othersSeed+uint64(100*seed+i), underWay.Done)
			if err != nil && !errors.Is(err, context.Canceled) {
				wrong <- err
			}
		})
	}
	underWay.Wait()
	for i := range texts {
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) // to come at any moment of what runs
		cpu := measure.Process()
		o := synth.Options{Voice: voice, Text: newText(letters, firstSeed+uint64(seed+i))}
		first := func(bool) { times = append(times, ms(measure.Process()-cpu)) }
		if _, err = chunk(ctx, workers[0], o, 1, first); err != nil {
			break
		}
	}
	leave()
	speaking.Wait()
	close(wrong)
	for e := range wrong {
		err = errors.Join(err, e)
	}
	return times, err
}

// speakOn speaks one chunk after another until ctx ends. It calls underWay once, when it has spoken a little or cannot.
func speakOn(ctx context.Context, w synth.Worker, voice string, seed uint64, underWay func()) error {
	underWay = sync.OnceFunc(underWay)
	defer underWay()
	const little = 20
	frames := 0
	pcm := make([]int16, synth.GroupFrames*speech.FrameSamples)
	for i := 0; ; i++ {
		o := synth.Options{Voice: voice, Text: newText(letters, seed), Chunk: i, Temperature: .3}
		if _, err := w.Prefill(ctx, o); err != nil {
			return err
		}
		for done := false; !done; {
			var n int
			var err error
			if n, done, _, err = w.Next(ctx, pcm, synth.GroupFrames); err != nil {
				return err
			}
			if frames += n; frames > little {
				underWay()
			}
		}
	}
}
