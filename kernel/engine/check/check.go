package check

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"strings"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
)

// Check finds a form of the cell that type-checks, or reports why there is none. Each
// round may move a variable before the statement that uses it, or carry declarations of
// earlier cells whose meaning the cell changes, and then starts again. It returns
// neither if ctx is cancelled meanwhile.
func (e *Checker) Check(ctx context.Context, j *namespace.Journal, n int, src string) (*Cell, []failure.Diagnostic) {
	s, diags := e.NewSource(n, src)
	if len(diags) > 0 || ctx.Err() != nil {
		return nil, diags
	}
	c := &Cell{Source: s, Broken: map[*namespace.Declaration]failure.Diagnostic{}, anew: map[string]bool{}, differs: map[string]bool{}, Added: map[*types.Func]*types.Named{}, Hidden: map[string]*types.Package{}}
	defer func() { e.Declaring = nil }()
	for {
		e.Stage("parse")
		if diags := c.parse(e.Ctx.FileSet); len(diags) > 0 {
			return nil, diags
		}
		file := c.File
		j.Note(func() { e.Forget(file) })
		e.dropAdded(c)
		e.keepTypes(c)
		e.distinguish(c)
		e.findReplaced(c)
		signatures, own := e.signatures(c)
		if own && e.declareFirst(j, c) {
			continue // its types keep the file
		}
		e.addMethods(j, c, signatures)
		if e.carryReceivers(c) || c.losesKept() {
			e.Forget(c.File)
			continue
		}
		c.methodsToFuncs()
		clear(c.Hidden)
		if ctx.Err() != nil {
			e.Forget(c.File)
			return nil, nil
		}
		e.Stage("infer")
		h := e.infer(c)
		e.Stage("carry")
		if e.keepsLess(c, h) || c.changesSignature(h.info) || e.advance(c, h) || e.carryMore(c, h) {
			e.Forget(c.File)
			continue
		}
		c.Decls = e.declarations(c.Source)
		e.Stage("check")
		diags := e.complete(ctx, j, c, h)
		if ctx.Err() != nil {
			e.Forget(c.File)
			return nil, nil
		}
		if e.breaks(j, c, diags) {
			e.Forget(c.File)
			continue
		}
		if len(diags) > 0 {
			return nil, diags
		}
		if e.grow(j, c) {
			e.Forget(c.File)
			continue
		}
		c.dropKept()
		return c, nil
	}
}

// distinguish makes messages of the checker distinguish types that the cell declares
// from live types of the same names.
func (e *Checker) distinguish(c *Cell) {
	e.Declaring = e.Names(c.File)
	for name := range e.Declaring {
		if t, ok := e.Live[name].(*types.TypeName); ok {
			e.Mark(t)
		}
	}
}

// complete checks the whole cell, rewrites it and checks the result.
func (e *Checker) complete(ctx context.Context, j *namespace.Journal, c *Cell, h *hoist) []failure.Diagnostic {
	if ctx.Err() != nil {
		return nil
	}
	at, info, errs := h.Scope, h.info, h.all
	if e.raise(j, c, h) || !h.whole || len(errs) > 0 {
		at, info, errs = e.checkKeyed(c, h)
	}
	pkg := at.Pkg
	diags := append(h.errs, e.diagnose(errs)...)
	if len(diags) == 0 {
		diags = e.recursive(c, info)
	}
	if len(diags) > 0 || ctx.Err() != nil {
		return diags
	}
	e.analyse(c, pkg, info)
	e.Stage("rewrite")
	settled := e.settle(c, h, pkg, info)
	traced := e.Instrument != nil && e.Instrument(c.Source, c.File, info)
	r := &rewrite.Rewriter{Info: info, Reenters: strings.Contains(c.Src, rewrite.BodyName),
		Interpreted: func(fn *types.Func) bool { return fn.Pkg() == pkg || e.Graph.Interpreted(fn) },
		Compiled:    func(p *types.Package) bool { return p != pkg && e.Graph.UnitOf(p) == nil }}
	r.File(c.File)
	if c.Pkg, c.Info = pkg, info; !settled && !traced && !r.Changed {
		if r.Rewritten() {
			r.Describe(e.sampled())
		}
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	at = e.scope(c.File, h)
	info, errs = e.TypeCheck(at, c.File)
	for _, d := range e.diagnose(errs) {
		d.Msg = "the cell engine rewrote this wrongly: " + d.Msg
		diags = append(diags, d)
	}
	c.Pkg, c.Info = at.Pkg, info
	return diags
}

// sampled are the statements that the rewriter inserts in most functions, and what the checker
// finds in them.
func (e *Checker) sampled() *rewrite.Samples {
	if e.samples == nil {
		f, err := parser.ParseFile(e.Ctx.FileSet, "", fmt.Sprintf("package main\nimport %s %q\nfunc _() {}", rewrite.RuntimeName, rewrite.RuntimePath), parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		defer e.Forget(f)
		e.samples = rewrite.NewSamples(f.Decls[1].(*ast.FuncDecl).Body, func() *types.Info {
			info, errs := e.TypeCheck(namespace.Scope{Pkg: types.NewPackage("main", "main")}, f)
			if len(errs) > 0 {
				panic(errs[0])
			}
			return info
		})
	}
	return e.samples
}
