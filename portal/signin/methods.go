package signin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/answer"
)

// MethodsPath is where a page learns how people sign in. It is not among [Paths], because it is also there without an
// issuer.
const MethodsPath = "/auth/v1/ways"

// Methods is how people sign in to a server: a handler of [MethodsPath].
type Methods struct {
	Email     bool   // with a link by e-mail
	Links     bool   // by a link that the operator hands over
	Mail      string // delivery of mails: smtp, printed or none
	Trust     *Trust // whose issuers a page can send people to; nil: none
	Firebase  *FirebaseMethod
	PublicURL string // where people reach the server, without / at the end
	Version   string // of the server
}

// FirebaseMethod is what a page needs to sign people in with Firebase Authentication.
type FirebaseMethod struct {
	Project   string
	WebAPIKey string // not a secret: it only identifies the project
	Emulator  string // HOST:PORT that takes the place of Google; empty: none does
}

// Provider is an issuer of ID tokens to which a page can send people.
type Provider struct {
	Name     string `json:"name"` // for people
	Kind     string `json:"kind"` // oidc or firebase
	Issuer   string `json:"issuer,omitzero"`
	ClientID string `json:"client_id,omitzero"`
	// both are empty while the issuer does not publish them
	AuthorizationEndpoint string `json:"authorization_endpoint,omitzero"`
	TokenEndpoint         string `json:"token_endpoint,omitzero"`
	WebAPIKey             string `json:"web_api_key,omitzero"`
	Emulator              string `json:"emulator,omitzero"`
}

// ServeHTTP implements [http.Handler].
func (a *Methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if strings.HasPrefix(a.PublicURL, "https://") {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	answer.LimitBody(w, r)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		f, _ := failureOf(errMethodNotAllowed)
		answer.Refuse(w, f)
		return
	}
	providers := []Provider{}
	if a.Trust != nil {
		providers = append(providers, a.Trust.Providers(r.Context())...)
	}
	if f := a.Firebase; f != nil {
		p := Provider{Name: "Firebase", Kind: "firebase", ClientID: f.Project, WebAPIKey: f.WebAPIKey}
		if f.Emulator != "" {
			p.Emulator = "http://" + f.Emulator
		}
		providers = append(providers, p)
	}
	answer.JSON(answer.For(w, r), http.StatusOK, struct {
		Email     bool       `json:"email"`
		Links     bool       `json:"links"`
		Mail      string     `json:"mail"`
		Providers []Provider `json:"providers"`
		PublicURL string     `json:"public_url"`
		Version   string     `json:"version"`
	}{a.Email, a.Links, a.Mail, providers, answer.VisitedURL(r, a.PublicURL), a.Version})
}

// Origins returns the origins that pages call for sign-in. They are the issuers, the endpoints that those have
// published, and Firebase.
func (a *Methods) Origins() (all []string) {
	if a.Trust != nil {
		for _, p := range a.Trust.providers {
			all = append(all, p.origins()...)
		}
	}
	switch f := a.Firebase; {
	case f == nil:
	case f.Emulator != "":
		all = append(all, "http://"+f.Emulator)
	default:
		all = append(all, "https://identitytoolkit.googleapis.com", "https://securetoken.googleapis.com")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// origins does not wait for an issuer that is being asked.
func (p *publishedProvider) origins() []string {
	addresses := []string{p.Issuer}
	if p.mu.TryLock() {
		addresses = append(addresses, p.TokenEndpoint)
		p.mu.Unlock()
	}
	var all []string
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			all = append(all, u.Scheme+"://"+u.Host)
		}
	}
	return all
}

// How long the endpoints of an issuer are valid, the pause after a failed request, and how long a caller waits.
const (
	endpointsLife  = time.Hour
	endpointsRetry = time.Minute
	endpointsWait  = 3 * time.Second
)

// Providers returns the trusted issuers with a sign-in page, in the order of the configuration. The endpoints of an
// issuer that does not answer are missing; it is asked again a minute later.
func (t *Trust) Providers(ctx context.Context) []Provider {
	all := make([]Provider, len(t.providers))
	var wg sync.WaitGroup
	for i, p := range t.providers {
		wg.Go(func() { all[i] = p.refresh(ctx, t) })
	}
	wg.Wait()
	return all
}

// publishedProvider is a trusted issuer as pages see it.
type publishedProvider struct {
	Provider
	from published

	mu        sync.Mutex
	fetchedAt time.Time // zero: never
	known     bool      // the endpoints are the published ones
}

// newProvider is nil for Firebase, whose people sign in without endpoints.
func newProvider(e External, from published) *publishedProvider {
	u, err := url.Parse(e.Issuer)
	if err != nil || u.Host == firebaseHost {
		return nil
	}
	p := &publishedProvider{Provider: Provider{Name: e.Name, Kind: "oidc", Issuer: e.Issuer, ClientID: e.ClientID},
		from: from}
	if p.Name == "" {
		p.Name = u.Host
	}
	if p.ClientID == "" {
		p.ClientID = e.Audiences[0]
	}
	return p
}

// refresh returns what is known by now. Of concurrent callers one asks the issuer, and the others wait for it.
func (p *publishedProvider) refresh(ctx context.Context, t *Trust) Provider {
	p.mu.Lock()
	defer p.mu.Unlock()
	life := endpointsRetry
	if p.known {
		life = endpointsLife
	}
	if now := time.Now(); p.fetchedAt.IsZero() || now.Sub(p.fetchedAt) >= life {
		p.fetchedAt = now
		// The answer is for all callers, and the first one may leave.
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), endpointsWait)
		defer cancel()
		d, err := p.from.document(asking)
		if err == nil {
			err = checkEndpoints(d)
		}
		if err != nil {
			t.log.Warn("sign-in with an issuer is off: its discovery document lists no endpoints", "issuer", p.Issuer,
				"error", err)
		} else {
			p.AuthorizationEndpoint, p.TokenEndpoint, p.known = d.Authorization, d.Token, true
		}
	}
	return p.Provider
}

func checkEndpoints(d discovered) error {
	if err := checkURL(d.Authorization); err != nil {
		return err
	}
	return checkURL(d.Token)
}
