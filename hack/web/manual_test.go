package main

import (
	"bytes"
	"maps"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// TestManualLeadsNowhereDead: whatever a page of the documentation leads to below /docs/ is there, and to nothing else
// on this server than what is served beside it.
func TestManualLeadsNowhereDead(t *testing.T) {
	files, err := manual(root)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]map[string]bool{}
	for name, content := range files {
		at := "/" + strings.TrimSuffix(name, ".html")
		if at == "/docs/index" {
			at = "/docs/"
		}
		ids[at] = map[string]bool{}
		for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllSubmatch(content, -1) {
			if ids[at][string(id[1])] {
				t.Errorf("%s has two places %q", name, id[1])
			}
			ids[at][string(id[1])] = true
		}
	}
	beside := map[string]bool{"/": true, "/app/": true, "/llms.txt": true, "/openapi.json": true,
		"/asyncapi.json": true, "/favicon.svg": true, "/manifest.webmanifest": true}
	links := 0
	for name, content := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, l := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllSubmatch(content, -1) {
			to := string(l[1])
			if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") ||
				strings.HasPrefix(to, "/assets/src/") || beside[to] {
				continue
			}
			links++
			address, fragment, _ := strings.Cut(to, "#")
			if address == "" {
				address = strings.TrimSuffix("/"+strings.TrimSuffix(name, ".html"), "index")
			}
			if places, ok := ids[address]; !ok || fragment != "" && !places[fragment] {
				t.Errorf("%s leads to %s, which is nowhere", name, to)
			}
		}
	}
	if links < 1000 {
		t.Errorf("%d links were looked at", links)
	}
}

// TestManualIsTheSameEachTime: what is committed can be compared.
func TestManualIsTheSameEachTime(t *testing.T) {
	one, err := manual(root)
	if err != nil {
		t.Fatal(err)
	}
	two, err := manual(root)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(one, two, bytes.Equal) {
		t.Error("two runs made different pages")
	}
}

// TestManualStaysUnderThePolicy: nothing in a page needs what its policy forbids, and each has one title.
func TestManualStaysUnderThePolicy(t *testing.T) {
	files, err := manual(root)
	if err != nil {
		t.Fatal(err)
	}
	inline := regexp.MustCompile(`<style|<script>|<script type="module">|<[^>]* (style|on[a-z]+)="|raw HTML omitted|href="[^"]*\.md#|<th[^>]*></th>`)
	for name, content := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if bad := inline.Find(content); bad != nil {
			t.Errorf("%s: %s", name, bad)
		}
		if n := bytes.Count(content, []byte("<h1")); n != 1 {
			t.Errorf("%s has %d titles", name, n)
		}
	}
}

func TestRender(t *testing.T) {
	sources := addresses{"docs/x.md": "/docs/x", "docs/api.md": "/docs/api", "docs/start.md": "/docs/"}
	for _, c := range []struct{ name, markup, want string }{
		{"a page", "[a](api.md)", `<a href="/docs/api">a</a>`},
		{"a place in a page", "[a](api.md#post-v1tts)", `<a href="/docs/api#post-v1tts">a</a>`},
		{"the first page", "[a](start.md)", `<a href="/docs/">a</a>`},
		{"a place here", "[a](#b)", `<a href="#b">a</a>`},
		{"another host", "[a](https://example.org/api.md)", `<a href="https://example.org/api.md">a</a>`},
		{"a file that is no page", "see [*a*](../config/x.yaml), b", "see <em>a</em> (<code>config/x.yaml</code>), b"},
		{"a file with signs", "[a](<../a&b.yaml>)", "a (<code>a&amp;b.yaml</code>)"},
		{"a picture", "![a](images/a.svg)", `<img loading="lazy" src="/docs/images/a.svg" alt="a">`},
		{"a comment", "<!-- a -->\n\nb", "<p>b</p>"},
		{"a heading", "## `POST /v1/tts`, अगर", "<h2 id=\"post-v1tts-अगर\"><code>POST /v1/tts</code>, अगर</h2>"},
		{"the same heading", "## A\n\n## A", "<h2 id=\"a\">A</h2>\n<h2 id=\"a-1\">A</h2>"},
		{"a table without names", "| | |\n|---|---|\n| a | b |", "<div class=\"wide\" tabindex=\"0\"><table>\n\n<tbody>\n<tr>\n<td>a</td>\n<td>b</td>\n</tr>\n</tbody>\n</table></div>"},
		{"an example", "```sh\na < b\n```", "<pre tabindex=\"0\"><code class=\"language-sh\">a &lt; b\n</code></pre>"},
	} {
		p, err := render("docs/x.md", []byte("# T\n\n"+c.markup), sources)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.TrimSpace(strings.TrimPrefix(string(p.Content),
			"<h1 id=\"t\">T</h1>\n")); !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	for name, markup := range map[string]string{"no title": "a", "HTML": "# T\n\n<b>a</b>",
		"a block of HTML": "# T\n\n<div>a</div>"} {
		if _, err := render("docs/x.md", []byte(markup), sources); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDeadLinks(t *testing.T) {
	sources := addresses{"docs/a.md": "/docs/a", "docs/b.md": "/docs/b"}
	for markup, dead := range map[string]bool{
		"[x](b.md)": false, "[x](b.md#there)": false, "[x](#here)": false, "[x](b.md#here)": true, "[x](#there)": true,
	} {
		a, err := render("docs/a.md", []byte("# A\n\n## Here\n\n"+markup), sources)
		if err != nil {
			t.Fatal(err)
		}
		b, err := render("docs/b.md", []byte("# B\n\n## There"), sources)
		if err != nil {
			t.Fatal(err)
		}
		if err := deadLinks([]*page{a, b}); (err != nil) != dead {
			t.Errorf("%s: got %v", markup, err)
		}
	}
}
