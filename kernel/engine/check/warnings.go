package check

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/vet"
)

// analyse runs vet's analysers of syntax on a correct cell before it is rewritten. Their
// warnings are printed when the cell begins.
func (e *Checker) analyse(c *Cell, pkg *types.Package, info *types.Info) {
	c.Warnings, c.Learn, c.Suspicious = nil, func() {}, suspicious(c, info)
	if !c.Suspicious {
		return
	}
	var found []vet.Warning
	found, c.Learn = e.facts.Syntax(vet.Cell{Fset: e.Ctx.FileSet, File: c.File, Pkg: pkg, Info: info})
	c.Warnings = append(e.ofCell(c, found), e.lostAppend(c, info)...)
}

// suspicious reports whether a cell contains code that an analyser may report: calls,
// functions, blocks with variables of their own, or values that may hold a lock. Most
// cells that only assign numbers have none and take no extra time.
func suspicious(c *Cell, info *types.Info) (found bool) {
	ast.Inspect(c.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if ok {
				x, is := sel.X.(*ast.Ident)
				ok = is && x.Name == rewrite.RuntimeName
			}
			found = found || !ok
		case *ast.FuncDecl:
			found = found || n.Name.Name != rewrite.BodyName
		case *ast.FuncLit:
			found = true
		case *ast.BlockStmt:
			found = found || n != c.body.Body
		case ast.Expr:
			if t := info.TypeOf(n); t != nil {
				switch t.Underlying().(type) {
				case *types.Struct, *types.Array:
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// AnalyseNil runs vet's analyser of nil values on the functions of a compiled cell; main is
// nil if it has none.
func (e *Checker) AnalyseNil(c *Cell, prog *ssa.Program, main *ssa.Package) {
	if !c.Suspicious || main == nil {
		return
	}
	var functions []*ssa.Function
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		if f != nil && c.File.FileStart <= f.Pos() && f.Pos() < c.File.FileEnd && mayBeNil(f) {
			functions = append(functions, f)
		}
		for _, g := range f.AnonFuncs {
			add(g)
		}
	}
	for _, m := range main.Members {
		switch m := m.(type) {
		case *ssa.Function:
			add(m)
		case *ssa.Type:
			if n, ok := m.Type().(*types.Named); ok && !types.IsInterface(n) {
				for fn := range n.Methods() {
					if f := prog.FuncValue(fn); f != nil {
						add(f)
					}
				}
			}
		}
	}
	if len(functions) > 0 {
		c.Warnings = append(c.Warnings, e.ofCell(c, vet.Nilness(vet.Cell{Fset: e.Ctx.FileSet, File: c.File, Pkg: c.Pkg, Info: c.Info}, main, functions))...)
	}
}

// mayBeNil reports whether a function has the constant nil: without it, no value is
// known to be nil.
func mayBeNil(f *ssa.Function) bool {
	var operands [16]*ssa.Value
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for _, v := range in.Operands(operands[:0]) {
				if k, ok := (*v).(*ssa.Const); ok && k.IsNil() {
					return true
				}
			}
		}
	}
	return false
}

// ofCell keeps the warnings about the text of the cell itself, and adds their place and
// the names that cells use, as for errors.
func (e *Checker) ofCell(c *Cell, found []vet.Warning) (list []failure.Diagnostic) {
	for _, w := range found {
		p := e.Ctx.FileSet.Position(w.Pos)
		if failure.CellOf(p.Filename) != c.Cell || c.Carried(w.Pos) != nil || strings.Contains(w.Text, rewrite.RuntimeName+".") {
			continue
		}
		list = append(list, failure.Diagnostic{Cell: c.Cell, Line: p.Line, Col: p.Column, Pos: w.Pos, Msg: cellNames().ReplaceAllString(e.Named(w.Text), "")})
	}
	return list
}

// lostAppend finds a last expression append(xs, ...), which shows a longer slice
// and leaves xs as it is.
func (e *Checker) lostAppend(c *Cell, info *types.Info) []failure.Diagnostic {
	for _, st := range c.body.Body.List {
		as, ok := unlabel(st).(*ast.AssignStmt)
		if !ok || len(as.Rhs) != 1 {
			continue
		}
		shown, ok := as.Rhs[0].(*ast.CallExpr)
		if !ok || len(shown.Args) != 1 || !isRuntime(shown.Fun, "Values") {
			continue
		}
		call, ok := ast.Unparen(shown.Args[0]).(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			continue
		}
		f, isName := ast.Unparen(call.Fun).(*ast.Ident)
		if !isName || info.Uses[f] != types.Universe.Lookup("append") {
			continue
		}
		switch x := ast.Unparen(call.Args[0]).(type) {
		case *ast.Ident, *ast.SelectorExpr:
			if _, ok := info.TypeOf(x).Underlying().(*types.Slice); !ok {
				continue
			}
			var text strings.Builder
			printer.Fprint(&text, token.NewFileSet(), x)
			p := e.Ctx.FileSet.Position(call.Pos())
			return []failure.Diagnostic{{Cell: c.Cell, Line: p.Line, Col: p.Column, Pos: call.Pos(),
				Msg: fmt.Sprintf("append leaves %[1]s as it is, the result is only shown: %[1]s = append(%[1]s, ...)", text.String())}}
		}
	}
	return nil
}

// isRuntime reports whether an expression names a function of the runtime package.
func isRuntime(x ast.Expr, name string) bool {
	sel, ok := x.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == rewrite.RuntimeName
}
