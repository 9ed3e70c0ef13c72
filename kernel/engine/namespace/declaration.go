package namespace

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// MemberName is T.Name for a field or method, else the plain name.
func MemberName(o types.Object, recv types.Type) string {
	if fn, ok := o.(*types.Func); ok && fn.Signature().Recv() != nil {
		recv = fn.Signature().Recv().Type()
	} else if v, ok := o.(*types.Var); !ok || !v.IsField() {
		return o.Name()
	}
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	if n, ok := types.Unalias(recv).(*types.Named); ok {
		return n.Obj().Name() + "." + o.Name()
	}
	return o.Name()
}

// Source is the declaration without its line directive.
func (d *Declaration) Source() string {
	before, rest, _ := strings.Cut(d.Text, "/*line ")
	_, rest, _ = strings.Cut(rest, "*/")
	return before + rest
}

// Line is the line of its cell where the declaration begins.
func (d *Declaration) Line() (line int) {
	_, place, _ := strings.Cut(d.Text, "/*line ")
	_, place, _ = strings.Cut(place, ":")
	text, _, _ := strings.Cut(place, ":")
	line, _ = strconv.Atoi(text)
	return line
}

// Replacement is a method of a live type and its new declaration.
type Replacement struct {
	Decl *ast.FuncDecl
	Old  *types.Func
}

// Name is the name of the method, "T.M"; base is the name of the type.
func (r Replacement) Name() string { return MemberName(r.Old, nil) }

func (r Replacement) Base() string { base, _, _ := strings.Cut(r.Name(), "."); return base }

// When a cell gives a name a new meaning, declarations that refer to the name must
// change with it. A function that keeps its signature is replaced in place. In all other
// cases the dependents are compiled again: their sources are carried into the cell. A
// dependent that no longer compiles is dropped with a warning. Variables keep their
// values; a variable whose type was declared again with different methods only has the
// new type from then on, at its old place in memory.

// Declaration is the source of a live function, method ("T.M"), type or
// constant group.
type Declaration struct {
	Name   string // of a group, the first name
	Names  []string
	Base   string // of a method: the name of its type
	Text   string
	Node   ast.Node        // nil once uses are known
	Uses   map[string]bool // package-level names of cells
	Cell   int
	Serial int // of the unit that declared it first
}

// NoteUses finds the names of other cells' and this cell's declarations that
// a declaration refers to.
func (d *Declaration) NoteUses(info *types.Info) {
	d.Uses = map[string]bool{}
	ast.Inspect(d.Node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := info.Uses[id]; o != nil && o.Pkg() != nil && o.Pkg().Path() == "main" && o.Parent() == o.Pkg().Scope() {
				d.Uses[o.Name()] = true
			}
		}
		return true
	})
	d.Node = nil
}
