package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestShapeIsMeasured on files that break the bounds: without that, a test that finds nothing says nothing.
func TestShapeIsMeasured(t *testing.T) {
	p := parsed{token.NewFileSet(), map[string]*ast.File{}}
	for name, source := range map[string]string{
		"a.go": "package p\ntype T struct{}\nfunc (t *T) A(x int) int { if x > 0 && x < 9 || x == 20 { return B(x) }; return 0 }",
		"b.go": "package p\nfunc B(x int) int { for range x { switch x { case 1: return 1; default: } }; var t T; return t.A(x) }",
		"c.go": "package p\nfunc C(x int) int { return B(x) }",
	} {
		f, err := parser.ParseFile(p.set, name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.files[name] = f
	}
	for name, want := range map[string]int{"a.go": 4, "b.go": 3, "c.go": 1} {
		d := functions(p.files[name])[0]
		if got := complexity(d); got != want {
			t.Errorf("%s has a complexity of %d, want %d", d.Name.Name, got, want)
		}
	}
	if got := receiver(functions(p.files["a.go"])[0]); got != "T" {
		t.Errorf("the receiver is %q, want T", got)
	}
	calls := callsBetween(p)
	if calls["a.go"]["b.go"] != "B" || calls["b.go"]["a.go"] != "A" {
		t.Errorf("two files call each other, and the calls found are %v", calls)
	}
	if calls["c.go"]["b.go"] != "B" || calls["b.go"]["c.go"] != "" {
		t.Errorf("one file calls another, which does not call it, and the calls found are %v", calls)
	}
}
