package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// External is an issuer that an operator trusts. A token of it for an e-mail address signs in as that address.
type External struct {
	Issuer string `json:"issuer"` // exactly as it calls itself, such as https://login.example.org/realms/tts
	// a token must be for one of them: the ids of the clients that sign users in
	Audiences  []string `json:"audiences"`
	JWKSURL    string   `json:"jwks_url"`    // where its keys are; empty: found through its discovery document
	Algorithms []string `json:"algorithms"`  // out of RS256, ES256 and EdDSA; empty: RS256
	EmailClaim string   `json:"email_claim"` // empty: email. Besides it email_verified must be true, always

	// For the pages of this server, which send people there.
	Name     string `json:"name"`      // empty: the host of the issuer
	ClientID string `json:"client_id"` // of these pages; empty: the first audience
}

const firebaseHost = "securetoken.google.com"

// Firebase returns the issuer that Firebase Authentication or Identity Platform is for a project.
func Firebase(project string) External {
	return External{
		Issuer:    "https://" + firebaseHost + "/" + project,
		Audiences: []string{project},
		JWKSURL:   "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
	}
}

// Trust verifies the ID tokens of external issuers. It is a [Verifier].
type Trust struct {
	checkers  map[string]*checker
	keySets   []*keySet // of the checkers
	providers []*publishedProvider
	log       *slog.Logger
}

// NewTrust checks the list of issuers. client may be nil; failures to read keys are logged.
func NewTrust(issuers []External, client *http.Client, log *slog.Logger) (*Trust, error) {
	if client == nil {
		client = newClient()
	}
	t := &Trust{checkers: make(map[string]*checker), log: log}
	for _, e := range issuers {
		from := published{e.Issuer, e.JWKSURL, client}
		keys := &keySet{issuer: e.Issuer, fetch: from.fetch}
		c, err := newChecker(e, keys)
		if err != nil {
			return nil, fmt.Errorf("issuer %q: %w", e.Issuer, err)
		}
		if t.checkers[e.Issuer] != nil {
			return nil, fmt.Errorf("issuer %q is listed twice; give it several audiences instead", e.Issuer)
		}
		t.checkers[e.Issuer] = c
		t.keySets = append(t.keySets, keys)
		if p := newProvider(e, from); p != nil {
			t.providers = append(t.providers, p)
		}
	}
	return t, nil
}

func newChecker(e External, keys keyFinder) (*checker, error) {
	if err := checkURL(e.Issuer); err != nil {
		return nil, err
	}
	if e.JWKSURL != "" {
		if err := checkURL(e.JWKSURL); err != nil {
			return nil, fmt.Errorf("jwks_url: %w", err)
		}
	}
	if len(e.Audiences) == 0 || slices.Contains(e.Audiences, "") {
		return nil, errors.New("audience is required: without it tokens issued to other clients would be accepted")
	}
	c := &checker{
		issuer: e.Issuer, audiences: slices.Clone(e.Audiences), emailClaim: e.EmailClaim, keys: keys,
	}
	if c.emailClaim == "" {
		c.emailClaim = "email"
	}
	for _, name := range e.Algorithms {
		if !slices.Contains(algorithms, jose.SignatureAlgorithm(name)) {
			return nil, fmt.Errorf("algorithm %q is not one of RS256, ES256 and EdDSA", name)
		}
		c.algorithms = append(c.algorithms, jose.SignatureAlgorithm(name))
	}
	if len(c.algorithms) == 0 {
		c.algorithms = []jose.SignatureAlgorithm{jose.RS256}
	}
	return c, nil
}

// Verify implements [Verifier].
func (t *Trust) Verify(ctx context.Context, token string) (Identity, error) {
	tok, issuer, err := readToken(token)
	if err != nil {
		return Identity{}, err
	}
	c := t.checkers[issuer]
	if c == nil {
		return Identity{}, fmt.Errorf("%w: of an issuer that is not trusted", ErrInvalidToken)
	}
	return c.check(ctx, tok)
}

// Run keeps the keys of all issuers fresh until ctx ends. Without it they are read when a token asks for them.
func (t *Trust) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, keys := range t.keySets {
		wg.Go(func() { keys.run(ctx, t.log) })
	}
	wg.Wait()
	<-ctx.Done() // also without any issuer
	return context.Cause(ctx)
}

// Verifiers asks one after the other whether a token is theirs. It is a [Verifier].
type Verifiers []Verifier

// Verify implements [Verifier]. A verifier for which the token is invalid is not the one whose it is.
func (v Verifiers) Verify(ctx context.Context, token string) (id Identity, err error) {
	err = fmt.Errorf("%w: no issuer is configured", ErrInvalidToken)
	for _, one := range v {
		if id, err = one.Verify(ctx, token); !errors.Is(err, ErrInvalidToken) {
			return id, err
		}
	}
	return Identity{}, err
}
