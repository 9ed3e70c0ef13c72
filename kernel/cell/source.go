package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu/lazyregexp"
	"warpbook/kernel/cell/split"
)

// bodyName is the function that holds a cell's statements. Its result is the
// values of the last expression.
const bodyName = "__cell"

// source is a cell as a Go file: its imports and declarations, the
// declarations of earlier cells that must be compiled again with it, and its
// statements as the body of one function.
type source struct {
	cell       int
	src        string
	pieces     []piece
	calls      []*call      // of magics
	next       string       // what one of them offers in place of the cell
	lead       map[int]bool // var pieces that come before the statements
	carry      []*declaration
	replaced   []replacement     // methods of live types
	parameters []alias           // names of type parameters of replaced methods
	moved      map[string]string // variables that follow their type when it is declared again, and the type

	text  string
	file  *ast.File
	body  *ast.FuncDecl
	spans []span // of carry in text
	at    []int  // where each piece stands in text
}

// piece is a piece of the cell with what comes before it, or text that stands
// for a magic.
type piece struct {
	split.Piece
	text   string
	closes bool // it ends a magic that the piece before it belongs to
}

// span is where a carried declaration stands in the text of a file.
type span struct {
	start, end int
	decl       *declaration
}

func newSource(cell int, src string) (*source, []diagnostic) {
	s := &source{cell: cell, src: src, lead: map[int]bool{}, moved: map[string]string{}}
	pieces, errs := split.Cell(src)
	diags := s.misfits(errs, 0)
	for _, p := range pieces {
		if p.Kind == split.Magic {
			diags = append(diags, s.addMagic(p)...)
		} else {
			s.pieces = append(s.pieces, piece{Piece: p})
		}
	}
	diags = append(diags, s.aloneMagic(len(pieces))...)
	for i, p := range s.pieces { // variables before all statements are declared as in a package
		if p.Kind == split.Statement || p.Kind == split.Magic {
			break
		}
		s.lead[i] = p.Kind == split.Var
	}
	return s, diags
}

// misfits are the places at which a part of the cell cannot be cut. It begins
// at an offset.
func (s *source) misfits(errs []split.Error, offset int) (diags []diagnostic) {
	line, col := s.place(offset)
	answered := map[int]bool{} // lines
	for _, e := range errs {
		if e.Line == 1 {
			e.Col += col - 1
		}
		d := diagnostic{cell: s.cell, line: line + e.Line - 1, col: e.Col, msg: e.Msg}
		if !answered[d.line] {
			answered[d.line] = s.answer(&d)
			diags = append(diags, d)
		}
	}
	return diags
}

// place is the line and the column of an offset in the cell.
func (s *source) place(offset int) (line, col int) {
	before := s.src[:offset]
	return strings.Count(before, "\n") + 1, offset - strings.LastIndexByte(before, '\n')
}

// directive makes what follows it report its place in the cell.
func directive(cell, line, col int) string {
	return fmt.Sprintf("/*line cell%d:%d:%d*/", cell, line, col)
}

// cellOf is the cell's number in a file name that directive made, or 0.
func cellOf(file string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(file, "cell"))
	return n
}

// parse assembles the text and parses it.
func (s *source) parse(fset *token.FileSet) []diagnostic {
	s.assemble()
	f, err := parser.ParseFile(fset, "cell", s.text, parser.SkipObjectResolution)
	if err != nil {
		fset.RemoveFile(fset.File(f.FileStart))
		return s.parseErrors(err)
	}
	s.file = f
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.Name == bodyName {
			s.body = fd
		}
	}
	return s.unfit(fset)
}

// parseErrors are the complaints of the parser, without those that are about the
// text around the pieces, if there are any others. A line of another language is
// answered once: what else is said of its piece follows from it.
func (s *source) parseErrors(err error) []diagnostic {
	list, ok := err.(scanner.ErrorList)
	if !ok {
		return []diagnostic{{msg: err.Error()}}
	}
	var own, around []diagnostic
	answered := map[int]bool{} // by piece
	for _, e := range list {
		i, inside := s.pieceAt(e.Pos.Offset)
		d := diagnostic{cell: cellOf(e.Pos.Filename), line: e.Pos.Line, col: e.Pos.Column, msg: e.Msg}
		switch {
		case answered[i]:
		case !inside && i >= 0:
			d.msg = foundAround().ReplaceAllString(d.msg, "found the end of the statement")
			around = append(around, d)
		default:
			answered[i] = s.answer(&d)
			own = append(own, d)
		}
	}
	if len(own) > 0 {
		return own
	}
	for _, d := range around[:min(1, len(around))] {
		s.answer(&d)
		own = append(own, d)
	}
	return own
}

// foundAround is what the parser says that it has met behind a piece.
var foundAround = lazyregexp.New(`found .*`)

// pieceAt is the piece that an offset in the text lies in, or else the one before
// it, -1 if there is none.
func (s *source) pieceAt(offset int) (i int, inside bool) {
	i = -1
	for j, p := range s.pieces {
		if p.Kind != split.Magic && s.at[j] <= offset && (i < 0 || s.at[j] > s.at[i]) {
			i = j
		}
	}
	return i, i >= 0 && offset < s.at[i]+s.pieces[i].End-s.pieces[i].Start
}

// answer adds to a complaint what to write instead, if the line is of another
// language.
func (s *source) answer(d *diagnostic) bool {
	if d.cell != s.cell {
		return false
	}
	lines := strings.Split(s.src, "\n")
	if d.line < 1 || d.line > len(lines) {
		return false
	}
	text := foreign(lines[d.line-1])
	switch {
	case text != "":
		d.msg += ": " + text
	case d.msg == "expected 1 expression":
		d.msg += ": " + values
	}
	return text != ""
}

// unfit are statements that parse and that a cell cannot have.
func (s *source) unfit(fset *token.FileSet) (diags []diagnostic) {
	complain := func(at token.Pos, msg string) {
		p := fset.Position(at)
		diags = append(diags, diagnostic{cell: cellOf(p.Filename), line: p.Line, col: p.Column, msg: msg})
	}
	for _, d := range s.file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Body == nil {
			complain(fd.Name.Pos(), "missing function body: the { stands on the line of func")
		}
	}
	ast.Inspect(s.body.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			complain(r.Results[0].Pos(), "a cell returns no value: its last expression is shown, and a bare return ends it")
		}
		_, function := n.(*ast.FuncLit)
		return !function
	})
	return diags
}

func (s *source) assemble() {
	var b strings.Builder
	b.WriteString("package main\nimport " + runtimeName + " \"" + runtimePath + "\"\n")
	s.spans, s.at = nil, make([]int, len(s.pieces))
	s.write(&b, func(i int, p piece) bool { return p.Kind == split.Import })
	for _, d := range s.carry {
		start := b.Len()
		b.WriteString(d.text + ";\n")
		s.spans = append(s.spans, span{start, b.Len(), d})
	}
	s.write(&b, func(i int, p piece) bool {
		return p.Kind == split.Const || p.Kind == split.Type || p.Kind == split.Func || s.lead[i]
	})
	for _, name := range slices.Sorted(maps.Keys(s.moved)) {
		b.WriteString("var " + name + " " + s.moved[name] + "\n")
	}
	b.WriteString("func " + bodyName + "() (__r []interface{}) {\n") // not any, which cells may give another meaning
	s.write(&b, func(i int, p piece) bool {
		return p.Kind == split.Statement || p.Kind == split.Magic || p.Kind == split.Var && !s.lead[i]
	})
	b.WriteString("return\n}\n")
	s.text = b.String()
}

// write writes the pieces that want holds for. The semicolon keeps an
// unfinished piece from running into the next.
func (s *source) write(b *strings.Builder, want func(int, piece) bool) {
	for i, p := range s.pieces {
		if !want(i, p) {
			continue
		}
		here := directive(s.cell, p.Line, p.Col)
		if p.Kind == split.Magic {
			b.WriteString(here + p.text)
			continue
		}
		b.WriteString(p.text + here)
		s.at[i] = b.Len()
		b.WriteString(s.src[p.Start:p.End] + ";\n")
	}
}

// last is the piece that the cell ends in, nil if it has none.
func (s *source) last() *piece {
	for i := len(s.pieces) - 1; i >= 0; i-- {
		if !s.pieces[i].closes {
			return &s.pieces[i]
		}
	}
	return nil
}

// result is the expression that the cell ends in, if it does.
func (s *source) result() *ast.ExprStmt {
	last := s.last()
	if last == nil || last.Kind != split.Statement {
		return nil
	}
	list := s.body.Body.List
	for i := len(list) - 2; i >= 0; i-- { // the last is the return
		if _, empty := list[i].(*ast.EmptyStmt); empty {
			continue
		}
		if es, ok := unlabel(list[i]).(*ast.ExprStmt); !ok || !callsMagic(es) {
			return es
		}
	}
	return nil
}

// offset is a position's place in the text.
func (c *checked) files() []*ast.File { return []*ast.File{c.file} }

func (s *source) offset(pos token.Pos) int { return int(pos - s.file.FileStart) }

// carried finds the carried declaration at a position, nil if the position
// belongs to the cell itself.
func (s *source) carried(pos token.Pos) *declaration {
	o := s.offset(pos)
	for _, sp := range s.spans {
		if sp.start <= o && o < sp.end {
			return sp.decl
		}
	}
	return nil
}

// temporary is a position in the cell's file, if that is needed only as long as
// what the cell declares: a function literal may be kept anywhere.
func (c *checked) temporary() token.Pos {
	literal := len(c.replaced) > 0 // their positions are those of methods that live elsewhere
	ast.Inspect(c.file, func(n ast.Node) bool {
		_, is := n.(*ast.FuncLit)
		literal = literal || is
		return !literal
	})
	if literal {
		return token.NoPos
	}
	return c.file.FileStart
}

// baseName is the name of the type that a receiver is of.
func baseName(fd *ast.FuncDecl) string {
	if fd.Recv == nil || len(fd.Recv.List) == 0 {
		return ""
	}
	t := fd.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
