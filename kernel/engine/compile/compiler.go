package compile

import (
	"fmt"
	"go/types"
	"reflect"

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
	Unit    *graph.Unit
	SSA     *ssa.Program
	Main    *ssa.Package
	others  map[*ssa.Package]*graph.Unit
	links   []*graph.Decl // functions that it calls in other programs
	reached *reached      // once it is built
	Interp  *ixgo.Interp  // nil if the unit is idle
}

// Compiler makes programs of checked cells.
type Compiler struct {
	*namespace.Namespace
	*namespace.Files
	Loader      *rtypes.Loader
	Types       *rtypes.Registry
	Externals   map[string]any                    // functions of this program, by the names that cells call
	Hook        func(*ixgo.Context)               // makes packages stop as cells do
	Reached     func(*ixgo.Context, []types.Type) // tells the types behind interfaces of the program that is made next
	Execute     func(*ixgo.Interp) error          // chooses what executes functions
	Private     bool                              // the next program does not share the context of the session
	dynamic     []*types.Named                    // see noteDynamic
	dynamicSeen typeutil.Map
	homes       typeutil.Map // type to *ixgo.Interp, see home
	Libraries   []*library   // see link
}

// Place makes a variable of a type and returns a pointer to it.
func (e *Compiler) Place(t types.Type) (at reflect.Value, err error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("engine: %v has no values here: %v", t, v)
		}
	}()
	return reflect.New(e.Types.ReflectType(t)), nil
}
