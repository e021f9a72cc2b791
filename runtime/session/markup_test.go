package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/ssml"
)

func TestMarkupIsCutOutsideOfElements(t *testing.T) {
	long := strings.Repeat("theek ", 33) // 198 code points
	for _, tt := range []struct {
		name string
		text string // with | where messages end
		want []string
		rest string // that is not complete
	}{
		{"sentences", "Namaste ji. Aapka order pahunch gaya. Aur kya", []string{"Namaste ji. ", "Aapka order pahunch gaya. "}, "Aur kya"},
		{"a break between them", `Ek baat. <break time="1.5s"/> Doosri baat. Teesri`, []string{"Ek baat. ", `<break time="1.5s"/> Doosri baat. `}, "Teesri"},
		{"a break alone", `<break time="1s"/> `, nil, `<break time="1s"/> `},
		{"not in an attribute", `Milo <sub alias="Dr. Rao se. Kal">DR</sub> aaj. Phir`, []string{`Milo <sub alias="Dr. Rao se. Kal">DR</sub> aaj. `}, "Phir"},
		{"nor in an element", `<prosody rate="slow">Ek baat. Do baat.</prosody> Bas. Aur`, []string{`<prosody rate="slow">Ek baat. Do baat.</prosody> Bas. `}, "Aur"},
		{"behind a paragraph", "<p>Ek baat</p><s>Do baat</s>Teen", []string{"<p>Ek baat</p>", "<s>Do baat</s>"}, "Teen"},
		{"a document", "<speak>Ek baat. Do baat.</speak>Bas", []string{"<speak>Ek baat. Do baat.</speak>"}, "Bas"},
		{"an element that is not complete", "Ek baat. <s>Do baat. Teen", []string{"Ek baat. "}, "<s>Do baat. Teen"},
		{"a tag that is not complete", `Ek baat. Do <break time="1. `, []string{"Ek baat. "}, `Do <break time="1. `},
		{"signs", "2 < 3 hai. Tom & Jerry", []string{"2 < 3 hai. "}, "Tom & Jerry"},
		{"a comment", "<!-- Ek. Do. --> Teen baat. Char", []string{"<!-- Ek. Do. --> Teen baat. "}, "Char"},
		{"CDATA", "<![CDATA[a < b. c]]> hai. Bas", []string{"<![CDATA[a < b. c]]> hai. "}, "Bas"},
		{"a danda", "एक बात।<break/>दो", []string{"एक बात।"}, "<break/>दो"},
		{"lines are no sentences", "Ek\nDo\n\nTeen baat. Char", []string{"Ek\nDo\n\nTeen baat. "}, "Char"},
		{"200 code points", long + "ok", nil, long + "ok"},
		{"201 code points", long + "oks", []string{long}, "oks"},
		{"a long element", "<lang xml:lang=\"hi\">" + long + long, nil, "<lang xml:lang=\"hi\">" + long + long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 4, len(tt.text)} {
				c := cutter{markup: true}
				var got []string
				for m := range slices.Chunk([]rune(tt.text), size) {
					for _, s := range c.add(string(m), Exact) {
						got = append(got, s.text)
					}
				}
				if !slices.Equal(got, tt.want) || c.text != tt.rest {
					t.Errorf("by %d: got %q and %q\nwant %q and %q", size, got, c.text, tt.want, tt.rest)
				}
			}
		})
	}
}

// TestAFlushSpeaksWhatIsComplete: half an element, and a break, wait for what is behind them. The end speaks all.
func TestAFlushSpeaksWhatIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &voice{frames: 1}
		said := start(t.Context(), v, func(c *Config) { c.Utterance.SSML = true })
		for _, piece := range []string{"Ek baat <pro", `sody rate="slow">do`, " baat</prosody> ", `<break time="1s"/>`,
			"teen baat <break/>"} {
			if err := said.Append(piece, Exact); err != nil {
				t.Fatal(err)
			}
			said.Flush(piece)
			synctest.Wait()
		}
		said.Finish()
		<-said.done
		want := []string{
			"<speak>Ek baat</speak>", `<speak><prosody rate="slow">do baat</prosody></speak>`,
			`<speak><break time="1s"/>teen baat <break/></speak>`,
		}
		if said.err != nil || !slices.Equal(v.texts(), want) {
			t.Errorf("said %q, %v\nwant %q", v.texts(), said.err, want)
		}
	})
}

func TestMarkupWaitsForItsEndOnlyWhileItIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &voice{frames: 1}
		said := start(t.Context(), v, func(c *Config) { c.Utterance.SSML = true })
		_ = said.Append(`Kal milenge ji. <break time="1s"/>`, Exact)
		time.Sleep(stopWait)
		synctest.Wait()
		_ = said.Append("<s>Kal milenge ji.", Exact)
		time.Sleep(time.Hour)
		if got := v.texts(); len(got) != 1 {
			t.Errorf("said %q", got)
		}
		said.Cancel()
		<-said.done
	})
}

func TestMarkupHasItsWords(t *testing.T) {
	document := `<speak>Aapka <break time="1s"/> <sub alias="World Wide">W3C</sub> R&amp;D <say-as interpret-as="digits">407</say-as> hai.</speak>`
	u := speech.Utterance{Text: document, SSML: true}
	parts, err := ssml.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	var spoken []string
	for _, p := range parts {
		if p.Text != "" {
			spoken = append(spoken, normalize.Text(p.Text, normalize.Options{Marks: p.Marks}))
		}
	}
	heard, written := []rune(strings.Join(spoken, " ")), []rune(document)
	var got []string
	for _, w := range align(u) {
		got = append(got, w.text+"="+string(written[w.start:w.end])+"="+strings.Trim(string(heard[w.from:w.to]), ".,"))
	}
	want := []string{"Aapka=Aapka=Aapka", "W3C=W3C=World Wide", "R&D=R&amp;D=आर और डी", "407=407=चार शून्य सात",
		"hai.=hai.=hai"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// FuzzMarkup: what is cut of a text that can be read can be read, and nothing is lost.
func FuzzMarkup(f *testing.F) {
	f.Add(`Ek. <break time="1s"/> <prosody rate="slow">Do. Teen</prosody> <s>a</s> <sub alias="x. y">z</sub>`, uint8(3))
	f.Add("<speak><p>a. b</p>\n<!-- c. > --></speak>", uint8(0))
	f.Add("a < b. <![CDATA[x. > ]]> & c. ", uint8(7))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if len(text) > 3000 {
			return
		}
		if _, err := clean(text); err != nil {
			return
		}
		_, broken := ssml.Parse(ssml.Document(text))
		c := cutter{markup: true}
		var all []sentence
		for m := range slices.Chunk([]rune(text), int(size)+1) {
			all = append(all, c.add(string(m), Exact)...)
		}
		all = append(all, c.flush()...)
		all = append(all, c.rest()...)
		var joined strings.Builder
		for _, s := range all {
			joined.WriteString(s.text)
			if _, err := ssml.Parse(ssml.Document(s.text)); err != nil && broken == nil {
				t.Errorf("%q is cut to %q: %v", text, s.text, err)
			}
		}
		gone := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if gone(joined.String()) != gone(text) {
			t.Errorf("%q became %q", text, joined.String())
		}
	})
}

// TestMarkupThatIsWrongEndsTheTurn: the error of the speaker is that of the turn.
func TestMarkupThatIsWrongEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &voice{frames: 1, fail: func(u speech.Utterance) error {
			_, err := ssml.Parse(u.Text)
			return err
		}}
		said := start(context.Background(), v, func(c *Config) { c.Utterance.SSML = true })
		_ = said.Append("Ek baat. <prosody>do", Exact)
		said.Finish()
		<-said.done
		if said.err == nil || !strings.Contains(said.err.Error(), "ssml: ") {
			t.Errorf("ended with %v", said.err)
		}
	})
}
