package rest

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func portalDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/portal.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocsShowEveryEndpoint holds the page against the handlers: every operation has a section with a line to try, and
// what is shown as an answer is one.
func TestDocsShowEveryEndpoint(t *testing.T) {
	g := newRig(t)
	sections, all := map[string]string{}, map[string]string{}
	for section := range strings.SplitSeq("\n"+portalDocs(t), "\n### ") {
		head, text, _ := strings.Cut(section, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		sections[head] = text
		all[anchor(head)] = text
	}
	for _, route := range eachRoute(t, g) {
		method, path, _ := strings.Cut(route, " ")
		if method == http.MethodHead || method == http.MethodOptions {
			continue
		}
		text, ok := sections[route]
		if !ok {
			t.Errorf("docs/portal.md has no section %s", route)
			continue
		}
		delete(sections, route)
		command, _, _ := strings.Cut(path, "{")
		if !strings.Contains(text, "curl -sS ") || !strings.Contains(text, "$S"+command) {
			t.Errorf("the section %s shows no line to try", route)
		}
		if method != "GET" && method != "POST" && !strings.Contains(text, "-X "+method) {
			t.Errorf("the section %s shows no line with %s", route, method)
		}
		answers := shownAnswers(text)
		if link := answerOf.FindStringSubmatch(text); link != nil {
			answers = append(answers, shownAnswers(all[link[1]])...)
		}
		if len(answers) == 0 && path != "/portal/v1/openapi.json" {
			t.Errorf("the section %s shows no answer", route)
		}
		for _, answer := range answers {
			address := "http://localhost" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x")
			r, err := http.NewRequestWithContext(t.Context(), method, address, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if err := described(r, reply{200, http.Header{"Content-Type": {"application/json"}},
				answer[1]}); err != nil {
				t.Errorf("%s: what is shown is no answer: %v", route, err)
			}
		}
	}
	for head := range sections {
		if strings.Contains(head, "/portal/v1") {
			t.Errorf("docs/portal.md has a section for %s, an unknown route", head)
		}
	}
}

// answerOf is the link to another section that shows the answer of this one.
var answerOf = regexp.MustCompile(`Answer: \[[^]]+\]\(#([^)]+)\)`)

// shownAnswers returns the examples of answers in a section.
func shownAnswers(section string) [][]string {
	return regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(section, -1)
}

// anchor returns the address of a heading in its page: "GET /portal/v1/me" → "get-portalv1me".
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", "/", "", "{", "", "}", "", ".", "").Replace(strings.ToLower(heading))
}

// TestDocsTellEveryError: a name that a client can meet is explained.
func TestDocsTellEveryError(t *testing.T) {
	text := portalDocs(t)
	var codes []string
	for file, pattern := range map[string]string{
		"../tenant/refusal.go":            `&Refusal\{\w+, "(\w+)",`,
		"failure.go":                      `(?:failed|again|unauthorised)\((?:[\w.]+, )?"(\w+)"`,
		"rest.go":                         `failed\([\w.]+, "(\w+)"`,
		"query.go":                        `Code: "(\w+)"`,
		"../../runtime/answer/failure.go": `(?:Code:|bodyTooLarge =) "(\w+)"`,
		"requests.go":                     `Code: "(\w+)"`,
	} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(source), -1)
		if len(found) == 0 {
			t.Errorf("no name of an error in %s", file)
		}
		for _, f := range found {
			codes = append(codes, f[1])
		}
	}
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		if !strings.Contains(text, "`"+code+"`") && code != "operators_only" { // operators do not come this way
			t.Errorf("docs/portal.md does not explain %s", code)
		}
	}
}
