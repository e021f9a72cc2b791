package layout

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The packages of the reader are many small things, and stay findable only while no file, type or function grows beyond
// what one reads at once, and while each file of a package knows its way down.
const (
	mostLines      = 500 // of a file
	mostMethods    = 60  // of a type
	mostComplexity = 20  // of a function: one, and one more for each branch and each && and ||
)

// shapely are the packages that are held to that.
var shapely = []string{
	"runtime/normalize", "runtime/normalize/internal/markup", "runtime/normalize/internal/words", "runtime/normalize/internal/text", "runtime/normalize/internal/say",
	"runtime/normalize/internal/rules",
}

// tooComplex are the functions that were more complex than that when the bound came, and how much. Rows only go.
var tooComplex = map[string]int{
	"Ends":      24, // runtime/normalize
	"command":   25,
	"isFormula": 22,
}

// parsed is a package as far as its shape goes.
type parsed struct {
	set   *token.FileSet
	files map[string]*ast.File // by base name, without tests
}

func parse(t *testing.T, dir string) parsed {
	t.Helper()
	p := parsed{token.NewFileSet(), map[string]*ast.File{}}
	paths, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files were found, and the error is %v", dir, len(paths), err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(p.set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.files[filepath.Base(path)] = f
	}
	return p
}

func TestFilesAndTypesStaySmall(t *testing.T) {
	for _, dir := range shapely {
		p := parse(t, dir)
		methods := map[string]int{}
		for name, f := range p.files {
			source, err := os.ReadFile(filepath.Join("../..", dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if lines := bytes.Count(source, []byte("\n")); lines > mostLines {
				t.Errorf("%s/%s has %d lines, want at most %d", dir, name, lines, mostLines)
			}
			for _, d := range functions(f) {
				if d.Recv != nil {
					methods[receiver(d)]++
				}
				most := max(mostComplexity, tooComplex[d.Name.Name])
				if n := complexity(d); n > most {
					t.Errorf("%s: %s has a complexity of %d, want at most %d", p.set.Position(d.Pos()), d.Name.Name,
						n, most)
				} else if n < most && most > mostComplexity {
					t.Errorf("%s: %s has a complexity of %d: write that into tooComplex, or take its row out",
						p.set.Position(d.Pos()), d.Name.Name, n)
				}
			}
		}
		for name, n := range methods {
			if n > mostMethods {
				t.Errorf("%s: %s has %d methods, want at most %d", dir, name, n, mostMethods)
			}
		}
	}
}

// TestFilesCallOneWay: where a file calls functions of another, that calls none of its own. The parser of markup
// descends by recursion, from a formula into its parts, which are formulas, and does so across files.
func TestFilesCallOneWay(t *testing.T) {
	for _, dir := range shapely {
		if dir == "runtime/normalize/internal/markup" {
			continue
		}
		p := parse(t, dir)
		calls := callsBetween(p)
		for _, from := range slices.Sorted(maps.Keys(calls)) {
			for _, to := range slices.Sorted(maps.Keys(calls[from])) {
				if from < to && calls[to][from] != "" {
					t.Errorf("%s: %s calls %s of %s, which calls %s", dir, from, calls[from][to], to, calls[to][from])
				}
			}
		}
	}
}

// callsBetween returns for each file of p the other files whose functions it calls, and one of them.
func callsBetween(p parsed) map[string]map[string]string {
	home := map[string]string{} // of functions and, behind a dot, of methods whose name only one type has
	for name, f := range p.files {
		for _, d := range functions(f) {
			key := d.Name.Name
			if d.Recv != nil {
				key = "." + key
			}
			if other, ok := home[key]; ok && other != name {
				home[key] = ""
				continue
			}
			home[key] = name
		}
	}
	calls := map[string]map[string]string{}
	for name, f := range p.files {
		calls[name] = map[string]string{}
		for _, d := range functions(f) {
			fields := map[*ast.Ident]bool{} // and methods: what stands behind a dot
			ast.Inspect(d.Body, func(n ast.Node) bool {
				key := ""
				switch n := n.(type) {
				case *ast.CallExpr:
					if m, ok := n.Fun.(*ast.SelectorExpr); ok {
						key = "." + m.Sel.Name
					}
				case *ast.SelectorExpr:
					fields[n.Sel] = true
				case *ast.Ident:
					if !fields[n] && n.Obj == nil { // what is of this file, a variable among it, has one
						key = n.Name
					}
				}
				if to := home[key]; to != "" && to != name {
					calls[name][to] = strings.TrimPrefix(key, ".")
				}
				return true
			})
		}
	}
	return calls
}

func functions(f *ast.File) (all []*ast.FuncDecl) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			all = append(all, d)
		}
	}
	return all
}

func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	return fmt.Sprint(e)
}

func complexity(d *ast.FuncDecl) int {
	n := 1
	ast.Inspect(d.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CommClause:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
