package rest

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/strictjson"
)

type lexiconShape struct {
	ID        string          `json:"id"`
	ProjectID string          `json:"project_id"`
	Version   int64           `json:"version"`
	Entries   []lexicon.Entry `json:"entries"`
	UpdatedAt timestamp       `json:"updated_at,omitzero"`
	UpdatedBy string          `json:"updated_by,omitzero"`
}

func (c *call) answerLexicon(l tenant.Lexicon) error {
	c.w.Header().Set("ETag", strconv.Quote(strconv.FormatInt(l.Version, 10)))
	entries := l.Entries
	if entries == nil {
		entries = []lexicon.Entry{}
	}
	return c.json(lexiconShape{l.ID(), l.ProjectID, l.Version, entries, timestamp(l.UpdatedAt), l.UpdatedBy})
}

func (s *Server) lexicon(c *call) error {
	id, err := c.objectInPath()
	if err != nil {
		return err
	}
	l, err := s.cfg.Tenancy.Lexicon(c.ctx(), c.user, id)
	if err != nil {
		return err
	}
	return c.answerLexicon(l)
}

func (s *Server) putLexicon(c *call) error {
	id, err := c.objectInPath()
	if err != nil {
		return err
	}
	var entries []lexicon.Entry
	if _, err := c.body(field{"entries", true,
		func(v jsontext.Value) error { return readEntries(v, &entries) }}); err != nil {
		return err
	}
	version, err := c.ifMatch()
	if err != nil {
		return err
	}
	l, err := s.cfg.Tenancy.PutLexicon(c.ctx(), c.user, id, entries, version)
	if err != nil {
		return err
	}
	return c.answerLexicon(l)
}

// parseLexicon reads a file for a page, and keeps nothing of it.
func (s *Server) parseLexicon(c *call) error {
	id, err := c.objectInPath()
	if err != nil {
		return err
	}
	var format, text string
	if _, err := c.body(required("format", &format), required("text", &text)); err != nil {
		return err
	}
	if _, err := s.cfg.Tenancy.Lexicon(c.ctx(), c.user, id); err != nil { // without rights on the project
		return err
	}
	entries, dropped, err := lexicon.Parse(format, text)
	if err == nil {
		entries, err = lexicon.Clean(entries)
	}
	if err != nil {
		return tenant.BadField("text", err.Error())
	}
	answer := struct {
		Entries []lexicon.Entry   `json:"entries"`
		Dropped []lexicon.Dropped `json:"dropped"`
	}{entries, dropped}
	if answer.Dropped == nil {
		answer.Dropped = []lexicon.Dropped{}
	}
	return c.json(answer)
}

var errBadVersion = &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_if_match",
	Text: `if-match: must be the version that was read, such as "3"`}

// ifMatch reads the version that the header If-Match names; nil without one.
func (c *call) ifMatch() (*int64, error) {
	text := strings.TrimSpace(c.r.Header.Get("If-Match"))
	if text == "" || text == "*" {
		return nil, nil //nolint:nilnil // any version will do
	}
	version, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 64)
	if err != nil {
		return nil, errBadVersion
	}
	return &version, nil
}

// readEntries reads the entries of a lexicon. An error names the one that is wrong.
func readEntries(v jsontext.Value, to *[]lexicon.Entry) error {
	var values []jsontext.Value
	if v.Kind() != '[' || json.Unmarshal(v, &values) != nil {
		return errNotEntries
	}
	*to = make([]lexicon.Entry, len(values))
	names := []string{"word", "spoken", "lang"}
	for i, value := range values {
		var members [3]jsontext.Value
		if value.Kind() != '{' || strictjson.Members(value, names, members[:]) != nil {
			return &lexicon.EntryError{Index: i, Reason: "must be an object"}
		}
		e := &(*to)[i]
		for k, field := range []*string{&e.Word, &e.Spoken, &e.Lang} {
			if members[k] == nil || members[k].Kind() == 'n' {
				continue
			}
			if err := strictjson.String(members[k], field); err != nil {
				return &lexicon.EntryError{Index: i, Word: e.Word, Reason: names[k] + " " + err.Error()}
			}
		}
	}
	return nil
}
