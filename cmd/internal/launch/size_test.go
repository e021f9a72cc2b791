package launch

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestSize(t *testing.T) {
	tests := map[string]struct {
		bytes int64
		shown string // empty: it is refused
	}{
		"0": {0, "0"}, "1": {1, "1"}, "1023": {1023, "1023"}, "1024": {1024, "1KiB"}, "256MiB": {256 << 20, "256MiB"},
		"256 mib": {256 << 20, "256MiB"},
		"64MB":    {64e6, "64MB"}, "3kb": {3000, "3kB"}, "12B": {12, "12"}, "2GiB": {2 << 30, "2GiB"},
		"1GB": {1e9, "1GB"}, "1536MiB": {1536 << 20, "1536MiB"},
		"9223372036854775807": {1<<63 - 1, "9223372036854775807"},
		"8589934591GiB":       {8589934591 << 30, "8589934591GiB"},
		"9223372036854775808": {}, "8589934592GiB": {}, "": {}, "MiB": {}, "-1": {}, "-1MiB": {}, "1.5GiB": {},
		"256M": {}, "many": {}, "1e9": {},
	}
	for text, tt := range tests {
		f := pflag.NewFlagSet("test", pflag.ContinueOnError)
		got := Size(f, "spool", 7, "")
		err := f.Set("spool", text)
		if (err != nil) != (tt.shown == "") {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if err == nil && (*got != tt.bytes || f.Lookup("spool").Value.String() != tt.shown) {
			t.Errorf("%q is %d bytes and shown as %s, want %d and %s", text, *got, f.Lookup("spool").Value, tt.bytes,
				tt.shown)
		}
		if err != nil && *got != 7 {
			t.Errorf("%q was refused and changed the value to %d", text, *got)
		}
	}
}
