package lexfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/lexicon"
)

// TestWhatIsWrittenIsRead: marks of CSV and XML, and as many entries as there may be.
func TestWhatIsWrittenIsRead(t *testing.T) {
	entries := []lexicon.Entry{{Word: `R&D "<x>", y`, Spoken: "आर एंड डी", Lang: "hi"}, {Word: "word", Spoken: "a,b"},
		{Word: "Jio 5G", Spoken: "x", Lang: "en"}}
	for i := len(entries); i < lexicon.MaxEntries; i++ {
		entries = append(entries, lexicon.Entry{Word: fmt.Sprint("word", i),
			Spoken: strings.Repeat("क", lexicon.MaxSpoken)})
	}
	for _, name := range []string{"a.csv", "a.PLS", "a.xml"} {
		format, err := FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := Save(path, format, entries); err != nil {
			t.Fatal(err)
		}
		if f, err := Read(path); err != nil || !slices.Equal(f.Entries, entries) || len(f.Dropped) > 0 {
			t.Errorf("%s: %d entries came back, %d were dropped, %v", name, len(f.Entries), len(f.Dropped), err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"a.txt": "a,b", "a.csv": strings.Repeat("a,b\n", 2), "large.csv": strings.Repeat(" ", maxBytes+1), "a.pls": "<speak/>",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
