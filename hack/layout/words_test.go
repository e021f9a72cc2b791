package layout

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// bannedPhrases are figures of speech that have a standard term, and the term. They may be in no string that a person
// reads.
var bannedPhrases = map[string]string{
	`tells?|told`:                             "send, report, notify, show",
	`hears?|heard of`:                         "receive",
	`who(m?ever|m)`:                           "name the person or component",
	`wish(es|ed)`:                             "request, desired",
	`brings?|brought`:                         "download, fetch, import",
	`lack(s|ed|ing)?`:                         "has no, is missing",
	`so (many|much)`:                          "the number, with its unit",
	`(is|are) no(ne)?`:                        "is not, has no; but there is no",
	`that there is not`:                       "unknown",
	`of (its|their) own|of ours`:              "own, separate",
	`becomes? of|became of`:                   "result",
	`turned away`:                             "rejected",
	`takes? in|taken in`:                      "apply, load, import",
	`nobody|somebody|anybody|everybody`:       "name the person or component; no one, someone, everyone",
	`at hand`:                                 "available, installed",
	`by itself`:                               "automatically",
	`is gone|are gone`:                        "was removed, is missing",
	`go on|goes on|went on|gone on`:           "continue, resume",
	`stands? (in|twice|there|on|for|between)`: "is in, means",
	`is good for|are good for|are good`:       "valid",
	`broken? off|breaks off`:                  "interrupted",
}

// bannedWords may be in no exported identifier, in any form.
var bannedWords = []string{
	"tell", "tells", "told", "hear", "hears", "heard", "unheard", "whoever", "whom", "wish", "wishes", "wished", "bring", "brings", "brought",
	"lack", "lacks", "lacked", "lacking", "hush", "hushed", "born", "nobody", "somebody", "gone",
}

// rightWords are the exceptions, with the reason for each: identifiers as dir.Name.
var rightWords = map[string]string{
	"runtime/metrics.ClientGone":   "the standard term for a client that closed its connection",
	"runtime/metrics.WorkerGone":   "the contract's code worker_gone",
	"runtime/speech.ErrClientGone": "as the contract says it",
	"runtime/speech.ErrWorkerGone": "as the contract says it",
	"client.CodeWorkerGone":        "as the contract says it",
}

// rightTexts are strings with a banned phrase that are right, each with its reason.
var rightTexts = map[string]string{}

// bannedExamples are sentences that once were in the code and the documents, one for each class of riddle.
var bannedExamples = []string{
	"what whoever scales the fleet is told",
	"how they are asked for, brought",
	"the neural engine: its loop, who comes first",
	"is not told when the client leaves",
	"Whoever scales",
	"in a time of its own",
	"For whoever runs",
	"The weights must be at hand",
	"Keys are heard from the first moment",
	"Whom a provider of OpenID Connect signs in",
	"what routers tell moves no one",
	"who was failed is tried there once more",
	"what programs are composed of is cut by what it links",
	"stays until somebody knows better",
	"signed with a key that there is not",
	"name the audience, or tokens that were made for others would do",
	"nobody is trusted",
	"no key is known yet: the portal was not heard",
	"the portal was last heard",
	"clients have not taken all that was sent",
	"what comes is larger than",
	"there is no such file, and it is no sentence",
	"it takes latents of %d and rows of",
	"so that it goes no further",
	"nobody has called for a while",
	"every worker has spoken each voice",
	"Config is what an operator is told",
	"Turn is what a speaker is told",
	"which is a request's, for the cause that the client has gone",
	"Until then those of the engine's model are it",
	"has ended the stream himself",
	"one of them is a thief",
	"bringing an archive has nothing to do with what is in it",
	"who waits for what is not its matter",
	"is heard in one language",
	"tells the genres apart",
	"signs in whoever opens it",
	"nobody is billed",
	"whose address you type",
	"It is none of this organisation",
	"No key is like that",
	"Whoever has it can spend",
}

// TestExamplesStayOut: none of the examples is in any file, wherever it was.
func TestExamplesStayOut(t *testing.T) {
	args := []string{"grep", "-nF"}
	for _, example := range bannedExamples {
		args = append(args, "-e", example)
	}
	cmd := exec.Command("git", append(args, "--", ":!portal/web/dist", ":!hack/layout")...)
	cmd.Dir = "../.."
	if out, err := cmd.Output(); err == nil {
		t.Errorf("in plain words, please:\n%s", out)
	} else if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("git grep: %v", err)
	}
}

// vocabularies are folders whose strings are the words of languages, which the product reads and speaks.
var vocabularies = []string{"runtime/normalize/", "runtime/translit/", "runtime/internal/pronounce/", "runtime/espeak/"}

func TestExportedNamesArePlain(t *testing.T) {
	used := map[string]bool{}
	for path, f := range productFiles(t) {
		dir := path[:strings.LastIndexByte(path, '/')]
		for _, name := range exportedNames(f) {
			word := bannedWordOf(name)
			if word == "" {
				continue
			}
			key := dir + "." + name
			used[key] = true
			if rightWords[key] == "" {
				t.Errorf("%s: the name %s has the word %q: use the field's term, or add %q to rightWords with the reason", path, name, word, key)
			}
		}
	}
	for key := range rightWords {
		if !used[key] {
			t.Errorf("rightWords has %q, which is not in the code any more", key)
		}
	}
}

func TestTextsArePlain(t *testing.T) {
	used := map[string]bool{}
	check := func(where, text string) {
		phrase, term := bannedPhraseOf(text)
		if phrase == "" {
			return
		}
		for right := range rightTexts {
			if strings.Contains(text, right) {
				used[right] = true
				return
			}
		}
		t.Errorf("%s: %.300q has %q: say %s, or add it to rightTexts with the reason", where, text, phrase, term)
	}
	for path, f := range productFiles(t) {
		if slices.ContainsFunc(vocabularies, func(v string) bool { return strings.HasPrefix(path, v) }) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && strings.Contains(s, " ") {
					check(path, s)
				}
			}
			return true
		})
	}
	for _, path := range tracked(t, "portal/web/src/*.ts", "portal/web/src/*.tsx", "portal/signin/*.html") {
		for n, line := range strings.Split(withoutComments(read(t, "../../"+path)), "\n") {
			for _, text := range webText.FindAllString(line, -1) {
				check(path+":"+strconv.Itoa(n+1), text)
			}
		}
	}
	for right := range rightTexts {
		if !used[right] {
			t.Errorf("rightTexts has %q, which is not in the code any more", right)
		}
	}
}

func TestBannedPhrasesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"signed with a key that there is not":            "that there is not",
		"nobody is trusted":                              "nobody",
		"%q is no origin: give it as https://HOST":       "is no",
		"there is no file %s":                            "",
		"there are no routers yet":                       "",
		"download exceeds --limit (%d bytes)":            "",
		"the portal tells routers":                       "tells",
		"hearing aid, telling, intellect, soso, islands": "",
	} {
		if got, _ := bannedPhraseOf(text); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
	for name, want := range map[string]string{"TellUses": "tell", "Heard": "heard", "ErrUnheard": "unheard",
		"Intellect": "", "NewShipper": "", "HTTPTold": "told"} {
		if got := bannedWordOf(name); got != want {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
	}
}

// mostWords is how many words the first sentence about an exported name or a package may have.
const mostWords = 20

// longSentences are the folders that are not held to that yet. Rows only go.
var longSentences = []string{"runtime/normalize"}

func TestFirstSentencesAreShort(t *testing.T) {
	for path, f := range productFiles(t) {
		if slices.ContainsFunc(longSentences, func(dir string) bool { return strings.HasPrefix(path, dir) }) {
			continue
		}
		for name, doc := range exportedDocs(f) {
			if sentence := firstSentence(doc); len(strings.Fields(sentence)) > mostWords {
				t.Errorf("%s: the first sentence about %s has %d words, want at most %d: %s",
					path, name, len(strings.Fields(sentence)), mostWords, sentence)
			}
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for doc, want := range map[string]string{
		"Pop removes the first entry. It returns nil.": "Pop removes the first entry.",
		"Pop removes v1.2 of\nthe\nentries.\n":         "Pop removes v1.2 of the entries.",
		"Pop":                                          "Pop",
	} {
		if got := firstSentence(doc); got != want {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
}

// firstSentence returns a comment up to its first full stop: "Pop removes it. It …" → "Pop removes it."
func firstSentence(doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if sentence, _, more := strings.Cut(text, ". "); more {
		return sentence + "."
	}
	return text
}

// exportedDocs returns the comments about the package and each exported function, method, type, constant and variable.
func exportedDocs(f *ast.File) map[string]string {
	docs := map[string]string{}
	add := func(id *ast.Ident, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g != nil && id.IsExported() {
				docs[id.Name] = g.Text()
				return
			}
		}
	}
	if f.Doc != nil {
		docs["the package"] = f.Doc.Text()
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := *d.Name
			if d.Recv != nil && name.IsExported() {
				name.Name += " of " + receiver(d)
			}
			add(&name, d.Doc)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, spec.Doc, d.Doc)
				case *ast.ValueSpec:
					add(spec.Names[0], spec.Doc)
				}
			}
		}
	}
	return docs
}

// webText finds what is quoted, and what stands between two tags.
var webText = regexp.MustCompile("\"[^\"]* [^\"]*\"|`[^`]* [^`]*`|>[^<>{}]* [^<>{}]*<")

var webComment = regexp.MustCompile(`(?m)^\s*(//|\*|/\*).*$|\s//\s.*$`)

func withoutComments(source string) string { return webComment.ReplaceAllString(source, "") }

var bannedPhrase = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for phrase := range bannedPhrases {
		all[phrase] = regexp.MustCompile(`(?i)\b(there )?(` + phrase + `)\b`)
	}
	return all
}()

// bannedPhraseOf returns the first banned phrase in a text, and the term to use.
func bannedPhraseOf(text string) (found, term string) {
	at := len(text)
	for phrase, re := range bannedPhrase {
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			if thereIs := m[2] >= 0; !thereIs && m[4] < at {
				at, found, term = m[4], text[m[4]:m[5]], bannedPhrases[phrase]
			}
		}
	}
	return found, term
}

// bannedWordOf returns the banned word in a name: ErrUnheard → unheard.
func bannedWordOf(name string) string {
	for _, w := range wordsOf(name) {
		if slices.Contains(bannedWords, w) {
			return w
		}
	}
	return ""
}

// wordsOf splits a name: HTTPTold → http, told.
func wordsOf(name string) (words []string) {
	begin, runes := 0, []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || unicode.IsUpper(runes[i]) &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			words = append(words, strings.ToLower(string(runes[begin:i])))
			begin = i
		}
	}
	return words
}

// exportedNames returns the exported names that a file declares, fields and methods included.
func exportedNames(f *ast.File) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		var all []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			all = []*ast.Ident{n.Name}
		case *ast.TypeSpec:
			all = []*ast.Ident{n.Name}
		case *ast.ValueSpec:
			all = n.Names
		case *ast.Field:
			all = n.Names
		}
		for _, id := range all {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
}

// productFiles are the parsed files of the product, by path: no tests, nothing generated, no tools.
func productFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, path := range tracked(t, "api/*.go", "client/*.go", "cmd/*.go", "controllers/*.go", "models/*.go",
		"portal/*.go", "runtime/*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") || strings.Contains(path, "/zz_") ||
			strings.Contains(path, "test/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), "../../"+path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = f
	}
	if len(files) < 300 {
		t.Fatalf("%d files found", len(files))
	}
	return files
}

// tracked returns the files in git that match one of the patterns.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"ls-files", "--"}, patterns...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
