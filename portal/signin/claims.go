package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/swar-tts/swar/portal/emailaddr"
)

const (
	skew     = time.Minute // by which the clock of an issuer may differ from ours
	maxToken = 16 << 10    // bytes of an ID token; real ones have one or two thousand
)

// The signatures that are known. Anything symmetric would make every verifier an issuer.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA}

// checker checks the tokens of one issuer.
type checker struct {
	issuer     string
	audiences  []string
	algorithms []jose.SignatureAlgorithm
	emailClaim string
	keys       keyFinder
	vouched    bool // it vouches for addresses that it has not verified, as ours does for its operator
}

// keyFinder returns the keys that may have made a signature: that with an id, or all if the token names none. It
// fails with ErrInvalidToken if there is none, and with ErrUnavailable.
type keyFinder interface {
	find(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error)
}

// readToken takes a token apart. Nothing in it is to be believed yet, the issuer that is returned least of all.
func readToken(token string) (tok *jwt.JSONWebToken, issuer string, err error) {
	if len(token) > maxToken {
		return nil, "", fmt.Errorf("%w: longer than %d bytes", ErrInvalidToken, maxToken)
	}
	tok, err = jwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if err := tok.UnsafeClaimsWithoutVerification(&claims); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return tok, claims.Issuer, nil
}

func (c *checker) check(ctx context.Context, tok *jwt.JSONWebToken) (Identity, error) {
	header := tok.Headers[0]
	if !slices.Contains(c.algorithms, jose.SignatureAlgorithm(header.Algorithm)) {
		return Identity{}, fmt.Errorf("%w: %s is not allowed for this issuer", ErrInvalidToken, header.Algorithm)
	}
	// Access tokens may be signed by the same keys and declare it here (RFC 9068). They do not prove a sign-in.
	if typ, ok := header.ExtraHeaders[jose.HeaderType]; ok && !strings.EqualFold(fmt.Sprint(typ), "JWT") {
		return Identity{}, fmt.Errorf("%w: of type %.20q", ErrInvalidToken, typ)
	}
	keys, err := c.keys.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return Identity{}, err
	}
	err = errors.New("no key")
	var standard jwt.Claims
	claims := map[string]json.RawMessage{}
	for _, key := range keys {
		if err = tok.Claims(key.Key, &standard, &claims); err == nil {
			break
		}
	}
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return c.identity(standard, claims, time.Now())
}

// identity checks the claims of a token whose signature is good.
func (c *checker) identity(standard jwt.Claims, claims map[string]json.RawMessage, now time.Time) (Identity, error) {
	email, err := c.email(claims)
	if err == nil {
		err = c.audience(standard.Audience, claims)
	}
	hasTimes := standard.Expiry != nil && standard.IssuedAt != nil
	hasSubject := standard.Subject != "" && len(standard.Subject) <= 255
	if err == nil && !(hasTimes && hasSubject) {
		err = errors.New("exp, iat and sub are required")
	}
	if raw, ok := claims["auth_time"]; err == nil && ok {
		var at jwt.NumericDate
		if err = json.Unmarshal(raw, &at); err == nil && at.Time().After(now.Add(skew)) {
			err = errors.New("auth_time is in the future")
		}
	}
	if err == nil { // last, so that only a token that was good once counts as expired
		err = standard.ValidateWithLeeway(jwt.Expected{Issuer: c.issuer, Time: now}, skew)
	}
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return Identity{}, fmt.Errorf("%w at %s", ErrExpiredToken, standard.Expiry.Time().UTC().Format(time.RFC3339))
	case err != nil:
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return Identity{Issuer: c.issuer, Subject: standard.Subject, Email: email}, nil
}

// audience requires that the token is for this server and, if it has several audiences, that one of ours requested it
// (OpenID Connect Core 3.1.3.7).
func (c *checker) audience(audience jwt.Audience, claims map[string]json.RawMessage) error {
	if !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(c.audiences, a) }) {
		return errors.New("for another audience")
	}
	if len(audience) == 1 {
		return nil
	}
	var party string
	if err := json.Unmarshal(claims["azp"], &party); err != nil || !slices.Contains(c.audiences, party) {
		return errors.New("for several audiences, and azp is another one")
	}
	return nil
}

// email returns the address, which the issuer must have verified: an unverified address can be any owner's.
func (c *checker) email(claims map[string]json.RawMessage) (string, error) {
	if verified := string(claims["email_verified"]); verified != "true" && !(c.vouched && verified == "false") {
		return "", errors.New("email_verified is not true")
	}
	var email string
	if err := json.Unmarshal(claims[c.emailClaim], &email); err != nil {
		return "", fmt.Errorf("%s is missing or not a string", c.emailClaim)
	}
	return emailaddr.Clean(email)
}
