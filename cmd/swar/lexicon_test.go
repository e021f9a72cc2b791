package main_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const names = "word,spoken,lang\nZepto,ज़ेप्टो,\nJio 5G,जियो five जी,en\n"

func TestLexiconFromTheCommandLine(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	s.write("names.csv", []byte(names))
	s.write("half.pls", []byte(`<lexicon version="1.0"><lexeme><grapheme>Ola</grapheme><alias>ओला</alias></lexeme><lexeme><grapheme>X</grapheme><phoneme>x</phoneme></lexeme></lexicon>`))
	run := func(args ...string) string { t.Helper(); return s.ok(append(args, "--data", "data")...).out }
	key := strings.TrimSpace(run("keys", "create", "words"))

	if out := run("lexicon", "list"); !strings.Contains(out, "lex_") ||
		!strings.Contains(out, "  Default  0        0        never") {
		t.Errorf("the list is\n%s", out)
	}
	if out := run("lexicon", "import", "names.csv"); out != "2 added, 0 changed, 0 removed; there are 2 entries\n" {
		t.Errorf("import says %q", out)
	}
	if out := run("lexicon", "put", "zepto", "ज़ेप्टोओ"); out != "word   lang  spoken\nzepto  -     ज़ेप्टोओ\n" {
		t.Errorf("put says %q", out)
	}
	if out := run("lexicon", "get", "ZEPTO", "jio  5g"); !strings.Contains(out,
		"zepto   -     ज़ेप्टोओ\nJio 5G  en    जियो five जी\n") {
		t.Errorf("get says %q", out)
	}
	eventually(t, "the word is spoken as it says", func() bool {
		return strings.Contains(s.ok("normalize", "--server", v.base, "--key", key, "Zepto se").out, "ज़ेप्टोओ")
	})
	if out := s.ok("normalize", "--server", v.base, "--key", key, "--lexicon", "none",
		"Zepto se").out; strings.Contains(out, "ज़ेप्टोओ") {
		t.Errorf("without the lexicon it is read as %s", out)
	}
	r := s.ok("lexicon", "import", "half.pls", "--data", "data")
	if r.out != "1 added, 0 changed, 0 removed; there are 3 entries\n" ||
		!strings.Contains(r.err, `"X": skipped, it has phonemes`) {
		t.Errorf("import of half a file says %q and %q", r.out, r.err)
	}
	if out := run("lexicon", "remove", "OLA"); out != "2 entries are left\n" {
		t.Errorf("remove says %q", out)
	}
	if out := run("lexicon", "import", "--replace",
		"names.csv"); out != "0 added, 1 changed, 0 removed; there are 2 entries\n" {
		t.Errorf("import in place of all says %q", out)
	}
	if out := run("lexicon", "export"); out != names {
		t.Errorf("export says %q", out)
	}
	for _, file := range []string{"all.pls", "all.csv"} {
		run("lexicon", "export", file)
		if out := run("lexicon", "import", "--replace",
			file); out != "0 added, 0 changed, 0 removed; there are 2 entries\n" {
			t.Errorf("what was exported to %s and comes back is %q", file, out)
		}
	}
	if out := run("lexicon", "list", "--json"); !strings.Contains(out, `"lexicons"`) ||
		!strings.Contains(out, `"word": "Zepto"`) {
		t.Errorf("the list is %s", out)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		err  string
	}{
		"an unknown word":      {[]string{"get", "Uber"}, 2, `the lexicon has no word "Uber"`},
		"which is not removed": {[]string{"remove", "Uber"}, 2, `the lexicon has no word "Uber"`},
		"an unknown language":  {[]string{"put", "a", "b", "--lang", "mr"}, 2, "want one of hi, en"},
		"nothing to speak":     {[]string{"put", "a", "!"}, 4, "spoken needs a letter"},
		"no file":              {[]string{"import", "nothing.csv"}, 1, "nothing.csv"},
		"another kind of file": {[]string{"export", "all.txt"}, 2, "must end in .csv or .pls"},
		"another project":      {[]string{"list", "--org", "Nobody"}, 2, `there is no organisation "Nobody"`},
	} {
		if r := s.run(append(append([]string{"lexicon"}, tt.args...), "--data", "data")...); r.code != tt.code ||
			!strings.Contains(r.err, tt.err) {
			t.Errorf("%s: exit code %d, %q; want %d and %q", name, r.code, r.err, tt.code, tt.err)
		}
	}
}

func TestLexiconFilesAreChecked(t *testing.T) {
	s := newShell(t)
	s.write("good.csv", []byte(names))
	s.write("twice.csv", []byte("Zepto,a\nZEPTO,b\n"))
	s.write("half.pls", []byte(`<lexicon version="1.0"><lexeme><grapheme>X</grapheme><phoneme>x</phoneme></lexeme></lexicon>`))
	if out := s.ok("lexicon", "check", "good.csv").out; out != "good.csv: 2 entries\n" {
		t.Errorf("it says %q", out)
	}
	for file, want := range map[string]string{
		"twice.csv": "the word is that of entry 1", "half.pls": "half.pls: 1 of 1 entries would be skipped", "gone.csv": "gone.csv", "good": "must end in .csv or .pls",
	} {
		if r := s.run("lexicon", "check", file); r.code != 1 || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit code %d, %q; want 1 and %q", file, r.code, r.err, want)
		}
	}
	if out := s.ok("normalize", "--lexicon", "good.csv", "Zepto se").out; !strings.Contains(out, "ज़ेप्टो se") {
		t.Errorf("in this process it is read as %s", out)
	}
}

// TestServeWithALexicon: it is that of keys without a project, and of a server without keys.
func TestServeWithALexicon(t *testing.T) {
	s := newShell(t)
	s.write("names.csv", []byte(names))
	for _, more := range [][]string{{"--api-key", "k"}, nil} {
		v := s.serve(append(more, "--lexicon", "names.csv")...)
		read := func(args ...string) string {
			return s.ok(append([]string{"normalize", "--server", v.base, "--key", "k", "Zepto se"}, args...)...).out
		}
		if out := read(); !strings.Contains(out, "ज़ेप्टो se") {
			t.Errorf("%v: it is read as %s", more, out)
		}
		if out := read("--lexicon", "none"); !strings.Contains(out, "Zepto se") {
			t.Errorf("%v: without the lexicon it is read as %s", more, out)
		}
	}
	s.write("bad.csv", []byte("Zepto\n"))
	for want, args := range map[string][]string{
		"bad.csv: line 1 has 1 columns": {"--portal", "off", "--lexicon", "bad.csv"},
		"gone.csv: no such file":        {"--portal", "off", "--lexicon", "gone.csv"},
		"swar lexicon import":           {"--lexicon", "names.csv"},
	} {
		if r := s.run(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...); r.code != 2 ||
			!strings.Contains(r.err, want) {
			t.Errorf("%v: exit code %d, %q; want 2 and %q", args, r.code, r.err, want)
		}
	}
}

// TestLexiconsAreChangedAtOnce: of twelve commands that meet, each adds its word.
func TestLexiconsAreChangedAtOnce(t *testing.T) {
	s := newShell(t)
	s.serveWithPortal()
	var commands sync.WaitGroup
	for i := range 12 {
		commands.Go(func() {
			if r := s.run("lexicon", "put", fmt.Sprint("Word", i), "शब्द", "--data", "data"); r.code != 0 {
				t.Errorf("command %d: exit code %d, %s", i, r.code, r.err)
			}
		})
	}
	commands.Wait()
	if out := s.ok("lexicon", "get", "--data", "data").out; strings.Count(out, "शब्द") != 12 {
		t.Errorf("the lexicon has\n%s", out)
	}
}
