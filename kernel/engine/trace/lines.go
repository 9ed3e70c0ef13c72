//go:build edited

package trace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"

	"warpbook/kernel/engine/split"
)

// linesOf are the lines of a cell's source at which a debugger can stop, nil if the cell
// is in another language or has a part that does not parse.
func linesOf(source string) []int {
	pieces, errs := split.Cell(source)
	if len(errs) > 0 {
		return nil
	}
	lines := map[int]bool{}
	for _, p := range pieces {
		switch p.Kind {
		case split.Statement, split.Var, split.Func:
			if !linesOfPiece(source[p.Start:p.End], p, lines) {
				return nil
			}
		case split.Magic:
			return nil
		}
	}
	return slices.Sorted(maps.Keys(lines))
}

// linesOfPiece adds the lines of a piece, and reports whether it parses.
func linesOfPiece(text string, p split.Piece, lines map[int]bool) bool {
	head, tail := "package p; func _() {", "\n}"
	if p.Kind == split.Func {
		head, tail = "package p; ", ""
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", head+text+tail, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	ast.Inspect(f, func(n ast.Node) bool {
		for _, s := range listOf(n) {
			if stops(s) {
				lines[p.Line+fset.Position(s.Pos()).Line-1] = true
			}
		}
		return true
	})
	return true
}

// listOf are the statements of a block or a clause.
func listOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		if len(n.List) > 0 && isClause(n.List[0]) {
			return nil
		}
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

func isClause(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}
