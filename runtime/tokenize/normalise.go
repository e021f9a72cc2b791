package tokenize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// normaliser brings text into the form that the pieces are written in.
type normaliser struct {
	user   *trie     // pieces that pass as they are
	rules  *charsmap // nil is identity
	prefix bool      // a space before the first word
	once   bool      // but where text begins with one
	trim   bool      // no spaces at the ends, one between words
	space  string    // what is written for a space
}

func newNormaliser(m *model, user *trie) (normaliser, error) {
	n := normaliser{user: user, prefix: m.dummyPrefix, once: m.prefixOnce, trim: m.trimSpaces, space: " "}
	if m.escapeSpaces {
		n.space = "\u2581"
	}
	if len(m.charsmap) == 0 {
		return n, nil
	}
	var err error
	n.rules, err = newCharsmap(m.charsmap)
	return n, err
}

// normalise adds the normalised text to dst, which must be empty. The result is valid UTF-8.
func (n *normaliser) normalise(dst []byte, text string) []byte {
	for n.trim && text != "" {
		as, used := n.next(text)
		if as != " " {
			break
		}
		text = text[used:]
	}
	if text == "" {
		return dst
	}
	if n.prefix && !(n.once && n.beginsWithSpace(text)) {
		dst = append(dst, n.space...)
	}
	afterSpace := n.trim
	for text != "" {
		as, used := n.next(text)
		text = text[used:]
		if afterSpace {
			as = strings.TrimLeft(as, " ")
		}
		if as == "" {
			continue
		}
		for i := range len(as) {
			if as[i] == ' ' {
				dst = append(dst, n.space...)
			} else {
				dst = append(dst, as[i])
			}
		}
		afterSpace = n.trim && as[len(as)-1] == ' '
	}
	if n.trim {
		for bytes.HasSuffix(dst, []byte(n.space)) { // also when the text itself ends with U+2581, as in SentencePiece
			dst = dst[:len(dst)-len(n.space)]
		}
	}
	return dst
}

func (n *normaliser) beginsWithSpace(text string) bool {
	as, _ := n.next(text)
	return strings.HasPrefix(as, " ") || strings.HasPrefix(as, n.space)
}

// next takes what belongs together from the beginning of text and returns what it is written as, and how many bytes
// it was.
func (n *normaliser) next(text string) (as string, used int) {
	if size := longest(n.user, text); size > 0 {
		return text[:size], size
	}
	if n.rules != nil {
		if as, used := n.rules.next(text); used > 0 {
			return as, used
		}
	}
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 {
		return "\uFFFD", 1
	}
	return text[:size], size
}

// charsmap is the table of rewriting rules inside a model: a double array from what is written to a place in the
// texts, each of which ends with a NUL.
type charsmap struct {
	units []unit
	texts string
}

// Limits on the rules. The longest of nmt_nfkc are 18 and 33 bytes.
const (
	maxRuleKey  = 256 // bytes
	maxRuleText = 512 // bytes
)

// next finds the longest rule at the beginning of text and returns what it makes of how many bytes; 0 when there is
// no rule.
func (c *charsmap) next(text string) (as string, used int) {
	at := c.units[0].below(0)
	value := uint32(0)
	for i := range len(text) {
		at ^= uint32(text[i])
		u := c.units[at]
		if !u.reachedBy(text[i]) {
			break
		}
		at = u.below(at)
		if u.ends() {
			value, used = c.units[at].value(), i+1
		}
	}
	if used == 0 {
		return "", 0
	}
	return c.text(value), used
}

func (c *charsmap) text(value uint32) string {
	as, _, _ := strings.Cut(c.texts[value:], "\x00")
	return as
}

// unit is one place of the double array.
type unit uint32

func (u unit) reachedBy(b byte) bool { return u&(1<<31|0xff) == unit(b) }
func (u unit) isNode() bool          { return u>>31 == 0 }
func (u unit) ends() bool            { return u>>8&1 == 1 }
func (u unit) value() uint32         { return uint32(u &^ (1 << 31)) }

// below is where the ways on from u, which is at place at, begin: each at that place XOR its byte.
func (u unit) below(at uint32) uint32 { return at ^ uint32(u>>10<<(u>>9&1*8)) }

// newCharsmap reads and checks a table, so that next needs no checks: no way leaves the array or goes round in
// circles, and every rule ends in a text.
func newCharsmap(blob []byte) (*charsmap, error) {
	if len(blob) < 4 {
		return nil, errors.New("the character map is truncated")
	}
	size := binary.LittleEndian.Uint32(blob)
	blob = blob[4:]
	if uint64(size) >= uint64(len(blob)) {
		return nil, errors.New("the character map is truncated")
	}
	if size == 0 || size%4 != 0 {
		return nil, fmt.Errorf("the double array of the character map has %d bytes", size)
	}
	c := &charsmap{units: make([]unit, size/4), texts: string(blob[size:])}
	for i := range c.units {
		c.units[i] = unit(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	if !strings.HasSuffix(c.texts, "\x00") {
		return nil, errors.New("the last text of the character map has no end")
	}
	w := newWalk(c)
	return c, w.visit(c.units[0].below(0), 0)
}

// walk visits all that next can reach. Different nodes can share what is below them, which is visited once.
type walk struct {
	*charsmap
	child   []int32 // by place: one of the nodes that can be reached from there; -1 is none
	sibling []int32 // by node: another one
	height  []int32 // by place: bytes of the longest way from there; 0 is not visited, else one more
}

const open = math.MaxInt32 // height of a place that is being visited

func newWalk(c *charsmap) *walk {
	w := &walk{c, make([]int32, len(c.units)), make([]int32, len(c.units)), make([]int32, len(c.units))}
	for i := range w.child {
		w.child[i] = -1
	}
	for i, u := range c.units {
		if !u.isNode() {
			continue
		}
		if from := i ^ int(u&0xff); from < len(c.units) {
			w.sibling[i], w.child[from] = w.child[from], int32(i)
		}
	}
	return w
}

func (w *walk) visit(place uint32, depth int) error {
	switch {
	case uint64(place|0xff) >= uint64(len(w.units)):
		return errors.New("the double array of the character map points outside itself")
	case w.height[place] == open:
		return errors.New("the double array of the character map is cyclic")
	case w.height[place] != 0:
		return w.checkDepth(depth + int(w.height[place]) - 1)
	}
	if err := w.checkDepth(depth); err != nil {
		return err
	}
	w.height[place] = open
	height := int32(0)
	for i := w.child[place]; i >= 0; i = w.sibling[i] {
		below := w.units[i].below(uint32(i))
		if err := w.visit(below, depth+1); err != nil {
			return err
		}
		if w.units[i].ends() {
			if err := w.checkText(w.units[below].value()); err != nil {
				return err
			}
		}
		height = max(height, w.height[below])
	}
	w.height[place] = height + 1
	return nil
}

func (w *walk) checkDepth(depth int) error {
	if depth > maxRuleKey {
		return fmt.Errorf("a rule of the character map is longer than %d bytes", maxRuleKey)
	}
	return nil
}

func (w *walk) checkText(value uint32) error {
	if uint64(value) >= uint64(len(w.texts)) {
		return errors.New("a rule of the character map has no text")
	}
	end := strings.IndexByte(w.texts[value:min(len(w.texts), int(value)+maxRuleText+1)], 0)
	if end < 0 {
		return fmt.Errorf("a text of the character map is longer than %d bytes", maxRuleText)
	}
	if !utf8.ValidString(w.texts[value:][:end]) {
		return errors.New("a text of the character map is not valid UTF-8")
	}
	return nil
}
