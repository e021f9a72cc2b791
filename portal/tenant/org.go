// Package tenant holds the nouns and the rules of tenancy: who may do what in which organisation, how keys live, how voice requests
// move. It knows no HTTP and no database: [Service] is the rules, [Store] is the port behind which everything is kept.
//
// Who acts is an argument of every rule. What a rule refuses is a [*Refusal] whose text is part of the API; any other error is a fault.
// Every change is written together with its [Audit] entry, in one transaction, or not at all.
//
// Times are UTC and whole microseconds, the precision that every store keeps. The zero time means absent.
package tenant

import "time"

// Org is an organisation: what is billed, and where people share keys.
type Org struct {
	ID        string // "org_" and 26 random characters
	Name      string
	CreatedAt time.Time
	CreatedBy string // e-mail, or "operator"

	// Two counts that limits hang on. The rules keep them inside their transactions, so that whoever races for a limit meets on this
	// one record, in every store.
	ActiveKeys int // live keys that are not revoked
	Owners     int // owners who have joined
}

// Project groups keys and usage inside an organisation.
type Project struct {
	ID        string // "prj_" and 26 random characters
	OrgID     string
	Name      string
	CreatedAt time.Time
	CreatedBy string
}
