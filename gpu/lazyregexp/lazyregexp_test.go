package lazyregexp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"warpbook/gpu/lazyregexp"
)

func TestNew(t *testing.T) {
	digits := lazyregexp.New(`\d+`)
	if got := digits().FindString("ab12"); got != "12" || digits() != digits() {
		t.Errorf("found %q, expected 12, and the same expression each time", got)
	}
}

// TestPatterns compiles every pattern of the module: a wrong one would
// otherwise be known when a user first needs it.
func TestPatterns(t *testing.T) {
	const root = "../.."
	files, patterns := token.NewFileSet(), 0
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // what is in testdata may be wrong
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isNew(call.Fun) {
				return true
			}
			patterns++
			if _, err := regexp.Compile(text(t, call.Args[0])); err != nil {
				t.Errorf("%s: %v", files.Position(call.Pos()), err)
			}
			return false
		})
		return nil
	})
	if err != nil || patterns < 50 {
		t.Fatalf("%d patterns, expected those of the module: %v", patterns, err)
	}
}

func isNew(e ast.Expr) bool {
	f, ok := e.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "New" {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && x.Name == "lazyregexp"
}

// text is a pattern as it is written; names of constants stand for themselves.
func text(t *testing.T, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return s
	case *ast.BinaryExpr:
		return text(t, e.X) + text(t, e.Y)
	case *ast.Ident:
		return e.Name
	}
	t.Fatalf("a pattern is a constant, not %T", e)
	return ""
}
