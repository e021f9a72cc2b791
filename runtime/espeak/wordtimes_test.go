package espeak_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/swar-tts/swar/runtime/chunk"
	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wordtime"
)

// TestWordTimesAgainstTheProgramsOwn has the program's library say sentences and tell of its words and pauses,
// estimates the words from text and audio alone, and compares. docs/websocket.md has the figures.
func TestWordTimesAgainstTheProgramsOwn(t *testing.T) {
	program := buildEvents(t)
	for _, tt := range []struct {
		name, voice  string
		speed, pitch int
		column       int // of the table of sentences
	}{
		{"anjura, Roman", "hi+f2", 160, 55, 0},
		{"anjura, Devanagari", "hi+f2", 160, 55, 1},
		{"raj, Roman", "hi", 155, 45, 0},
		{"raj, Devanagari", "hi", 155, 45, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chunks := sentencesOf(t, "../translit/testdata/sentences.tsv", tt.column)
			var ours, plain wordErrors
			compared := 0
			said := sayWithEvents(t, program,
				[]string{tt.voice, strconv.Itoa(tt.speed), strconv.Itoa(tt.pitch)}, chunks)
			for i, c := range chunks {
				want := said[i].words(strings.Fields(espeak.Prepared(c.Text)))
				var l wordtime.Levels
				l.Add(said[i].pcm)
				got := wordtime.Estimate(c, &l)
				if len(got) != len(want) { // the program is fed other words
					continue
				}
				compared++
				ours.add(got, want)
				plain.add(byLetters(got, said[i].duration()), want)
			}
			t.Logf("%d of %d chunks, %d words", compared, len(chunks), len(ours.starts))
			t.Logf("estimated:            %s", &ours)
			t.Logf("by number of letters: %s", &plain)
			if compared < len(chunks)*3/4 {
				t.Errorf("only %d of %d chunks could be compared", compared, len(chunks))
			}
			start, end := ours.of(.5)
			if limit := 20 * time.Millisecond; start > limit || end > limit {
				t.Errorf("the median error is %v at starts and %v at ends, want at most %v", start, end, limit)
			}
			if start, end = ours.of(.9); start > 110*time.Millisecond || end > 110*time.Millisecond {
				t.Errorf("nine of ten errors are up to %v at starts and %v at ends, want 110ms", start, end)
			}
		})
	}
}

// wordErrors are how far words were from where they should be.
type wordErrors struct{ starts, ends []time.Duration }

func (e *wordErrors) add(got, want []speech.Word) {
	for i := range want {
		e.starts = append(e.starts, (got[i].Start - want[i].Start).Abs())
		e.ends = append(e.ends, (got[i].End - want[i].End).Abs())
	}
}

// of returns the errors that such a part of the words does not exceed.
func (e *wordErrors) of(part float64) (start, end time.Duration) {
	at := func(errors []time.Duration) time.Duration {
		slices.Sort(errors)
		return errors[int(part*float64(len(errors)-1))].Round(time.Millisecond)
	}
	return at(e.starts), at(e.ends)
}

func (e *wordErrors) String() string {
	start, end := e.of(.5)
	start90, end90 := e.of(.9)
	return fmt.Sprintf("starts: median %v, p90 %v; ends: median %v, p90 %v", start, start90, end, end90)
}

// byLetters gives words shares of the audio by their letters, which is what a client could do by itself.
func byLetters(words []speech.Word, audio time.Duration) []speech.Word {
	last := float64(words[len(words)-1].CharEnd - words[0].CharStart)
	at := func(char int) time.Duration {
		return time.Duration(float64(audio) * float64(char-words[0].CharStart) / last)
	}
	shared := slices.Clone(words)
	for i, w := range words {
		shared[i].Start, shared[i].End = at(w.CharStart), at(w.CharEnd)
	}
	return shared
}

// sentencesOf returns the chunks of a column of a table of sentences.
func sentencesOf(t *testing.T, file string, column int) (all []speech.Chunk) {
	t.Helper()
	table, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tokens := func(text string) int { return len([]rune(text)) / 3 } // about as many as a model has
	for line := range strings.Lines(string(table)) {
		text := normalize.Text(strings.Split(strings.TrimSpace(line), "\t")[column], normalize.Options{})
		all = append(all, chunk.Split(text, speech.MaxChunkTokens, tokens)...)
	}
	return all
}

// spokenWithEvents is a chunk as the library has said it. Times are in samples of its own rate.
type spokenWithEvents struct {
	pcm    []int16 // at 24 kHz
	rate   int
	total  int
	starts []wordStart
	pauses []int
}

type wordStart struct{ char, sample int }

func (s *spokenWithEvents) time(sample int) time.Duration {
	return time.Duration(sample) * time.Second / time.Duration(s.rate)
}

func (s *spokenWithEvents) duration() time.Duration { return s.time(s.total) }

// words returns when the words that were fed were heard, or nil if the library does not tell of each. A word ends where
// the next one or a pause begins.
func (s *spokenWithEvents) words(fed []string) []speech.Word {
	var words []speech.Word
	char, next := 0, 0
	for _, word := range fed {
		length := len([]rune(word)) + 1
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			if next == len(s.starts) || s.starts[next].char >= char+length {
				return nil
			}
			words = append(words, speech.Word{Text: word, Start: s.time(s.starts[next].sample)})
		}
		char += length
		for next < len(s.starts) && s.starts[next].char < char {
			next++
		}
	}
	for i := range words {
		words[i].End = s.duration()
		if i < len(words)-1 {
			words[i].End = words[i+1].Start
		}
		for _, p := range s.pauses {
			if pause := s.time(p); pause > words[i].Start && pause < words[i].End {
				words[i].End = pause
				break
			}
		}
	}
	return words
}

// buildEvents compiles the program that asks the library.
func buildEvents(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "events")
	out, err := exec.Command("cc", "-O1", "-o", program, "testdata/events.c", "-l:libespeak-ng.so.1").CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED, word times were compared with nothing: a C compiler and espeak-ng's library are needed: %v\n%s", err, out)
	}
	return program
}

// sayWithEvents has the library say the chunks.
func sayWithEvents(t *testing.T, program string, args []string, chunks []speech.Chunk) []spokenWithEvents {
	t.Helper()
	audio := filepath.Join(t.TempDir(), "audio")
	cmd := exec.Command(program, append(args, audio)...)
	var lines strings.Builder
	for _, c := range chunks {
		lines.WriteString(espeak.Prepared(c.Text) + "\n")
	}
	cmd.Stdin, cmd.Stderr = strings.NewReader(lines.String()), os.Stderr
	events, err := cmd.Output()
	if err != nil {
		t.Skipf("SKIPPED, word times were compared with nothing: %v", err)
	}
	raw, err := os.ReadFile(audio)
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]int16, len(raw)/2)
	if _, err := binary.Decode(raw, binary.LittleEndian, samples); err != nil {
		t.Fatal(err)
	}
	said := []spokenWithEvents{{}}
	for scan := bufio.NewScanner(bytes.NewReader(events)); scan.Scan(); {
		s := &said[len(said)-1]
		var kind, name string
		var a, b int
		fmt.Sscan(scan.Text(), &kind, &a, &name)
		fmt.Sscan(scan.Text(), &kind, &a, &b)
		switch {
		case kind == "word":
			s.starts = append(s.starts, wordStart{a, b})
		case kind == "phoneme" && strings.HasPrefix(name, "_"):
			s.pauses = append(s.pauses, a)
		case kind == "end":
			s.total, s.rate = a, b
			s.pcm, samples = at24kHz(samples[:a], b), samples[a:]
			said = append(said, spokenWithEvents{})
		}
	}
	if len(said)-1 != len(chunks) {
		t.Fatalf("%d of %d chunks were said", len(said)-1, len(chunks))
	}
	return said
}

// at24kHz resamples plainly, which is enough to see how loud audio is, to whole frames.
func at24kHz(pcm []int16, rate int) []int16 {
	n := len(pcm) * speech.SampleRate / rate
	out := make([]int16, (n+speech.FrameSamples-1)/speech.FrameSamples*speech.FrameSamples)
	for i := range n {
		at := float64(i) * float64(rate) / speech.SampleRate
		j := int(at)
		next := pcm[min(j+1, len(pcm)-1)]
		out[i] = int16(math.Round(float64(pcm[j]) + (at-float64(j))*float64(int(next)-int(pcm[j]))))
	}
	return out
}
