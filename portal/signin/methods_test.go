package signin_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

const endpointsDocument = `{"issuer":"` + idpURL + `","jwks_uri":"` + idpURL + `/keys",` +
	`"authorization_endpoint":"` + idpURL + `/auth","token_endpoint":"` + idpURL + `/token"}`

type waysBody struct {
	Email     bool
	Links     bool
	Mail      string
	Providers []signin.Provider
	PublicURL string `json:"public_url"`
	Version   string
}

func askWays(t *testing.T, h http.Handler, method string) (*httptest.ResponseRecorder, waysBody) {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, signin.MethodsPath, http.NoBody))
	var body waysBody
	if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: %v", rec.Body, err)
	}
	return rec, body
}

func TestWaysTellHowPeopleSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newIDP(rsaA())
		p.documents = map[string]string{idpURL + "/.well-known/openid-configuration": endpointsDocument}
		ways := &signin.Methods{
			Email: true, Mail: "smtp", Trust: p.trust(t,
				func(e *signin.External) { e.Audiences = []string{"pages", "cli"} }),
			Firebase:  &signin.FirebaseMethod{Project: "demo", WebAPIKey: "AIza", Emulator: "127.0.0.1:9099"},
			PublicURL: "https://tts.example.org", Version: "v1",
		}
		rec, got := askWays(t, ways, http.MethodGet)
		if hsts := rec.Header().Get("Strict-Transport-Security") != ""; hsts != strings.HasPrefix(ways.PublicURL,
			"https://") {
			t.Errorf("%s: told to come by TLS alone: %v", ways.PublicURL, hsts)
		}
		if rec.Code != http.StatusOK || !got.Email || got.Mail != "smtp" || got.PublicURL != ways.PublicURL ||
			got.Version != "v1" {
			t.Errorf("%d %+v", rec.Code, got)
		}
		want := []signin.Provider{{
			Name: "login.example.org", Kind: "oidc", Issuer: idpURL, ClientID: "pages",
			AuthorizationEndpoint: idpURL + "/auth", TokenEndpoint: idpURL + "/token",
		}, {Name: "Firebase", Kind: "firebase", ClientID: "demo", WebAPIKey: "AIza", Emulator: "http://127.0.0.1:9099"}}
		if len(got.Providers) != 2 || got.Providers[0] != want[0] || got.Providers[1] != want[1] {
			t.Errorf("providers %+v, want %+v", got.Providers, want)
		}
		if h := rec.Header(); h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("headers %v", h)
		}
	})
}

func TestWaysWithoutAny(t *testing.T) {
	rec, got := askWays(t, &signin.Methods{Mail: "none", PublicURL: "http://127.0.0.1:8080"}, http.MethodGet)
	// whoever asks has come by another name than that of this machine alone
	want := `{"email":false,"links":false,"mail":"none","providers":[],"public_url":"http://example.com","version":""}`
	if rec.Body.String() != want || got.Providers == nil {
		t.Errorf("got %s, want %s", rec.Body, want)
	}
	if rec, _ := askWays(t, &signin.Methods{}, http.MethodPost); rec.Code != http.StatusMethodNotAllowed ||
		rec.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q", rec.Code, rec.Header().Get("Allow"))
	}
}

// An issuer that does not tell its endpoints is there without them, and is asked again when the time has come, not
// before.
func TestEndpointsAreAskedForAgain(t *testing.T) {
	const discovery = idpURL + "/.well-known/openid-configuration"
	for name, tt := range map[string]struct {
		first string
		retry time.Duration
		known bool
	}{
		"it tells them":               {endpointsDocument, time.Hour, true},
		"another issuer":              {`{"issuer":"https://evil.example"}`, time.Minute, false},
		"endpoints without TLS":       {`{"issuer":"` + idpURL + `","authorization_endpoint":"http://evil.example/a","token_endpoint":"https://a.example/t"}`, time.Minute, false},
		"one of them without TLS":     {`{"issuer":"` + idpURL + `","authorization_endpoint":"https://a.example/a","token_endpoint":"http://evil.example/t"}`, time.Minute, false},
		"a document that is not JSON": {`Hi`, time.Minute, false},
		"a document without anything": {`{"issuer":"` + idpURL + `"}`, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newIDP(rsaA())
				p.documents = map[string]string{discovery: tt.first}
				trust := p.trust(t, func(e *signin.External) { e.Name, e.ClientID = "Office", "web" })
				told := func() (known bool) {
					t.Helper()
					all := trust.Providers(t.Context())
					if len(all) != 1 || all[0].Name != "Office" || all[0].ClientID != "web" || all[0].Issuer != idpURL {
						t.Fatalf("providers %+v", all)
					}
					return all[0].AuthorizationEndpoint == idpURL+"/auth" && all[0].TokenEndpoint == idpURL+"/token"
				}
				begun := time.Now()
				if told() != tt.known {
					t.Errorf("the endpoints are known: %v, want %v", !tt.known, tt.known)
				}
				p.documents[discovery] = endpointsDocument
				asked := p.requests(discovery)
				time.Sleep(tt.retry - time.Since(begun) - time.Nanosecond)
				told()
				if p.requests(discovery) != asked {
					t.Error("it was asked again too early")
				}
				time.Sleep(time.Second)
				if !told() || p.requests(discovery) != asked+1 {
					t.Errorf("it was asked %d times more, want once", p.requests(discovery)-asked)
				}
			})
		})
	}
}

func TestFirebaseAmongIssuersHasNoEndpoints(t *testing.T) {
	trust, err := signin.NewTrust([]signin.External{signin.Firebase("demo")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := trust.Providers(t.Context()); len(all) != 0 {
		t.Errorf("providers %+v, want none: no request was to be made", all)
	}
}
