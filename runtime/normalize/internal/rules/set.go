package rules

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Rule reads one class of writing.
type Rule struct {
	Name       string
	Starts     Kinds // of the tokens that it may begin with
	Only       Shape // what all of those have; it saves calls
	Try        Try
	After      []string // the names of rules that are asked before it, because on some text both fit
	Last       bool     // it is asked after all that are not
	Identifier bool     // a number behind it must be kept apart from it
}

// Kinds is a set of kinds of tokens.
type Kinds uint16

// Shape is what a token looks like.
type Shape uint8

// The shapes.
const (
	Capital Shape = 1 << iota // a word with a capital
	Touched                   // another token stands directly behind it
	Listed                    // a word of [words.Entry.Listed], or Touched

	shapes = 1 << iota // how many sets of them there are
)

// ShapeOf is the shape of token i.
func ShapeOf(v *text.View, i int) (s Shape) {
	t := v.At(i)
	if t.Cas != words.Lower {
		s |= Capital
	}
	if t.Word.Listed {
		s |= Listed
	}
	if v.Tight(i + 1) {
		s |= Touched | Listed
	}
	return s
}

// On is the set of kinds.
func On(kinds ...text.Kind) (s Kinds) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Set is rules in the order in which they are asked: the first that fits wins, and what it covers no other sees.
type Set struct {
	rules   []Rule
	byKind  [16][]Rule
	byShape [16][shapes][]Rule // those of a kind that may begin with a token of that shape
}

// For returns the rules that may begin with a token of kind k, in order.
func (s *Set) For(k text.Kind) []Rule { return s.byKind[k&15] }

// At returns the rules that may begin with token i, in order.
func (s *Set) At(v *text.View, i int) []Rule {
	return s.byShape[v.Toks[i].BeginsWith()&15][ShapeOf(v, i)]
}

// NewSet puts rules in order: as After says, and otherwise as they stand. It returns an error where that contradicts
// itself.
func NewSet(all []Rule) (*Set, error) {
	names := map[string]bool{}
	for _, r := range all {
		names[r.Name] = true
	}
	var faults []error
	for _, r := range all {
		for _, before := range r.After {
			if !names[before] {
				faults = append(faults, fmt.Errorf("rule %q comes after %q, which is no rule", r.Name, before))
			}
		}
	}
	s := &Set{rules: all}
	for k := range s.byKind {
		var err error
		if s.byKind[k], err = ordered(all, text.Kind(k)); err != nil {
			faults = append(faults, err)
		}
		for shape := range s.byShape[k] {
			for _, r := range s.byKind[k] {
				if r.Only&^Shape(shape) == 0 {
					s.byShape[k][shape] = append(s.byShape[k][shape], r)
				}
			}
		}
	}
	return s, errors.Join(faults...)
}

// With returns a set that has more rules. They are asked before all others that they do not come after.
func (s *Set) With(more ...Rule) (*Set, error) { return NewSet(slices.Concat(more, s.rules)) }

// Follows reports whether After says, perhaps by way of others, that the rule of that name for tokens of kind k comes
// after another.
func (s *Set) Follows(k text.Kind, name, other string) bool {
	for _, r := range s.For(k) {
		if r.Name != name {
			continue
		}
		if r.Last || slices.Contains(r.After, other) {
			return true
		}
		return slices.ContainsFunc(r.After, func(before string) bool { return s.Follows(k, before, other) })
	}
	return false
}

// ordered returns the rules for tokens of kind k in order.
func ordered(all []Rule, k text.Kind) (in []Rule, err error) {
	var left []Rule
	for _, last := range []bool{false, true} {
		for _, r := range all {
			if r.Starts&On(k) != 0 && r.Last == last {
				left = append(left, r)
			}
		}
	}
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(r Rule) bool { return !waits(r, left) })
		if next < 0 {
			return in, fmt.Errorf("rule %q comes after itself, by way of others", left[0].Name)
		}
		in = append(in, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return in, nil
}

// waits reports whether r comes after another of those that are left.
func waits(r Rule, left []Rule) bool {
	return slices.ContainsFunc(left, func(other Rule) bool {
		return other.Name != r.Name && slices.Contains(r.After, other.Name)
	})
}

func must(s *Set, err error) *Set {
	if err != nil {
		panic(err)
	}
	return s
}
