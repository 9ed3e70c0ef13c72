package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is one careless change.
type mutant struct {
	id   int
	line int
	name string // file, function, and the change: stable while other lines move
}

// changes collects the mutants of one package, and the text that each inserts.
type changes struct {
	pkg     *packages.Package
	path    string // of the file that is changed, from the root of the module
	in      string // the function that is changed
	source  []byte
	before  map[int][]string // by offset, outer insertions first
	after   map[int][]string // by offset, inner insertions first
	mutants []mutant
	names   map[string]int // how often a name has occurred
}

// change returns the text of a file with all its mutants, each of which is off until
// WARPBOOK_MUTANT has its id: the package is compiled once.
func (c *changes) change(path string, file *ast.File) ([]byte, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c.source, c.before, c.after = source, map[int][]string{}, map[int][]string{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		c.in = f.Name.Name
		c.walk(f.Body, file)
	}
	var b strings.Builder
	for i := range len(source) + 1 {
		for _, s := range c.after[i] {
			b.WriteString(s)
		}
		for _, s := range c.before[i] {
			b.WriteString(s)
		}
		if i < len(source) {
			b.WriteByte(source[i])
		}
	}
	return []byte(b.String()), nil
}

func (c *changes) offset(p token.Pos) int { return c.pkg.Fset.Position(p).Offset }
func (c *changes) text(n ast.Node) string {
	return string(c.source[c.offset(n.Pos()):c.offset(n.End())])
}
func (c *changes) typeOf(e ast.Expr) types.Type { return c.pkg.TypesInfo.TypeOf(e) }

// add notes a mutant at a node and returns its condition.
func (c *changes) add(at ast.Node, from, to string) string {
	line := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	name := fmt.Sprintf("%s %s: %s -> %s", c.path, c.in, line(from), line(to))
	if c.names[name]++; c.names[name] > 1 {
		name += fmt.Sprintf(" (%d)", c.names[name])
	}
	m := mutant{len(c.mutants) + 1, c.pkg.Fset.Position(at.Pos()).Line, name}
	c.mutants = append(c.mutants, m)
	return fmt.Sprintf("mutantIsOn(%d)", m.id)
}

// wrap inserts text around a node.
func (c *changes) wrap(n ast.Node, before, after string) {
	from, to := c.offset(n.Pos()), c.offset(n.End())
	c.before[from] = append(c.before[from], before)
	c.after[to] = append([]string{after}, c.after[to]...)
}

// instead makes an expression one of several: itself, or an alternative whose mutant is on.
func (c *changes) instead(e ast.Expr, file *ast.File, alternatives ...string) {
	of := types.Default(c.typeOf(e))
	known := true
	name := types.TypeString(of, func(p *types.Package) string {
		if p == c.pkg.Types {
			return ""
		}
		for _, i := range file.Imports {
			if strings.Trim(i.Path.Value, `"`) == p.Path() && i.Name == nil {
				return p.Name()
			}
		}
		known = false
		return ""
	})
	if !known {
		return
	}
	before := "func() " + name + " { "
	for _, a := range alternatives {
		before += "if " + c.add(e, c.text(e), a) + " { return " + a + " }; "
	}
	c.wrap(e, before+"return ", " }()")
}

// walk adds the mutants of a block.
func (c *changes) walk(root ast.Node, file *ast.File) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			c.statements(n.List)
		case *ast.CaseClause:
			c.statements(n.Body)
		case *ast.CommClause:
			c.statements(n.Body)
		case *ast.TypeSwitchStmt: // its cases are types, its statements are not
			for _, s := range n.Body.List {
				c.statements(s.(*ast.CaseClause).Body)
				for _, inner := range s.(*ast.CaseClause).Body {
					c.walk(inner, file)
				}
			}
			return false
		case *ast.GenDecl, *ast.ArrayType:
			return false // constants
		case *ast.KeyValueExpr: // the key of an array is a constant
			c.walk(n.Value, file)
			return false
		case *ast.IfStmt:
			if !isBinary(n.Cond) && c.pkg.TypesInfo.Types[n.Cond].Value == nil {
				c.instead(n.Cond, file, "!("+c.text(n.Cond)+")")
			}
		case *ast.CallExpr:
			return !c.speaks(n)
		case ast.Expr:
			return c.expression(n, file)
		}
		return true
	})
}

func isBinary(e ast.Expr) bool {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			_, ok := e.(*ast.BinaryExpr)
			return ok
		}
		e = p.X
	}
}

// speaks reports whether a call makes a text for people, whose words no test has to hold.
func (c *changes) speaks(call *ast.CallExpr) bool {
	name := c.text(call.Fun)
	return name == "panic" || name == "make" || name == "fmt.Errorf" || name == "errors.New" || name == "fmt.Sprintf"
}

// statements adds the mutants that leave out a statement.
func (c *changes) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || c.text(s.Lhs[0]) == "_" {
				continue
			}
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); !ok || c.speaks(call) {
				continue
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		c.wrap(s, "if !"+c.add(s, c.text(s), "nothing")+" { ", " }")
	}
}

// swapped are the operators that a careless change mistakes for each other.
var swapped = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
}

// expression adds the mutants of an expression, and reports whether those of its parts
// are wanted too.
func (c *changes) expression(e ast.Expr, file *ast.File) bool {
	tv := c.pkg.TypesInfo.Types[e]
	if tv.Value != nil {
		c.constant(e, tv, file)
		return false
	}
	b, ok := e.(*ast.BinaryExpr)
	if !ok || tv.Type == nil {
		return !tv.IsType()
	}
	x, y := c.text(b.X), c.text(b.Y)
	switch op := swapped[b.Op]; {
	case b.Op == token.LAND, b.Op == token.LOR:
		c.instead(e, file, x, y)
	case op != "" && !strings.Contains(tv.Type.Underlying().String(), "string"):
		c.instead(e, file, x+" "+op+" "+y)
	}
	return true
}

// constant adds the mutants of a constant: one more, or the other truth.
func (c *changes) constant(e ast.Expr, tv types.TypeAndValue, file *ast.File) {
	basic, ok := tv.Type.Underlying().(*types.Basic)
	switch {
	case !ok || basic.Info()&types.IsUntyped != 0 && basic.Kind() != types.UntypedBool:
	case tv.Value.Kind() == constant.Bool:
		c.instead(e, file, "!"+c.text(e))
	case basic.Info()&types.IsNumeric != 0 && constant.Compare(tv.Value, token.LSS, constant.MakeInt64(1<<62)) && !c.speaksOf(e):
		c.instead(e, file, c.text(e)+"+1")
	}
}

// speaksOf: a rune or the size of a text is no decision.
func (c *changes) speaksOf(e ast.Expr) bool { return strings.HasPrefix(c.text(e), "'") }

// load reads a package and returns its changed files, by path, and its mutants.
func load(root string, t target) (map[string][]byte, []mutant, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: root}, "./"+t.folder)
	if err != nil {
		return nil, nil, err
	}
	if len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		return nil, nil, fmt.Errorf("%s: %v", t.folder, pkgs[0].Errors)
	}
	c := &changes{pkg: pkgs[0], names: map[string]int{}}
	texts := map[string][]byte{}
	for i, path := range pkgs[0].CompiledGoFiles {
		if !slices.Contains(t.files, filepath.Base(path)) {
			continue
		}
		c.path = t.folder + "/" + filepath.Base(path)
		if texts[path], err = c.change(path, pkgs[0].Syntax[i]); err != nil {
			return nil, nil, err
		}
	}
	if len(texts) != len(t.files) {
		return nil, nil, fmt.Errorf("%s has %d of the files %v", t.folder, len(texts), t.files)
	}
	texts[filepath.Join(root, t.folder, "mutant_is_on.go")] = []byte("package " + pkgs[0].Name + "\n" + isOn)
	return texts, c.mutants, nil
}

// isOn is added to a package: it reports whether a mutant is on, and notes in a file which
// mutants a test reaches.
const isOn = `
import (
	"os"
	"strconv"
	"sync"
)

var (
	mutantID, _   = strconv.Atoi(os.Getenv("WARPBOOK_MUTANT"))
	mutantFile    = os.Getenv("WARPBOOK_MUTANTS_REACHED")
	mutantReached sync.Map
)

func mutantIsOn(id int) bool {
	if mutantFile != "" {
		if _, known := mutantReached.LoadOrStore(id, true); !known {
			f, err := os.OpenFile(mutantFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				f.WriteString(strconv.Itoa(id) + "\n")
				f.Close()
			}
		}
	}
	return id == mutantID
}
`
