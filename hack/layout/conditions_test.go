package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostOperands is how many operands a condition may have, because a reader cannot hold more at once. What has more is
// cut in two, or its parts get names.
const mostOperands = 4

// shortConditions are the packages that are held to mostOperands: the rules of language, which are little but
// conditions.
var shortConditions = []string{
	"runtime/normalize", "runtime/normalize/internal/words", "runtime/normalize/internal/text", "runtime/normalize/internal/say", "runtime/normalize/internal/rules",
	"runtime/translit",
}

func TestConditionsAreShort(t *testing.T) {
	files := token.NewFileSet()
	for _, dir := range shortConditions {
		paths, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files were found, and the error is %v", dir, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range conditions(f) {
				if c.operands > mostOperands {
					t.Errorf("%s: a condition of %d operands, want at most %d: cut it in two, or name its parts",
						files.Position(c.pos), c.operands, mostOperands)
				}
			}
		}
	}
}

func TestConditionsAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []int
	}{
		"no condition":                      {"a == b", nil},
		"both signs are one condition":      {"a && b || c", []int{3}},
		"not and brackets go on":            {"a && !(b || (c && d)) || e", []int{5}},
		"a comparison begins another":       {"a == (b && c) || d", []int{2, 2}},
		"an argument begins another":        {"a || f(b && c && d)", []int{2, 3}},
		"a function as an operand, as well": {"a && func() bool { return b || c || d }()", []int{2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := parser.ParseExpr(c.source)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, found := range conditions(e) {
				got = append(got, found.operands)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s has conditions of %v operands, want %v", c.source, got, c.want)
			}
		})
	}
}

// A condition is a chain of && and ||, whatever brackets and ! are in it.
type condition struct {
	pos      token.Pos
	operands int
}

// conditions are those in n, the outer before what stands inside of their operands.
func conditions(n ast.Node) []condition {
	var all []condition
	counted := map[ast.Expr]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if e, ok := n.(*ast.BinaryExpr); ok && isLogical(e) && !counted[e] {
			all = append(all, condition{e.Pos(), operands(e, counted)})
		}
		return true
	})
	return all
}

// operands is how many operands the condition e has. It adds e and the conditions that are parts of it to counted.
func operands(e ast.Expr, counted map[ast.Expr]bool) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return operands(e.X, counted)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return operands(e.X, counted)
		}
	case *ast.BinaryExpr:
		if isLogical(e) {
			counted[e] = true
			return operands(e.X, counted) + operands(e.Y, counted)
		}
	}
	return 1
}

func isLogical(e *ast.BinaryExpr) bool { return e.Op == token.LAND || e.Op == token.LOR }
