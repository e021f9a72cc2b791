package serve

import (
	"context"
	"errors"
	"time"
	"unicode"

	"github.com/swar-tts/swar/runtime/speech"
)

// parts speaks a text that is too long for one utterance as two of them. The client sees one: they have one start, one
// bill and one seed.
type parts struct{ of speech.Speaker }

// Speak implements [speaking].
func (p parts) Speak(ctx context.Context, u speech.Utterance, turn speech.Turn,
	sink speech.Sink) (speech.Stats, error) {
	tooLong := checkLength(&u)
	if u.SSML && tooLong != nil {
		return speech.Stats{}, tooLong // a document cannot be cut in two
	}
	if tooLong == nil {
		st, err := p.of.Speak(ctx, u, turn, sink)
		if u.SSML || !errors.Is(err, speech.TooManyChunks(0)) {
			return st, err
		}
	}
	halves, whole, err := p.divide(ctx, u)
	if err != nil {
		return speech.Stats{}, err
	}
	all := &joined{Sink: sink, whole: whole}
	turn.Session = newRequestID()
	for i := range halves {
		turn.More = func() bool { return i+1 < len(halves) }
		turn.StartedAt = all.firstAudioAt // from then on it is not cut off for want of capacity
		st, err := p.of.Speak(ctx, halves[i], turn, all)
		all.add(st)
		if err != nil {
			return all.stats, err
		}
		turn.QueuedSince = time.Time{}
	}
	return all.stats, nil
}

// divide returns the two halves of u, or the only one that has speech, with their chunks and text together. The
// disclosure is spoken before the first one.
func (p parts) divide(ctx context.Context,
	u speech.Utterance) (halves []speech.Utterance, whole speech.Start, err error) {
	both := [2]speech.Utterance{u, u}
	both[0].Text, both[1].Text = halve(u.Text)
	both[1].Disclosure = ""
	if u.Format == speech.WAV {
		both[1].Format = speech.PCM16 // the file header precedes the first one
	}
	for i := range both {
		half := both[i]
		n, err := p.of.Normalize(ctx, half)
		switch {
		case err != nil:
			return nil, whole, err
		case len(n.Chunks) > speech.MaxChunks:
			return nil, whole, speech.TooManyChunks(whole.Chunks + len(n.Chunks))
		case len(n.Chunks) > 0:
			if whole.Chunks > 0 {
				whole.Normalized += " "
			}
			whole.Normalized += n.Text
			whole.Chunks += len(n.Chunks)
			halves = append(halves, half)
		case i == 0: // then the other half is the first with audio
			both[1].Disclosure, both[1].Format = half.Disclosure, half.Format
		}
	}
	if len(halves) == 0 {
		return nil, whole, speech.ErrNothingToSay
	}
	return halves, whole, nil
}

// halve cuts a text near its middle: at the end of a sentence, else at a space, else between two letters.
func halve(text string) (first, second string) {
	letters := []rune(text)
	middle, near := len(letters)/2, len(letters)/4
	best, bestRank := middle, 0
	for distance := range near {
		for _, at := range [2]int{middle - distance, middle + distance} {
			if at < 1 || at >= len(letters) {
				continue
			}
			if rank := cutRank(letters, at); rank > bestRank {
				best, bestRank = at, rank
			}
		}
	}
	return string(letters[:best]), string(letters[best:])
}

const virama = '\u094d' // joins the letters around it

// cutRank rates a cut before the letter at.
func cutRank(letters []rune, at int) int {
	before, behind := letters[at-1], letters[at]
	switch {
	case before == '\n' || before == '।' || before == '॥':
		return 4
	case unicode.IsSpace(behind) && (before == '.' || before == '!' || before == '?' || before == '…'):
		return 4
	case unicode.IsSpace(behind) && unicode.IsPunct(before):
		return 3
	case unicode.IsSpace(behind):
		return 2
	case unicode.IsLetter(behind) && before != virama:
		return 1
	}
	return 0
}

// joined merges the events of consecutive utterances into one for its sink.
type joined struct {
	speech.Sink
	whole        speech.Start // Chunks and Normalized of all together
	stats        speech.Stats // of finished ones
	chunks       int          // of the utterances before
	letters      int          // of their texts, with a space behind each
	firstAudioAt time.Time    // when the first audio of all came; zero: not yet
}

// add counts an utterance that has ended.
func (j *joined) add(st speech.Stats) {
	if j.stats.Frames == 0 {
		j.stats.Queue, j.stats.TTFA, j.stats.PrefillCached = st.Queue, st.TTFA, st.PrefillCached
		j.stats.LeadingSilence = st.LeadingSilence
	}
	j.stats.Started = j.stats.Started || st.Started
	j.stats.Chars += st.Chars
	j.stats.Chunks += st.Chunks
	j.stats.Frames += st.Frames
	j.stats.Normalize += st.Normalize
	j.stats.Synth += st.Synth
	j.stats.Wall += st.Wall
	j.chunks, j.letters = j.stats.Chunks, j.letters+st.Chars+len(" ")
}

// Start implements [speech.Sink].
func (j *joined) Start(st speech.Start) error {
	if j.stats.Started {
		return nil
	}
	st.Chunks, st.Normalized = j.whole.Chunks, j.whole.Normalized
	return j.Sink.Start(st)
}

// ChunkStart implements [speech.Sink].
func (j *joined) ChunkStart(c speech.Chunk) error {
	c.Index += j.chunks
	c.CharStart, c.CharEnd = c.CharStart+j.letters, c.CharEnd+j.letters
	return j.Sink.ChunkStart(c)
}

// Audio implements [speech.Sink].
func (j *joined) Audio(a speech.Audio) error {
	if j.firstAudioAt.IsZero() && a.Frames > 0 {
		j.firstAudioAt = time.Now()
	}
	a.Chunk += j.chunks
	return j.Sink.Audio(a)
}

// ChunkEnd implements [speech.Sink].
func (j *joined) ChunkEnd(e speech.ChunkEnd) error {
	e.Chunk += j.chunks
	before := time.Duration(j.stats.Frames) * speech.FrameDuration
	for i := range e.Words {
		w := &e.Words[i]
		w.CharStart, w.CharEnd = w.CharStart+j.letters, w.CharEnd+j.letters
		w.Start, w.End = w.Start+before, w.End+before
	}
	return j.Sink.ChunkEnd(e)
}
