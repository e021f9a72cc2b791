package wordtime

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// audio is made of windows of 10 ms: an "a" sounds, a "q" quietly, a "-" is silent. It is filled up to whole frames
// with silence.
func audio(picture string) *Levels {
	var l Levels
	pcm := make([]int16, (len(picture)+7)/8*speech.FrameSamples)
	for i, c := range picture {
		level := map[rune]int{'a': 8000, 'q': 1000}[c]
		for j := range windowSamples {
			pcm[i*windowSamples+j] = int16(level - 2*level*(j%2))
		}
	}
	l.Add(pcm)
	return &l
}

func chunkOf(text string) speech.Chunk {
	return speech.Chunk{Text: text, CharEnd: utf8.RuneCountInString(text)}
}

func repeat(parts ...any) string {
	var all strings.Builder
	for i := 0; i < len(parts); i += 2 {
		all.WriteString(strings.Repeat(parts[i].(string), parts[i+1].(int)))
	}
	return all.String()
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func TestEstimate(t *testing.T) {
	type heard struct {
		word       string
		start, end time.Duration
	}
	for name, tt := range map[string]struct {
		text, audio string
		want        []heard
	}{
		"one word has all that sounds": {"नमस्ते।", repeat("-", 10, "a", 50, "-", 20), []heard{{"नमस्ते", ms(100), ms(600)}}},
		"equal words share alike": {
			"ना ना ना", repeat("-", 4, "a", 20, "a", 20, "a", 26),
			[]heard{{"ना", ms(40), ms(0)}, {"ना", 0, 0}, {"ना", 0, ms(700)}},
		},
		"a pause belongs to the comma": {
			"acha, theek hai", repeat("a", 40, "-", 20, "a", 60),
			[]heard{{"acha", 0, ms(400)}, {"theek", ms(600), 0}, {"hai", 0, ms(1200)}},
		},
		"a pause without a mark is where the words fit": {
			"namaste main raj", repeat("a", 60, "-", 30, "a", 50),
			[]heard{{"namaste", 0, ms(600)}, {"main", ms(900), 0}, {"raj", 0, ms(1400)}},
		},
		"a plosive is not a pause": {
			"aapka order", repeat("a", 15, "-", 5, "a", 60),
			[]heard{{"aapka", 0, 0}, {"order", 0, ms(800)}},
		},
		"silence in the only word is part of it": {
			"acha", repeat("a", 20, "-", 12, "a", 20), []heard{{"acha", 0, ms(520)}},
		},
		"marks alone are no words": {"— « हाँ » …", repeat("a", 40), []heard{{"हाँ", 0, ms(400)}}},
		"words meet where it is quietest near": {
			"ना ना", repeat("a", 26, "q", 1, "a", 33),
			[]heard{{"ना", 0, ms(265)}, {"ना", ms(265), ms(600)}},
		},
		"but not far away": {
			"ना ना", repeat("a", 18, "q", 1, "a", 41), []heard{{"ना", 0, ms(775) / 3}, {"ना", ms(775) / 3, ms(600)}},
		},
		"nothing sounds":     {"हाँ", repeat("-", 40), nil},
		"there is no audio":  {"हाँ", "", nil},
		"there are no words": {" … ", repeat("a", 40), nil},
		"more words than windows": {
			"a b c", "a", []heard{{"a", 0, 0}, {"b", 0, 0}, {"c", 0, ms(10)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Estimate(chunkOf(tt.text), audio(tt.audio))
			if len(got) != len(tt.want) {
				t.Fatalf("%+v, want %d words", got, len(tt.want))
			}
			for i, want := range tt.want {
				start, end := want.start == 0 || got[i].Start == want.start, want.end == 0 || got[i].End == want.end
				if got[i].Text != want.word || !start || !end {
					t.Errorf("word %d is %+v, want %+v", i, got[i], want)
				}
			}
		})
	}
}

// TestWordsOf: offsets are code points of the chunk, and words have no marks around them.
func TestWordsOf(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []speech.Word
	}{
		"both scripts": {"हाँ ok", []speech.Word{{Text: "हाँ", CharStart: 0, CharEnd: 3}, {Text: "ok", CharStart: 4, CharEnd: 6}}},
		"quotes and commas": {
			"“हाँ”, 'ok'!", []speech.Word{{Text: "हाँ", CharStart: 1, CharEnd: 4}, {Text: "ok", CharStart: 8, CharEnd: 10}},
		},
		"marks within stay": {"don't गुड-डे", []speech.Word{
			{Text: "don't", CharStart: 0, CharEnd: 5}, {Text: "गुड-डे", CharStart: 6, CharEnd: 12},
		}},
		"a dash alone is none": {"a — b", []speech.Word{{Text: "a", CharStart: 0, CharEnd: 1}, {Text: "b", CharStart: 4, CharEnd: 5}}},
		"several spaces":       {"a \u00a0 b ", []speech.Word{{Text: "a", CharStart: 0, CharEnd: 1}, {Text: "b", CharStart: 4, CharEnd: 5}}},
		"a vowel sign alone":   {"ा", nil},
		"digits of raw text":   {"५ 12", []speech.Word{{Text: "५", CharStart: 0, CharEnd: 1}, {Text: "12", CharStart: 2, CharEnd: 4}}},
	} {
		c := chunkOf(tt.text)
		var got []speech.Word
		for _, w := range wordsOf(c) {
			got = append(got, speech.Word{Text: c.Text[w.from:w.to], CharStart: w.charStart, CharEnd: w.charEnd})
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestWhatFollowsAWord(t *testing.T) {
	for text, want := range map[string]gap{
		"a b": space, "a, b": mark, "a — b": mark, "a. b": stop, "a! — b": stop, "a… b": stop, "हाँ। b": stop, "a (b": space,
	} {
		if got := wordsOf(chunkOf(text))[0].after; got != want {
			t.Errorf("after the first word of %q is %v, want %v", text, got, want)
		}
	}
}

func TestSoundsOfWords(t *testing.T) {
	names := map[sound]string{aVoiceless: "T", aVoiced: "D", aGlide: "R", aShortVowel: "v", aLongVowel: "V",
		aNumeral: "#"}
	for word, want := range map[string]string{
		"नमस्ते":  "DvDvTTV",
		"कमला":    "TvDRV",
		"घर":      "DvR",
		"न":       "Dv",
		"और":      "VR",
		"हिंदी":   "RvRDV",
		"ज़रूरी":  "DvRVRV",
		"१२":      "##",
		"raat":    "RVT",
		"acha":    "vTV",
		"time":    "TvDv",
		"ke":      "TV",
		"yes":     "RVT",
		"shy":     "TV",
		"बोल-ok":  "DVRVT",
		"42":      "##",
		"நன்றி":   "DvDvDv",
		"ORDER":   "VRDVR",
		"":        "",
		"koi":     "TVV",
		"bhai":    "DVv",
		"hai":     "RV",
		"kya":     "TRV",
		"liye":    "RvRv",
		"ticket":  "TvTVT",
		"-":       "",
		"किताबें": "TvTVDVR",
	} {
		got := ""
		count(word, func(s sound) { got += names[s] })
		if got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

// TestEstimateKeepsItsPromises: whatever is heard and written, words come in order, do not overlap, stay within what
// sounds, and come out the same again.
func TestEstimateKeepsItsPromises(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"नमस्ते", "a", "order,", "है।", "—", "12", "don't", "“ok”", "\n", "क्", "é", "你好", "!", "xyz…"}
	for range 100 {
		var text, picture strings.Builder
		for range random.IntN(30) {
			text.WriteString(parts[random.IntN(len(parts))] + " ")
		}
		for range random.IntN(60) {
			picture.WriteString(repeat("a", random.IntN(40), "-", random.IntN(30)))
		}
		c, l := chunkOf(text.String()), audio(picture.String())
		c.CharStart = 100
		got := Estimate(c, l)
		all, pauses := l.sounding()
		if len(pauses) > mostPauses {
			t.Fatalf("%d pauses, want at most %d", len(pauses), mostPauses)
		}
		want := len(wordsOf(c))
		if all.length() == 0 {
			want = 0
		}
		if len(got) != want {
			t.Fatalf("%q: %d words, want %d", c.Text, len(got), want)
		}
		at, chars := all.from.time(), []rune(c.Text)
		for _, w := range got {
			if w.Start < at || w.End < w.Start || w.End > all.to.time() {
				t.Fatalf("%q with %s: %+v is before %v or after %v", c.Text, picture.String(), w, at, all.to.time())
			}
			if here := string(chars[w.CharStart-100 : w.CharEnd-100]); here != w.Text {
				t.Fatalf("%q stands where %q should", here, w.Text)
			}
			at = w.End
		}
		if again := Estimate(c, l); !reflect.DeepEqual(got, again) {
			t.Fatalf("the second time it is %+v, want %+v", again, got)
		}
	}
}

func TestResetKeepsNothingOfTheChunkBefore(t *testing.T) {
	l := audio(repeat("a", 40))
	l.Reset()
	if got := Estimate(chunkOf("a"), l); got != nil {
		t.Errorf("words of audio that is gone: %+v", got)
	}
}

// BenchmarkEstimate is a sentence of four seconds, and the longest chunk with as many pauses as are looked at.
func BenchmarkEstimate(b *testing.B) {
	for name, bb := range map[string]struct {
		text  string
		audio *Levels
	}{
		"sentence": {"Namaste! Aapka order kal tak deliver ho jayega.", audio(repeat("a", 60, "-", 30, "a", 270))},
		"longest": {
			strings.Repeat("namaste ", 50), audio(strings.Repeat(repeat("a", 40, "-", 10), mostPauses+1)),
		},
	} {
		b.Run(name, func(b *testing.B) {
			c := chunkOf(bb.text)
			b.ReportAllocs()
			for b.Loop() {
				Estimate(c, bb.audio)
			}
		})
	}
}

// BenchmarkLevels is four seconds of audio.
func BenchmarkLevels(b *testing.B) {
	var l Levels
	pcm := make([]int16, 4*speech.SampleRate)
	b.ReportAllocs()
	for b.Loop() {
		l.Reset()
		l.Add(pcm)
	}
}

func TestKnown(t *testing.T) {
	type heard struct {
		word       string
		start, end time.Duration
	}
	const text = "acha, theek hai — bas"
	parts := []Part{{0, 5, ms(100), ms(450)}, {6, 11, ms(550), ms(800)}, {12, 15, ms(800), ms(1000)},
		{20, 23, ms(1050), ms(1500)}}
	for name, tt := range map[string]struct {
		parts []Part
		audio string
		want  []heard
	}{
		"pauses and the silence at both ends belong to nobody": {
			parts, repeat("-", 8, "a", 32, "-", 19, "a", 46, "q", 30, "-", 10),
			[]heard{{"acha", ms(80), ms(400)}, {"theek", ms(590), ms(800)}, {"hai", ms(800), ms(1000)},
				{"bas", ms(1050), ms(1350)}},
		},
		"a silence shorter than a pause is none": {
			parts, repeat("-", 10, "a", 32, "-", 5, "a", 103),
			[]heard{{"acha", ms(100), ms(450)}, {"theek", ms(550), ms(800)}, {"hai", ms(800), ms(1000)},
				{"bas", ms(1050), ms(1500)}},
		},
		"a pause is near as far as 30 ms": {
			parts, repeat("-", 10, "a", 26, "-", 6, "a", 108), // until 420
			[]heard{{"acha", ms(100), ms(450)}, {"theek", ms(550), ms(800)}, {"hai", ms(800), ms(1000)},
				{"bas", ms(1050), ms(1500)}},
		},
		"and nearer": {
			parts, repeat("-", 10, "a", 26, "-", 7, "a", 107), // until 430
			[]heard{{"acha", ms(100), ms(360)}, {"theek", ms(430), ms(800)}, {"hai", ms(800), ms(1000)},
				{"bas", ms(1050), ms(1500)}},
		},
		"of two the longer": {
			parts, repeat("-", 10, "a", 30, "-", 7, "a", 2, "-", 9, "a", 92),
			[]heard{{"acha", ms(100), ms(490)}, {"theek", ms(580), ms(800)}, {"hai", ms(800), ms(1000)},
				{"bas", ms(1050), ms(1500)}},
		},
		"a word of which nothing is heard lasts no time": {
			parts[1:3], repeat("a", 100),
			[]heard{{"acha", 0, 0}, {"theek", 0, ms(800)}, {"hai", ms(800), ms(1000)}, {"bas", ms(1000), ms(1000)}},
		},
		"several parts of one word": {
			[]Part{{0, 2, ms(100), ms(200)}, {2, 4, ms(250), ms(450)}, {6, 23, ms(450), ms(900)}}, repeat("a", 90),
			[]heard{{"acha", 0, ms(450)}, {"theek", ms(450), ms(900)}, {"hai", ms(900), ms(900)},
				{"bas", ms(900), ms(900)}},
		},
		"there is no audio": {
			parts[:1], "", []heard{{"acha", ms(100), ms(450)}, {"theek", ms(450), ms(450)}, {"hai", ms(450), ms(450)},
				{"bas", ms(450), ms(450)}},
		},
		"nothing is heard": {nil, repeat("a", 8), []heard{{"acha", 0, 0}, {"theek", 0, 0}, {"hai", 0, 0}, {"bas", 0, 0}}},
	} {
		c := chunkOf(text)
		c.CharStart, c.CharEnd = 7, c.CharEnd+7
		given := slices.Clone(tt.parts)
		var got []heard
		for _, w := range Known(c, tt.parts, audio(tt.audio)) {
			got = append(got, heard{w.Text, w.Start, w.End})
			if here := string([]rune(text)[w.CharStart-7 : w.CharEnd-7]); here != w.Text {
				t.Errorf("%s: %q stands where %q should", name, here, w.Text)
			}
		}
		if !slices.Equal(got, tt.want) || !slices.Equal(tt.parts, given) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
