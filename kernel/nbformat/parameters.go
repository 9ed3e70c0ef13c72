package nbformat

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Parameter sets a variable that the cell tagged parameters declares. Value is a Go
// expression; for a variable declared with a string literal it may also be the text of
// the string.
type Parameter struct {
	Name, Value string
	Type        string // the variable's type, set by SetParameters if the declaration shows it
}

// literalType returns the Go type of a value that is a literal, or is made of literals
// of one type, otherwise "".
func literalType(value ast.Expr) string {
	switch v := value.(type) {
	case *ast.BasicLit:
		return map[token.Token]string{token.INT: "int", token.FLOAT: "float64", token.STRING: "string", token.CHAR: "rune", token.IMAG: "complex128"}[v.Kind]
	case *ast.Ident:
		if v.Name == "true" || v.Name == "false" {
			return "bool"
		}
	case *ast.ParenExpr:
		return literalType(v.X)
	case *ast.UnaryExpr:
		return literalType(v.X)
	case *ast.BinaryExpr:
		if x := literalType(v.X); x == literalType(v.Y) && v.Op.Precedence() > token.EQL.Precedence() {
			return x
		}
	}
	return ""
}

// SetParameters inserts a cell that assigns the parameters after the cell tagged
// parameters; it replaces the injected cell of an earlier run. A name that the tagged
// cell does not declare is an error, and then nothing changes.
func (nb *Notebook) SetParameters(parameters []Parameter) error {
	if len(parameters) == 0 {
		return nil
	}
	i := slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.Type == Code && c.HasTag(TagParameters) })
	if i < 0 {
		return fmt.Errorf("nbformat: %s: no cell has the tag %q, expected one that declares %s",
			nb.Name, TagParameters, parameterNames(parameters))
	}
	declared, err := declaredVariables(nb.Cells[i].Source)
	if err != nil {
		return fmt.Errorf("nbformat: %s: cell %d, tagged %q: %w", nb.Name, i+1, TagParameters, err)
	}
	source, err := assignments(parameters, declared)
	if err != nil {
		return fmt.Errorf("nbformat: %s: cell %d, tagged %q: %w", nb.Name, i+1, TagParameters, err)
	}
	nb.replaceInjected(&Cell{
		Type:     Code,
		ID:       TagInjectedParameters,
		Metadata: map[string]any{"tags": []any{TagInjectedParameters}},
		Source:   source,
	})
	return nil
}

// replaceInjected removes injected cells of earlier runs, and puts the new one
// after the tagged cell.
func (nb *Notebook) replaceInjected(injected *Cell) {
	nb.Cells = slices.DeleteFunc(nb.Cells, func(c *Cell) bool {
		return c.ID == injected.ID || c.Type == Code && c.HasTag(TagInjectedParameters)
	})
	i := slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.Type == Code && c.HasTag(TagParameters) })
	nb.Cells = slices.Insert(nb.Cells, i+1, injected)
}

func parameterNames(parameters []Parameter) string {
	names := make([]string, len(parameters))
	for i, p := range parameters {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// variable is a variable that a cell declares.
type variable struct {
	name     string
	typ      string // "" if the declaration does not show it
	isString bool   // its value is a string literal
}

// declaredVariables lists the variables of a cell in their order. It leaves out
// constants, which cannot be assigned.
func declaredVariables(source string) ([]variable, error) {
	const before = "package p; func _() {"
	file, err := parser.ParseFile(token.NewFileSet(), "", before+source+"\n}", parser.SkipObjectResolution)
	if err != nil {
		if list, ok := err.(scanner.ErrorList); ok {
			err = fmt.Errorf("line %d: %s", list[0].Pos.Line, list[0].Msg)
		}
		return nil, fmt.Errorf("%w, expected only variables (name := value): keep imports and functions in other cells", err)
	}
	var declared []variable
	for _, statement := range file.Decls[0].(*ast.FuncDecl).Body.List {
		switch s := statement.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				declared = appendVariables(declared, s.Lhs, s.Rhs, nil)
			}
		case *ast.DeclStmt:
			if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR {
				for _, spec := range d.Specs {
					v := spec.(*ast.ValueSpec)
					names := make([]ast.Expr, len(v.Names))
					for i, name := range v.Names {
						names[i] = name
					}
					declared = appendVariables(declared, names, v.Values, v.Type)
				}
			}
		}
	}
	return declared, nil
}

func appendVariables(declared []variable, names, values []ast.Expr, typ ast.Expr) []variable {
	for i, expr := range names {
		name, ok := expr.(*ast.Ident)
		if !ok || name.Name == "_" {
			continue
		}
		v := variable{name: name.Name}
		if i < len(values) {
			literal, ok := values[i].(*ast.BasicLit)
			v.isString = ok && literal.Kind == token.STRING
			v.typ = literalType(values[i])
		}
		if named, ok := typ.(*ast.Ident); ok {
			v.typ = named.Name
		}
		declared = append(declared, v)
	}
	return declared
}

// assignments returns the source of the injected cell.
func assignments(parameters []Parameter, declared []variable) (string, error) {
	var lines []string
	for j, p := range parameters {
		i := slices.IndexFunc(declared, func(v variable) bool { return v.name == p.Name })
		if i < 0 {
			return "", fmt.Errorf("the notebook does not declare %s, expected one of: %s", p.Name, variableNames(declared))
		}
		parameters[j].Type = declared[i].typ
		value := strings.TrimSpace(p.Value)
		if declared[i].isString && !isStringLiteral(value) {
			value = strconv.Quote(p.Value)
		}
		if _, err := parser.ParseExpr(value); err != nil || strings.ContainsAny(value, "\r\n") {
			return "", fmt.Errorf("the value %q of %s is not a Go expression on one line", p.Value, p.Name)
		}
		lines = append(lines, p.Name+" = "+value)
	}
	return strings.Join(lines, "\n"), nil
}

func isStringLiteral(value string) bool {
	_, err := strconv.Unquote(value)
	return err == nil && value[0] != '\''
}

func variableNames(declared []variable) string {
	if len(declared) == 0 {
		return "no variables at all"
	}
	names := make([]string, len(declared))
	for i, v := range declared {
		names[i] = v.name
	}
	return strings.Join(names, ", ")
}
