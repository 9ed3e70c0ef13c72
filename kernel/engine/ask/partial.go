package ask

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/split"
	"warpbook/kernel/leaf/lazyregexp"
)

// partial is a cell that is still being written, checked as far as it goes.
type partial struct {
	pkg  *types.Package
	info *types.Info
	file *ast.File
	pos  token.Pos  // of the name at the cursor
	path []ast.Node // to it, innermost first
}

// placeholder stands for the name that is not typed yet.
const placeholder = "__c"

// partial checks the cell with a name at the cursor, despite its errors. It returns nil
// if even the part before the cursor cannot be cut into pieces.
func (e *Asker) partial(src string, cursor int) *partial {
	src = src[:cursor] + insert(src, cursor) + src[cursor:]
	if end := identEnd(src, cursor); starts().MatchString(src[:end]) && !strings.HasPrefix(src[end:], "(") {
		src = src[:end] + "()" + src[end:] // the parser keeps a go or defer statement only with a call
	}
	s, diags := e.NewSource(0, src)
	if len(diags) > 0 { // the rest of the cell may not be typed yet
		src = closeBrackets(src[:identEnd(src, cursor)])
		if s, diags = e.NewSource(0, src); len(diags) > 0 {
			return nil
		}
	}
	s.Assemble()
	s.File, _ = parser.ParseFile(e.Ctx.FileSet, "cell", s.Text, parser.SkipObjectResolution)
	defer e.Forget(s.File)
	p := &partial{file: s.File}
	at := identStart(src, cursor) // the cursor may stand after the name's last byte
	for i, piece := range s.Pieces {
		if piece.Kind != split.Magic && piece.Start <= at && at <= piece.End {
			p.pos = s.File.FileStart + token.Pos(s.At[i]+at-piece.Start)
		}
	}
	if !p.pos.IsValid() {
		return nil
	}
	p.path, _ = astutil.PathEnclosingInterval(s.File, p.pos, p.pos)
	e.check(p, nil)
	if missing := e.missing(p); len(missing) > 0 {
		e.check(p, missing)
	}
	return p
}

// check finds the meanings of the names of a cell, which may import more packages.
func (e *Asker) check(p *partial, imports map[string]*types.Package) {
	declared, all := e.Names(p.file), namespace.Scope{Pkg: types.NewPackage("main", "main")}
	for name, o := range e.Live { // the name that is not typed yet may be any of them
		if !declared[name] {
			all.Add(o)
		}
	}
	for name, pkg := range imports {
		all.Add(types.NewPkgName(token.NoPos, all.Pkg, name, pkg))
	}
	p.pkg = all.Pkg
	p.info, _ = e.TypeCheck(all, p.file)
}

// missing are the packages that the cell names and does not import, if only one fits each
// name: they give variables their types. The package of the name that is asked about is
// not among them, because the answer tells what to import.
func (e *Asker) missing(p *partial) map[string]*types.Package {
	_, asked := p.name()
	_, called := p.called()
	list := map[string]*types.Package{}
	ast.Inspect(p.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel == asked || sel == called {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && list[id.Name] == nil {
			if fit := e.unimported(p, id); len(fit) == 1 {
				list[id.Name] = fit[0]
			}
		}
		return true
	})
	return list
}

// starts matches the source up to the function of a go or defer statement.
var starts = lazyregexp.New(`\b(go|defer)\s+[\w.]+$`)

// insert returns the text to insert at the cursor, so that the cursor stands at a name.
func insert(src string, cursor int) string {
	if identEnd(src, cursor) > cursor || identStart(src, cursor) < cursor {
		return ""
	}
	return placeholder
}

func identStart(src string, cursor int) int {
	for cursor > 0 && isIdent(src[cursor-1]) {
		cursor--
	}
	return cursor
}

func identEnd(src string, cursor int) int {
	for cursor < len(src) && isIdent(src[cursor]) {
		cursor++
	}
	return cursor
}

func isIdent(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}

// closeBrackets adds the brackets that are still open.
func closeBrackets(src string) string {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(src)), []byte(src), nil, 0)
	closers := map[token.Token]string{token.LPAREN: ")", token.LBRACK: "]", token.LBRACE: "\n}"}
	var open []string
	for {
		_, t, _ := s.Scan()
		switch t {
		case token.EOF:
			var b strings.Builder
			b.WriteString(src)
			for i := len(open) - 1; i >= 0; i-- {
				b.WriteString(open[i])
			}
			return b.String()
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, closers[t])
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
}

// name finds the name at the cursor, and the selector that ends in it, if any.
func (p *partial) name() (*ast.Ident, *ast.SelectorExpr) {
	for i, n := range p.path {
		id, ok := n.(*ast.Ident)
		if !ok {
			continue
		}
		if i+1 < len(p.path) {
			if sel, ok := p.path[i+1].(*ast.SelectorExpr); ok && sel.Sel == id {
				return id, sel
			}
		}
		return id, nil
	}
	return nil, nil
}

// called finds the function whose arguments the cursor is in, or the type of the
// literal.
func (p *partial) called() (*ast.Ident, *ast.SelectorExpr) {
	for _, n := range p.path {
		var of ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			of = n.Fun
		case *ast.CompositeLit:
			of = n.Type
		}
		switch f := of.(type) {
		case *ast.Ident:
			return f, nil
		case *ast.SelectorExpr:
			return f.Sel, f
		}
	}
	return nil, nil
}

// literal is the type of the composite literal with a field at the cursor, nil if there is
// none.
func (p *partial) literal() types.Type {
	for _, n := range p.path {
		if lit, ok := n.(*ast.CompositeLit); ok {
			return p.info.TypeOf(lit)
		}
	}
	return nil
}

// imports is the path of the import at the cursor, "" if the cursor is not in a path.
func (p *partial) imports() string {
	for _, n := range p.path {
		if spec, ok := n.(*ast.ImportSpec); ok && spec.Path == p.path[0] {
			path, _ := strconv.Unquote(spec.Path.Value)
			return path
		}
	}
	return ""
}

// offsets converts between bytes and code points, which the protocol counts.
func byteOffset(src string, points int) int {
	for i := range src {
		if points <= 0 {
			return i
		}
		points--
	}
	return len(src)
}

func codePoints(src string, offset int) int { return len([]rune(src[:offset])) }

// Asker answers questions about code that is being written.
type Asker struct {
	*check.Checker
	Docs  func(path, name string) string // declaration and comment of a compiled object, nil if none are known
	Busy  func() bool                    // reports whether a cell runs
	Texts Texts                          // completes string literals, nil for none

	path, name string // of the last compiled object that was described; guarded by Mu
}
