package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"slices"
	"strings"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/hint"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/packages"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/split"
	"warpbook/kernel/leaf/lazyregexp"
)

// A method that is declared again with the same signature is replaced in place, as a
// function is: its type, types that embed it and all their values stay the same and call
// the new method. The checker accepts methods only in the package of their type, so it
// sees a function whose first parameter is the receiver. If the type is generic, names
// in the cell's package stand for the type parameters of the replaced method, so that
// the new body means the same parameters as its signature.

// methodPrefix begins the name of the function that represents a method, and typePrefix
// that of a type parameter.
const methodPrefix, typePrefix = "__method_", "__type"

// aliased returns the type name that a name stands for, through the aliases that the
// cell declares.
func (s *Source) aliased(name string) string {
	aliases := map[string]string{}
	for _, d := range s.File.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			if ts := spec.(*ast.TypeSpec); ts.Assign.IsValid() {
				aliases[ts.Name.Name] = typeName(ts.Type)
			}
		}
	}
	for range len(aliases) { // at most: aliases may form a cycle
		if to := aliases[name]; to != "" {
			name = to
		}
	}
	return name
}

const oldPrefix = "__old_"

// Language is the part of a cell's language beside Go, magics, and the answers to habits
// of other languages.
type Language struct {
	Magics magic.Set
	Advice *hint.Advice
}

// Source is a cell as a Go file: its imports and declarations, the declarations of
// earlier cells that are compiled again with it, and its statements as the body of one
// function.
type Source struct {
	*Language
	Cell       int
	Src        string
	Pieces     []piece
	Calls      []*Call      // of magics
	Next       string       // the text that a magic offers for the next cell
	lead       map[int]bool // var pieces that come before the statements
	Carry      []*namespace.Declaration
	Replaced   []namespace.Replacement // methods of live types
	parameters []alias                 // names of type parameters of replaced methods
	Moved      map[string]string       // variables that follow their type when it is declared again, and the type

	Text  string
	File  *ast.File
	body  *ast.FuncDecl
	spans []span // of carried declarations in text
	At    []int  // offset of each piece in text
}

// piece is a piece of the cell with the text before it, or text that replaces a magic.
type piece struct {
	split.Piece
	text   string
	closes bool // it ends the magic of the piece before it
}

// span is the place of a carried declaration in the text of a file.
type span struct {
	start, end int
	decl       *namespace.Declaration
}

func (l *Language) NewSource(cell int, src string) (*Source, []failure.Diagnostic) {
	s := &Source{Language: l, Cell: cell, Src: src, lead: map[int]bool{}, Moved: map[string]string{}}
	pieces, errs := split.Cell(src)
	diags := s.misfits(errs, 0)
	for _, p := range pieces {
		if p.Kind == split.Magic {
			diags = append(diags, s.addMagic(p)...)
		} else {
			s.Pieces = append(s.Pieces, piece{Piece: p})
		}
	}
	diags = append(diags, s.aloneMagic(len(pieces))...)
	diags = append(diags, s.embeds(pieces)...)
	for i, p := range s.Pieces { // variables before all statements are declared as in a package
		if p.Kind == split.Statement || p.Kind == split.Magic {
			break
		}
		s.lead[i] = p.Kind == split.Var
	}
	return s, diags
}

// misfits are the places at which a part of the cell, which begins at an offset, cannot
// be cut.
func (s *Source) misfits(errs []split.Error, offset int) (diags []failure.Diagnostic) {
	line, col := s.place(offset)
	asked, answered := map[int]bool{}, map[int]bool{} // by line: each line is asked about once, even if it has thousands of errors
	for _, e := range errs {
		if e.Line == 1 {
			e.Col += col - 1
		}
		d := failure.Diagnostic{Cell: s.Cell, Line: line + e.Line - 1, Col: e.Col, Msg: e.Msg}
		if answered[d.Line] {
			continue
		}
		if !asked[d.Line] {
			asked[d.Line] = true
			answered[d.Line] = s.answer(&d)
		}
		diags = append(diags, d)
	}
	return diags
}

const embed = "//go:embed "

// embeds are the directives that embed files in a program. The compiler of cells ignores
// them, and the variables would stay empty.
func (s *Source) embeds(pieces []split.Piece) (diags []failure.Diagnostic) {
	if !strings.Contains(s.Src, embed) {
		return nil
	}
	var words scanner.Scanner
	words.Init(token.NewFileSet().AddFile("", -1, len(s.Src)), []byte(s.Src), nil, scanner.ScanComments)
	for {
		pos, tok, text := words.Scan()
		if tok == token.EOF {
			return diags
		}
		at := int(pos) - 1
		magic := slices.ContainsFunc(pieces, func(p split.Piece) bool { return p.Kind == split.Magic && p.Start <= at && at < p.End })
		if tok == token.COMMENT && strings.HasPrefix(text, embed) && !magic {
			line, col := s.place(at)
			diags = append(diags, failure.Diagnostic{Cell: s.Cell, Line: line, Col: col, Msg: "a cell embeds no files: read the file with os.ReadFile, or a folder with os.DirFS"})
		}
	}
}

// place is the line and the column of an offset in the cell.
func (s *Source) place(offset int) (line, col int) {
	before := s.Src[:offset]
	return strings.Count(before, "\n") + 1, offset - strings.LastIndexByte(before, '\n')
}

// parse assembles the text and parses it.
func (s *Source) parse(fset *token.FileSet) []failure.Diagnostic {
	s.Assemble()
	f, err := parser.ParseFile(fset, "cell", s.Text, parser.SkipObjectResolution)
	if err != nil {
		fset.RemoveFile(fset.File(f.FileStart))
		return s.parseErrors(err)
	}
	s.File = f
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.Name == rewrite.BodyName {
			s.body = fd
		}
	}
	diags := s.unfit(fset)
	if len(diags) > 0 { // the cell ends here, and nothing else forgets its file
		fset.RemoveFile(fset.File(f.FileStart))
	}
	return diags
}

// parseErrors are the errors of the parser, except those about the text around the
// pieces if there are any others. A line of another language gets one answer: further
// errors of its piece follow from it.
func (s *Source) parseErrors(err error) []failure.Diagnostic {
	list, ok := err.(scanner.ErrorList)
	if !ok {
		return []failure.Diagnostic{{Msg: err.Error()}}
	}
	var own, around []failure.Diagnostic
	answered := map[int]bool{} // by piece
	for _, e := range list {
		i, inside := s.pieceAt(e.Pos.Offset)
		d := failure.Diagnostic{Cell: failure.CellOf(e.Pos.Filename), Line: e.Pos.Line, Col: e.Pos.Column, Msg: e.Msg}
		switch {
		case answered[i]:
		case !inside && i >= 0:
			d.Msg = foundAround().ReplaceAllString(d.Msg, "found the end of the statement")
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

// foundAround matches the parser's name of the token after a piece.
var foundAround = lazyregexp.New(`found .*`)

// pieceAt is the piece at an offset in the text, or else the piece before it, -1 if
// there is none.
func (s *Source) pieceAt(offset int) (i int, inside bool) {
	i = -1
	for j, p := range s.Pieces {
		if p.Kind != split.Magic && s.At[j] <= offset && (i < 0 || s.At[j] > s.At[i]) {
			i = j
		}
	}
	return i, i >= 0 && offset < s.At[i]+s.Pieces[i].End-s.Pieces[i].Start
}

// answer adds the Go form to an error if the line is in another language.
func (s *Source) answer(d *failure.Diagnostic) bool {
	if d.Cell != s.Cell {
		return false
	}
	lines := strings.Split(s.Src, "\n")
	if d.Line < 1 || d.Line > len(lines) {
		return false
	}
	text := s.Advice.Foreign(lines[d.Line-1])
	switch {
	case text != "":
		d.Msg += ": " + text
	case d.Msg == "expected 1 expression":
		d.Msg += ": " + hint.Values
	}
	return text != ""
}

// unfit are statements that parse but are not allowed in a cell.
func (s *Source) unfit(fset *token.FileSet) (diags []failure.Diagnostic) {
	complain := func(at token.Pos, msg string) {
		p := fset.Position(at)
		diags = append(diags, failure.Diagnostic{Cell: failure.CellOf(p.Filename), Line: p.Line, Col: p.Column, Msg: msg})
	}
	for _, i := range s.File.Imports[1:] { // the first is that of Assemble
		if ImportPath(i) == rewrite.RuntimePath {
			complain(i.Path.Pos(), fmt.Sprintf("could not import %s (%v)", rewrite.RuntimePath, packages.NotOffered(rewrite.RuntimePath)))
		}
	}
	for _, d := range s.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Body == nil {
			complain(fd.Name.Pos(), "missing function body: the { stands on the line of func")
		}
	}
	for _, st := range s.body.Body.List {
		eachDefined(unlabel(st), func(id *ast.Ident) {
			if id.Name == "main" || id.Name == "init" {
				complain(id.Pos(), id.Name+" is the name of a function that Go calls by itself: give the variable another name")
			}
		})
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

func (s *Source) Assemble() {
	var b strings.Builder
	b.WriteString("package main\nimport " + rewrite.RuntimeName + " \"" + rewrite.RuntimePath + "\"\n")
	s.spans, s.At = nil, make([]int, len(s.Pieces))
	s.write(&b, func(i int, p piece) bool { return p.Kind == split.Import })
	for _, d := range s.Carry {
		start := b.Len()
		b.WriteString(d.Text + ";\n")
		s.spans = append(s.spans, span{start, b.Len(), d})
	}
	s.write(&b, func(i int, p piece) bool {
		return p.Kind == split.Const || p.Kind == split.Type || p.Kind == split.Func || s.lead[i]
	})
	for _, name := range slices.Sorted(maps.Keys(s.Moved)) {
		b.WriteString("var " + name + " " + s.Moved[name] + "\n")
	}
	b.WriteString("func " + rewrite.BodyName + "() (__r []interface{}) {\n") // not any, which cells may redefine
	s.write(&b, func(i int, p piece) bool {
		return p.Kind == split.Statement || p.Kind == split.Magic || p.Kind == split.Var && !s.lead[i]
	})
	line, col := s.place(len(strings.TrimRight(s.Src, " \t\r\n")))
	b.WriteString(failure.Directive(s.Cell, line, col) + "return }\n") // deferred calls run there, in the last line of the cell
	s.Text = b.String()
}

// write writes the pieces that want selects. The semicolon separates an unfinished piece
// from the next.
func (s *Source) write(b *strings.Builder, want func(int, piece) bool) {
	for i, p := range s.Pieces {
		if !want(i, p) {
			continue
		}
		here := failure.Directive(s.Cell, p.Line, p.Col)
		if p.Kind == split.Magic {
			b.WriteString(here + p.text)
			continue
		}
		b.WriteString(p.text + here)
		s.At[i] = b.Len()
		b.WriteString(s.Src[p.Start:p.End] + ";\n")
	}
}

// last is the last piece of the cell, nil if it has none.
func (s *Source) last() *piece {
	for i := len(s.Pieces) - 1; i >= 0; i-- {
		if !s.Pieces[i].closes {
			return &s.Pieces[i]
		}
	}
	return nil
}

// result is the expression that ends the cell, if there is one.
func (s *Source) result() *ast.ExprStmt {
	last := s.last()
	if last == nil || last.Kind != split.Statement {
		return nil
	}
	list := s.body.Body.List
	for i := len(list) - 2; i >= 0; i-- { // the last statement is the return
		if _, empty := list[i].(*ast.EmptyStmt); empty {
			continue
		}
		if es, ok := unlabel(list[i]).(*ast.ExprStmt); !ok || !callsMagic(es) {
			return es
		}
	}
	return nil
}

func (s *Source) offset(pos token.Pos) int { return int(pos - s.File.FileStart) }

// Carried finds the carried declaration at a position, nil if the position
// belongs to the cell itself.
func (s *Source) Carried(pos token.Pos) *namespace.Declaration {
	o := s.offset(pos)
	for _, sp := range s.spans {
		if sp.start <= o && o < sp.end {
			return sp.decl
		}
	}
	return nil
}

// Declares is the call of a magic that declares the content of its cell, and its offset
// in the cell; nil if there is none. Errors of the call are reported when the cell is
// checked.
func (l *Language) Declares(src string) (c *magic.Call, at int) {
	magics, _ := split.Magics(src)
	if len(magics) == 0 || !strings.HasPrefix(src[magics[0].Start:], "%%") {
		return nil, 0
	}
	c, err := l.Magics.Parse(src[magics[0].Start:magics[0].End])
	if err != nil || c.Declare == nil || c.Help {
		return nil, 0
	}
	return c, magics[0].Start
}
