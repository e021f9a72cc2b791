package portal

import "time"

// What the portal answers, as far as commands show it.
type (
	// OrgList is a page of organisations.
	OrgList struct {
		Orgs []OrgRow `json:"orgs"`
		Next string   `json:"next,omitempty"` // ask for the organisations after this one
	}

	// OrgRow is an organisation.
	OrgRow struct {
		ID         string       `json:"id"`
		Name       string       `json:"name"`
		Role       string       `json:"role,omitempty"` // of the caller
		CreatedAt  time.Time    `json:"created_at"`
		CreatedBy  string       `json:"created_by,omitempty"`
		ActiveKeys *int         `json:"active_keys,omitempty"` // only for operators
		Owners     *int         `json:"owners,omitempty"`      // likewise
		Projects   []ProjectRow `json:"projects"`
		Disclosure *string      `json:"disclosure,omitempty"` // nil: the server's
	}

	// ProjectRow is a project of an organisation.
	ProjectRow struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}

	// VoiceChange lists the added, changed and removed voices of a server, by name.
	VoiceChange struct {
		Added    []string `json:"added"`
		Replaced []string `json:"replaced"`
		Removed  []string `json:"removed"`
		Voices   []string `json:"voices"` // that are listed now
	}

	// MemberRow is a member of an organisation, or who was invited.
	MemberRow struct {
		Email     string    `json:"email"`
		Role      string    `json:"role"`
		State     string    `json:"state"`
		InvitedAt time.Time `json:"invited_at,omitzero"`
		InvitedBy string    `json:"invited_by,omitempty"`
		JoinedAt  time.Time `json:"joined_at,omitzero"`
	}

	// SigningKeyList holds the keys of the built-in issuer, oldest first.
	SigningKeyList struct {
		Keys []SigningKeyRow `json:"keys"`
	}

	// SigningKeyRow is a key that ID tokens are signed with.
	SigningKeyRow struct {
		ID        string    `json:"id"`
		State     string    `json:"state"`
		CreatedAt time.Time `json:"created_at"`
		SignsFrom time.Time `json:"signs_from,omitzero"`
		EndsAt    time.Time `json:"ends_at"`
	}

	// VoiceRow is a request for a voice.
	VoiceRow struct {
		ID        string    `json:"id"`
		OrgID     string    `json:"org_id"`
		VoiceName string    `json:"voice_name"`
		Language  string    `json:"language"`
		UseCase   string    `json:"use_case,omitempty"`
		Status    string    `json:"status"`
		CreatedAt time.Time `json:"created_at"`
		CreatedBy string    `json:"created_by"`
	}
)
