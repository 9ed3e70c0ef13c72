package rewrite

import (
	"go/ast"
	"go/token"
)

// checkFlag is: if rt.Intr != 0 { rt.Stop() }
func checkFlag(pos token.Pos) ast.Stmt {
	return &ast.IfStmt{If: pos, Body: block(pos, &ast.ExprStmt{X: Call(pos, "Stop")}),
		Cond: &ast.BinaryExpr{X: Fun(pos, "Intr"), OpPos: pos, Op: token.NEQ, Y: &ast.BasicLit{Kind: token.INT, Value: "0", ValuePos: pos}}}
}

// killCase is: case <-rt.Kill(): for { rt.Killed() }
func killCase(pos token.Pos) *ast.CommClause {
	return &ast.CommClause{Case: pos, Colon: pos,
		Comm: &ast.ExprStmt{X: &ast.UnaryExpr{OpPos: pos, Op: token.ARROW, X: Call(pos, "Kill")}},
		Body: []ast.Stmt{&ast.ForStmt{For: pos, Body: block(pos, &ast.ExprStmt{X: Call(pos, "Killed")})}}}
}
