package accept

import "strings"

// A match is one spoken text on its way through a reading.
type match struct {
	tokens []string
	far    int // the most tokens that any way through the reading has taken
}

// places says after how many tokens a reading may stand.
type places []bool

func newPlaces(tokens int) places { return make(places, tokens+1) }

func (p places) empty() bool {
	for _, here := range p {
		if here {
			return false
		}
	}
	return true
}

// mark adds the places more to those of p.
func mark(p, more places) {
	for i, here := range more {
		p[i] = p[i] || here
	}
}

// A node is a part of a reading: from the places where it may begin follow the places where it may end.
type node interface {
	follow(m *match, from places) places
	example() string
}

// oneOf takes a word that sounds like one of the given; the first is the example.
type oneOf []string

func (n oneOf) follow(m *match, from places) places {
	to := newPlaces(len(m.tokens))
	for i, here := range from {
		if !here || i == len(m.tokens) {
			continue
		}
		for _, w := range n {
			if heardAs(w, m.tokens[i], sameSpelling) {
				to[i+1] = true
				m.far = max(m.far, i+1)
				break
			}
		}
	}
	return to
}

func (n oneOf) example() string { return n[0] }

// plain takes a word of the message itself, in either script.
type plain string

func (n plain) follow(m *match, from places) places {
	to := newPlaces(len(m.tokens))
	for i, here := range from {
		if here && i < len(m.tokens) && heardAs(string(n), m.tokens[i], sameWord) {
			to[i+1] = true
			m.far = max(m.far, i+1)
		}
	}
	return to
}

func (n plain) example() string { return string(n) }

type sequence []node

func (n sequence) follow(m *match, from places) places {
	for _, part := range n {
		if from.empty() {
			return from
		}
		from = part.follow(m, from)
	}
	return from
}

func (n sequence) example() string {
	var b strings.Builder
	for _, part := range n {
		b.WriteString(part.example())
		b.WriteByte(' ')
	}
	return b.String()
}

type choice []node

func (n choice) follow(m *match, from places) places {
	to := newPlaces(len(m.tokens))
	for _, way := range n {
		mark(to, way.follow(m, from))
	}
	return to
}

func (n choice) example() string {
	if len(n) == 0 {
		return ""
	}
	return n[0].example()
}

// nothing is the empty reading.
var nothing = sequence{}

// phrases is a choice of phrases of one or more words each; "" is the empty one.
func phrases(texts ...string) node {
	var c choice
	for _, t := range texts {
		var s sequence
		for _, w := range tokenize(t) {
			s = append(s, oneOf{w})
		}
		c = append(c, s)
	}
	return c
}
