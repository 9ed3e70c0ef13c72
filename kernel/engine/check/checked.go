package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/vet"
)

// Cell is a cell that is right and ready to compile.
type Cell struct {
	*Source
	Pkg     *types.Package
	Info    *types.Info
	ErrLast bool                     // the last expression's last value is an error that fails the cell
	Decls   []*namespace.Declaration // of functions, types and constants, to be carried later
	Broken  map[*namespace.Declaration]failure.Diagnostic
	anew    map[string]bool // types that are declared again for the sake of their methods

	Suspicious bool                 // vet's analysers may complain about it
	Warnings   []failure.Diagnostic // of theirs
	Learn      func()               // keeps what they know about the cell's functions
}

// hoist turns the variables that a cell's statements define into variables of
// the package, so that functions and later cells see them.
type hoist struct {
	namespace.Scope // of the pass that only infers types
	info            *types.Info
	whole           bool // that pass saw the whole cell, no bodies were left out
	all             []types.Error
	errs            []failure.Diagnostic // those that only this pass can see
	names           []string             // of all top-level variables, in order
	types           map[string]types.Type
	aliases         []alias
	gone            map[string]bool // live names that mean nothing any more
	raised          map[ast.Decl]bool
	old             []*types.Var // variables that the cell replaces but reads first
}

// alias is a name for a type that has none in the file.
type alias struct {
	name string
	typ  types.Type
}

// Files are those of the cell.
func (c *Cell) Files() []*ast.File { return []*ast.File{c.File} }

// Temporary is a position in the cell's file, if that is needed only as long as
// what the cell declares: a function literal may be kept anywhere.
func (c *Cell) Temporary() token.Pos {
	literal := len(c.Replaced) > 0 // their positions are those of methods that live elsewhere
	ast.Inspect(c.File, func(n ast.Node) bool {
		_, is := n.(*ast.FuncLit)
		literal = literal || is
		return !literal
	})
	if literal {
		return token.NoPos
	}
	return c.File.FileStart
}

// Checker finds a form of a cell that type-checks. It reads the session and changes
// nothing that a later cell sees.
type Checker struct {
	*namespace.Namespace
	*namespace.Files
	*Language
	facts vet.Facts
}

// CarriedTypes are the names of earlier cells' types that are compiled again.
func (c *Cell) CarriedTypes() map[string]bool {
	list := map[string]bool{}
	for _, d := range c.Source.Carry {
		if _, ok := c.Pkg.Scope().Lookup(d.Name).(*types.TypeName); ok && d.Base == "" {
			list[d.Name] = true
		}
	}
	return list
}
