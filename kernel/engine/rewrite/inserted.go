package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Most functions and loops get the same few statements. What the type checker finds in one
// of them holds for all, so the code that has only these need not be checked again.

// kind is a kind of such statements.
type kind int

const (
	checksFlag kind = iota
	enters
	defersEnter
)

// of is a statement of the kind.
func (k kind) of(pos token.Pos) ast.Stmt {
	switch k {
	case checksFlag:
		return checkFlag(pos)
	case enters:
		return &ast.ExprStmt{X: Call(pos, "Enter")}
	}
	return &ast.DeferStmt{Defer: pos, Call: Call(pos, "Enter")}
}

// inserted is such a statement in the code.
type inserted struct {
	kind
	stmt ast.Stmt
}

// insert puts a statement before those of a block.
func (r *Rewriter) insert(b *ast.BlockStmt, k kind, pos token.Pos) {
	s := k.of(pos)
	b.List = append([]ast.Stmt{s}, b.List...)
	r.inserted = append(r.inserted, inserted{k, s})
}

// Rewritten reports whether the code differs from what the type checker has seen.
func (r *Rewriter) Rewritten() bool { return r.Changed || len(r.inserted) > 0 }

// Samples are a statement of each kind in a function, and what the checker has found there.
type Samples struct {
	nodes [defersEnter + 1][]ast.Node
	info  *types.Info
}

// NewSamples adds the samples to the body of a function of a file that imports the runtime
// package, and checks the file.
func NewSamples(body *ast.BlockStmt, check func() *types.Info) *Samples {
	s := &Samples{}
	for k := range s.nodes {
		sample := kind(k).of(body.Lbrace)
		body.List = append(body.List, sample)
		s.nodes[k] = nodesOf(sample)
	}
	s.info = check()
	return s
}

// Describe adds what the checker would find in the inserted statements to the information
// about the code.
func (r *Rewriter) Describe(s *Samples) {
	for _, x := range r.inserted {
		for i, n := range nodesOf(x.stmt) {
			sample := s.nodes[x.kind][i]
			if id, ok := n.(*ast.Ident); ok {
				r.Info.Uses[id] = s.info.Uses[sample.(*ast.Ident)]
			}
			if e, ok := n.(ast.Expr); ok {
				if tv, ok := s.info.Types[sample.(ast.Expr)]; ok {
					r.Info.Types[e] = tv
				}
			}
		}
	}
}

// nodesOf are a statement and all nodes below it.
func nodesOf(s ast.Stmt) (list []ast.Node) {
	ast.Inspect(s, func(n ast.Node) bool {
		if n != nil {
			list = append(list, n)
		}
		return true
	})
	return list
}
