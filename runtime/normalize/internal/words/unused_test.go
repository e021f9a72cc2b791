package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryClassIsAskedFor finds classes that no rule and no row of short.tsv asks for, so that nothing depends on
// their rows.
func TestEveryClassIsAskedFor(t *testing.T) {
	asked := map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "words" {
					asked[s.Sel.Name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	inRows := Set{}
	for _, e := range Current().All {
		for _, f := range e.Beside {
			for _, c := range append(f.Before.Classes, f.After.Classes...) {
				inRows.add(c)
			}
		}
	}
	for c, name := range classNames {
		if !asked[strings.ToUpper(name[:1])+name[1:]] && !inRows.Has(Class(c)) {
			t.Errorf("nothing asks for the class %s", name)
		}
	}
}

// TestNoFormIsHidden finds forms beside neighbours that never win, because one above asks for less.
func TestNoFormIsHidden(t *testing.T) {
	for w, e := range Current().All {
		for i := range e.Beside {
			for j := range e.Beside[:i] {
				if above := &e.Beside[j]; asksForLess(above, &e.Beside[i]) {
					t.Errorf("short.tsv: %s is never %s by row %d of it, as it is %s by row %d", w, e.Beside[i].Full,
						i+1, above.Full, j+1)
				}
			}
		}
	}
}

// asksForLess reports whether f fits wherever g does.
func asksForLess(f, g *Form) bool {
	for _, name := range f.When {
		if !slices.Contains(g.When, name) {
			return false
		}
	}
	return f.Before.holds(&g.Before) && f.After.holds(&g.After)
}

// holds reports whether each neighbour of o is one of n.
func (n *Neighbours) holds(o *Neighbours) bool {
	if n.Any() || o.Any() {
		return n.Any()
	}
	for _, c := range o.Classes {
		if !slices.Contains(n.Classes, c) {
			return false
		}
	}
	for _, w := range o.Words {
		if !slices.Contains(n.Words, w) && !LookUp(w).IsAny(n.Classes...) {
			return false
		}
	}
	return true
}

// TestRowsCanBeFound finds rows that are written as the rules never look for them.
func TestRowsCanBeFound(t *testing.T) {
	capitals := func(w string) bool { return strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }
	for w, e := range Current().written {
		for c, ok := range map[Class]bool{
			Station: capitals(w) && len(w) >= 3,
			State:   capitals(w) && len(w) == 2,
			Airline: len(w) == 2 && (capitals(w) || capitals(w[1:]) && '0' <= w[0] && w[0] <= '9'),
		} {
			if e.Is(c) && !ok {
				t.Errorf("written.tsv: no rule finds %s as %s", w, c)
			}
		}
	}
	for w := range Current().stroked {
		if len(w) != 2 {
			t.Errorf("joined.tsv: %q is stroked, but no two letters", w)
		}
	}
	for w := range Current().figured {
		if len(w) > 8 || !strings.ContainsAny(w, "0123456789") || strings.Trim(w, "0123456789") == "" {
			t.Errorf("joined.tsv: %q is no short word with figures", w)
		}
	}
	for w := range Current().dotted {
		if n := len([]rune(w)); n < 2 || len(w) > 24 {
			t.Errorf("joined.tsv: %q is too short or too long for a form with dots", w)
		}
	}
}
