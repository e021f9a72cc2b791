package text

import (
	"strings"
)

// IsIn reports whether s is one of the words of list, which has a space around each. No word is none of them.
func IsIn(list, s string) bool {
	for j := 0; s != "" && j+len(s)+1 < len(list); j++ {
		if list[j] == ' ' && list[j+1:j+1+len(s)] == s && list[j+1+len(s)] == ' ' {
			return true
		}
	}
	return false
}

// WordSet is the set of the words of list.
func WordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
