package tenant

import "time"

// User is who acts: somebody whose identity was verified.
type User struct {
	ID    string // the same for every sign-in of one subject at one issuer, and different for all others
	Email string // verified, lower case

	operator bool
}

// Operator returns the actor of commands that run where the server runs. It may do in every organisation what an owner may, and move
// voice requests. Nothing that comes from outside can make one.
func Operator() User { return User{ID: "operator", Email: "operator", operator: true} }

// Role is what a member may do.
type Role string

// The roles, from most to least.
const (
	RoleOwner  Role = "owner"  // everything
	RoleMember Role = "member" // read; make projects, keys and voice requests
	RoleViewer Role = "viewer" // read
)

// MemberState tells whether an invitation was followed.
type MemberState string

// The states of a member.
const (
	Invited MemberState = "invited" // may do nothing until the first sign-in
	Joined  MemberState = "joined"
)

// Member is the place of one e-mail address in one organisation.
type Member struct {
	OrgID     string
	Email     string // lower case; with OrgID the key of the record
	Role      Role
	State     MemberState
	InvitedAt time.Time
	InvitedBy string // e-mail
	JoinedAt  time.Time
	UserID    string    // the identity that joined; empty while invited, or until the next sign-in after Unbind
	MailedAt  time.Time // when the invitation was last handed out to be mailed
}
