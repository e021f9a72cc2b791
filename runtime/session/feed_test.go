package session

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

// drain takes out all that comes at a time: sentences, and flushes as [tag].
func drain(f *feed, now time.Time) (all []string, until time.Time) {
	for {
		next := f.next(now)
		if next.what == stepWait {
			return all, next.until
		}
		switch s := f.take(); s.what {
		case stepSpeak:
			all = append(all, s.text)
		case stepFlushed:
			all = append(all, "["+s.tag.(string)+"]")
		case stepEnd:
			return append(all, "end"), time.Time{}
		}
	}
}

func TestAMarkAtTheEndWaits250Milliseconds(t *testing.T) {
	for _, text := range []string{"Aap kaise hain?", "Theek hai bhai.", "Total 500.", "Ek minute ruko…",
		"Kahan ho?\""} {
		var f feed
		if err := f.append(noon, text, Exact); err != nil {
			t.Fatal(err)
		}
		if got, until := drain(&f, at(249)); got != nil || until != at(250) {
			t.Errorf("%q: %q after 249 ms, until %v", text, got, until.Sub(noon))
		}
		if got, _ := drain(&f, at(250)); !slices.Equal(got, []string{text}) {
			t.Errorf("%q: %q after 250 ms", text, got)
		}
	}
}

func TestWhatMayGoOnWaitsForMore(t *testing.T) {
	for _, text := range []string{"Aap kaise", "Aaj Dr.", "10:30 a.m.", "Kal 12 Jan.", "  ", ""} {
		var f feed
		if err := f.append(noon, text, Exact); err != nil {
			t.Fatal(err)
		}
		if got, until := drain(&f, at(100_000)); got != nil || !until.IsZero() {
			t.Errorf("%q: %q, until %v", text, got, until.Sub(noon))
		}
	}
}

func TestEachMessageBeginsTheWaitAnew(t *testing.T) {
	var f feed
	_ = f.append(noon, "Theek hai.", Exact)
	_ = f.append(at(200), "\"", Exact)
	if got, until := drain(&f, at(300)); got != nil || until != at(450) {
		t.Errorf("%q until %v", got, until.Sub(noon))
	}
}

func TestADelayEndsAtASpace(t *testing.T) {
	f := feed{delay: 3 * time.Second}
	_ = f.append(noon, "Aapka order ka", Exact)
	_ = f.append(at(1000), "l", Exact)
	if got, until := drain(&f, at(2999)); got != nil || until != at(3000) {
		t.Fatalf("%q until %v", got, until.Sub(noon))
	}
	if got, until := drain(&f, at(3000)); !slices.Equal(got, []string{"Aapka order"}) || until != at(6000) {
		t.Fatalf("%q until %v", got, until.Sub(noon))
	}
	if got, _ := drain(&f, at(6000)); !slices.Equal(got, []string{"kal"}) {
		t.Fatalf("%q", got)
	}
}

func TestShortSentencesAreJoinedWithWhatIsThere(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"two words", "Haan ji. Aap kaise hain? ", []string{"Haan ji. Aap kaise hain?"}},
		{"three words", "Haan ji haan. Aap kaise hain? ", []string{"Haan ji haan.", "Aap kaise hain?"}},
		{"one after another", "Haan. Ji. Bolo. Main sun raha hoon. ", []string{"Haan. Ji. Bolo.", "Main sun raha hoon."}},
		{"the last", "Aap kaise hain? Haan. ", []string{"Aap kaise hain?", "Haan."}},
		{"lines", "Doodh\nChai\nCheeni bhi\n", []string{"Doodh\nChai\nCheeni bhi."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f feed
			if err := f.append(noon, tt.text, Exact); err != nil {
				t.Fatal(err)
			}
			if got, _ := drain(&f, noon); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	var f feed // never waited for, and not across a flush
	_ = f.append(noon, "Haan. ", Exact)
	f.flush("a")
	_ = f.append(noon, "Aap kaise hain? ", Exact)
	if got, _ := drain(&f, noon); !slices.Equal(got, []string{"Haan.", "[a]", "Aap kaise hain?"}) {
		t.Errorf("across a flush: %q", got)
	}
}

func TestFlushAndFinishSpeakWhatIsLeft(t *testing.T) {
	var f feed
	_ = f.append(noon, "Aap ka", Exact)
	f.flush("a")
	f.flush("b")
	_ = f.append(noon, "ise hain", Exact)
	f.finish()
	got, _ := drain(&f, noon)
	if want := []string{"Aap ka", "[a]", "[b]", "ise hain", "end"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !f.isOver() {
		t.Error("it is not over")
	}
}

func TestTheFeedIsBounded(t *testing.T) {
	busy := func(err error) bool { return errors.Is(err, speech.ErrBusy) }
	line := strings.Repeat("Aap kaise hain bhai? ", 50) + "\n"
	var f feed
	for f.size+len(f.cut.text)+len(line) <= maxQueue {
		if err := f.append(noon, line, Exact); err != nil {
			t.Fatal(err)
		}
	}
	fill := maxQueue - f.size - len(f.cut.text)
	if err := f.append(noon, strings.Repeat(".", fill+1), Exact); !busy(err) {
		t.Errorf("one byte above the queue: %v", err)
	}
	if err := f.append(noon, strings.Repeat(" ", fill), Exact); err != nil {
		t.Errorf("a full queue: %v", err)
	}
	for n, want := range map[int]error{3999: nil, 4000: nil, 4001: speech.ErrTextTooLong} {
		var f feed
		if err := f.append(noon, strings.Repeat("थ", n), Exact); !errors.Is(err, want) {
			t.Errorf("a sentence of %d code points: %v, want %v", n, err, want)
		}
	}
	for n, want := range map[int]error{maxBuffer: nil, maxBuffer + 4: speech.ErrBusy} {
		var f feed
		if err := f.append(noon, strings.Repeat(" ", n), Exact); !errors.Is(err, want) {
			t.Errorf("%d bytes without an end: %v, want %v", n, err, want)
		}
	}
}

func TestPiecesTakeTheCaseThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ pieces, want []string }{
		"nothing is known yet":     {[]string{"VIG ₹90 ₹80 ₹70. ", "YOUR CAB IS HERE. "}, []string{"", "upper"}},
		"what came before counts":  {[]string{"YOUR CAB IS HERE. ", "VIG ₹90 ₹80 ₹70. "}, []string{"upper", "upper"}},
		"small letters count, too": {[]string{"YOUR CAB IS HERE. ", "Please come down to it. "}, []string{"upper", "mixed"}},
		"a flush begins a message": {[]string{"YOUR CAB IS HERE. ", "[]", "VIG ₹90 ₹80 ₹70. "}, []string{"upper", "", ""}},
	} {
		if got := taken(t, c.pieces, (*normalize.Message).Case); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// taken says of each piece what is known of its message when it is taken out. "[]" is a flush.
func taken(t *testing.T, pieces []string, known func(*normalize.Message) string) (all []string) {
	t.Helper()
	var f feed
	for _, p := range pieces {
		if p == "[]" {
			f.flush("")
		} else if err := f.append(noon, p, Exact); err != nil {
			t.Fatal(err)
		}
	}
	for len(f.queue) > 0 {
		s := f.take()
		all = append(all, known(&s.message))
	}
	return all
}

func TestPiecesTakeTheLanguageThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ pieces, want []string }{
		"nothing is known yet":        {[]string{"OTP 4432 ₹90 ₹80. ", "Your cab is here. "}, []string{"", "en"}},
		"what came before counts":     {[]string{"Your cab is here. ", "OTP 4432 ₹90 ₹80. "}, []string{"en", "en"}},
		"a flush begins a message":    {[]string{"Your cab is here. ", "[]", "OTP 4432 ₹90 ₹80. "}, []string{"en", "", ""}},
		"more sentences of the other": {[]string{"Aapki cab aa gayi. ", "Your cab is here. ", "The fare is due. "}, []string{"hi", "hi", "en"}},
	} {
		if got := taken(t, c.pieces, (*normalize.Message).Language); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
