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

	"warpbook/kernel/leaf/lazyregexp"
)

func TestNew(t *testing.T) {
	digits := lazyregexp.New(`\d+`)
	first := digits()
	if got := first.FindString("ab12"); got != "12" {
		t.Errorf("found %q, expected 12", got)
	}
	if digits() != first {
		t.Error("the second call compiled the expression again, expected the one of the first call")
	}
}

// TestPatterns compiles every pattern of the module: a wrong one would otherwise fail
// only at its first use.
func TestPatterns(t *testing.T) {
	const root = "../.."
	files, patterns := token.NewFileSet(), 0
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // files in testdata may be invalid
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

// text returns the text of a pattern; a constant's name stands for itself.
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
	case *ast.SelectorExpr: // a constant of another package
		return e.Sel.Name
	}
	t.Fatalf("a pattern is a constant, not %T", e)
	return ""
}
