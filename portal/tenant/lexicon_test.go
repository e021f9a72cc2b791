package tenant_test

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/lexicon"
)

func TestLexicon(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		ctx, id := t.Context(), w.project.ID
		entries := []lexicon.Entry{{Word: "Zepto", Spoken: "ज़ेप्टो"}}
		l := must(w.Lexicon(ctx, viewer, id))(t)
		if l.Version != 0 || len(l.Entries) != 0 || l.ID() != lexicon.IDOf(id) {
			t.Errorf("at first the lexicon is %+v", l)
		}
		first, second, third := int64(0), int64(1), int64(2)
		l = must(w.PutLexicon(ctx, member, id, entries, &first))(t)
		if l.Version != 1 || !slices.Equal(l.Entries, entries) || l.UpdatedBy != member.Email || l.UpdatedAt.IsZero() {
			t.Errorf("it became %+v", l)
		}
		_, err := w.PutLexicon(ctx, member, id, nil, &first)
		want(t, "a change of what was read before", err, tenant.ErrLexiconChanged)
		if l = must(w.PutLexicon(ctx, owner, id, entries, &second))(t); l.Version != 1 {
			t.Errorf("the same entries make version %d", l.Version)
		}
		if l = must(w.PutLexicon(ctx, owner, id, nil, nil))(t); l.Version != 2 || len(l.Entries) != 0 {
			t.Errorf("without entries it is %+v", l)
		}
		_, err = w.PutLexicon(ctx, owner, id, []lexicon.Entry{{Word: "a"}}, &third)
		want(t, "an entry that is spoken as nothing", err, tenant.BadField("entries", "entry 1 (a): spoken is empty"))
		_, err = w.PutLexicon(ctx, viewer, id, nil, nil)
		want(t, "a change by a viewer", err, tenant.ErrViewer)
		_, err = w.PutLexicon(ctx, stranger, id, nil, nil)
		want(t, "a change by a stranger", err, tenant.ErrNotFound)
		_, err = w.Lexicon(ctx, stranger, id)
		want(t, "reading by a stranger", err, tenant.ErrNotFound)

		var got []string
		for _, a := range w.log(t) {
			if a.Action == tenant.LexiconChanged {
				got = append(got, a.Actor+" "+a.Target+" "+a.Detail["entries"]+" "+a.Detail["version"])
			}
		}
		slices.Sort(got) // they were made in the same moment
		if want := []string{member.Email + " " + id + " 1 1",
			owner.Email + " " + id + " 0 2"}; !slices.Equal(got, want) {
			t.Errorf("the log tells %q, want %q", got, want)
		}
	})
}
