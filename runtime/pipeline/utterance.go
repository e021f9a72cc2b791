package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swar-tts/swar/runtime/encode"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/wordtime"
)

// audible is the level below which a sample counts as leading silence: 1 % of full scale, or -40 dBFS.
const audible = 328

// utterance is one Speak in progress on one worker.
type utterance struct {
	u         speech.Utterance
	voice     string // the engine\'s id of it
	worker    synth.Worker
	speeds    speech.Speeds // its own
	sink      speech.Sink
	encoder   encode.Encoder
	out       blocks
	stats     *speech.Stats
	assigned  time.Time
	pcm       []int16         // room for one group
	isAudible bool            // an audible sample has been seen
	levels    wordtime.Levels // of the chunk, if words are asked for
}

// blocks is the writer behind the encoder: every Write is a block of audio for the sink.
type blocks struct {
	sink  speech.Sink  // nil: the stream was abandoned
	audio speech.Audio // of the block being written, except Data
}

func (b *blocks) Write(p []byte) (int, error) {
	if b.sink == nil {
		return len(p), nil
	}
	b.audio.Data = p
	if err := b.sink.Audio(b.audio); err != nil {
		return 0, err
	}
	b.audio = speech.Audio{Chunk: b.audio.Chunk}
	return len(p), nil
}

// speak speaks one chunk. The last one closes the encoder before its ChunkEnd, so that all audio comes before it.
func (v *utterance) speak(ctx context.Context, c speech.Chunk, last bool) error {
	if err := v.sink.ChunkStart(c); err != nil {
		return err
	}
	end, before := speech.ChunkEnd{Chunk: c.Index}, v.stats.Frames
	v.levels.Reset()
	v.out.audio = speech.Audio{Chunk: c.Index}
	if c.Silence > 0 {
		if err := v.writeSilence(ctx, c.Silence); err != nil {
			return err
		}
		end.Frames, end.EOS = c.Silence, true
		return v.finish(end, last)
	}

	begin := time.Now()
	worker, speed := atSpeed(v.worker, v.speeds, cmp.Or(c.Speed, v.u.Speed))
	cached, err := worker.Prefill(ctx, synth.Options{
		Voice: v.voice, Text: c.Text, Chunk: c.Index, Seed: v.u.Seed, Temperature: v.u.Temperature, Speed: speed,
	})
	end.Prefill, end.PrefillCached = time.Since(begin), cached
	v.stats.Synth += end.Prefill
	if err != nil {
		return v.failed(ctx, fmt.Errorf("prefill of chunk %d: %w", c.Index, err))
	}
	if c.Index == 0 {
		v.stats.PrefillCached = cached
	}
	for done := false; !done; {
		n := synth.GroupFrames
		if v.stats.Frames == 0 {
			n = synth.FirstFrames
		}
		var frames int
		begin := time.Now()
		frames, done, end.EOS, err = worker.Next(ctx, v.pcm[:n*speech.FrameSamples], n)
		took := time.Since(begin)
		v.stats.Synth += took
		end.Frames += frames
		if frames > 0 {
			if v.stats.Frames == 0 {
				v.stats.TTFA = time.Since(v.assigned)
				v.out.audio.Prefill, v.out.audio.FirstFrame = end.Prefill, took
			}
			v.stats.Frames += frames
		}
		if err != nil {
			return v.failed(ctx, fmt.Errorf("synthesis of chunk %d: %w", c.Index, err))
		}
		if frames > 0 {
			if err := v.write(v.pcm[:frames*speech.FrameSamples]); err != nil {
				return err
			}
		}
	}
	if v.u.WordTimes && end.EOS { // for a chunk that was cut, the spoken words are unknown
		end.Words, end.ExactWords = v.words(worker, c, before)
	}
	return v.finish(end, last)
}

// finish ends a chunk, and with the last one the stream.
func (v *utterance) finish(end speech.ChunkEnd, last bool) error {
	if last {
		if err := v.encoder.Close(); err != nil {
			return err
		}
	}
	v.stats.Chunks++
	return v.sink.ChunkEnd(end)
}

// writeSilence writes this many frames of silence, which need no worker and are billed.
func (v *utterance) writeSilence(ctx context.Context, frames int) error {
	clear(v.pcm)
	for frames > 0 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n := min(frames, synth.GroupFrames)
		if v.stats.Frames == 0 {
			n = min(frames, synth.FirstFrames)
			v.stats.TTFA = time.Since(v.assigned)
		}
		frames -= n
		v.stats.Frames += n
		if err := v.write(v.pcm[:n*speech.FrameSamples]); err != nil {
			return err
		}
	}
	return nil
}

// words returns the words of a chunk that worker has spoken, which begins after this many frames.
func (v *utterance) words(worker synth.Worker, c speech.Chunk, before int) (words []speech.Word, exact bool) {
	times, exact := synth.WordTimes(worker)
	if exact {
		parts := make([]wordtime.Part, len(times))
		for i, t := range times {
			parts[i] = wordtime.Part{From: t.From, To: t.To, Start: ofSamples(t.Start), End: ofSamples(t.End)}
		}
		words = wordtime.Known(c, parts, &v.levels)
	} else {
		words = wordtime.Estimate(c, &v.levels)
	}
	begin := time.Duration(before) * speech.FrameDuration
	for i := range words {
		words[i].Start += begin
		words[i].End += begin
	}
	return words, exact
}

func ofSamples(n int) time.Duration { return time.Duration(n) * time.Second / speech.SampleRate }

func (v *utterance) write(pcm []int16) error {
	v.out.audio.Frames = len(pcm) / speech.FrameSamples
	if !v.isAudible {
		v.measureSilence(pcm)
	}
	if v.u.WordTimes {
		v.levels.Add(pcm)
	}
	return v.encoder.Write(pcm)
}

func (v *utterance) measureSilence(pcm []int16) {
	silent := 0
	for _, s := range pcm {
		if s >= audible || s <= -audible {
			v.isAudible = true
			break
		}
		silent++
	}
	v.stats.LeadingSilence += ofSamples(silent)
}

// failed makes an error of the worker what Speak promises: the cause of ctx when that ended, else an engine error.
func (v *utterance) failed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if _, ok := errors.AsType[*speech.EngineError](err); ok || errors.Is(err, speech.ErrWorkerGone) {
		return err
	}
	return &speech.EngineError{Text: "engine error", Err: err}
}

// abandon frees the encoder. What it still writes goes nowhere: a container without its end shows a reader that it
// was cut.
func (v *utterance) abandon() {
	v.out.sink = nil
	_ = v.encoder.Close() // repeats the error that ended the stream, if it was its own
}
