package tenant_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

func TestVoiceRequestsMove(t *testing.T) {
	all := []tenant.VoiceStatus{
		tenant.Submitted, tenant.Reviewing, tenant.Approved, tenant.Training, tenant.Ready, tenant.Declined,
		tenant.Withdrawn,
	}
	ways := map[tenant.VoiceStatus][]tenant.VoiceStatus{ // how a request gets there
		tenant.Submitted: {},
		tenant.Reviewing: {tenant.Reviewing},
		tenant.Approved:  {tenant.Reviewing, tenant.Approved},
		tenant.Training:  {tenant.Reviewing, tenant.Approved, tenant.Training},
		tenant.Ready:     {tenant.Reviewing, tenant.Approved, tenant.Training, tenant.Ready},
		tenant.Declined:  {tenant.Declined},
		tenant.Withdrawn: {tenant.Withdrawn},
	}
	allowed := map[tenant.VoiceStatus]string{
		tenant.Submitted: "reviewing declined withdrawn",
		tenant.Reviewing: "approved declined withdrawn",
		tenant.Approved:  "training",
		tenant.Training:  "ready",
	}
	for _, from := range all {
		for _, to := range all {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
					v := w.voiceRequest(t)
					move := func(to tenant.VoiceStatus) (tenant.VoiceRequest, error) {
						pass(time.Minute)
						if to == tenant.Withdrawn {
							return w.WithdrawVoiceRequest(t.Context(), member, v.ID)
						}
						return w.MoveVoiceRequest(t.Context(), operator, v.ID, to)
					}
					for _, step := range ways[from] {
						must(move(step))(t)
					}
					moved, err := move(to)
					switch {
					case to == tenant.Submitted:
						want(t, "moving back to the start", err, tenant.ErrBadStatus)
					case slices.Contains(strings.Fields(allowed[from]), string(to)):
						moved := must(moved, err)(t)
						stamp := moved.Moves[len(moved.Moves)-1]
						if moved.Status != to || len(moved.Moves) != len(ways[from])+1 || stamp.To != to {
							t.Errorf("moved to %+v", moved)
						}
						if !stamp.At.Equal(moved.UpdatedAt) || !stamp.At.Equal(time.Now()) {
							t.Errorf("moved to %+v, want it to be moved now", moved)
						}
						if (stamp.By == member.Email) != (to == tenant.Withdrawn) {
							t.Errorf("moved to %+v, want members to withdraw only", moved)
						}
					default:
						want(t, "moving", err, tenant.BadMove(from, to))
					}
				})
			})
		}
	}
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		for _, to := range []tenant.VoiceStatus{"", "done", tenant.Withdrawn} {
			_, err := w.MoveVoiceRequest(t.Context(), operator, w.voiceRequest(t).ID, to)
			want(t, "an operator moving to "+string(to), err, tenant.ErrBadStatus)
		}
		_, err := w.MoveVoiceRequest(t.Context(), operator, "vr_unknown", tenant.Reviewing)
		want(t, "an unknown request", err, tenant.ErrNotFound)
	})
}

func TestWhoMayWithdraw(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		other := tenant.User{ID: "usr_other", Email: "other@example.org"}
		w.add(t, other, tenant.RoleMember)
		v := w.voiceRequest(t)
		_, err := w.WithdrawVoiceRequest(t.Context(), other, v.ID)
		want(t, "another member", err, tenant.ErrNotRequester)
		must(w.WithdrawVoiceRequest(t.Context(), member, v.ID))(t)
		v = w.voiceRequest(t)
		must(w.WithdrawVoiceRequest(t.Context(), owner, v.ID))(t)
	})
}

func TestVoiceRequestsOfAllOrganisations(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		first := w.voiceRequest(t)
		own := must(w.CreateOrg(t.Context(), member, "Own", never))(t).Org
		foreign := must(w.CreateOrg(t.Context(), stranger, "Foreign", never))(t).Org
		pass(time.Second)
		second := must(w.CreateVoiceRequest(t.Context(), member, own.ID, wish(), never))(t)
		must(w.CreateVoiceRequest(t.Context(), stranger, foreign.ID, wish(), never))(t)
		pass(time.Second)
		third := w.voiceRequest(t)
		var got []string
		for _, v := range must(w.VoiceRequests(t.Context(), member, ""))(t) {
			got = append(got, v.ID)
		}
		if want := []string{third.ID, second.ID, first.ID}; !slices.Equal(got, want) {
			t.Errorf("the requests of all organisations are %v, want %v", got, want)
		}
		if got := must(w.VoiceRequests(t.Context(), member, own.ID))(t); len(got) != 1 || got[0].ID != second.ID {
			t.Errorf("the requests of one organisation are %+v", got)
		}
		if got := must(w.VoiceRequests(t.Context(), invited, ""))(t); len(got) != 0 {
			t.Errorf("who is only invited sees %+v", got)
		}
	})
}

func TestLimitsOfText(t *testing.T) {
	const letter = "ह" // three bytes: characters count, not bytes
	length := func(least, most int) string {
		if least == 0 {
			return "must be at most 4000 characters"
		}
		return map[int]string{80: "must be 1 to 80 characters", 35: "must be 1 to 35 characters",
			2000: "must be 1 to 2000 characters"}[most]
	}
	ask := func(change func(*tenant.VoiceRequestInput, string)) func(t *testing.T, w *world, s string) error {
		return func(t *testing.T, w *world, s string) error {
			v := wish()
			change(&v, s)
			_, err := w.CreateVoiceRequest(t.Context(), owner, w.org.ID, v, never)
			return err
		}
	}
	fields := map[string]struct {
		field       string
		least, most int
		lines       bool
		set         func(t *testing.T, w *world, s string) error
	}{
		"organisation": {"name", 1, 80, false, func(t *testing.T, w *world, s string) error {
			_, err := w.CreateOrg(t.Context(), owner, s, never)
			return err
		}},
		"renamed organisation": {"name", 1, 80, false, func(t *testing.T, w *world, s string) error {
			_, err := w.UpdateOrg(t.Context(), owner, w.org.ID, tenant.OrgChange{Name: &s})
			return err
		}},
		"project": {"name", 1, 80, false, func(t *testing.T, w *world, s string) error {
			_, err := w.CreateProject(t.Context(), owner, w.org.ID, s, never)
			return err
		}},
		"renamed project": {"name", 1, 80, false, func(t *testing.T, w *world, s string) error {
			_, err := w.RenameProject(t.Context(), owner, w.project.ID, s)
			return err
		}},
		"key": {"name", 1, 80, false, func(t *testing.T, w *world, s string) error {
			_, err := w.CreateKey(t.Context(), owner, w.project.ID, s, nil, never)
			return err
		}},
		"renamed key": {"name", 1, 80, false, func(t *testing.T, w *world, s string) error {
			_, err := w.UpdateKey(t.Context(), owner, w.liveKey(t).ID, tenant.KeyChange{Name: &s})
			return err
		}},
		"wanted voice":    {"voice_name", 1, 80, false, ask(func(v *tenant.VoiceRequestInput, s string) { v.VoiceName = s })},
		"wanted language": {"language", 1, 35, false, ask(func(v *tenant.VoiceRequestInput, s string) { v.Language = s })},
		"use case":        {"use_case", 1, 2000, true, ask(func(v *tenant.VoiceRequestInput, s string) { v.UseCase = s })},
		"notes":           {"notes", 0, 4000, true, ask(func(v *tenant.VoiceRequestInput, s string) { v.Notes = s })},
	}
	for name, f := range fields {
		t.Run(name, func(t *testing.T) {
			tooLong := tenant.BadField(f.field, length(f.least, f.most))
			controls := tenant.BadField(f.field, "must not contain control characters")
			var empty, lines error
			if f.least > 0 {
				empty = tooLong
			}
			if !f.lines {
				lines = controls
			}
			inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
				for what, tt := range map[string]struct {
					text string
					want error
				}{
					"nothing":                    {"", empty},
					"only spaces":                {" \u00a0\n", empty},
					"only what nobody sees":      {"\u200b\u200d\u2060\ufeff", empty},
					"one character":              {letter, nil},
					"one below the limit":        {strings.Repeat(letter, f.most-1), nil},
					"at the limit":               {strings.Repeat(letter, f.most), nil},
					"at the limit, with spaces":  {"  " + strings.Repeat(letter, f.most) + "  ", nil},
					"one above the limit":        {strings.Repeat(letter, f.most+1), tooLong},
					"a joiner in it":             {"क्\u200dष", nil},
					"a NUL in it":                {"a\x00b", controls},
					"a DEL in it":                {"a\x7fb", controls},
					"a turn of direction in it":  {"a\u202eb", controls},
					"an isolate in it":           {"a\u2066b", controls},
					"a separator of lines in it": {"a\u2028b", controls},
					"a line end in it":           {"a\r\nb\tc", lines},
					"not UTF-8":                  {"a\xffb", tenant.BadField(f.field, "not valid UTF-8")},
				} {
					want(t, what, f.set(t, w, tt.text), tt.want)
				}
			})
		})
	}
}

func TestHours(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		for hours, tt := range map[float64]error{
			0: nil, 0.5: nil, 9999.5: nil, 10000: nil,
			math.Nextafter(0, -1): tenant.ErrBadHours, math.Nextafter(10000, 10001): tenant.ErrBadHours,
			math.Inf(1): tenant.ErrBadHours, math.NaN(): tenant.ErrBadHours,
		} {
			v := wish()
			v.Hours = &hours
			_, err := w.CreateVoiceRequest(t.Context(), owner, w.org.ID, v, never)
			want(t, "hours", err, tt)
		}
	})
}
