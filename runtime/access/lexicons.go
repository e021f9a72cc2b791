package access

import "github.com/swar-tts/swar/runtime/lexicon"

// ProjectLexicon is the lexicon of a project as the portal sends it.
type ProjectLexicon struct {
	ProjectID string          `json:"project_id"`
	Version   int64           `json:"version"`
	Entries   []lexicon.Entry `json:"entries"`
}

// SetLexicons takes over lexicons that are new or have changed; with all they are all there are. It keeps their
// Entries. Grants have them from then on.
func (c *KeyCache) SetLexicons(lexicons []ProjectLexicon, all bool) {
	ready := compiled(lexicons) // which takes a while, so without the lock
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setLexiconsLocked(ready, all)
}

// compiled makes lexicons ready for use. One without entries is nil.
func compiled(lexicons []ProjectLexicon) map[string]*lexicon.Lexicon {
	ready := make(map[string]*lexicon.Lexicon, len(lexicons))
	for _, l := range lexicons {
		ready[l.ProjectID] = lexicon.Compile(lexicon.IDOf(l.ProjectID), l.Version, l.Entries)
	}
	return ready
}

func (c *KeyCache) setLexiconsLocked(ready map[string]*lexicon.Lexicon, all bool) {
	if len(ready) == 0 && !(all && len(c.lexicons) > 0) {
		return
	}
	c.changes++
	if all {
		clear(c.lexicons)
	}
	for id, l := range ready {
		if l == nil {
			delete(c.lexicons, id)
		} else {
			c.lexicons[id] = l
		}
	}
}

// snapshotLexiconsLocked are the lexicons that are held. It needs the read lock only.
func (c *KeyCache) snapshotLexiconsLocked() (kept []ProjectLexicon) {
	for id, l := range c.lexicons {
		kept = append(kept, ProjectLexicon{id, l.Version(), l.Entries()})
	}
	return kept
}
