package e2ecluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// audited is a line of the API server's audit log.
type audited struct {
	Received  time.Time `json:"requestReceivedTimestamp"`
	Verb      string
	User      struct{ Username string }
	ObjectRef *struct {
		Resource, Subresource, APIGroup, Namespace, Name string
	}
	ResponseStatus struct{ Code int }
}

// granted is a Role or a ClusterRole.
type granted struct {
	Metadata struct{ Name, Namespace string }
	Rules    []struct {
		APIGroups, Resources, ResourceNames, Verbs []string
	}
}

// rights are what a role grants.
func (g granted) rights() (all []string) {
	for _, r := range g.Rules {
		for _, verb := range r.Verbs {
			for _, group := range r.APIGroups {
				for _, resource := range r.Resources {
					right := verb + " " + group + "/" + resource
					if len(r.ResourceNames) == 0 {
						all = append(all, right)
					}
					for _, name := range r.ResourceNames {
						all = append(all, right+" "+name)
					}
				}
			}
		}
	}
	return all
}

// uses returns the rights that a line has taken, the narrow one of each first.
func (a audited) uses() (rights [][2]string) {
	resource := a.ObjectRef.APIGroup + "/" + a.ObjectRef.Resource
	if a.ObjectRef.Subresource != "" {
		resource += "/" + a.ObjectRef.Subresource
	}
	verbs := []string{a.Verb}
	if a.Verb == "patch" && a.ResponseStatus.Code == http.StatusCreated {
		verbs = append(verbs, "create") // an object that was applied and was not there
	}
	for _, verb := range verbs {
		right := verb + " " + resource
		rights = append(rights, [2]string{right + " " + a.ObjectRef.Name, right})
	}
	return rights
}

// compareRights says what an account did since a time without a right of its roles, was refused, and may do though it
// never did and idle has no reason for it.
func compareRights(
	log io.Reader, since time.Time, account string, roles []granted, idle map[string]string,
) (problems []string, err error) {
	used, found := map[string]bool{}, map[string]bool{} // rights of roles, and problems
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	seen := 0
	for lines.Scan() {
		var a audited
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		if a.User.Username != account || a.ObjectRef == nil || a.Received.Before(since) {
			continue
		}
		seen++
		if a.ResponseStatus.Code == http.StatusForbidden {
			found[fmt.Sprintf("it was refused to %s in the namespace %q", a.uses()[0][1], a.ObjectRef.Namespace)] = true
			continue
		}
		for _, right := range a.uses() {
			if !note(used, roles, a.ObjectRef.Namespace, right) {
				found[fmt.Sprintf("it did %s in the namespace %q, and no role of the chart says that it may",
					right[1], a.ObjectRef.Namespace)] = true
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	if seen == 0 {
		found["the audit log has no request of "+account] = true
	}
	for _, role := range roles {
		for _, right := range role.rights() {
			verb, resource, _ := strings.Cut(right, " ")
			isOlder := verb == "list" && used[role.key("watch "+resource)] // newer API servers stream lists
			if !used[role.key(right)] && !isOlder && idle[right] == "" && idle["* "+resource] == "" {
				found[fmt.Sprintf("%s grants to %s, and nothing did that", role.Metadata.Name, right)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func (g granted) key(right string) string {
	return g.Metadata.Namespace + "/" + g.Metadata.Name + " " + right
}

// note marks a right of every role that gives it, narrowly or widely, and reports whether any does.
func note(used map[string]bool, roles []granted, namespace string, right [2]string) (is bool) {
	for _, role := range roles {
		if role.Metadata.Namespace != "" && role.Metadata.Namespace != namespace {
			continue
		}
		for _, has := range role.rights() {
			if has == right[0] || has == right[1] {
				used[role.key(has)], is = true, true
			}
		}
	}
	return is
}

func TestComparingRights(t *testing.T) {
	const account = "system:serviceaccount:swar:swar-operator"
	line := func(verb, group, resource, namespace, name string, code int) string {
		return fmt.Sprintf(`{"requestReceivedTimestamp":"2026-11-28T03:00:01.000000Z","verb":%q,"user":{"username":%q},"objectRef":{"apiGroup":%q,"resource":%q,"namespace":%q,"name":%q},`+
			`"responseStatus":{"code":%d}}`, verb, account, group, resource, namespace, name, code)
	}
	var roles []granted
	err := json.Unmarshal([]byte(`[
		{"metadata": {"name": "fleets", "namespace": "swar"}, "rules": [
			{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list", "watch", "create", "patch"]}]},
		{"metadata": {"name": "own", "namespace": "swar"}, "rules": [
			{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["ca"], "verbs": ["get"]}]}]`), &roles)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Date(2026, 11, 28, 3, 0, 1, 0, time.UTC)
	all := []string{
		line("watch", "apps", "deployments", "swar", "", 200), line("patch", "apps", "deployments", "swar", "a", 201),
		line("get", "", "secrets", "swar", "ca", 200),
		`{"requestReceivedTimestamp":"2026-11-28T03:00:01.000000Z","verb":"get","user":{"username":"` + account +
			`"},"responseStatus":{"code":200}}`,
		strings.ReplaceAll(line("delete", "", "pods", "swar", "a", 200), account, "somebody"),
	}
	for name, tt := range map[string]struct {
		log  []string
		idle map[string]string
		want string
	}{
		"everything is used":       {log: all},
		"one right is not":         {log: all[:2], want: "own grants to get /secrets ca, and nothing did that"},
		"one is not, for a reason": {log: all[:2], idle: map[string]string{"* /secrets ca": "later"}},
		"what was there is not created": {
			log:  []string{all[0], strings.ReplaceAll(all[1], "201", "200"), all[2]},
			want: "fleets grants to create apps/deployments, and nothing did that",
		},
		"something is refused": {
			log:  append([]string{line("delete", "apps", "deployments", "swar", "a", 403)}, all...),
			want: `it was refused to delete apps/deployments in the namespace "swar"`,
		},
		"something has no role": {
			log:  append([]string{line("get", "", "secrets", "swar", "other", 200)}, all...),
			want: `it did get /secrets in the namespace "swar", and no role of the chart says that it may`,
		},
		"something has one elsewhere": {
			log:  append([]string{line("watch", "apps", "deployments", "shop", "", 200)}, all...),
			want: `it did watch apps/deployments in the namespace "shop", and no role of the chart says that it may`,
		},
		"an earlier release was refused": {
			log: append([]string{
				strings.ReplaceAll(line("delete", "apps", "deployments", "swar", "a", 403), "03:00:01.000000",
					"03:00:00.999999"),
			}, all...),
		},
		"nothing is known": {
			log: all[4:], idle: map[string]string{"* apps/deployments": "x", "* /secrets ca": "x"},
			want: "the audit log has no request of " + account,
		},
	} {
		t.Run(name, func(t *testing.T) {
			problems, err := compareRights(strings.NewReader(strings.Join(tt.log, "\n")), begun, account,
				roles, tt.idle)
			if got := strings.Join(problems, "; "); err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
