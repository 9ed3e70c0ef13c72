package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/rtypes"
	"warpbook/kernel/engine/vet"
)

// Cell is a cell that type-checks and is ready to compile.
type Cell struct {
	*Source
	Pkg     *types.Package
	Info    *types.Info
	ErrLast bool                     // the last expression's last value is an error that fails the cell
	Decls   []*namespace.Declaration // of functions, types and constants, to be carried later
	Broken  map[*namespace.Declaration]failure.Diagnostic
	Hidden  map[string]*types.Package    // packages whose names become those of variables
	anew    map[string]bool              // types that are declared again because of their methods
	adds    []addedMethod                // to live types, in this round
	Added   map[*types.Func]*types.Named // methods that live types have got
	first   map[*types.Named]bool        // types that the cell declares before all else, see declareFirst
	kept    []string                     // types that the cell declares as they stand
	differs map[string]bool              // types that the cell declares otherwise than they stand

	Suspicious bool                 // vet's analysers may find something in it
	Warnings   []failure.Diagnostic // the warnings of vet's analysers
	Learn      func()               // stores the facts that the analysers have found about the cell's functions
}

// hoist turns the variables that a cell's statements define into variables of
// the package, so that functions and later cells see them.
type hoist struct {
	namespace.Scope // of the pass that infers types
	info            *types.Info
	whole           bool // that pass saw the whole cell, with all bodies
	all             []types.Error
	errs            []failure.Diagnostic // errors that only this pass finds
	names           []string             // of all top-level variables, in order
	types           map[string]types.Type
	aliases         []alias
	gone            map[string]bool // live names that lose their meaning
	raised          map[ast.Decl]bool
	old             []types.Object // second names of variables and packages that the cell replaces but reads first
}

// alias is a name for a type that has no name in the file.
type alias struct {
	name string
	typ  types.Type
}

// Files are the files of the cell.
func (c *Cell) Files() []*ast.File { return []*ast.File{c.File} }

// Idle reports whether the cell only declares functions, types, constants and imports:
// nothing runs before a later cell uses them.
func (c *Cell) Idle() bool {
	return len(c.body.Body.List) == 1 && // the return
		!slices.ContainsFunc(c.File.Decls, func(d ast.Decl) bool { g, ok := d.(*ast.GenDecl); return ok && g.Tok == token.VAR })
}

// Temporary is a position in the cell's file, if the file is needed only as long as the
// declarations of the cell; a function literal may be kept anywhere.
func (c *Cell) Temporary() token.Pos {
	literal := len(c.Replaced) > 0 // their positions belong to methods that live elsewhere
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
	Grow  func(t *types.Named, methods []string, fresh rtypes.Fresh) (undo func(), err error) // gives a type's values the methods that it has got
	facts vet.Facts

	samples *rewrite.Samples // see sampled

	// Instrument, if set, adds checks of the debugger to a file of checked code, and reports
	// whether it did.
	Instrument func(s *Source, f *ast.File, info *types.Info) bool
}

// Assigned are the variables that statements at the top of the cell assign to.
func (c *Cell) Assigned() map[string]bool {
	list := map[string]bool{}
	for _, s := range c.body.Body.List {
		if as, ok := unlabel(s).(*ast.AssignStmt); ok && as.Tok == token.ASSIGN {
			for _, x := range as.Lhs {
				if id, ok := x.(*ast.Ident); ok {
					list[id.Name] = true
				}
			}
		}
	}
	return list
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
