package models

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keep puts a model into a store that is as whole as Find wants it.
func keep(t *testing.T, s Store, name, revision, pulled string, files ...string) {
	t.Helper()
	at, err := time.Parse(time.DateOnly, pulled)
	if err != nil {
		t.Fatal(err)
	}
	l := Lock{Format: LockFormat, Name: name, Revision: revision, Pulled: at}
	for _, hash := range files {
		l.Files = append(l.Files, Source{SHA256: hash})
		write(t, filepath.Join(s.Files(), hash, "model.safetensors"), "download")
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	folder := s.Folder(name, revision)
	write(t, filepath.Join(folder, "manifest.json"), "{}")
	write(t, folder+lockSuffix, string(text))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var (
	firstCommit, secondCommit = strings.Repeat("1a", 20), strings.Repeat("2b", 20)
	firstHash, secondHash     = strings.Repeat("c3", 32), strings.Repeat("d4", 32)
)

const sarypsCommit = "dbaa326069d20bfbdaeb625613736773741a24ea" // of the catalogue

func TestFind(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "with [brackets] *")}
	keep(t, s, "mine", firstCommit, "2026-11-02")
	keep(t, s, "mine", secondCommit, "2026-11-03")
	keep(t, s, "saryps-hindi", sarypsCommit, "2026-11-02")
	keep(t, s, "saryps-hindi", firstCommit, "2026-11-03")
	write(t, filepath.Join(s.Dir, "mine", strings.Repeat("3", 12), "manifest.json"),
		"a bundle whose making was cut off")
	for sentence, test := range map[string]struct{ name, revision, want string }{
		"the one that was pulled last":              {"mine", "", secondCommit},
		"a revision by its beginning":               {"mine", "1a", firstCommit},
		"a whole revision":                          {"mine", firstCommit, firstCommit},
		"the revision of the catalogue comes first": {"saryps-hindi", "", sarypsCommit},
		"an alias": {"saryps", firstCommit[:12], firstCommit},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := s.Find(test.name, test.revision)
			if err != nil || got.Revision != test.want || got.Folder != s.Folder(got.Name, test.want) ||
				got.Bytes != 2 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	for sentence, test := range map[string]struct{ name, revision, want string }{
		"another revision":       {"mine", "3c", "the model mine@3c is not here; of mine there is 2b2b2b2b2b2b, 1a1a1a1a1a1a: `swar model pull mine@3c` downloads it"},
		"one that can be pulled": {"jugnu", "", "the model jugnu-lite is not here: `swar model pull jugnu-lite` downloads it"},
		"one of no known name":   {"zzz", "", "the model zzz is not here, and there is none of that name: `swar model list` shows which there are"},
		"one with a slip":        {"saryps-hindy", "", "the model saryps-hindy is not here, and there is none of that name; perhaps saryps-hindi is meant"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := s.Find(test.name, test.revision)
			if missing, ok := errors.AsType[*NotPulledError](err); !ok || missing.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestStoreThatIsNotThere(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "none")}
	if all, err := s.List(); err != nil || len(all) > 0 {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("looking at it has made it: %v", err)
	}
}

func TestRemoveFreesWhatNobodyNeeds(t *testing.T) {
	s := Store{t.TempDir()}
	keep(t, s, "a", firstCommit, "2026-11-02", firstHash, secondHash)
	keep(t, s, "b", firstCommit, "2026-11-02", secondHash)
	part := filepath.Join(s.Files(), firstHash+".part")
	write(t, part, "a download that goes on")
	m, err := s.Find("a", "")
	if err != nil {
		t.Fatal(err)
	}
	freed, err := s.Remove(m)
	if want := int64(len("{}") + len("download")); err != nil || freed != want {
		t.Errorf("it frees %d bytes, %v, want %d", freed, err, want)
	}
	for path, want := range map[string]bool{
		filepath.Join(s.Dir, "a"):               false,
		filepath.Join(s.Files(), firstHash):     false,
		filepath.Join(s.Files(), secondHash):    true,
		s.Folder("b", firstCommit) + lockSuffix: true,
		part:                                    true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
}

func TestLockFilesThatAreDamaged(t *testing.T) {
	whole, err := json.Marshal(Lock{Format: LockFormat, Name: "a", Revision: firstCommit})
	if err != nil {
		t.Fatal(err)
	}
	for sentence, test := range map[string]struct{ text, want string }{
		"no JSON":                {"{", "not a lock file"},
		"another format":         {`{"format": 2}`, "format 2: this version reads format 1"},
		"of another model":       {strings.Replace(string(whole), `"a"`, `"b"`, 1), "it is of b@1a1a1a1a1a1a, and lies in another place"},
		"of another revision":    {strings.Replace(string(whole), "1a", "1b", 1), "lies in another place"},
		"larger than any can be": {strings.Repeat(" ", 1<<20+1), "remove it, and pull the model again"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := Store{t.TempDir()}
			keep(t, s, "a", firstCommit, "2026-11-02")
			write(t, s.Folder("a", firstCommit)+lockSuffix, test.text)
			if _, err := s.List(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestOpenStore(t *testing.T) {
	for sentence, test := range map[string]struct{ models, data, want string }{
		"SWAR_MODELS wins":           {"/a", "/b", "/a"},
		"XDG_DATA_HOME":              {"", "/b", "/b/swar/models"},
		"a relative one is ignored":  {"", "b", "/home/x/.local/share/swar/models"},
		"the user's folder for data": {"", "", "/home/x/.local/share/swar/models"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Setenv("SWAR_MODELS", test.models)
			t.Setenv("XDG_DATA_HOME", test.data)
			t.Setenv("HOME", "/home/x")
			if got, err := OpenStore(); err != nil || got.Dir != test.want {
				t.Errorf("got %s, %v, want %s", got.Dir, err, test.want)
			}
		})
	}
}
