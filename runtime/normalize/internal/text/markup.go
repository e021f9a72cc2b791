package text

import (
	"strings"
)

// Markup is silent: emphasis, headings, list marks, quotes, rules, the address of a link, tags.

// Lookahead is how many tokens markup may be long; it keeps hostile text linear.
const Lookahead = 64

// foldTags makes one silent token of each tag, <b> or <break time="1s"/>, so that no rule sees what is inside.
func foldTags(toks []Token, text []byte) []Token {
	n := 0
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if end := tagEnd(toks, i, text); end > i {
			t.Kind, t.End, t.B = Tag, toks[end].End, toks[end].B
			i = end
		}
		toks[n] = t
		n++
	}
	return toks[:n]
}

// tagNames are the elements of HTML and SSML that people write in messages. Anything else in brackets is said, unless it has attributes:
// <Ramesh Kumar>, <last 4 digits>.
var tagNames = WordSet(`a abbr audio b blockquote body br break button code dd del details div dl dt em emphasis entry figure font footer
	form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label lang li link main mark meta nav ol option p phoneme pre prosody q s
	samp say-as script section select small source span speak strike strong style sub summary sup table tbody td textarea tfoot th thead title token tr
	u ul var video voice w wbr svg path`)

// tagEnd returns the token that closes the tag that token i opens; i if it opens none.
func tagEnd(toks []Token, i int, text []byte) int {
	if toks[i].Kind != Sign || toks[i].Ch != '<' {
		return i
	}
	n := toks[i+1]
	if n.Gap || n.Kind != Latin && !n.IsOneOf("/!?") {
		return i
	}
	isTag := n.Kind != Latin || tagNames[strings.ToLower(string(text[n.A:n.B]))] && !toks[i+2].Gap
	if toks[i+2].Ch == '/' && toks[min(i+3, len(toks)-1)].Ch != '>' {
		isTag = false // <A/c>
	}
	for j := i + 1; j < min(i+Lookahead, len(toks)-1) && !toks[j].Line; j++ {
		switch t := toks[j]; {
		case t.Kind != Sign:
		case t.Ch == '<':
			return i
		case t.Ch == '=' && toks[j+1].Kind == Sign && !toks[j+1].Gap && toks[j+1].IsOneOf("\"'"), t.Ch == '/' && toks[j+1].Ch == '>':
			isTag = true // an attribute, or an element without content
		case t.Ch == '>' && isTag:
			return j
		case t.Ch == '>':
			return i
		}
	}
	return i
}
