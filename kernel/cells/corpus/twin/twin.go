package twin

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/engine/split"
)

// A Twin is a compiled program that does what a session does in which cells run in an order.
// It has a function for each run of a cell, and the variables of cells as its own, with their
// types: functions use them as in cells, and a cell that runs again assigns to them again.
//
// From the run on that declares a name anew, the name means the new declaration, and so it
// does in the declarations that mention it, which the program has once more. A method of a
// type that stays is replaced: the program chooses its body as it runs. A cell that does not
// compile is no part of the program.
type Twin struct {
	names
	verdicts
	imports  types.Importer
	runs     []*cellRun
	live     []*declaration
	lost     []*declaration            // those that no longer compile
	methods  map[method][]*declaration // their bodies
	nameless nameless
}

// nameless are imports without a name: . or _ and the package.
type nameless []struct {
	name string
	*types.Package
}

// exports reports whether a name is that of a package that is imported with a dot.
func (n *nameless) exports(name string) bool {
	for _, p := range *n {
		if p.name == "." && p.Scope().Lookup(name) != nil {
			return true
		}
	}
	return false
}

// verdicts are what checks of types have told about the cells.
type verdicts struct {
	refused map[int]string      // runs that do not compile, with the reasons
	retyped map[definition]bool // a variable gets another type
	broken  map[version]bool    // a declaration no longer compiles
}

type (
	// definition is a name that a run defines as a variable.
	definition struct {
		run  int
		name string
	}
	// version is the text of a declaration which a run declares once more.
	version struct {
		run  int
		text string
	}
	// method is a method of a type of cells.
	method struct {
		of   *meaning
		name string
	}
)

// cellRun is a run of a cell.
type cellRun struct {
	source       string
	cell         int    // the number of the cell
	left         string // why it does not run, "" if it does
	kernels      bool   // a %%cuda or %%ptx cell
	declarations []*declaration
	bodies       []*declaration // of methods
	adds         bool           // a method to a type of an earlier run
	inits        []string       // identifiers of its functions init
	leads        []statement    // variables before all other statements, which are initialised as those of a package
	statements   []statement
	ends         bool       // with an expression that is shown
	shown        types.Type // of that expression
	failing      bool       // its last value is an error, which fails the cell
}

// declaration is a version of a declaration.
type declaration struct {
	fragment
	parsed
	kind  split.Kind
	cell  int // that has the text
	means []*meaning
	was   *declaration // before names that it mentions changed
	of    method       // that it declares
	body  int          // the number of the method's body
	run   int          // that declares the body
}

// statement is a statement at the top of a cell. define are the variables that it defines, nil
// for _ and for one of an earlier statement of the run.
type statement struct {
	fragment
	origin
	syntax ast.Node
	define []*meaning
	value  bool // it is an expression whose value Go demands to be used
	rank   int  // of a variable that is initialised as one of a package
}

// hostProgram matches the main function of a %%cuda cell, which is a program of its own.
var hostProgram = regexp.MustCompile(`\bint\s+main\s*\(`)

// entryName matches the declaration of a kernel. The names of instances of templates, which no
// text shows, are found where cells use them.
var entryName = regexp.MustCompile(`(?:\b__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?|\.entry\s+)(\w+)\s*\(`)

// WithoutMagics is a cell as it runs in a twin and beside it: without its lines of magics. A
// cell that is a magic has a reason not to run.
func WithoutMagics(src string) (rest, left string) {
	head := strings.TrimSpace(src)
	switch magics, rest := split.Magics(src); {
	case strings.HasPrefix(head, "%%cuda") && hostProgram.MatchString(src):
		return src, "a program in CUDA C++"
	case strings.HasPrefix(head, "%%cuda"), strings.HasPrefix(head, "%%ptx"):
		return src, ""
	case len(magics) > 0 && (strings.HasPrefix(head, "%%") || strings.TrimSpace(rest) == ""):
		line, _, _ := strings.Cut(head, "\n")
		return src, "a magic of the cells program: " + line
	default:
		return rest, ""
	}
}

// New is the twin of cells that run in an order, which has the number of the cell for each run.
// The cells are read again with each verdict.
func New(cells []string, order []int, imports types.Importer) (*Twin, error) {
	v := verdicts{map[int]string{}, map[definition]bool{}, map[version]bool{}}
	for {
		t := &Twin{verdicts: v, imports: imports, methods: map[method][]*declaration{}}
		t.names = names{now: map[string]*meaning{}, ids: map[string]bool{}, outside: t.nameless.exports}
		refused := len(t.refused)
		for _, i := range order {
			t.read(i, cells[i])
		}
		if len(t.refused) > refused {
			continue
		}
		if learned, err := t.check(); err != nil || !learned {
			return t, err
		}
	}
}

// read reads a run of a cell.
func (t *Twin) read(cell int, src string) {
	r := &cellRun{cell: cell}
	r.source, r.left = WithoutMagics(src)
	t.runs = append(t.runs, r)
	if head := strings.TrimSpace(src); r.left == "" && (strings.HasPrefix(head, "%%cuda") || strings.HasPrefix(head, "%%ptx")) {
		r.kernels, t.kernels = true, true
		for _, m := range entryName.FindAllStringSubmatch(src, -1) {
			t.addEntry(m[1])
		}
		return
	}
	run := len(t.runs) - 1
	switch {
	case r.left != "":
	case t.refused[run] != "":
		t.importOnly(r)
	case !t.readGo(r):
		t.refused[run] = "the text is no Go"
	}
}

func (t *Twin) addEntry(name string) {
	was := t.now[name]
	m := t.add(meaning{name: name, entry: true})
	if was != nil && was.entry {
		m.earlier = was
	}
}

// readGo reads a run of a cell of Go. It reports whether the text is Go as far as a parser tells.
func (t *Twin) readGo(r *cellRun) (ok bool) {
	pieces, errs := split.Cell(r.source)
	if len(errs) > 0 {
		return false
	}
	var declared []*declaration
	var leads, run []part
	imports := map[string]string{}
	for i, p := range pieces {
		text := r.source[p.Start:p.End]
		switch {
		case p.Kind == split.Import:
			if !t.imported(p, r, imports) {
				return false
			}
		case p.Kind == split.Package:
		case p.Kind == split.Statement || p.Kind == split.Var:
			s, err := parseStatements(text)
			if err != nil {
				return false
			}
			for _, x := range s.parts() {
				if p.Kind == split.Var && (len(run) == 0 || t.forward(x, run)) {
					leads = append(leads, x)
				} else {
					run = append(run, x)
				}
			}
			r.ends = i == len(pieces)-1 && p.Kind == split.Statement && !p.Semicolon
		default:
			list, ok := newDeclarations(text, p.Kind, r.cell)
			if !ok {
				return false
			}
			declared = append(declared, list...)
		}
	}
	defined, twice := map[string]bool{}, map[string]bool{}
	for _, x := range slices.Concat(leads, run) {
		for _, id := range x.defines() {
			if defined[id.Name] = id.Name != "_"; id.Name == "main" || id.Name == "init" {
				return false
			}
		}
	}
	for _, d := range declared {
		for _, name := range d.names() {
			if twice[name] || defined[name] {
				return false
			}
			twice[name] = true
		}
	}
	fresh := t.declare(declared, imports, defined)
	clear(defined)
	all := make([]statement, len(leads)+len(run))
	for i, x := range leads { // in no order: their values mention each other
		all[i].define, ok = t.variables(x, defined)
		if !ok {
			return false
		}
	}
	for i, x := range slices.Concat(leads, run) {
		define := all[i].define
		all[i] = t.statement(x, defined)
		if i >= len(leads) {
			if define, ok = t.variables(x, defined); !ok {
				return false
			}
		}
		all[i].names(x, define)
	}
	r.leads, r.statements = all[:len(leads)], all[len(leads):]
	for _, d := range fresh { // after the variables of the cell, which functions use
		t.enter(r, d)
	}
	if r.ends = r.ends && len(run) > 0; r.ends {
		r.ends = expression(run[len(run)-1].syntax) != nil
	}
	return true
}

// expression is the expression that a statement is, perhaps below labels, or nil.
func expression(n ast.Node) ast.Expr {
	switch s := n.(type) {
	case *ast.LabeledStmt:
		return expression(s.Stmt)
	case *ast.ExprStmt:
		return s.X
	}
	return nil
}

// forward reports whether a variable is mentioned by statements before it, and has no meaning yet:
// it is declared before them.
func (t *Twin) forward(x part, before []part) bool {
	return slices.ContainsFunc(x.defines(), func(id *ast.Ident) bool {
		if t.now[id.Name] != nil {
			return false
		}
		mentioned := false
		for _, b := range before {
			mentioned = mentioned || slices.ContainsFunc(b.free, func(u *ast.Ident) bool {
				return u.Name == id.Name && b.syntax.Pos() <= u.Pos() && u.End() <= b.syntax.End()
			})
			if slices.ContainsFunc(b.defines(), func(u *ast.Ident) bool { return u.Name == id.Name }) {
				return false
			}
		}
		return mentioned
	})
}

// imported adds the names of packages that a piece imports, by path. It reports whether there
// are such packages.
func (t *Twin) imported(p split.Piece, r *cellRun, names map[string]string) (ok bool) {
	d, err := parseDeclaration(r.source[p.Start:p.End])
	if err != nil {
		return false
	}
	ok = true
	for _, s := range d.file.Imports {
		path := strings.Trim(s.Path.Value, "`\"")
		p, err := t.imports.Import(path)
		if err != nil {
			ok = false
			continue
		}
		name := p.Name()
		if s.Name != nil {
			name = s.Name.Name
		}
		one := nameless{{name, p}}
		switch {
		case name != "." && name != "_":
			names[name] = path
		case !slices.Contains(t.nameless, one[0]):
			t.nameless = append(t.nameless, one...)
		}
	}
	return ok
}

// importOnly reads the imports of a run that does not compile, which stay if no other name is
// theirs.
func (t *Twin) importOnly(r *cellRun) {
	names := map[string]string{}
	pieces, _ := split.Cell(r.source)
	for _, p := range pieces {
		if p.Kind == split.Import {
			t.imported(p, r, names)
		}
	}
	for name, path := range names {
		if t.now[name] == nil {
			t.add(meaning{name: name, path: path})
		}
	}
}

// part is a statement, or one of the variables that it declares.
type part struct {
	parsed
	syntax ast.Node
}

// parts are the statements of a text, and the variables that they declare.
func (p parsed) parts() (list []part) {
	for _, s := range p.list {
		d, declares := s.(*ast.DeclStmt)
		if !declares || d.Decl.(*ast.GenDecl).Tok != token.VAR {
			list = append(list, part{p, s})
			continue
		}
		for _, spec := range d.Decl.(*ast.GenDecl).Specs {
			list = append(list, part{p, spec})
		}
	}
	return list
}

// defines are the names that a statement may define.
func (x part) defines() (names []*ast.Ident) {
	switch s := x.syntax.(type) {
	case *ast.ValueSpec:
		return s.Names
	case *ast.AssignStmt:
		for _, x := range s.Lhs {
			if id, ok := x.(*ast.Ident); ok && s.Tok == token.DEFINE {
				names = append(names, id)
			}
		}
	}
	return names
}

// statement is a statement without the names that it defines: their values mean what the names
// meant before.
func (t *Twin) statement(x part, defined map[string]bool) statement {
	from, to := x.cut(x.syntax)
	one := parsed{text: x.text[from:to], origin: x.origin + origin(from)}
	_, spec := x.syntax.(*ast.ValueSpec)
	own := slices.DeleteFunc(slices.Clone(x.defines()), func(id *ast.Ident) bool { return !spec && defined[id.Name] })
	for _, id := range x.free {
		if x.syntax.Pos() <= id.Pos() && id.End() <= x.syntax.End() && !slices.Contains(own, id) {
			one.free = append(one.free, id)
		}
	}
	return statement{fragment: t.of(one), origin: one.origin, syntax: x.syntax}
}

// variables finds or makes the variable of each name that a statement defines. A name keeps
// its variable if the type is the same. ok reports whether the statement may define the names.
func (t *Twin) variables(x part, defined map[string]bool) (define []*meaning, ok bool) {
	own, run := x.defines(), len(t.runs)-1
	_, spec := x.syntax.(*ast.ValueSpec)
	ok = len(own) == 0 || spec
	for _, id := range own {
		if id.Name == "_" || defined[id.Name] {
			define, ok = append(define, nil), ok && (id.Name == "_" || !spec)
			continue
		}
		ok, defined[id.Name] = true, true
		was := t.now[id.Name]
		m := t.add(meaning{name: id.Name, run: run})
		if was != nil && was.variable() && !t.retyped[definition{run, id.Name}] {
			m.earlier = was
		}
		define = append(define, m)
	}
	return define, ok
}

// names adds the names that a statement defines.
func (s *statement) names(x part, define []*meaning) {
	s.define = define
	for i, id := range x.defines() {
		if from, to := s.cut(id); define[i] != nil {
			s.uses = append(s.uses, use{from, to, define[i]})
		}
	}
	slices.SortFunc(s.uses, func(a, b use) int { return a.from - b.from })
}

// numbered is an identifier of what has no name in a cell.
func numbered(what string, i int, name string) string { return fmt.Sprint(what, Dot, i, Dot, name) }

// Imports are the paths that cells import, and those which twins import by themselves.
func Imports(cells []string) []string {
	paths := []string{kernelPackage}
	for _, code := range cells {
		pieces, _ := split.Cell(code)
		for _, p := range pieces {
			if p.Kind != split.Import {
				continue
			}
			d, err := parseDeclaration(code[p.Start:p.End])
			if err != nil {
				continue // the cell does not compile
			}
			for _, s := range d.file.Imports {
				if path, err := strconv.Unquote(s.Path.Value); err == nil {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}

// kernelPackage has the type of kernels.
const kernelPackage = "warpbook/gpu/compile"
