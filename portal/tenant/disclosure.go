package tenant

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// passedOnAtOnce is how many keys get their organisation's disclosure in one transaction. It exceeds the limit of
// active live keys, so that for those the change is atomic.
const passedOnAtOnce = 200

// cleanDisclosure checks what is to be spoken before every text.
func cleanDisclosure(d speech.Disclosure) (speech.Disclosure, error) {
	if !d.Set {
		return speech.Disclosure{}, nil
	}
	text, err := speech.CleanDisclosure(d.Text)
	if err != nil {
		return d, BadField("disclosure", err.Error())
	}
	if strings.ContainsFunc(text, isControl) {
		return d, BadField("disclosure", "must not contain control characters")
	}
	d.Text = text
	return d, nil
}

// pushDisclosure copies the disclosure of an organisation to its keys, and returns the changed keys. Keys carry it
// themselves, so that watchers of keys see it. A crash on the way leaves some playground keys unchanged, until the
// change is repeated, or they expire.
func (s *Service) pushDisclosure(ctx context.Context, orgID string) (changedKeys []Key, err error) {
	for {
		some, err := update(ctx, s, func(tx Tx) ([]Key, error) {
			org, err := tx.Org(orgID)
			if err != nil {
				return nil, err
			}
			keys, err := undisclosed(tx, org, s.now())
			for _, k := range keys {
				tx.PutKey(k)
			}
			return keys, err
		})
		if changedKeys = append(changedKeys, some...); err != nil || len(some) < passedOnAtOnce {
			return changedKeys, err
		}
	}
}

// undisclosed returns keys that do not know what their organisation says, as they are once they do: live ones first,
// and up to passedOnAtOnce.
func undisclosed(r Reader, org Org, now time.Time) (keys []Key, err error) {
	for _, kind := range []KeyKind{Live, Playground} {
		all, err := r.Keys(KeyQuery{OrgID: org.ID, Kind: kind, Active: true})
		if err != nil {
			return nil, err
		}
		keys = append(keys, all...)
	}
	keys = slices.DeleteFunc(keys, func(k Key) bool { return k.Expired(now) || k.OrgDisclosure == org.Disclosure })
	keys = keys[:min(len(keys), passedOnAtOnce)]
	for i := range keys {
		keys[i].OrgDisclosure = org.Disclosure
	}
	return keys, nil
}
