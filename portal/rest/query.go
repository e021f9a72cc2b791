package rest

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/ident"
)

const (
	maxQuery = 4096 // bytes of the part behind the question mark; ours need a few hundred
	maxValue = 300  // bytes of a value
)

var (
	errBadQuery  = &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_request", Text: "query: not valid"}
	errBadCursor = &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_cursor", Text: cursor.ErrInvalid.Error()}
	errBadFormat = &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_format", Text: "format must be json or csv"}
)

// parseQuery reads a query. As in bodies, unknown names are ignored and the last of a repeated one counts.
func parseQuery(raw string) (url.Values, error) {
	if len(raw) > maxQuery {
		return nil, errBadQuery
	}
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, errBadQuery
	}
	for name, values := range q {
		last := values[len(values)-1]
		if len(last) > maxValue || !utf8.ValidString(last) ||
			strings.ContainsFunc(last, func(r rune) bool { return r < ' ' }) {
			return nil, tenant.BadField(printable(name), "not valid")
		}
	}
	return q, nil
}

// printable makes a name that is not ours fit for an answer.
func printable(name string) string {
	if !visible(name, 40) {
		return "query"
	}
	return name
}

// text returns a value; an empty one is the same as none.
func (c *call) text(name string) string {
	if values := c.query[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// orgID returns the organisation that every list requires.
func (c *call) orgID() (string, error) {
	id := c.text("org_id")
	if id == "" {
		return "", isRequired("org_id")
	}
	return id, orgID(id)
}

// projectID returns the project that a list is narrowed to, or none.
func (c *call) projectID() (string, error) {
	id := c.text("project_id")
	if id == "" {
		return "", nil
	}
	return id, objectID(id)
}

// orgID answers an invalid identifier like an unknown organisation, so that stores get none.
func orgID(id string) error {
	if !ident.Valid(id) {
		return tenant.ErrNotMember
	}
	return nil
}

// objectID is orgID for what is inside of organisations.
func objectID(id string) error {
	if !ident.Valid(id) {
		return tenant.ErrNotFound
	}
	return nil
}

// wantsCSV reads the parameter format.
func (c *call) wantsCSV() (bool, error) {
	switch c.text("format") {
	case "", "json":
		return false, nil
	case "csv":
		return true, nil
	default:
		return false, errBadFormat
	}
}

// limit reads how many rows are wanted; 0 means that nothing was said.
func (c *call) limit() (int, error) {
	s := c.text("limit")
	if s == "" {
		return 0, nil
	}
	n, err := parseLimit(s)
	return n, err
}

func parseLimit(s string) (int, error) {
	digits, negative := strings.CutPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, tenant.BadField("limit", "must be an integer")
	}
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "" || negative:
		return 0, tenant.ErrBadLimit
	case len(digits) > 3:
		return 0, tenant.ErrLimitTooHigh
	}
	n, _ := strconv.Atoi(digits)
	if n > tenant.MaxAuditLimit {
		return 0, tenant.ErrLimitTooHigh
	}
	return n, nil
}

// span reads the parameters from and to; zero times where nothing was said.
func (c *call) span() (from, to time.Time, err error) {
	if from, err = c.time("from"); err != nil {
		return from, to, err
	}
	to, err = c.time("to")
	return from, to, err
}

func (c *call) time(name string) (time.Time, error) {
	s := c.text(name)
	if s == "" {
		return time.Time{}, nil
	}
	t, ok := parseTime(s)
	if !ok {
		return time.Time{}, tenant.BadField(name, "must be unix seconds")
	}
	return t, nil
}

// parseTime parses unix seconds with or without a fraction, to the microsecond, from 1970 to the end of the year 9999.
func parseTime(s string) (time.Time, bool) {
	const end = 253402300800 // 10000-01-01
	us, ok := parseDecimal(s, 6)
	if !ok || us >= end*1_000_000 {
		return time.Time{}, false
	}
	return time.UnixMicro(us).UTC(), true
}

// parseDecimal reads a number such as 12 or 12.345 as a multiple of ten to the power of -digits. What is smaller is
// cut off.
func parseDecimal(s string, digits int) (int64, bool) {
	whole, fraction, point := strings.Cut(s, ".")
	isWhole := whole != "" && len(whole) <= 12
	isFraction := len(fraction) <= 20 && (fraction != "" || !point)
	if !isWhole || !isFraction || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	fraction = (fraction + strings.Repeat("0", digits))[:digits]
	n, err := strconv.ParseInt(whole+fraction, 10, 64)
	return n, err == nil
}
