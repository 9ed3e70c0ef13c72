package corpus

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/engine/split"
)

// A twin is a Go package that does what cells do that run twice: a declaration is what it
// was, a statement is executed twice. Its function Each runs each cell twice, one after the
// other, and All runs all cells and then all again.
type twin struct {
	root    string            // of the Go distribution
	imports map[string]string // by name
	decls   []string
	each    []string
	all     []string // without the repetitions
	body    []string // of the cell
	again   []string // its repetition
	repeats []string // those of all cells
}

// twinOf writes the cells as a package. It returns the reason if compiled Go has no such
// program.
func twinOf(root string, cells []string) (src, reason string) {
	t := &twin{root: root, imports: map[string]string{}}
	for _, code := range cells {
		pieces, errs := split.Cell(code)
		if len(errs) > 0 {
			return "", "a cell is no Go: " + errs[0].Msg
		}
		for _, p := range pieces {
			text := strings.TrimSpace(code[p.Start:p.End])
			switch p.Kind {
			case split.Import:
				reason = t.addImports(text)
			case split.Const, split.Type:
				t.decls = append(t.decls, text)
			case split.Func:
				if strings.HasPrefix(text, "func init()") {
					return "", "a function init runs as a program starts"
				}
				t.decls = append(t.decls, text)
			default:
				reason = t.addStatements(text)
			}
			if reason != "" {
				return "", reason
			}
		}
		t.each = slices.Concat(t.each, t.body, t.again)
		t.all, t.repeats = append(t.all, t.body...), append(t.repeats, t.again...)
		t.body, t.again = nil, nil
	}
	text := strings.Join(t.decls, "\n\n") + "\n\nfunc Each() {\n" + strings.Join(t.each, "\n") + "\n}\n\nfunc All() {\n" +
		strings.Join(append(t.all, t.repeats...), "\n") + "\n}\n"
	var imports []string
	for name, line := range t.imports {
		if name == "." || strings.Contains(text, name+".") { // Go refuses the others
			imports = append(imports, line)
		}
	}
	slices.Sort(imports)
	return "package twin\n\n" + strings.Join(imports, "\n") + "\n\n" + text, ""
}

func (t *twin) addImports(text string) (reason string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.ImportsOnly)
	if err != nil {
		return err.Error()
	}
	for _, s := range f.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if _, missing := os.Stat(filepath.Join(t.root, "src", path)); err != nil || missing != nil || slices.Contains(strings.Split(path, "/"), "internal") {
			return "it imports " + path + ", which is not of the standard library"
		}
		line := "import "
		if s.Name != nil {
			line += s.Name.Name + " "
		}
		name := importName(s)
		if version.MatchString(name) {
			name = filepath.Base(filepath.Dir(path))
		}
		t.imports[name] = line + s.Path.Value
	}
	return ""
}

// addStatements adds the statements of a text and their repetition.
func (t *twin) addStatements(text string) (reason string) {
	const head = "package p; func _() {\n"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", head+text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return "a statement is no Go: " + err.Error()
	}
	cut := func(from, to token.Pos) string {
		return text[fset.Position(from).Offset-len(head) : fset.Position(to).Offset-len(head)]
	}
	for _, s := range f.Decls[0].(*ast.FuncDecl).Body.List {
		whole := cut(s.Pos(), s.End())
		again := whole
		switch s := s.(type) {
		case *ast.LabeledStmt, *ast.ReturnStmt, *ast.DeferStmt:
			return fmt.Sprintf("a statement is a %T, which Go executes at another time or allows once", s)
		case *ast.ExprStmt:
			if _, call := s.X.(*ast.CallExpr); !call {
				whole = "_ = " + whole
				again = whole
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				again = cut(s.Pos(), s.TokPos) + "=" + cut(s.TokPos+2, s.End())
				for _, x := range s.Lhs {
					again += used(x)
				}
			}
		case *ast.DeclStmt:
			if g := s.Decl.(*ast.GenDecl); g.Tok == token.VAR {
				whole, again = "", ""
				for _, spec := range g.Specs {
					t.addVariables(spec.(*ast.ValueSpec), cut)
				}
			}
		}
		t.body, t.again = append(t.body, whole), append(t.again, again)
	}
	return ""
}

// addVariables adds a declaration of variables: to the package, so that functions can use
// them, if nothing is called as the program starts, where all twins are initialised.
func (t *twin) addVariables(v *ast.ValueSpec, cut func(from, to token.Pos) string) {
	var names, values []string
	for _, id := range v.Names {
		names = append(names, id.Name)
	}
	for _, x := range v.Values {
		values = append(values, cut(x.Pos(), x.End()))
	}
	declaration, list := "var "+strings.Join(names, ", "), strings.Join(values, ", ")
	if v.Type != nil {
		typ := cut(v.Type.Pos(), v.Type.End())
		t.decls = append(t.decls, declaration+" "+typ)
		if len(values) == 0 {
			list = "*new(" + typ + ")" + strings.Repeat(", *new("+typ+")", len(names)-1)
		}
	} else if slices.ContainsFunc(v.Values, func(x ast.Expr) bool { return !quiet(x) }) {
		t.body = append(t.body, declaration+" = "+list)
		t.again = append(t.again, strings.Join(names, ", ")+" = "+list)
		for _, id := range v.Names {
			t.again = append(t.again, used(id))
		}
		return
	} else {
		t.decls = append(t.decls, declaration+" = "+list)
	}
	assignment := strings.Join(names, ", ") + " = " + list
	t.body, t.again = append(t.body, assignment), append(t.again, assignment)
	for _, id := range v.Names {
		t.body = append(t.body, used(id))
	}
}

// quiet reports whether an expression calls nothing and does not panic.
func quiet(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit, *ast.Ident, *ast.FuncLit:
		return true
	case *ast.SelectorExpr:
		_, ok := x.X.(*ast.Ident)
		return ok
	case *ast.ParenExpr:
		return quiet(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && quiet(x.X)
	case *ast.BinaryExpr:
		return !slices.Contains([]token.Token{token.QUO, token.REM, token.SHL, token.SHR}, x.Op) && quiet(x.X) && quiet(x.Y)
	case *ast.KeyValueExpr:
		return quiet(x.Key) && quiet(x.Value)
	case *ast.CompositeLit:
		return !slices.ContainsFunc(x.Elts, func(e ast.Expr) bool { return !quiet(e) })
	}
	return false
}

// version is the last element of the path of a package's later version.
var version = regexp.MustCompile(`^v\d+$`)

// used is a use of a variable, which Go demands.
func used(x ast.Expr) string {
	if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
		return "\n_ = " + id.Name + "\n"
	}
	return ""
}
