package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestKeysFromTheCommandLine(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	speak := func(key, voice string) int {
		return s.run("say", "--server", v.base, "--key", key, "--voice", voice, "-o", "x.wav", "hello").code
	}
	made := s.ok("keys", "create", "call centre", "--voice", "raj", "--data", "data")
	key := strings.TrimSuffix(made.out, "\n")
	if keyPattern.FindString(key) != key || !strings.Contains(made.err,
		`"call centre" of project Default; it is shown only now`) {
		t.Fatalf("create prints %q and %q; want a key and a word about it", made.out, made.err)
	}
	eventually(t, "the new key is good", func() bool { return speak(key, "raj") == 0 })
	if code := speak(key, "anjura"); code != 4 {
		t.Errorf("a voice that the key lacks: exit code %d, want 4", code)
	}

	var list struct {
		Keys []struct{ ID, Name, Prefix string }
	}
	if err := json.Unmarshal([]byte(s.ok("keys", "list", "--json", "--data", "data").out), &list); err != nil ||
		len(list.Keys) != 2 {
		t.Fatalf("the list holds %v, %v; want two keys", list, err)
	}
	id := list.Keys[0].ID
	if list.Keys[0].Name != "call centre" || !strings.HasPrefix(key, list.Keys[0].Prefix) {
		t.Errorf("the newest key is %v", list.Keys[0])
	}
	if out := s.ok("keys", "restrict", id, "--data", "data").out; !strings.Contains(out, "  all  ") {
		t.Errorf("restrict shows %q", out)
	}
	eventually(t, "the key may speak with every voice", func() bool { return speak(key, "anjura") == 0 })
	if out := s.ok("keys", "rename", id, "Büro", "--data", "data").out; !strings.Contains(out, "  Büro  ") {
		t.Errorf("rename shows %q", out)
	}
	if out := s.ok("keys", "revoke", id, "--data", "data").out; !strings.Contains(out, "  revoked\n") {
		t.Errorf("revoke shows %q", out)
	}
	eventually(t, "the revoked key is refused", func() bool { return speak(key, "raj") == 4 })
	if out := s.ok("keys", "list", "--project", "Default", "--data", "data").out; strings.Count(out, "\n") != 3 ||
		strings.Contains(out, key) {
		t.Errorf("the list is\n%s", out)
	}
	if out := s.ok("keys", "list", "--kind", "playground", "--json", "--data",
		"data").out; !strings.Contains(out, `"keys": []`) {
		t.Errorf("the playground keys are %s", out)
	}
}

func TestOrganisationsFromTheCommandLine(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	run := func(args ...string) string { t.Helper(); return s.ok(append(args, "--data", "data")...).out }
	run("orgs", "rename", "Eka")
	run("orgs", "create", "Dve")
	if out := run("orgs", "list"); strings.Count(out, "  Default\n") != 2 || !strings.Contains(out, "  Eka\n") ||
		!strings.Contains(out, "  Dve\n") {
		t.Errorf("the list is\n%s", out)
	}
	for _, args := range [][]string{{"keys", "list"}, {"orgs", "members"}, {"usage"}} {
		if r := s.run(append(args, "--data", "data")...); r.code != 2 ||
			!strings.Contains(r.err, "choose one with --org: org_") {
			t.Errorf("%v of two organisations: exit code %d, %s", args, r.code, r.err)
		}
	}
	if out := run("orgs", "invite", "Asha@Example.org", "--role", "owner", "--org",
		"Dve"); !strings.Contains(out, "asha@example.org  owner  invited") {
		t.Errorf("invite shows %q", out)
	}
	run("orgs", "invite", "ravi@example.org", "--org", "Dve")
	if out := run("orgs", "role", "ravi@example.org", "viewer", "--org", "Dve"); !strings.Contains(out, "  viewer  ") {
		t.Errorf("role shows %q", out)
	}

	token := v.signIn(s, "asha@example.org")
	remote := []string{"--server", v.base, "--token", token}
	if out := s.ok(append([]string{"orgs", "list"}, remote...)...).out; !strings.Contains(out, "  Dve\n") ||
		strings.Contains(out, "Eka") {
		t.Errorf("an owner sees\n%s", out)
	}
	if out := s.ok(append([]string{"orgs", "members"},
		remote...)...).out; !strings.Contains(out, "asha@example.org  owner   joined") {
		t.Errorf("the members are\n%s", out)
	}
	for name, args := range map[string][]string{
		"the last owner cannot be removed": {"orgs", "remove", "asha@example.org"},
		"not found":                        {"keys", "revoke", "key_00000000000000000000000000"},
	} {
		if r := s.run(append(args, remote...)...); r.code != 4 || !strings.Contains(r.err, name) {
			t.Errorf("%v: exit code %d, %q; want 4 and %q", args, r.code, r.err, name)
		}
	}
	for _, args := range [][]string{{"orgs", "unbind", "asha@example.org"},
		{"voice-requests", "move", "vr_x", "ready"}} {
		if r := s.run(append(args, remote...)...); r.code != 2 ||
			!strings.Contains(r.err, "only the operator may do that") {
			t.Errorf("%v: exit code %d, %q", args, r.code, r.err)
		}
	}
	// Somebody asks for a voice, and the operator moves it.
	org := run("orgs", "list", "--json")
	var all struct {
		Orgs []struct{ ID, Name string }
	}
	if err := json.Unmarshal([]byte(org), &all); err != nil {
		t.Fatal(err)
	}
	for _, o := range all.Orgs {
		if o.Name != "Dve" {
			continue
		}
		req, err := http.NewRequest(http.MethodPost, v.base+"/portal/v1/voice-requests",
			strings.NewReader(`{"org_id":"`+o.ID+`","voice_name":"Meera","language":"hi-IN","use_case":"news"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("asking for a voice: %v, %v", resp, err)
		}
		resp.Body.Close()
	}
	out := run("voice-requests", "list")
	id := regexp.MustCompile(`vr_\w{26}`).FindString(out)
	if !strings.Contains(out, "  Meera  hi-IN") || !strings.Contains(out, "  submitted\n") {
		t.Errorf("the voice requests are\n%s", out)
	}
	if out := run("voice-requests", "move", id, "reviewing"); !strings.Contains(out, "  reviewing\n") {
		t.Errorf("move shows %q", out)
	}
	if r := s.run("voice-requests", "move", id, "ready", "--data", "data"); r.code != 4 {
		t.Errorf("a step too far: exit code %d, %q", r.code, r.err)
	}

	run("orgs", "unbind", "asha@example.org", "--org", "Dve")
	if out := run("orgs", "remove", "ravi@example.org", "--org", "Dve"); !strings.Contains(out, "ravi@example.org") {
		t.Errorf("remove shows %q", out)
	}
}

// signIn signs somebody in with the code of the mail that the server prints.
func (v *server) signIn(s *shell, email string) string {
	v.t.Helper()
	const mark = "Or enter this code there:\n"
	before := strings.Count(v.stdout(), mark)
	cmd := s.command("signin", email, "--server", v.base)
	cmd.Stdin = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	eventually(v.t, "a mail is printed", func() bool { return strings.Count(v.stdout(), mark) > before })
	all := v.stdout()
	code, _, _ := strings.Cut(all[strings.LastIndex(all, mark)+len(mark):], "\n")
	if _, err := in.Write([]byte(code + "\n")); err != nil {
		v.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		v.t.Fatalf("signing in with %q: %v", code, err)
	}
	if strings.Contains(v.log(), code) || strings.Contains(v.log(), strings.TrimSpace(out.String())) {
		v.t.Error("the log holds a code or a token")
	}
	return strings.TrimSpace(out.String())
}

// The address is part of every token, but not of who somebody is.
func TestPeopleStayWhoTheyAreAtAnotherAddress(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	s.ok("orgs", "invite", "asha@example.org", "--role", "owner", "--data", "data")
	old := v.signIn(s, "asha@example.org")
	s.ok("orgs", "members", "--server", v.base, "--token", old)
	v.stop()

	moved := s.serveWithPortal() // on another port
	if r := s.run("orgs", "members", "--server", moved.base, "--token", old); r.code != 4 ||
		!strings.Contains(r.err, "invalid token; `swar signin E-MAIL` gets a new one") {
		t.Errorf("a token of the old address: exit code %d, %q", r.code, r.err)
	}
	out := s.ok("orgs", "members", "--server", moved.base, "--token", moved.signIn(s, "asha@example.org")).out
	if !strings.Contains(out, "asha@example.org  owner  joined") {
		t.Errorf("the members are\n%s", out)
	}
}

func TestUsageFromTheCommandLine(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	s.ok("say", "--server", v.base, "--key", v.firstKey(), "-o", "x.wav", "hello")
	eventually(t, "what was spoken is in the store", func() bool {
		return strings.Contains(get(t, v.base+"/metrics"), "\ntts_usage_queued_events 0\n")
	})
	eventually(t, "it is shown", func() bool {
		return strings.Contains(s.ok("usage", "--data", "data").out,
			"  First key  1  ")
	})
	var u struct {
		Totals struct{ Requests, Frames, BilledFrames int }
	}
	if err := json.Unmarshal([]byte(s.ok("usage", "--json", "--data", "data").out), &u); err != nil ||
		u.Totals.Requests != 1 || u.Totals.Frames == 0 {
		t.Errorf("usage is %+v, %v", u, err)
	}
	if out := s.ok("usage", "--csv", "--data", "data", "--from", "2026-01-01", "--to",
		"2026-01-31").out; strings.Count(out, "\n") != 32 || !strings.HasPrefix(out, "date,") {
		t.Errorf("a month in CSV is\n%s", out)
	}
	if out := s.ok("usage", "--months", "--data", "data").out; !strings.Contains(out, "  open") {
		t.Errorf("the months are\n%s", out)
	}
	for name, args := range map[string][]string{
		"want a day such as":                 {"--from", "yesterday"},
		"--csv and --json contradict":        {"--csv", "--json"},
		"--months shows all months":          {"--months", "--from", "2026-01-01"},
		`there is no organisation "Nowhere"`: {"--org", "Nowhere"},
		`there is no project "Nothing"`:      {"--project", "Nothing"},
	} {
		if r := s.run(append([]string{"usage", "--data", "data"}, args...)...); r.code != 2 ||
			!strings.Contains(r.err, name) {
			t.Errorf("%v: exit code %d, %q; want 2 and %q", args, r.code, r.err, name)
		}
	}
	if r := s.run("usage", "--data", "data", "--from", "2026-02-01", "--to", "2026-01-01"); r.code != 4 ||
		!strings.Contains(r.err, "from must not be after to") {
		t.Errorf("a range that runs backwards: exit code %d, %q", r.code, r.err)
	}
}

func TestBackupAndRestore(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	key := v.firstKey()
	if out := s.ok("backup", "copy.db", "--data", "data").out; !strings.HasPrefix(out, "copy.db holds ") {
		t.Errorf("backup prints %q", out)
	}
	if info, err := os.Stat(s.path("copy.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v; want it for its owner alone", info, err)
	}
	refusals := map[string][]string{
		"copy.db exists":                 {"backup", "copy.db", "--data", "data"},
		"nowhere/swar.db does not exist": {"backup", "x.db", "--data", "nowhere"},
		"there is no file missing.db":    {"restore", "missing.db", "--data", "data"},
		"is in use: stop the server":     {"restore", "copy.db", "--data", "data"},
		"x.wav":                          {"restore", "x.wav", "--data", "other"},
	}
	for name, args := range refusals {
		s.ok("say", "--server", v.base, "--key", key, "-o", "x.wav", "hello")
		if r := s.run(args...); r.code != 1 || !strings.Contains(r.err, name) {
			t.Errorf("%v: exit code %d, %q; want 1 and %q", args, r.code, r.err, name)
		}
	}
	v.stop()

	s.ok("restore", "copy.db", "--data", "new")
	fresh := s.serveWithPortal("--data", "new")
	if r := s.run("say", "--server", fresh.base, "--key", key, "-o", "x.wav", "hello"); r.code != 0 {
		t.Errorf("the key after restoring elsewhere: exit code %d: %s", r.code, r.err)
	}
	fresh.stop()

	if r := s.ok("restore", "copy.db", "--data", "data"); !strings.Contains(r.err, "the previous records are now ") {
		t.Errorf("restore says %q", r.err)
	}
	again := s.serveWithPortal()
	s.ok("say", "--server", again.base, "--key", key, "-o", "x.wav", "hello")
	// What was spoken since the backup still lay in the log of events, and comes from there again.
	want := fmt.Sprintf("  First key  %d  ", len(refusals)+1)
	eventually(t, "usage is whole after a restore in place",
		func() bool { return strings.Contains(s.ok("usage", "--data", "data").out, want) })
	again.stop()
}

func TestSigningKeysFromTheCommandLine(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	s.ok("orgs", "invite", "asha@example.org", "--role", "owner", "--data", "data")
	token := v.signIn(s, "asha@example.org")
	members := func() result { return s.run("orgs", "members", "--server", v.base, "--token", token) }
	if r := members(); r.code != 0 {
		t.Fatalf("before a rotation: exit code %d, %q", r.code, r.err)
	}
	if out := s.ok("signing-keys", "list", "--data", "data").out; strings.Count(out, "\n") != 2 ||
		!strings.Contains(out, "  signing  ") {
		t.Errorf("the list is\n%s", out)
	}
	rotated := s.ok("signing-keys", "rotate", "--data", "data").out
	if strings.Count(rotated, "  signing  ") != 1 || strings.Count(rotated, "  next  ") != 1 {
		t.Errorf("after a rotation the list is\n%s", rotated)
	}
	r := s.run("signing-keys", "rotate", "--data", "data")
	if r.code != 4 || !strings.Contains(r.err, "the next key is published already") {
		t.Errorf("another rotation: exit code %d, %q", r.code, r.err)
	}
	if r := members(); r.code != 0 {
		t.Errorf("after a rotation: exit code %d, %q", r.code, r.err)
	}
	var list struct {
		Keys []struct {
			ID        string `json:"id"`
			SignsFrom string `json:"signs_from"`
		} `json:"keys"`
	}
	out := s.ok("signing-keys", "rotate", "--now", "--json", "--data", "data").out
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Keys) != 1 || list.Keys[0].SignsFrom != "" {
		t.Errorf("all keys replaced: %s", out)
	}
	if r := members(); r.code != 4 || !strings.Contains(r.err, "invalid token") {
		t.Errorf("a token of a key that is gone: exit code %d, %q", r.code, r.err)
	}
	token = v.signIn(s, "asha@example.org")
	if r := members(); r.code != 0 {
		t.Errorf("after signing in again: exit code %d, %q", r.code, r.err)
	}
	v.stop()
	if strings.Count(v.log(), `"msg":"a new signing key was created"`) != 2 {
		t.Errorf("the log does not tell of two rotations:\n%s", v.log())
	}
	s.serveWithPortal("--email-sign-in", "off")
	r = s.run("signing-keys", "list", "--data", "data")
	if r.code != 4 || !strings.Contains(r.err, "e-mail sign-in is off") {
		t.Errorf("without signing in by e-mail: exit code %d, %q", r.code, r.err)
	}
}
