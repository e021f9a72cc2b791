package tenant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/speech"
)

func disclosing(text string) *speech.Disclosure { return &speech.Disclosure{Set: true, Text: text} }

// keysOf returns every key of w's organisation by its identifier.
func keysOf(t *testing.T, w *world) map[string]tenant.Key {
	t.Helper()
	all := make(map[string]tenant.Key)
	err := w.store.View(t.Context(), func(r tenant.Reader) error {
		keys, err := r.Keys(tenant.KeyQuery{OrgID: w.org.ID})
		for _, k := range keys {
			all[k.ID] = k
		}
		return err
	})
	want(t, "reading keys", err, nil)
	return all
}

func TestKeysKnowWhatTheirOrganisationDiscloses(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		play := func(project string) tenant.Key {
			return must(w.CreatePlaygroundKey(ctx, member, project, "", never))(t).Key
		}
		expired := play(w.project.ID)
		time.Sleep(tenant.PlaygroundLife)
		revoked := w.liveKey(t)
		must(w.RevokeKey(ctx, owner, revoked.ID))(t)
		good := []tenant.Key{w.liveKey(t), play(w.project.ID)}
		for i := range 25 { // more playground keys than a transaction takes
			project := must(w.CreateProject(ctx, owner, w.org.ID, fmt.Sprint(i), never))(t)
			for range 10 {
				good = append(good, play(project.ID))
			}
		}

		change := tenant.OrgChange{Disclosure: disclosing(" Yeh AI hai. ")}
		changedKeys := must(w.UpdateOrg(ctx, owner, w.org.ID, change))(t)
		if len(changedKeys) != len(good) || changedKeys[0].ID != good[0].ID {
			t.Errorf("%d keys were told, %s first; want %d, the live one first", len(changedKeys),
				changedKeys[0].ID, len(good))
		}
		good = append(good, w.liveKey(t), play(w.project.ID)) // made later
		all := keysOf(t, w)
		for _, k := range good {
			if got := all[k.ID].OrgDisclosure; got != *disclosing("Yeh AI hai.") {
				t.Errorf("%s key %s knows %+v", k.Kind, k.ID, got)
			}
		}
		for _, k := range []tenant.Key{expired, revoked} {
			if got := all[k.ID].OrgDisclosure; got.Set {
				t.Errorf("%s key %s, which has ended, was told %+v", k.Kind, k.ID, got)
			}
		}
		if changedKeys := must(w.UpdateOrg(ctx, owner, w.org.ID, change))(t); len(changedKeys) > 0 {
			t.Errorf("the same once more was told to %d keys", len(changedKeys))
		}
		must(w.UpdateOrg(ctx, owner, w.org.ID, tenant.OrgChange{Disclosure: &speech.Disclosure{Text: "ignored"}}))(t)
		if got := keysOf(t, w)[good[0].ID].OrgDisclosure; got != (speech.Disclosure{}) {
			t.Errorf("a disclosure was taken back, and a key knows %+v", got)
		}
	})
}

// TestAKeyThatWasNotTold: a process that died on the way has left some, and the same change reaches them.
func TestAKeyThatWasNotTold(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		k := w.liveKey(t)
		change := tenant.OrgChange{Disclosure: disclosing("AI")}
		must(w.UpdateOrg(t.Context(), owner, w.org.ID, change))(t)
		err := w.store.Update(t.Context(), func(tx tenant.Tx) error {
			tx.PutKey(k) // as it was before
			return nil
		})
		want(t, "putting the key back", err, nil)
		if changedKeys := must(w.UpdateOrg(t.Context(), owner, w.org.ID, change))(t); len(changedKeys) != 1 ||
			changedKeys[0].OrgDisclosure.Text != "AI" {
			t.Errorf("told %+v, want the key that did not know", changedKeys)
		}
	})
}

func TestTheDisclosureOfAKeyIsForOwners(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		k := w.liveKey(t)
		change := tenant.KeyChange{Disclosure: disclosing("")}
		for name, tt := range map[string]struct {
			who  tenant.User
			want error
		}{
			"an owner": {owner, nil}, "an operator": {operator, nil}, "a member": {member, tenant.ErrOwnersOnly},
			"a viewer": {viewer, tenant.ErrViewer}, "a stranger": {stranger, tenant.ErrNotFound},
		} {
			_, err := w.UpdateKey(t.Context(), tt.who, k.ID, change)
			want(t, name, err, tt.want)
		}
		time.Sleep(time.Second) // so that the log is in order
		must(w.UpdateKey(t.Context(), member, k.ID, tenant.KeyChange{Name: new("renamed")}))(t)
		if got := keysOf(t, w)[k.ID]; got.Disclosure != *disclosing("") || got.Name != "renamed" {
			t.Errorf("the key is %+v", got)
		}
		log := w.log(t)
		if d, ok := log[0].Detail["disclosure"]; !ok || d != "" || log[0].Action != tenant.KeyUpdated {
			t.Errorf("the log tells %+v, want that nothing is spoken", log[0])
		}
		time.Sleep(time.Second)
		must(w.UpdateKey(t.Context(), owner, k.ID, tenant.KeyChange{Disclosure: &speech.Disclosure{}}))(t)
		if d, ok := w.log(t)[0].Detail["disclosure"]; ok {
			t.Errorf("the log tells the disclosure %q, want none: it was taken back", d)
		}
	})
}

func TestWhatMayBeDisclosed(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		k, full := w.liveKey(t), strings.Repeat("क", speech.MaxDisclosure)
		for text, refused := range map[string]string{
			"":                             "",
			full[len("क"):]:                "",
			full:                           "",
			full + "क":                     "disclosure: must be at most 400 characters",
			"...":                          "disclosure: must have a letter or a digit, or be empty",
			"a\xff":                        "disclosure: not valid UTF-8",
			"a\nb":                         "disclosure: must not contain control characters",
			"text that \u202e turns round": "disclosure: must not contain control characters",
		} {
			_, ofOrg := w.UpdateOrg(t.Context(), owner, w.org.ID, tenant.OrgChange{Disclosure: disclosing(text)})
			_, ofKey := w.UpdateKey(t.Context(), owner, k.ID, tenant.KeyChange{Disclosure: disclosing(text)})
			for what, err := range map[string]error{"an organisation": ofOrg, "a key": ofKey} {
				if refused == "" && err != nil || refused != "" && (err == nil || err.Error() != refused) {
					t.Errorf("%.40q of %s: %v, want %q", text, what, err, refused)
				}
			}
		}
	})
}
