package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"warpbook/kernel/engine/namespace"
)

const unexportedField = "implicit assignment to unexported field"

// checkKeyed checks the file. The checker takes the type of T{1, 2} from an earlier cell
// for a type of a foreign package; checkKeyed adds the keys and checks again.
func (e *Checker) checkKeyed(c *Cell, h *hoist) (namespace.Scope, *types.Info, []types.Error) {
	for {
		s := e.scope(c.File, h)
		info, errs := e.TypeCheck(s, c.File)
		if !AddKeys(c.File, info, errs) {
			return s, info, errs
		}
	}
}

// AddKeys adds the keys to literals that the checker refuses for that reason, and reports
// whether there is one. The file must be checked again then.
func AddKeys(f *ast.File, info *types.Info, errs []types.Error) bool {
	bad := map[token.Pos]bool{}
	for _, e := range errs {
		if strings.HasPrefix(e.Msg, unexportedField) {
			bad[e.Pos] = true
		}
	}
	if len(bad) == 0 {
		return false
	}
	fixed := false
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.CompositeLit); ok && slices.ContainsFunc(l.Elts, func(e ast.Expr) bool { return bad[e.Pos()] }) {
			fixed = key(l, info.TypeOf(l)) || fixed
		}
		return true
	})
	return fixed
}

// key puts field names before the elements of a struct literal. A blank field has no name
// to put there: its element goes, if it is only a value.
func key(l *ast.CompositeLit, t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // &T is omitted in []*T{{...}}
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || len(l.Elts) > st.NumFields() {
		return false
	}
	var elements []ast.Expr
	fixed := false
	for i, e := range l.Elts {
		name := st.Field(i).Name()
		if _, keyed := e.(*ast.KeyValueExpr); !keyed {
			fixed = true
			if name == "_" && !acts(e) {
				continue
			}
			e = &ast.KeyValueExpr{Key: &ast.Ident{Name: name, NamePos: e.Pos()}, Colon: e.Pos(), Value: e}
		}
		elements = append(elements, e)
	}
	l.Elts = elements
	return fixed
}

// acts reports whether an expression may do more than have a value.
func acts(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}
