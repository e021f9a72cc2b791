package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/portal/emailaddr"
)

const (
	linkPath = "/auth/link"
	maxBody  = 16 << 10 // bytes
)

// The cookies of browsers, which no script can read. The first ties links to the browser that asked for them.
const (
	browserCookie = "swar_browser"
	refreshCookie = "swar_refresh"
	cookiePath    = "/auth"
)

// Refusals of the protocol itself.
var (
	errNotFound         = errors.New("not found")
	errMethodNotAllowed = errors.New("method not allowed")
	errCrossOrigin      = errors.New("requests of pages of other servers are refused")
	errBodyTooLarge     = fmt.Errorf("request body larger than %d bytes", maxBody)
	errNotObject        = errors.New("invalid JSON: expected an object in UTF-8")
	errWhatToVerify     = errors.New("send either token, or email and code")
	errSession          = errors.New("session must be token or cookie")
)

// fieldError says that a field is not a string.
type fieldError string

func (e fieldError) Error() string { return string(e) + ": must be a string" }

type endpoint func(i *Issuer, w http.ResponseWriter, r *http.Request) error

// routes are all paths, each with its methods. HEAD works where GET does.
var routes = map[string]map[string]endpoint{
	"/.well-known/openid-configuration": {http.MethodGet: (*Issuer).serveDiscovery},
	"/oauth2/jwks":                      {http.MethodGet: (*Issuer).serveKeys},
	linkPath:                            {http.MethodGet: serveFile("link.html")},
	linkPath + ".js":                    {http.MethodGet: serveFile("link.js")},
	linkPath + ".css":                   {http.MethodGet: serveFile("link.css")},
	"/auth/v1/email-link":               {http.MethodPost: (*Issuer).serveAsk},
	"/auth/v1/verify":                   {http.MethodPost: (*Issuer).serveVerify},
	"/auth/v1/refresh":                  {http.MethodPost: (*Issuer).serveRefresh},
	"/auth/v1/logout":                   {http.MethodPost: (*Issuer).serveLogout},
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
	// Some of these requests are authenticated by a cookie. It is sent by pages of this server only, and what other pages say is refused.
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

// serveDiscovery tells verifiers about the issuer (OpenID Connect Discovery). There is no authorisation endpoint to tell about.
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
		i.cfg.URL, i.cfg.URL + "/oauth2/jwks", []string{"id_token"}, []string{"public"}, []string{"RS256"}, []string{"openid", "email"},
		[]string{"iss", "aud", "sub", "exp", "iat", "auth_time", "email", "email_verified"},
	})
}

func (i *Issuer) serveKeys(w http.ResponseWriter, r *http.Request) error {
	ring, err := i.keys.get(r.Context(), keysReload)
	if err != nil {
		return err
	}
	return i.publish(w, map[string]any{"keys": ring.public()})
}

// publish answers with a document that everybody may read and keep.
func (i *Issuer) publish(w http.ResponseWriter, document any) error {
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(keysMaxAge.Seconds())))
	w.Header().Set("Access-Control-Allow-Origin", "*")
	return answer(w, http.StatusOK, document)
}

// serveAsk mails a link. Its answer is the same for every address.
func (i *Issuer) serveAsk(w http.ResponseWriter, r *http.Request) error {
	fields, err := readFields(w, r, "email")
	if err != nil {
		return err
	}
	email, err := emailaddr.Clean(fields["email"])
	if err != nil {
		return err
	}
	by := i.asker(r)
	if err := i.ask(r.Context(), email, by, i.cfg.ClientIP(r)); err != nil {
		return err
	}
	i.setCookie(w, browserCookie, encode(by.browser[:]), linkLife+repeatTime)
	return answer(w, http.StatusAccepted, map[string]any{
		"status":     "if this address may sign in, a mail is on its way",
		"expires_in": int(linkLife.Seconds()),
	})
}

// asker tells browsers by what all of them send with a POST: every current one where a page asks from, every old one its origin.
func (i *Issuer) asker(r *http.Request) asker {
	a := asker{browser: newSecret(), program: r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == ""}
	var s secret
	if cookie, err := r.Cookie(i.cookieName(browserCookie)); err == nil && decode(cookie.Value, s[:]) {
		a.browser = s
	}
	return a
}

// serveVerify signs in with a link or a code.
//
// The caller says where the refresh token goes. A page asks for a cookie, so that no script in it ever holds what signs in for months; a
// program has no use for cookies and is given the token. Guessing from headers which of the two it is would sooner or later hand the token
// to a page.
func (i *Issuer) serveVerify(w http.ResponseWriter, r *http.Request) error {
	fields, err := readFields(w, r, "token", "email", "code", "session")
	if err != nil {
		return err
	}
	inCookie := fields["session"] == "cookie"
	if !inCookie && fields["session"] != "" && fields["session"] != "token" {
		return errSession
	}
	byToken := fields["token"] != ""
	if byToken == (fields["email"] != "" && fields["code"] != "") {
		return errWhatToVerify
	}
	var s session
	if byToken {
		s, err = i.spendToken(r.Context(), fields["token"], i.asker(r))
	} else {
		s, err = i.spendCode(r.Context(), fields["email"], fields["code"], i.asker(r))
	}
	if err != nil {
		return err
	}
	i.cfg.Log.Info("signed in", "user", subject(s.email))
	return i.answerSession(w, r, s, inCookie)
}

// serveRefresh answers with what it was asked with: a token in the body with a token in the body, the cookie with the cookie.
func (i *Issuer) serveRefresh(w http.ResponseWriter, r *http.Request) error {
	token, inCookie, err := i.readRefresh(w, r)
	if err != nil {
		return err
	}
	s, err := i.refresh(r.Context(), token)
	if err != nil {
		if inCookie && errors.Is(err, errBadRefresh) {
			i.setCookie(w, refreshCookie, "", -time.Second)
		}
		return err
	}
	return i.answerSession(w, r, s, inCookie)
}

// serveLogout ends a sign-in. ID tokens that were given out are good until they expire.
func (i *Issuer) serveLogout(w http.ResponseWriter, r *http.Request) error {
	token, inCookie, err := i.readRefresh(w, r)
	if err != nil {
		return err
	}
	if err := i.end(r.Context(), token); err != nil {
		return err
	}
	if inCookie {
		i.setCookie(w, refreshCookie, "", -time.Second)
	}
	return answer(w, http.StatusOK, map[string]string{"status": "signed out"})
}

func (i *Issuer) readRefresh(w http.ResponseWriter, r *http.Request) (token string, inCookie bool, err error) {
	fields, err := readFields(w, r, "refresh_token")
	if err != nil || fields["refresh_token"] != "" {
		return fields["refresh_token"], false, err
	}
	if cookie, err := r.Cookie(i.cookieName(refreshCookie)); err == nil {
		return cookie.Value, true, nil
	}
	return "", false, nil
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
		i.setCookie(w, refreshCookie, s.refresh, refreshLife)
		body.Next = i.cfg.Home
	} else {
		body.RefreshToken = s.refresh
	}
	return answer(w, http.StatusOK, body)
}

// setCookie sets a cookie that only requests of pages of this server carry, and only to the issuer.
func (i *Issuer) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: i.cookieName(name), Value: value, Path: cookiePath, MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: i.secure, SameSite: http.SameSiteStrictMode,
	})
}

// cookieName has a prefix with which browsers take cookies over encrypted connections only (RFC 6265bis).
func (i *Issuer) cookieName(name string) string {
	if i.secure {
		return "__Secure-" + name
	}
	return name
}

// readFields reads the string fields of a JSON object. Absent and null are "". Other fields are ignored, and so is the type of the
// content, as everywhere in the API; no body is an empty object.
func readFields(w http.ResponseWriter, r *http.Request, names ...string) (map[string]string, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, errBodyTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotObject, err)
	}
	fields := map[string]string{}
	if len(body) == 0 {
		return fields, nil
	}
	var object map[string]json.RawMessage // a map, because field names of structs match in any case
	if err := json.Unmarshal(body, &object); err != nil || object == nil || !utf8.Valid(body) {
		return nil, errNotObject
	}
	for _, name := range names {
		raw, ok := object[name]
		if !ok || string(raw) == "null" {
			continue
		}
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fieldError(name)
		}
		fields[name] = s
	}
	return fields, nil
}

func answer(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
	return nil
}

// fail is the one place where an error becomes a status and a text for the client. Causes go to the log only.
func (i *Issuer) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, code := http.StatusBadRequest, "bad_request"
	text := err.Error()
	tooMany, isTooMany := errors.AsType[*tooManyError](err)
	_, isField := errors.AsType[fieldError](err)
	switch {
	case isTooMany:
		status, code = http.StatusTooManyRequests, "too_many_mails"
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(tooMany.retry.Seconds()))))
	case isField, errors.Is(err, emailaddr.ErrInvalid), errors.Is(err, errWhatToVerify), errors.Is(err, errSession):
	case errors.Is(err, errBadLink):
		code, text = "bad_link", errBadLink.Error()
	case errors.Is(err, errOtherBrowser):
		code, text = "other_browser", errOtherBrowser.Error()
	case errors.Is(err, errBadRefresh):
		code, text = "bad_refresh_token", errBadRefresh.Error()
	case errors.Is(err, errNotObject):
		text = errNotObject.Error()
	case errors.Is(err, errNotFound):
		status, code = http.StatusNotFound, "not_found"
	case errors.Is(err, errMethodNotAllowed):
		status, code = http.StatusMethodNotAllowed, "method_not_allowed"
	case errors.Is(err, errCrossOrigin):
		status, code = http.StatusForbidden, "cross_origin"
	case errors.Is(err, errBodyTooLarge):
		status, code = http.StatusRequestEntityTooLarge, "body_too_large"
	case errors.Is(err, errOutboxFull):
		status, code = http.StatusServiceUnavailable, "busy"
		w.Header().Set("Retry-After", "60")
	default:
		status, code, text = http.StatusServiceUnavailable, "unavailable", "sign-in is unavailable; try again"
		w.Header().Set("Retry-After", "5")
		if r.Context().Err() == nil {
			i.cfg.Log.Error("sign-in failed", "path", r.URL.Path, "error", err)
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Error-Code", code)
	_ = answer(w, status, map[string]string{"error": text}) // which is always JSON
}
