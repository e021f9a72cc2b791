package tokenize

import (
	"maps"
	"slices"
)

// trie finds pieces at the beginning of a text. The children of a node lie side by side, sorted by the byte that
// leads to them.
type trie struct {
	nodes []trieNode // the root first
	bytes []byte     // the byte that leads to each node
	first [256]int32 // the children of the root, where every walk begins; 0 is none
}

type trieNode struct {
	id       int32 // of the piece that ends here; -1 is none
	children int32 // the first one
	count    int32
}

// prefixes builds the trie of those ordinary pieces that are wanted, or returns nil when there is none.
func prefixes(pieces []piece, ordinary map[string]int32, want func(piece) bool) *trie {
	ids := slices.DeleteFunc(slices.Collect(maps.Values(ordinary)), func(id int32) bool { return !want(pieces[id]) })
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(ids, func(a, b int32) int {
		if pieces[a].text < pieces[b].text {
			return -1
		}
		return 1 // no two are equal
	})
	t := &trie{nodes: []trieNode{{id: -1}}, bytes: []byte{0}}
	type span struct{ from, to, depth int } // the pieces below a node
	spans := []span{{0, len(ids), 0}}
	for node := 0; node < len(t.nodes); node++ { // level by level, so that siblings are neighbours
		s := spans[node]
		if text := pieces[ids[s.from]].text; len(text) == s.depth {
			t.nodes[node].id = ids[s.from]
			s.from++
		}
		t.nodes[node].children = int32(len(t.nodes))
		for s.from < s.to {
			b, end := pieces[ids[s.from]].text[s.depth], s.from+1
			for end < s.to && pieces[ids[end]].text[s.depth] == b {
				end++
			}
			if node == 0 {
				t.first[b] = int32(len(t.nodes))
			}
			t.nodes[node].count++
			t.nodes = append(t.nodes, trieNode{id: -1})
			t.bytes = append(t.bytes, b)
			spans = append(spans, span{s.from, end, s.depth + 1})
			s.from = end
		}
	}
	return t
}

// child follows b from node. It returns 0 when there is no way.
func (t *trie) child(node int32, b byte) int32 {
	if node == 0 {
		return t.first[b]
	}
	n := &t.nodes[node]
	low, high := n.children, n.children+n.count
	for low < high {
		mid := (low + high) / 2
		switch c := t.bytes[mid]; {
		case c == b:
			return mid
		case c < b:
			low = mid + 1
		default:
			high = mid
		}
	}
	return 0
}

// longest returns the length of the longest piece that text begins with; 0 is none. A nil trie has no pieces.
func longest[T string | []byte](t *trie, text T) (length int) {
	if t == nil {
		return 0
	}
	node := int32(0)
	for i := range len(text) {
		if node = t.child(node, text[i]); node == 0 {
			break
		}
		if t.nodes[node].id >= 0 {
			length = i + 1
		}
	}
	return length
}
