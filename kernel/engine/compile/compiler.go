package compile

import (
	"go/types"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"

	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rtypes"
)

// Program is an SSA program of one unit and of the declarations that it reaches, without
// anything else, and the interpreter that runs it.
type Program struct {
	Unit   *graph.Unit
	SSA    *ssa.Program
	Main   *ssa.Package
	others map[*ssa.Package]*graph.Unit
	links  []*graph.Decl // functions that it calls in other programs
	Interp *ixgo.Interp
}

// Compiler makes programs of checked cells.
type Compiler struct {
	*namespace.Namespace
	*namespace.Files
	Loader      *rtypes.Loader
	Types       *rtypes.Registry
	Externals   map[string]any           // functions of this program, by the names that cells call
	Hook        func(*ixgo.Context)      // makes packages stop as cells do
	Execute     func(*ixgo.Interp) error // chooses what executes functions
	dynamic     []*types.Named           // see noteDynamic
	dynamicSeen typeutil.Map
	homes       typeutil.Map // type to *ixgo.Interp, see home
	Libraries   []*library   // see link
}
