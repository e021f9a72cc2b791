package phoneme

import "slices"

// align finds the words of a clause in its ids. Alone are the sounds of each word when it is read by itself, in the
// clause they stand joined, split or changed. The word i is ids[starts[i]:starts[i+1]], perhaps with a space at an
// end.
//
// The ids and the sounds of all the words by themselves are laid beside each other with as few changes as possible
// (edit distance).
func align(alone [][]string, ids []int64) (starts []int) {
	var sounds []int64
	begins := make([]int, len(alone)) // where each word begins in sounds
	for i, word := range alone {
		if i > 0 {
			sounds = append(sounds, space)
		}
		begins[i] = len(sounds)
		for k, part := range word {
			if k > 0 {
				sounds = append(sounds, space)
			}
			sounds = appendIDs(sounds, part)
		}
	}
	at := pair(sounds, ids)
	starts = make([]int, len(alone)+1)
	for i := range alone {
		starts[i] = soundStart(ids, at[begins[i]])
	}
	if len(alone) > 0 {
		starts[0] = 0
	}
	starts[len(alone)] = len(ids)
	return starts
}

// What it costs to leave a symbol out, or to put one in, and to have another one of its kind. Symbols of two kinds
// never stand beside each other: then both are left out.
const (
	costGap   = 2
	costOther = 3
	costNever = 2*costGap + 1
)

// pair returns for every place in a the place in b that is beside it. Where b has more, that belongs to what is
// before.
func pair(a, b []int64) []int {
	width := len(b) + 1
	cost := make([]int32, (len(a)+1)*width)
	for i := len(a); i >= 0; i-- {
		for k := len(b); k >= 0; k-- {
			c := &cost[i*width+k]
			switch {
			case i == len(a):
				*c = int32(costGap * (len(b) - k))
			case k == len(b):
				*c = int32(costGap * (len(a) - i))
			default:
				*c = min(
					cost[(i+1)*width+k+1]+change(a[i], b[k]),
					costGap+cost[(i+1)*width+k],
					costGap+cost[i*width+k+1],
				)
			}
		}
	}
	at := make([]int, len(a)+1)
	i, k := 0, 0
	for i < len(a) {
		at[i] = k
		here := cost[i*width+k]
		switch {
		case k < len(b) && here == cost[(i+1)*width+k+1]+change(a[i], b[k]):
			i, k = i+1, k+1
		case k < len(b) && here == costGap+cost[i*width+k+1]:
			k++
		default:
			i++
		}
	}
	at[len(a)] = len(b)
	return at
}

// change is the cost of b in the place of a.
func change(a, b int64) int32 {
	switch {
	case a == b:
		return 0
	case kindOf(a) == kindOf(b):
		return costOther
	}
	return costNever
}

// kind is what a symbol is to the sounds beside it.
type kind int

const (
	sound  kind = iota
	stress      // of the sound behind it
	length      // or another change of the sound before it
	gap
)

var (
	stresses = idsOf("ˈˌ")
	lengths  = idsOf("ːʰʲ\u0303")
)

func idsOf(symbols string) []int64 { return appendIDs(nil, symbols) }

func kindOf(id int64) kind {
	switch {
	case id == space:
		return gap
	case slices.Contains(stresses, id):
		return stress
	case slices.Contains(lengths, id):
		return length
	}
	return sound
}

// soundStart moves a place in ids so that no sound is cut from its stress or its length.
func soundStart(ids []int64, at int) int {
	for at < len(ids) && kindOf(ids[at]) == length {
		at++
	}
	for at > 0 && kindOf(ids[at-1]) == stress {
		at--
	}
	return at
}

// trim leaves out the spaces at the ends of ids[first:last].
func trim(ids []int64, first, last int) (int, int) {
	for first < last && ids[first] == space {
		first++
	}
	for first < last && ids[last-1] == space {
		last--
	}
	return first, last
}
