package tenant

// Kind tells what sort of refusal it is.
type Kind int

// The kinds of refusals, with the status that the API gives them.
const (
	Invalid   Kind = iota // 400: the request cannot be granted as it is
	Forbidden             // 403: not to this actor
	Missing               // 404: there is no such thing, or it is not the actor's to know of
)

// Refusal is the answer to a request that a rule forbids. Its text is part of the API.
type Refusal struct {
	Kind Kind
	Code string // for machines, as in the header x-error-code
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// Is reports whether target is a Refusal with the same code, so that errors.Is works with the values below.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}

// ErrNotFound says that there is no such record. What belongs to an organisation that the actor is not in does not exist either.
var ErrNotFound = &Refusal{Missing, "not_found", "not found"}
