package cursor

import (
	"encoding/base64"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for name, c := range map[string]Cursor{
		"the newest end":           {},
		"an entry":                 {time.UnixMicro(1763647200000123).UTC(), "aud_3e5g7j9m1p3r5t7v9x1z3b5d7f"},
		"one of 1970":              {time.UnixMicro(0).UTC(), "evt_0"},
		"one before":               {time.UnixMicro(-5).UTC(), "aud_x"},
		"the first that there is":  {time.UnixMicro(math.MinInt64).UTC(), strings.Repeat("z", 64)},
		"the longest":              {time.UnixMicro(1763647200000123).UTC(), strings.Repeat("9", 64)},
		"an identifier of one '_'": {time.UnixMicro(1).UTC(), "_"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Parse(c.String()); err != nil || got != c {
				t.Errorf("%q is read as %+v (%v), want %+v", c, got, err, c)
			}
		})
	}
}

func TestWhatIsNoCursor(t *testing.T) {
	encoded := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for name, s := range map[string]string{
		"junk":                        "!",
		"base 64 of junk":             encoded("junk"),
		"a time alone":                encoded("12"),
		"a time and nothing":          encoded("12 "),
		"no time":                     encoded(" aud_0"),
		"a word for a time":           encoded("x aud_0"),
		"a time of more than 64 bits": encoded("9223372036854775808 aud_0"),
		"a path for an identifier":    encoded("12 aud/0"),
		"two spaces":                  encoded("12  aud_0"),
		"capitals":                    encoded("12 AUD_0"),
		"an identifier that is long":  encoded("12 " + strings.Repeat("a", 65)),
		"a text that is long":         strings.Repeat("A", 200),
		"padding":                     base64.URLEncoding.EncodeToString([]byte("123 aud_0")) + "=",
		"bits that say nothing":       encoded("12 a0")[:6] + "B",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Parse(s); !errors.Is(err, ErrInvalid) || !got.IsZero() {
				t.Errorf("%q is read as %+v (%v), want %v", s, got, err, ErrInvalid)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	at := func(us int64, id string) Cursor { return Cursor{time.UnixMicro(us).UTC(), id} }
	for name, tt := range map[string]struct {
		a, b Cursor
		want int
	}{
		"an older one":                {at(1, "b"), at(2, "a"), -1},
		"a newer one":                 {at(2, "a"), at(1, "b"), 1},
		"of one time, the lower id":   {at(1, "a"), at(1, "b"), -1},
		"of one time, the higher id":  {at(1, "b"), at(1, "a"), 1},
		"the same, in two time zones": {at(1, "a"), Cursor{time.UnixMicro(1).In(time.FixedZone("", 3600)), "a"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.a.Compare(tt.b); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "x", "MTIzIGF1ZF8w", "MTIzIA", "LTUgYXVkX3g",
		Cursor{time.UnixMicro(1).UTC(), "evt_0"}.String()} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(c.String()); err != nil || again != c {
			t.Errorf("%q is %+v, which is written as %q and read as %+v (%v)", s, c, c.String(), again, err)
		}
	})
}
