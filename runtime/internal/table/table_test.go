package table

import (
	"testing"
	"testing/fstest"
)

func TestHeaders(t *testing.T) {
	for _, test := range []struct{ name, table, want string }{
		{"other columns", "word\tclass\nzz\tcity\n", `t.tsv:1: the columns are "word\tclass", want "word\tclasses"`},
		{"a row instead", "# words\n\nzz\tcity\n", `t.tsv:3: the columns are "zz\tcity", want "word\tclasses"`},
		{"nothing", "# words\n", "t.tsv:2: no line names the columns"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := fstest.MapFS{"t.tsv": {Data: []byte(test.table)}}
			err := Read(fsys, "t.tsv", []string{"word", "classes"}, func(*Row) error { return nil })
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	if err := Read(fstest.MapFS{}, "t.tsv", nil, nil); err == nil {
		t.Error("a missing table is no error")
	}
}
