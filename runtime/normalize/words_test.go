package normalize

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// addRows adds rows to the end of a table for the rest of the test.
func addRows(t *testing.T, name, rows string) {
	t.Helper()
	v, err := words.Load(tableWith(t, name, rows))
	if err != nil {
		t.Fatal(err)
	}
	before := words.Current()
	t.Cleanup(func() { words.Use(before) })
	words.Use(v)
}

// tableWith are all tables, and in one of them more rows.
func tableWith(t *testing.T, name, rows string) fs.FS {
	t.Helper()
	tables := fstest.MapFS{}
	names, err := fs.Glob(words.Tables(), "tables/*.tsv")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d tables: %v", len(names), err)
	}
	for _, path := range names {
		data, err := fs.ReadFile(words.Tables(), path)
		if err != nil {
			t.Fatal(err)
		}
		if path == "tables/"+name {
			data = append(data, rows...)
		}
		tables[path] = &fstest.MapFile{Data: data}
	}
	return tables
}

func TestAWordIsAddedByARow(t *testing.T) {
	for _, test := range []struct{ name, table, row, written, before, after string }{
		{"a counted noun", "words.tsv", "laddoos\tcounted", "order 12345 laddoos", "order एक दो तीन चार पाँच laddoos", "order twelve thousand three hundred forty five laddoos"},
		{"a word in capitals", "words.tsv", "qwty\tspoken", "QWTY band hai", "क्यू डब्ल्यू टी वाई band hai", "QWTY band hai"},
		{"a short form", "short.tsv", "zzg\tzigzag\tneedsDot", "zzg. road hai", "zzg. road hai", "zigzag road hai"},
		{"a chat spelling", "short.tsv", "zzn\tkarna\thindiChat", "kya zzn hai", "kya zzn hai", "kya karna hai"},
		{"beside a class", "short.tsv", "zzk\tkot\tbeside\tcity", "Kanpur zzk hai, wo zzk hai", "Kanpur zzk hai, wo zzk hai", "Kanpur kot hai, wo zzk hai"},
		{"under a condition", "short.tsv", "zzk\tkot\tbeside\t\t=no\tlower", "zzk no dekho, Zzk no dekho", "zzk no dekho, Zzk no dekho", "kot no dekho, Zzk no dekho"},
		{"with a stroke", "joined.tsv", "zz\tzig zag\tstroked", "z/z hai", "z या z hai", "zig zag hai"},
		{"a unit", "units.tsv", "zz\tज़ेड\tzeds\tzed\tquarter", "2.5 zz chahiye", "दो दशमलव पाँच zz chahiye", "ढाई ज़ेड chahiye"},
		{"a unit in English", "units.tsv", "zz\tज़ेड\tzeds\tzed", "It is 1 zz long.", "It is one zz long.", "It is one zed long."},
		{"a rate", "rates.tsv", "zzt\tज़ेड", "₹500/zzt lagega", "पाँच सौ रुपये प्रति zzt lagega", "पाँच सौ रुपये प्रति ज़ेड lagega"},
		{"money", "money.tsv", "zeds\t\tzzd\t\t\tज़ेड\tज़ेड\tज़िप\tज़िप\tzed\tzeds\tzip\tzips", "ZZD 2.50 dena", "ज़ेड ज़ेड डी दो दशमलव पाँच शून्य dena", "दो ज़ेड पचास ज़िप dena"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Text(test.written, Options{}); got != test.before {
				t.Errorf("before: %q\n got %s\nwant %s", test.written, got, test.before)
			}
			addRows(t, test.table, test.row+"\n")
			if got := Text(test.written, Options{}); got != test.after {
				t.Errorf("after: %q\n got %s\nwant %s", test.written, got, test.after)
			}
		})
	}
}
