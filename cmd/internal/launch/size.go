package launch

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Size defines a flag that takes an amount of memory, such as 256MiB or 64MB, and returns its bytes.
func Size(flags *pflag.FlagSet, name string, value int64, usage string) *int64 {
	s := size(value)
	flags.Var(&s, name, usage)
	return (*int64)(&s)
}

type size int64

// units, the largest first, are written in any case; a number alone means bytes.
var units = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"B", 1},
}

func (s *size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range units {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			number, unit = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || n > math.MaxInt64/uint64(unit) {
		return errors.New("want a size such as 256MiB or 64MB, or 0")
	}
	*s = size(int64(n) * unit)
	return nil
}

func (s *size) String() string {
	for _, u := range units {
		if n := int64(*s); n >= u.bytes && n%u.bytes == 0 && u.name != "B" {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

func (s *size) Type() string { return "size" }

// Megabytes shows a size as people say it.
func Megabytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
