package control

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/portal"
)

// scope is an organisation, and optionally a project. A command names it by identifier or name; without a name the only
// one is used.
type scope struct {
	org, project string
}

func (s *scope) orgFlag(f *pflag.FlagSet) {
	f.StringVar(&s.org, "org", "", "`organisation`, by identifier or name (default the only one)")
}

func (s *scope) projectFlag(f *pflag.FlagSet, otherwise string) {
	f.StringVar(&s.project, "project", "", "`project`, by identifier or name (default "+otherwise+")")
}

// findOrg returns the organisation of the scope.
func (s *scope) findOrg(ctx context.Context, c *control) (portal.OrgRow, error) {
	all, err := c.orgs(ctx)
	if err != nil {
		return portal.OrgRow{}, err
	}
	return choose("organisation", "--org", s.org, all.Orgs,
		func(o portal.OrgRow) (id, name string) { return o.ID, o.Name })
}

// findOrMakeOrg is findOrg for the operator of a portal that may have no organisation yet. Then it creates the first
// one, as the first start of a server on one machine does, and prints that.
func (s *scope) findOrMakeOrg(ctx context.Context, a *Commands, c *control) (org portal.OrgRow, err error) {
	all, err := c.orgs(ctx)
	if err != nil || len(all.Orgs) > 0 || s.org != "" || !c.local() {
		return s.findOrg(ctx, c)
	}
	body := map[string]any{"name": "My organisation"}
	if _, err := c.doOnce(ctx, "first-organisation", http.MethodPost, "/portal/v1/orgs", body, &org); err != nil {
		return org, err
	}
	fmt.Fprintf(a.Err, "created %s %q, because there was no organisation\n", org.ID, org.Name)
	return org, nil
}

// findProject returns the project of the scope in an organisation.
func (s *scope) findProject(o portal.OrgRow) (portal.ProjectRow, error) {
	return choose("project", "--project", s.project, o.Projects,
		func(p portal.ProjectRow) (id, name string) { return p.ID, p.Name })
}

// choose returns the item with the wanted identifier or name, or the only item if nothing is wanted.
func choose[T any](what, flag, wanted string, all []T, of func(T) (id, name string)) (found T, err error) {
	var fits []T
	var list []string
	for _, v := range all {
		id, name := of(v)
		list = append(list, fmt.Sprintf("%s (%s)", id, name))
		if wanted == "" || wanted == id || wanted == name {
			fits = append(fits, v)
		}
	}
	const most = 10 // of a list that a person reads in a message
	if len(list) > most {
		list = append(list[:most], "…")
	}
	switch {
	case len(fits) == 1:
		return fits[0], nil
	case len(all) == 0:
		return found, &choiceError{fmt.Sprintf("there is no %s yet", what)}
	case len(fits) == 0:
		return found,
			&choiceError{fmt.Sprintf("there is no %s %q; there are %s", what, wanted, strings.Join(list, ", "))}
	}
	return found,
		&choiceError{fmt.Sprintf("there is more than one %s; choose one with %s: %s", what, flag,
			strings.Join(list, ", "))}
}

// choiceError is a name that does not lead to one thing.
type choiceError struct{ text string }

func (e *choiceError) Error() string { return e.text }
