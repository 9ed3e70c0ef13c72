package compile

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// reached are the functions that the interpreter of a program will run, and the types that
// they turn into interfaces, with those that reflection makes of these. Package ssa lists
// such types too, with all that compiled types lead to, and anew for each caller.
type reached struct {
	program     *ssa.Program
	mine        map[*types.Package]bool // packages of the program that have bodies
	interpreted func(*types.Package) bool
	functions   map[*ssa.Function]bool
	types       []types.Type
	seen        typeutil.Map
}

// reach walks the members of a program's packages that have bodies, and all that they lead to.
func reach(program *ssa.Program, packages []*ssa.Package, interpreted func(*types.Package) bool) *reached {
	r := &reached{program: program, mine: map[*types.Package]bool{}, interpreted: interpreted, functions: map[*ssa.Function]bool{}, types: []types.Type{}}
	for _, q := range packages {
		r.mine[q.Pkg] = true
	}
	for _, q := range packages {
		r.members(q)
	}
	return r
}

func (r *reached) members(q *ssa.Package) {
	for _, m := range q.Members {
		switch m := m.(type) {
		case *ssa.Function:
			r.function(m)
		case *ssa.Type:
			if n, ok := m.Type().(*types.Named); ok && n.TypeParams().Len() == 0 {
				for fn := range n.Methods() {
					r.function(r.program.FuncValue(fn))
				}
			}
		}
	}
}

func (r *reached) function(f *ssa.Function) {
	if f == nil || r.functions[f] {
		return
	}
	r.functions[f] = true
	generic := isGeneric(f)
	var operands [16]*ssa.Value
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for _, v := range in.Operands(operands[:0]) {
				if g, ok := (*v).(*ssa.Function); ok {
					r.function(g)
				}
			}
			if c, ok := in.(*ssa.MakeInterface); ok && !generic {
				r.typ(c.X.Type())
			}
		}
	}
}

// isGeneric reports whether a function, or the one that it is a literal of, has type
// parameters without arguments: its types are no types of values.
func isGeneric(f *ssa.Function) bool {
	for f.Parent() != nil {
		f = f.Parent()
	}
	return f.TypeParams().Len() > len(f.TypeArgs())
}

// typ notes a type that may be behind an interface, its methods, which compiled code may
// call, and the types that it is made of. A compiled type leads to those of its type
// arguments only.
func (r *reached) typ(t types.Type) {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok && !r.interpreted(n.Obj().Pkg()) {
		for a := range n.TypeArgs().Types() {
			r.typ(a)
		}
		return
	}
	if seen, _ := r.seen.Set(t, true).(bool); seen {
		return
	}
	r.types = append(r.types, t)
	r.methods(t)
	r.parts(t)
}

// methods visits those methods of a type that have bodies here.
func (r *reached) methods(t types.Type) {
	if types.IsInterface(t) {
		return
	}
	for m := range r.program.MethodSets.MethodSet(t).Methods() {
		if r.mine[m.Obj().Pkg()] {
			r.function(r.program.MethodValue(m))
		}
	}
}

// parts visits the types that reflection makes of a type.
func (r *reached) parts(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		r.typ(types.NewPointer(t))
		for m := range t.Methods() {
			r.signature(m.Signature())
		}
		r.parts(t.Underlying())
	case *types.Map:
		r.typ(t.Key())
		r.typ(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		r.typ(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			r.typ(f.Type())
		}
	case *types.Signature:
		r.signature(t)
	case *types.Interface:
		for m := range t.Methods() {
			r.signature(m.Signature())
		}
	}
}

func (r *reached) signature(s *types.Signature) {
	for v := range s.Params().Variables() {
		r.typ(v.Type())
	}
	for v := range s.Results().Variables() {
		r.typ(v.Type())
	}
}
