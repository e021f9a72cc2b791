package usage

import "testing"

func TestWhatASpreadsheetWouldTakeForAFormulaIsQuoted(t *testing.T) {
	for _, s := range []string{
		"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u202e=1", " \u200b\t-1", "＝1", "＋1", "－1", "＠a",
		"\x00a", "\x1fa", "=",
	} {
		if got := text(s); got != "'"+s {
			t.Errorf("%q is written as %q, want an apostrophe before it", s, got)
		}
	}
	for _, s := range []string{"", "a=1", "1-1", "call-1", "कॉल=1", " a", "a\t=1", "'=1", "#=1", "\u200ba"} {
		if got := text(s); got != s {
			t.Errorf("%q is written as %q, want it as it is", s, got)
		}
	}
}
