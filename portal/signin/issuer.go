package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/swar-tts/swar/portal/emailaddr"
)

const tokenLife = time.Hour // of an ID token

// Config describes the built-in issuer.
type Config struct {
	// URL is where people reach this server, such as https://tts.example.org: the name of the issuer, and the
	// beginning of every link. Where links are mailed it must be https, but for 127.0.0.1 and localhost.
	URL string

	Audience   string // of ID tokens; empty means swar
	Home       string // path to which a browser goes when it has signed in; empty means /
	TotalLimit int    // total mails in an hour, of which each network has a share; 0 means 1000

	// Allowed reports whether an address may sign in. Its result is not visible to clients. Nil allows all.
	Allowed func(ctx context.Context, email string) (bool, error)

	// ClaimOrg makes an address the first owner of an organisation, for the user of a link of [Issuer.NewSetupLink]. It
	// fails with ErrOwned if there is an owner by now, and with ErrTaken if the address is taken. Nil: there are no
	// setup links.
	ClaimOrg func(ctx context.Context, org, email string) error

	// SignedOut is called when a user has signed out, and revokes the keys of the user's pages. Nil does nothing.
	SignedOut func(ctx context.Context, email string) error

	// ClientIP returns the address of a request, for the limit of mails. Nil uses the peer of the connection, which is
	// wrong behind a proxy: then all clients share one limit.
	ClientIP func(*http.Request) netip.Addr

	Log *slog.Logger // nil means slog.Default
}

// Issuer signs users in by e-mail: it is the identity provider of a server without another. It is a [Verifier] of its
// own tokens and a handler of its [Paths].
//
// It holds no state but copies of its keys, so any number of processes can be one issuer on one store. It starts
// nothing either: keys are made on demand when they are due, and the owner of the store calls [Store.SweepSignin] now
// and then.
type Issuer struct {
	cfg       Config
	secure    bool
	store     Store
	outbox    *Outbox
	keys      *signingKeys
	ownTokens checker
	cross     *http.CrossOriginProtection
}

// New checks the configuration and starts nothing. The caller also runs the outbox. Without an outbox no mail is sent,
// and users sign in with links of the operator.
func New(cfg Config, store Store, outbox *Outbox) (*Issuer, error) {
	u, err := url.Parse(cfg.URL)
	isPlain := outbox == nil && err == nil && u.Scheme == "http" && u.Host != "" && u.User == nil && u.Fragment == ""
	if err == nil && !isPlain {
		err = checkURL(cfg.URL)
	}
	if err == nil && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || strings.HasSuffix(cfg.URL, "/")) {
		err = errors.New("must be the address of a server without path and without / at the end")
	}
	if err != nil {
		return nil, fmt.Errorf("address of this server %q: %w", cfg.URL, err)
	}
	if cfg.Audience == "" {
		cfg.Audience = "swar"
	}
	if cfg.Home == "" {
		cfg.Home = "/"
	}
	// Two slashes, or a backslash that browsers take for one, would lead to another server.
	if !strings.HasPrefix(cfg.Home, "/") || strings.HasPrefix(cfg.Home, "//") ||
		strings.ContainsAny(cfg.Home, "\\\r\n\t") {
		return nil, fmt.Errorf("home %q must be a path on this server, such as /portal", cfg.Home)
	}
	if cfg.TotalLimit == 0 {
		cfg.TotalLimit = totalLimit
	}
	if cfg.TotalLimit < 1 || cfg.TotalLimit > MaxTotalLimit {
		return nil, fmt.Errorf("%d mails in an hour: want 1 to %d", cfg.TotalLimit, MaxTotalLimit)
	}
	if cfg.Allowed == nil {
		cfg.Allowed = func(context.Context, string) (bool, error) { return true, nil }
	}
	if cfg.ClientIP == nil {
		cfg.ClientIP = func(r *http.Request) netip.Addr {
			addr, _ := netip.ParseAddrPort(r.RemoteAddr)
			return addr.Addr()
		}
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	i := &Issuer{
		cfg: cfg, secure: u.Scheme == "https", store: store, outbox: outbox,
		keys: &signingKeys{store: store}, cross: http.NewCrossOriginProtection(),
	}
	if err := i.cross.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
		return nil, err
	}
	i.ownTokens = checker{
		issuer: cfg.URL, audiences: []string{cfg.Audience}, algorithms: []jose.SignatureAlgorithm{jose.RS256},
		emailClaim: "email",
		keys:       i.keys, vouched: true,
	}
	return i, nil
}

// Verify implements [Verifier].
func (i *Issuer) Verify(ctx context.Context, token string) (Identity, error) {
	tok, issuer, err := readToken(token)
	if err != nil {
		return Identity{}, err
	}
	if issuer != i.cfg.URL {
		return Identity{}, fmt.Errorf("%w: of another issuer", ErrInvalidToken)
	}
	return i.ownTokens.check(ctx, tok)
}

// SigningKeys returns the keys that ID tokens are signed with, oldest first, as they are stored.
func (i *Issuer) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	list, err := i.keys.get(ctx, 0, 0)
	return list.summaries(time.Now()), err
}

// RotateKeys makes a new key and returns all keys. It is published at once and signs a week later, like the automatic
// one every 90 days; it fails with ErrRotating while another one waits for that. With atOnce it replaces all others at
// once, for when they may have leaked: within five seconds every server on the store refuses their tokens. Signed-in
// users get a new ID token with their refresh token.
func (i *Issuer) RotateKeys(ctx context.Context, atOnce bool) ([]SigningKey, error) {
	list, err := i.keys.rotate(ctx, atOnce)
	if err != nil {
		return nil, err
	}
	i.cfg.Log.Warn("a new signing key was created", "key", list.newest().ID, "replaces_all", atOnce)
	return list.summaries(time.Now()), nil
}

// addMailed mails a link to an address, or does everything that can be seen of it.
//
// The outbox checks in the background whether the address may sign in. So the answer is the same for every address.
func (i *Issuer) requestLink(ctx context.Context, email string, by requester) error {
	if i.outbox == nil {
		return errNoMail
	}
	holders := holdersOf(by.ip)
	if err := i.outbox.reserve(holders); err != nil {
		return err
	}
	queued := false
	defer func() {
		if !queued {
			i.outbox.release(holders)
		}
	}()
	now := time.Now()
	if err := takeMail(ctx, i.store, by.ip, now); err != nil {
		return err
	}
	if err := takeQuota(ctx, i.store, by.ip, i.cfg.TotalLimit, now); err != nil {
		return err
	}
	box, token, code := emailHash(email), newSecret(), newCode()
	err := update(ctx, i.store, mailboxID(box), func(m *mailbox) (time.Time, error) {
		m.Email = email
		if retry := m.addMailed(now,
			link{Token: token.hash(), Code: by.codeHash(code, by.program), Browser: by.browser.hash(),
				Program: by.program}); retry > 0 {
			return time.Time{}, tooManyMails(retry)
		}
		return m.expires(), nil
	})
	if err != nil {
		return err
	}
	queued = true
	i.outbox.queue <- queuedMail{
		kind: "sign-in link", holders: holders,
		mail: linkMail(i.outbox.name, email, i.cfg.URL+linkPath+"#"+encode(box[:], token[:]), code),
		shouldSend: func(ctx context.Context) (bool, error) {
			if !time.Now().Before(now.Add(linkLife)) {
				return false, nil
			}
			return i.cfg.Allowed(ctx, email)
		},
	}
	return nil
}

// NewSignInLink returns a link that signs in as email, once and within a day, and when it expires. Every older one of
// that address ends. It is for operators, who vouch for the address. It fails with ErrNotAllowed where the address
// may not sign in.
func (i *Issuer) NewSignInLink(ctx context.Context, email string) (link string, ends time.Time, err error) {
	if email, err = emailaddr.Clean(email); err != nil {
		return "", ends, err
	}
	if err := i.allowed(ctx, email, ErrNotAllowed); err != nil {
		return "", ends, err
	}
	now, box, token := time.Now(), emailHash(email), newSecret()
	err = update(ctx, i.store, mailboxID(box), func(m *mailbox) (time.Time, error) {
		m.Email = email
		m.addHanded(now, token.hash())
		return m.expires(), nil
	})
	if err != nil {
		return "", ends, err
	}
	i.cfg.Log.Info("a sign-in link was handed over", "user", subject(email))
	return i.cfg.URL + linkPath + "#" + encode(box[:], token[:]), now.Add(handedLife), nil
}

// session is what a person has who signed in.
type session struct {
	email    string
	vouched  bool // by an operator: no mail has shown that the address is theirs
	signedIn time.Time
	refresh  string
}

// spendToken signs in with the token of a link.
func (i *Issuer) spendToken(ctx context.Context, token string, by requester) (session, error) {
	var box hash
	var s secret
	if !decode(token, box[:], s[:]) {
		return session{}, errBadLink
	}
	handed := false
	return i.spend(ctx, box, &handed, func(m *mailbox, now time.Time) (_ bool, err error) {
		handed, err = m.spendToken(now, s.hash(), by)
		return false, err
	})
}

// spendCode signs in with the code of a mail.
func (i *Issuer) spendCode(ctx context.Context, email, code string, by requester) (session, error) {
	email, err := emailaddr.Clean(email)
	if err != nil {
		return session{}, err
	}
	if code = cleanCode(code); code == "" {
		return session{}, errBadLink
	}
	return i.spend(ctx, emailHash(email), new(bool), func(m *mailbox, now time.Time) (bool, error) {
		return m.spendCode(now, code, by)
	})
}

// spend signs in by a rule that uses a link up. vouched is what is known after it: whether an operator handed that
// link over.
func (i *Issuer) spend(
	ctx context.Context, box hash, vouched *bool, rule func(m *mailbox, now time.Time) (changed bool, err error),
) (session, error) {
	now := time.Now()
	var email string
	var refused error
	err := update(ctx, i.store, mailboxID(box), func(m *mailbox) (time.Time, error) {
		changed, err := rule(m, now)
		email, refused = m.Email, err
		if err != nil && !changed {
			return time.Time{}, err
		}
		return m.expires(), nil
	})
	if err == nil {
		err = refused
	}
	if err == nil {
		err = i.allowed(ctx, email, errBadLink)
	}
	if err != nil {
		return session{}, err
	}
	return i.begin(ctx, email, *vouched, now)
}

func (i *Issuer) allowed(ctx context.Context, email string, refusal error) error {
	ok, err := i.cfg.Allowed(ctx, email)
	if err != nil {
		return fmt.Errorf("checking who may sign in: %w", err)
	}
	if !ok {
		return refusal
	}
	return nil
}

// begin starts a family of refresh tokens.
func (i *Issuer) begin(ctx context.Context, email string, vouched bool, now time.Time) (session, error) {
	var id chainID
	random := newSecret()
	copy(id[:], random[:])
	first := newSecret()
	err := update(ctx, i.store, id.record(), func(f *refreshChain) (time.Time, error) {
		*f = refreshChain{Email: email, Vouched: vouched, SignedIn: now, Newest: first.hash()}
		f.Expires = f.until(now)
		return f.Expires, nil
	})
	return session{email, vouched, now, refreshToken(id, first)}, err
}

// refresh changes a refresh token into a new one.
func (i *Issuer) refresh(ctx context.Context, token string) (session, error) {
	id, presented, ok := readRefreshToken(token)
	if !ok {
		return session{}, errBadRefresh
	}
	now, salt := time.Now(), hash(newSecret())
	var s session
	var refused error
	err := update(ctx, i.store, id.record(), func(f *refreshChain) (time.Time, error) {
		var next secret
		next, refused = f.rotate(now, presented, salt)
		s = session{f.Email, f.Vouched, f.SignedIn, refreshToken(id, next)}
		if refused != nil {
			f.Expires = time.Time{} // the family dies
		}
		return f.Expires, nil
	})
	if err == nil && errors.Is(refused, errReused) {
		i.cfg.Log.Warn(errReused.Error(), "user", subject(s.email))
		refused = errBadRefresh
	}
	if err == nil {
		err = refused
	}
	if err == nil {
		if err = i.allowed(ctx, s.email, errBadRefresh); errors.Is(err, errBadRefresh) {
			_, ending := i.end(ctx, s.refresh)
			err = errors.Join(err, ending)
		}
	}
	if err != nil {
		return session{}, err
	}
	return s, nil
}

// end ends the sign-in that a refresh token, new or old, belongs to, and returns whose it was: empty where there was
// none.
func (i *Issuer) end(ctx context.Context, token string) (email string, err error) {
	id, _, ok := readRefreshToken(token)
	if !ok {
		return "", nil
	}
	err = update(ctx, i.store, id.record(), func(f *refreshChain) (time.Time, error) {
		email = f.Email
		return time.Time{}, nil
	})
	return email, err
}

// idToken signs what the issuer knows about a person.
func (i *Issuer) idToken(ctx context.Context, s session) (string, error) {
	list, err := i.keys.get(ctx, keysReload, keysLag)
	if err != nil {
		return "", err
	}
	now := time.Now()
	key := list.Keys[list.current(now)]
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key.signer, KeyID: key.ID}},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: i.cfg.URL, Audience: jwt.Audience{i.cfg.Audience}, Subject: subject(s.email),
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(tokenLife)),
	}).Claims(map[string]any{"email": s.email, "email_verified": !s.vouched,
		"auth_time": s.signedIn.Unix()}).Serialize()
}

// OnlyEmails returns a Config.Allowed for a list of addresses and of domains, which begin with @.
func OnlyEmails(list ...string) (func(context.Context, string) (bool, error), error) {
	var allowed []string
	for _, entry := range list {
		probe := entry
		if strings.HasPrefix(entry, "@") {
			probe = "x" + entry
		}
		email, err := emailaddr.Clean(probe)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an e-mail address nor a domain such as @example.org", entry)
		}
		allowed = append(allowed, email[len(probe)-len(entry):])
	}
	return func(_ context.Context, email string) (bool, error) {
		_, domain, _ := strings.Cut(email, "@")
		return slices.Contains(allowed, email) || slices.Contains(allowed, "@"+domain), nil
	}, nil
}
