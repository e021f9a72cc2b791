package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Kind is what is wrong with what was asked for.
type Kind int

// The kinds of errors that the hub tells apart.
const (
	KindOther         Kind = iota
	KindLogin              // gated, and no token was given
	KindTerms              // gated, and the owner of the token has not accepted the terms
	KindMissing            // no such repository, as far as one may see
	KindMissingPublic      // no such repository for those without a token: it is missing or private
	KindRevision           // no such commit, branch or tag
	KindEntry              // no such file
	KindToken              // the token is wrong or has expired
	KindDisabled           // taken down
	KindRate               // too many requests
	KindOffline            // not in the cache, and asking is switched off
	KindNoHub              // what answers is no hub
)

// Error is a refusal, in a sentence that says what to do.
type Error struct {
	Kind   Kind
	Status int    // 0 where nobody was asked
	Text   string // the sentence
}

func (e *Error) Error() string { return e.Text }

// Is reports whether err, or what it wraps, is a refusal of a kind.
func Is(err error, k Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == k
}

// refusal makes an error of an answer. The body is read, but not closed.
func (c *Client) refusal(r Reference, answer *http.Response) error {
	page := c.page(r.Repository)
	code := answer.Header.Get("X-Error-Code")
	message := errorText(answer)
	e := &Error{Status: answer.StatusCode}
	isInvalidToken := strings.Contains(message, "Invalid credentials") ||
		strings.Contains(message, "invalid username or password")
	switch {
	case answer.StatusCode == http.StatusUnauthorized && code == "GatedRepo":
		e.Kind, e.Text = KindLogin,
			fmt.Sprintf("%s is gated: open %s, accept its terms, and set HF_TOKEN to a token of the account that did (%s/settings/tokens)",
				r.Repository, page, c.Endpoint)
	case answer.StatusCode == http.StatusForbidden && code == "GatedRepo":
		e.Kind, e.Text = KindTerms,
			fmt.Sprintf("%s is gated, and the account of your token has not been let in: open %s while signed in as that account, and accept its terms",
				r.Repository, page)
	case answer.StatusCode == http.StatusUnauthorized && isInvalidToken:
		e.Kind, e.Text = KindToken,
			fmt.Sprintf("the hub does not know the token (of %s): it is wrong or has expired; make another one at %s/settings/tokens, or take it away for what is public",
				c.tokenFrom, c.Endpoint)
	case answer.StatusCode == http.StatusNotFound && code == "RevisionNotFound":
		e.Kind, e.Text = KindRevision,
			fmt.Sprintf("%s has no revision %q; %s/commits/main lists them", r.Repository, orMain(r.Revision), page)
	case answer.StatusCode == http.StatusNotFound && code == "EntryNotFound":
		e.Kind, e.Text = KindEntry,
			fmt.Sprintf("%s has no file %q at %s; %s/tree/main lists them", r.Repository, r.Path, orMain(r.Revision),
				page)
	case answer.StatusCode == http.StatusUnauthorized:
		e.Kind, e.Text = KindMissingPublic,
			fmt.Sprintf("%s does not exist, or is private: the hub does not say without a token. Look at %s, or set HF_TOKEN",
				r.Repository, page)
	case answer.StatusCode == http.StatusNotFound:
		e.Kind, e.Text = KindMissing,
			fmt.Sprintf("%s does not exist, or the account of your token may not see it; look at %s", r.Repository,
				page)
	case answer.StatusCode == http.StatusForbidden && strings.Contains(message, "disabled"):
		e.Kind, e.Text = KindDisabled,
			fmt.Sprintf("%s has been taken down by the hub; %s may say why", r.Repository, page)
	case answer.StatusCode == http.StatusTooManyRequests:
		e.Kind, e.Text = KindRate,
			fmt.Sprintf("the hub has had too many requests from here; wait a few minutes, or set HF_TOKEN for a limit of your own (%s)", answer.Status)
	default:
		e.Text = fmt.Sprintf("%s: the hub answers %s", r.Repository, answer.Status)
		if message != "" {
			e.Text += ": " + message
		}
	}
	return e
}

// errorText is what an answer says is wrong: the header, or the error of its JSON.
func errorText(answer *http.Response) string {
	const most = 4 << 10
	var body struct {
		Error string `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, most))
	if message := answer.Header.Get("X-Error-Message"); message != "" {
		return oneLine(message)
	}
	if json.Unmarshal(text, &body) == nil {
		return oneLine(body.Error)
	}
	return ""
}

// oneLine returns the beginning of a text of others, fit for a terminal.
func oneLine(text string) string {
	const most = 300
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	return text[:min(most, len(text))]
}
