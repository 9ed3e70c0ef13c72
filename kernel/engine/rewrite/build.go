package rewrite

import (
	"go/ast"
	"go/token"
	"strconv"
)

// Rewritten cells import the package RuntimePath under the name RuntimeName.
const (
	RuntimePath = "cellrt"
	RuntimeName = "__rt"
)

// Points is the number of the debugger's flags. A session that has more statements shares
// them: a statement whose flag another has armed takes longer, and stops no more often.
const Points = 1 << 16

// BodyName is the function that contains a cell's statements. Its results are the values
// of the last expression.
const BodyName = "__cell"

// deferred is: defer func() { rt.name(recover()) }()
func deferred(pos token.Pos, name string) ast.Stmt {
	return &ast.DeferStmt{Defer: pos, Call: CallOf(pos, thunk(pos,
		&ast.ExprStmt{X: Call(pos, name, CallOf(pos, Ident(pos, "recover")))}))}
}

// number is a position as a literal in code.
func number(pos token.Pos) ast.Expr {
	return &ast.BasicLit{Kind: token.INT, Value: strconv.Itoa(int(pos)), ValuePos: pos}
}

func Fun(pos token.Pos, name string) ast.Expr {
	return &ast.SelectorExpr{X: Ident(pos, RuntimeName), Sel: Ident(pos, name)}
}

func Call(pos token.Pos, name string, args ...ast.Expr) *ast.CallExpr {
	return CallOf(pos, Fun(pos, name), args...)
}

func CallOf(pos token.Pos, fun ast.Expr, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: fun, Lparen: pos, Args: args, Rparen: pos}
}

func thunk(pos token.Pos, list ...ast.Stmt) *ast.FuncLit {
	return &ast.FuncLit{Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{}}, Body: block(pos, list...)}
}

func block(pos token.Pos, list ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: pos, List: list, Rbrace: pos}
}

func Ident(pos token.Pos, name string) *ast.Ident { return &ast.Ident{Name: name, NamePos: pos} }

// InitPrefix and a number form the names of a cell's init functions.
const InitPrefix = "__init"
