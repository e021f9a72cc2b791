package translit

// minSound is the shortest sound that is looked up. Below it too many words sound alike.
const minSound = 4

// alike finds a Hindi word that is spelled otherwise in the table but sounds like key: bhejdiyaa, jaoonga, vyavastaa.
func (l *lexicon) alike(w *word, key []byte) bool {
	var room [40]byte
	sound := soundOf(room[:0], key)
	if len(sound) < minSound {
		return false
	}
	found := l.sounds[string(sound)]
	if found == "" {
		return false
	}
	w.kind, w.hindi = hindi, found
	return true
}

// soundOf appends to sound what is left of a Roman word when the differences are gone that chat spelling does not
// care for: long and short vowels, doubled letters, v and w, z and j, f and ph, m and n before a stop.
func soundOf[T string | []byte](sound []byte, word T) []byte {
	for i := 0; i < len(word); i++ {
		c := word[i]
		next := byte(0)
		if i+1 < len(word) {
			next = word[i+1]
		}
		if isSilent(sound, word, i) {
			continue
		}
		switch c {
		case 'w':
			c = 'v'
		case 'z':
			c = 'j'
		case 'q':
			c = 'k'
		case 'f':
			sound = appendOnce(sound, 'p')
			c = 'h'
		case 'e':
			if next == 'e' {
				i++
				c = 'i'
			}
		case 'o':
			if next == 'o' {
				i++
				c = 'u'
			}
		case 'm':
			if next == 'b' || next == 'p' {
				c = 'n'
			}
		}
		sound = appendOnce(sound, c)
	}
	return sound
}

// isSilent reports whether the letter at i of word adds nothing to the sound so far.
func isSilent[T string | []byte](sound []byte, word T, i int) bool {
	next := byte(0)
	if i+1 < len(word) {
		next = word[i+1]
	}
	behindVowel := len(sound) > 0 && isVowel(sound[len(sound)-1])
	switch word[i] {
	case '\'':
		return true
	case 'c':
		return next == 'k'
	case 'h':
		if next == 0 && len(sound) > 1 && behindVowel { // yeh, vajah
			return true
		}
		return i >= 2 && word[i-1] == 'h' // chh
	case 'y':
		return next == 'e' && behindVowel // jayega, jaega
	}
	return false
}

func appendOnce(b []byte, c byte) []byte {
	if len(b) > 0 && b[len(b)-1] == c {
		return b
	}
	return append(b, c)
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return false
}
