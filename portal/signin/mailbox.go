package signin

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// Rules of links. A link and its code are two ways to spend the same thing.
const (
	linkLife   = 15 * time.Minute
	repeatTime = time.Minute // in which the browser that spent a link may do so again: double clicks, lost answers
	maxRepeats = 3
	maxWrong   = 5  // wrong codes, after which a link is void for their sender
	maxGuesser = 64 // subscribers whose wrong codes a link counts; beyond, the one that came first is forgotten

	handedLife = 24 * time.Hour // of a link that an operator hands over

	shortWindow, shortLimit = 15 * time.Minute, 3 // mails to one address
	dayWindow, dayLimit     = 24 * time.Hour, 10
)

// Why a link or code is refused. errBadLink reveals nothing about an address; only the reader of a mail gets
// errOtherBrowser.
var (
	errBadLink = &refusal{
		http.StatusBadRequest, "bad_link", "the link or code is wrong, was used or has expired; ask for a new one",
	}
	errOtherBrowser = &refusal{
		http.StatusBadRequest, "other_browser",
		"this is not the browser in which the link was asked for; type the code of the mail there",
	}
)

// mailbox is everything about one e-mail address: one record, so that no limit and no single use can be raced.
type mailbox struct {
	Email string      `json:"email"`
	Asked []time.Time `json:"asked"` // when links were asked for, in the last day, oldest first
	Links []link      `json:"links"` // oldest first

	SignedIn time.Time `json:"signed_in,omitzero"` // last sign-in with a link of this address
}

// link is a mailed link. It is used up with its token or its code, and only in the browser that requested it, or by a
// program if a program did. A link of an operator has no code; anyone who has it may use it, once.
type link struct {
	Token   hash      `json:"token"`
	Code    hash      `json:"code"` // see asker.codeHash
	Browser hash      `json:"browser"`
	Program bool      `json:"program,omitempty"`
	Handed  bool      `json:"handed,omitempty"` // by an operator, and not mailed
	Asked   time.Time `json:"asked"`
	Wrong   int       `json:"wrong,omitempty"`   // codes that the browser that asked has tried
	Guesses []guesses `json:"guesses,omitempty"` // that programs have made, oldest first
	Used    time.Time `json:"used,omitzero"`
	Repeats int       `json:"repeats,omitempty"`
}

// guesses counts the wrong codes of one subscriber.
type guesses struct {
	From  string `json:"from"`
	Wrong int    `json:"wrong"`
}

// requester is the client that requests and uses links.
type requester struct {
	browser secret // of its cookie; one that matches nothing without a cookie
	program bool   // it has none of the marks of a browser, and need not keep cookies
	ip      netip.Addr
}

// fetchedAt reports whether it was a that asked for l.
func (a requester) requested(l *link) bool { return l.Browser == a.browser.hash() }

// owns reports whether a may use l. A browser cannot use a program's link: mail scanners open links in browsers.
func (a requester) owns(l *link) bool { return l.Handed || a.requested(l) || l.Program && a.program }

// hasGuessed reports whether a has tried the limit of wrong codes, so that no code of l is accepted from it. Programs
// are distinguished by address: a stranger's guesses must not void a link for others.
func (a requester) hasGuessed(l *link) bool {
	if a.requested(l) {
		return l.Wrong >= maxWrong
	}
	from := subscriber(a.ip)
	return slices.ContainsFunc(l.Guesses, func(g guesses) bool { return g.From == from && g.Wrong >= maxWrong })
}

// countWrong notes a wrong code of a.
func (a requester) countWrong(l *link) {
	if a.requested(l) {
		l.Wrong++
		return
	}
	from := subscriber(a.ip)
	i := slices.IndexFunc(l.Guesses, func(g guesses) bool { return g.From == from })
	if i < 0 {
		if len(l.Guesses) == maxGuesser {
			l.Guesses = slices.Delete(l.Guesses, 0, 1)
		}
		i = len(l.Guesses)
		l.Guesses = append(l.Guesses, guesses{From: from})
	}
	l.Guesses[i].Wrong++
}

// codeHash is what is stored of a code. Codes are short enough to try them all, so for a browser it takes its secret
// to do that.
func (a requester) codeHash(code string, program bool) hash {
	key := a.browser
	if program {
		key = secret{}
	}
	return key.derive([]byte("code " + code)).hash()
}

// mailboxID is the hash of the address, so that the ids of records do not name people.
func mailboxID(h hash) string { return "email:" + hex.EncodeToString(h[:]) }

func emailHash(email string) hash { return sha256.Sum256([]byte("swar email " + email)) }

// addMailed adds a link, or returns after what time another may be asked for.
func (m *mailbox) addMailed(now time.Time, l link) (retry time.Duration) {
	m.Asked = slices.DeleteFunc(m.Asked, func(t time.Time) bool {
		return !now.Before(t.Add(dayWindow)) || t.Sub(now) > clockLeeway
	})
	retry = max(wait(m.Asked, now, shortWindow, shortLimit), wait(m.Asked, now, dayWindow, dayLimit))
	if retry > 0 {
		return retry
	}
	m.prune(now)
	m.Asked = append(m.Asked, now)
	l.Asked = now
	m.Links = append(m.Links, l)
	return 0
}

// addHanded adds a link of an operator, which ends those before it. It counts as no mail.
func (m *mailbox) addHanded(now time.Time, token hash) {
	m.prune(now)
	m.Links = slices.DeleteFunc(m.Links, func(l link) bool { return l.Handed })
	m.Links = append(m.Links, link{Token: token, Handed: true, Asked: now})
}

// expires is when nothing in the record matters any more.
func (m *mailbox) expires() (last time.Time) {
	later := func(t time.Time, life time.Duration) {
		if end := t.Add(life); !t.IsZero() && end.After(last) {
			last = end
		}
	}
	if n := len(m.Asked); n > 0 {
		later(m.Asked[n-1], dayWindow)
	}
	for _, l := range m.Links {
		later(l.Asked, l.life())
	}
	later(m.SignedIn, chainLife)
	return last
}

// life is how long a link can be spent.
func (l *link) life() time.Duration {
	if l.Handed {
		return handedLife
	}
	return linkLife
}

// spendToken uses up the link with this token, and reports whether an operator handed it over.
func (m *mailbox) spendToken(now time.Time, token hash, by requester) (handed bool, err error) {
	m.prune(now)
	i := slices.IndexFunc(m.Links, func(l link) bool { return l.Token == token })
	switch {
	case i < 0:
		return false, errBadLink
	case !by.owns(&m.Links[i]):
		return false, errOtherBrowser
	}
	handed = m.Links[i].Handed
	return handed, m.spend(now, i)
}

// spendCode uses up the link of this asker that has this code. A wrong code counts against this asker, for all the
// links that it may spend. changed is whether the record has to be stored although there is an error.
func (m *mailbox) spendCode(now time.Time, code string, by requester) (changed bool, err error) {
	m.prune(now)
	mayTry := func(l *link) bool { return !l.Handed && by.owns(l) && !by.hasGuessed(l) }
	isRight := func(l link) bool { return mayTry(&l) && by.codeHash(code, l.Program) == l.Code }
	if i := slices.IndexFunc(m.Links, isRight); i >= 0 {
		return false, m.spend(now, i)
	}
	for i := range m.Links {
		if l := &m.Links[i]; mayTry(l) {
			by.countWrong(l)
			changed = true
		}
	}
	m.Links = slices.DeleteFunc(m.Links, func(l link) bool { return l.Wrong >= maxWrong })
	return changed, errBadLink
}

// spend uses up link i, and voids all requested before it.
func (m *mailbox) spend(now time.Time, i int) error {
	l := &m.Links[i]
	if !l.Used.IsZero() {
		if l.Repeats >= maxRepeats || l.Handed {
			return errBadLink
		}
		l.Repeats++
		return nil
	}
	l.Used, m.SignedIn = now, now
	m.Links = slices.Delete(m.Links, 0, i)
	return nil
}

// prune forgets the links that can no longer be spent.
func (m *mailbox) prune(now time.Time) {
	m.Links = slices.DeleteFunc(m.Links, func(l link) bool {
		if !l.Used.IsZero() {
			return !now.Before(l.Used.Add(repeatTime))
		}
		return !now.Before(l.Asked.Add(l.life())) || l.Asked.Sub(now) > clockLeeway // the clock was put back
	})
}

// wait is the time until fewer than limit of the times, which are in order, lie within window.
func wait(times []time.Time, now time.Time, window time.Duration, limit int) time.Duration {
	if len(times) < limit {
		return 0
	}
	return max(0, times[len(times)-limit].Add(window).Sub(now))
}
