package signin

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/strictjson"
)

const (
	linkPath = "/auth/link"
	maxBody  = 16 << 10 // bytes
)

// The cookies of browsers. The first ties links to the browser that requested them. Scripts can read only the last: it
// shows that there is a refresh token, so that pages send no useless refresh.
const (
	browserCookie = "swar_browser"
	refreshCookie = "swar_refresh"
	sessionCookie = "swar_session"
	plainPath     = "/auth" // of cookies without TLS; the prefix __Host- wants /
)

type endpoint func(i *Issuer, w http.ResponseWriter, r *http.Request) error

// routes are all paths, each with its methods. HEAD works where GET does.
var routes = map[string]map[string]endpoint{
	"/.well-known/openid-configuration": {http.MethodGet: (*Issuer).serveDiscovery},
	"/oauth2/jwks":                      {http.MethodGet: (*Issuer).serveKeys},
	linkPath:                            {http.MethodGet: serveFile("link.html")},
	linkPath + ".js":                    {http.MethodGet: serveFile("link.js")},
	linkPath + ".css":                   {http.MethodGet: serveFile("link.css")},
	"/auth/v1/email-link":               {http.MethodPost: (*Issuer).serveLink},
	"/auth/v1/verify":                   {http.MethodPost: (*Issuer).serveVerify},
	"/auth/v1/refresh":                  {http.MethodPost: (*Issuer).serveRefresh},
	"/auth/v1/logout":                   {http.MethodPost: (*Issuer).serveLogout},
	"/auth/v1/setup":                    {http.MethodPost: (*Issuer).serveSetup},
}

// Paths returns what the issuer has to be mounted at, in order.
func Paths() []string { return slices.Sorted(maps.Keys(routes)) }

// ServeHTTP implements [http.Handler].
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if i.secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	answer.LimitBody(w, r)
	if err := i.serve(w, r); err != nil {
		i.fail(w, r, err)
	}
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) error {
	methods := routes[r.URL.Path]
	if methods == nil {
		return errNotFound
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	serve := methods[method]
	if serve == nil {
		w.Header().Set("Allow", allow(methods))
		return errMethodNotAllowed
	}
	// Some of these requests are authenticated by a cookie. It is sent by pages of this server only, and what other
	// pages say is refused.
	if err := i.cross.Check(r); err != nil {
		return errCrossOrigin
	}
	return serve(i, w, r)
}

func allow(methods map[string]endpoint) string {
	names := slices.Sorted(maps.Keys(methods))
	if methods[http.MethodGet] != nil {
		names = append(names, http.MethodHead)
	}
	return strings.Join(names, ", ")
}

// serveDiscovery describes the issuer to verifiers (OpenID Connect Discovery). There is no authorisation endpoint.
func (i *Issuer) serveDiscovery(w http.ResponseWriter, _ *http.Request) error {
	return i.publish(w, struct {
		Issuer        string   `json:"issuer"`
		JWKSURI       string   `json:"jwks_uri"`
		ResponseTypes []string `json:"response_types_supported"`
		SubjectTypes  []string `json:"subject_types_supported"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
		Scopes        []string `json:"scopes_supported"`
		Claims        []string `json:"claims_supported"`
	}{
		i.cfg.URL, i.cfg.URL + "/oauth2/jwks", []string{"id_token"}, []string{"public"}, []string{"RS256"},
		[]string{"openid", "email"},
		[]string{"iss", "aud", "sub", "exp", "iat", "auth_time", "email", "email_verified"},
	})
}

func (i *Issuer) serveKeys(w http.ResponseWriter, r *http.Request) error {
	list, err := i.keys.get(r.Context(), keysReload, keysMaxAge)
	if err != nil {
		return err
	}
	return i.publish(w, map[string]any{"keys": list.public()})
}

// publish serves a public document that may be cached.
func (i *Issuer) publish(w http.ResponseWriter, document any) error {
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(keysMaxAge.Seconds())))
	w.Header().Set("Access-Control-Allow-Origin", "*")
	answer.JSON(w, http.StatusOK, document)
	return nil
}

// serveLink mails a link. Its answer is the same for every address.
func (i *Issuer) serveLink(w http.ResponseWriter, r *http.Request) error {
	fields, err := readFields(w, r, "email")
	if err != nil {
		return err
	}
	email, err := emailaddr.Clean(fields["email"])
	if err != nil {
		return err
	}
	by := i.requester(r)
	if !i.secure {
		by.browser = newSecret() // without TLS another server on this host may have planted the one that came
	}
	if err := i.requestLink(r.Context(), email, by); err != nil {
		return err
	}
	i.setCookie(w, browserCookie, encode(by.browser[:]), linkLife+repeatTime)
	answer.JSON(w, http.StatusAccepted, map[string]any{
		"status":     "if this address may sign in, a mail is on its way",
		"expires_in": int(linkLife.Seconds()),
	})
	return nil
}

// requester identifies same-origin requests by headers that all browsers send with a POST: current ones Sec-Fetch-Site,
// old ones Origin.
func (i *Issuer) requester(r *http.Request) requester {
	isProgram := r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == ""
	a := requester{browser: newSecret(), program: isProgram, ip: i.cfg.ClientIP(r)}
	var s secret
	if cookie, err := r.Cookie(i.cookieName(browserCookie)); err == nil && decode(cookie.Value, s[:]) {
		a.browser = s
	}
	return a
}

// serveVerify signs in with a link or a code.
//
// The caller says where the refresh token goes. A page asks for a cookie, so that no script in it ever holds what
// signs in for months; a program has no use for cookies and is given the token. Guessing from headers which of the
// two it is would sooner or later hand the token to a page.
func (i *Issuer) serveVerify(w http.ResponseWriter, r *http.Request) error {
	fields, err := readFields(w, r, "token", "email", "code", "session")
	if err != nil {
		return err
	}
	inCookie, err := wantsCookie(fields)
	if err != nil {
		return err
	}
	byToken := fields["token"] != ""
	if byToken == (fields["email"] != "" && fields["code"] != "") {
		return errWhatToVerify
	}
	by := i.requester(r)
	if err := takeTry(r.Context(), i.store, by.ip, time.Now()); err != nil {
		return err
	}
	var s session
	if byToken {
		s, err = i.spendToken(r.Context(), fields["token"], by)
	} else {
		s, err = i.spendCode(r.Context(), fields["email"], fields["code"], by)
	}
	if err != nil {
		return err
	}
	i.cfg.Log.Info("signed in", "user", subject(s.email))
	return i.answerSession(w, r, s, inCookie)
}

// wantsCookie reads where the refresh token is to go.
func wantsCookie(fields map[string]string) (bool, error) {
	switch fields["session"] {
	case "cookie":
		return true, nil
	case "", "token":
		return false, nil
	}
	return false, errSession
}

// serveRefresh answers with what it was asked with: a token in the body with a token in the body, the cookie with the
// cookie.
func (i *Issuer) serveRefresh(w http.ResponseWriter, r *http.Request) error {
	tokens, inCookie, err := i.readRefresh(w, r)
	if err != nil {
		return err
	}
	var s session
	for _, token := range tokens {
		if s, err = i.refresh(r.Context(), token); !errors.Is(err, errBadRefresh) {
			break
		}
	}
	if err != nil {
		if inCookie && errors.Is(err, errBadRefresh) {
			i.setRefresh(w, "", -time.Second)
		}
		return err
	}
	return i.answerSession(w, r, s, inCookie)
}

// serveLogout ends a sign-in. ID tokens that were given out are good until they expire.
func (i *Issuer) serveLogout(w http.ResponseWriter, r *http.Request) error {
	tokens, inCookie, err := i.readRefresh(w, r)
	if err != nil {
		return err
	}
	for _, token := range tokens {
		email, err := i.end(r.Context(), token)
		if err == nil && email != "" && i.cfg.SignedOut != nil {
			err = i.cfg.SignedOut(r.Context(), email)
		}
		if err != nil {
			return err
		}
	}
	if inCookie {
		i.setRefresh(w, "", -time.Second)
	}
	answer.JSON(w, http.StatusOK, map[string]string{"status": "signed out"})
	return nil
}

// maxRefreshCookies is how many cookies of one name are looked at. A browser sends several where some were set for
// other paths or domains.
const maxRefreshCookies = 4

// readRefresh returns the tokens that may be good, at least one.
func (i *Issuer) readRefresh(w http.ResponseWriter, r *http.Request) (tokens []string, inCookie bool, err error) {
	fields, err := readFields(w, r, "refresh_token")
	if err != nil || fields["refresh_token"] != "" {
		return []string{fields["refresh_token"]}, false, err
	}
	for _, c := range r.CookiesNamed(i.cookieName(refreshCookie)) {
		if len(tokens) < maxRefreshCookies && !slices.Contains(tokens, c.Value) {
			tokens = append(tokens, c.Value)
		}
	}
	_, err = r.Cookie(sessionCookie)
	inCookie = len(tokens) > 0 || err == nil // a sign without a token is taken away as well
	if len(tokens) == 0 {
		tokens = []string{""}
	}
	return tokens, inCookie, nil
}

func (i *Issuer) answerSession(w http.ResponseWriter, r *http.Request, s session, inCookie bool) error {
	idToken, err := i.idToken(r.Context(), s)
	if err != nil {
		return err
	}
	body := struct {
		IDToken      string `json:"id_token"`
		RefreshToken string `json:"refresh_token,omitempty"`
		ExpiresIn    int    `json:"expires_in"` // seconds
		Next         string `json:"next,omitempty"`
	}{IDToken: idToken, ExpiresIn: int(tokenLife.Seconds())}
	if inCookie {
		i.setRefresh(w, s.refresh, refreshLife)
		body.Next = i.cfg.Home
	} else {
		body.RefreshToken = s.refresh
	}
	answer.JSON(w, http.StatusOK, body)
	return nil
}

// setCookie sets a cookie that only requests of pages of this server carry.
func (i *Issuer) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	path := plainPath
	if i.secure {
		path = "/"
	}
	http.SetCookie(w, &http.Cookie{
		Name: i.cookieName(name), Value: value, Path: path, MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: i.secure, SameSite: http.SameSiteStrictMode,
	})
}

// setRefresh gives a browser a refresh token, and the sign by which its pages know that it has one; a negative life
// takes both away.
func (i *Issuer) setRefresh(w http.ResponseWriter, token string, life time.Duration) {
	i.setCookie(w, refreshCookie, token, life)
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: "1", Path: "/", MaxAge: int(life.Seconds()), Secure: i.secure,
		SameSite: http.SameSiteStrictMode,
	})
}

// cookieName has a prefix with which browsers take cookies from this host alone and over encrypted connections only
// (RFC 6265bis): no neighbour can plant one.
func (i *Issuer) cookieName(name string) string {
	if i.secure {
		return "__Host-" + name
	}
	return name
}

// readFields reads the string fields of a JSON object. Absent and null are not in the map. Other fields are ignored,
// and so is the type of the content, as everywhere in the API; no body is an empty object.
func readFields(w http.ResponseWriter, r *http.Request, names ...string) (map[string]string, error) {
	body, err := answer.ReadBody(w, r, maxBody)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	fields, err := strictjson.Strings(body, names...)
	if _, ok := errors.AsType[*strictjson.FieldError](err); ok {
		return nil, badRequest(err.Error())
	}
	if err != nil {
		return nil, badRequest("invalid JSON: " + err.Error())
	}
	return fields, nil
}

// fail answers with an error.
func (i *Issuer) fail(w http.ResponseWriter, r *http.Request, err error) {
	f, isFault := failureOf(err)
	if isFault && r.Context().Err() == nil {
		i.cfg.Log.Error("sign-in failed", "path", r.URL.Path, "error", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	answer.Refuse(w, f)
}
