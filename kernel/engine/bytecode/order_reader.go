package bytecode

import (
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// ordering is what the function does if it only compares, else nil.
func (f *Function) ordering() *ordering {
	f.ordered.Do(func() {
		r := &orderReader{f: f, seen: map[ssa.Instruction]bool{}, o: &ordering{}}
		f.order = r.ordering()
	})
	return f.order
}

// orderReader reads the instructions of a function that may only compare.
type orderReader struct {
	f      *Function
	blocks []*ssa.BasicBlock // that are read
	seen   map[ssa.Instruction]bool
	elem   ssa.Value // the argument that a path begins with
	from   ssa.Value // the slice that the argument is a number of an element of, else nil
	size   uint64    // of such an element
	some   bool      // a term has been read
	o      *ordering
}

// ordering is nil if the function does more.
func (r *orderReader) ordering() *ordering {
	if len(r.f.fn.Params) < 2 || r.f.fn.Signature.Results().Len() != 1 {
		return nil
	}
	if r.o.terms = r.tree(r.f.fn.Blocks[0]); r.o.terms == nil {
		return nil
	}
	for _, b := range r.blocks {
		for _, in := range b.Instrs {
			if !r.seen[in] {
				return nil
			}
		}
	}
	return r.o
}

// tree reads what a function does from a block on, nil if it is more than to compare.
func (r *orderReader) tree(b *ssa.BasicBlock) []term {
	if slices.Contains(r.blocks, b) {
		return nil
	}
	r.blocks = append(r.blocks, b)
	host := &r.f.program.host
	for _, in := range b.Instrs {
		switch in := in.(type) {
		case *ssa.Jump, *ssa.If, *ssa.Return, *ssa.DebugRef:
			r.seen[in] = true
		case *ssa.Call:
			called := in.Call.StaticCallee()
			r.seen[in] = called != nil && called.String() == host.Enter
		}
	}
	switch last := b.Instrs[len(b.Instrs)-1].(type) {
	case *ssa.Jump:
		return r.tree(b.Succs[0])
	case *ssa.Return:
		return r.terms(last.Results[0])
	case *ssa.If:
		if poll(b, host.FlagName) && isStop(b.Succs[0], b.Succs[1]) {
			n := len(b.Instrs)
			r.seen[b.Instrs[n-2]], r.seen[b.Instrs[n-3]] = true, true
			return r.tree(b.Succs[1])
		}
		if c, ok := last.Cond.(*ssa.BinOp); ok {
			return r.differing(c, b)
		}
	}
	return nil
}

// differing reads a block that ends with: if the parts differ, return their order. The
// next terms decide otherwise.
func (r *orderReader) differing(c *ssa.BinOp, b *ssa.BasicBlock) []term {
	yes, no := b.Succs[0], b.Succs[1]
	switch c.Op {
	case token.NEQ:
	case token.EQL:
		yes, no = no, yes
	default:
		return nil
	}
	r.seen[c] = true
	first := r.tree(yes)
	if len(first) != 1 {
		return nil
	}
	if n, ok := c.Y.(*ssa.Const); ok { // of the result of a comparison, which is returned
		ret, ok := yes.Instrs[len(yes.Instrs)-1].(*ssa.Return)
		if !ok || ret.Results[0] != c.X || kindOf(n.Type()) != reflect.Int || n.Int64() != 0 {
			return nil
		}
	} else if t := r.term(c.X, c.Y, lessThan(kindOf(c.X.Type()), false)); t == nil || isFloat(kindOf(c.X.Type())) || !slices.Equal(t.path, first[0].path) {
		return nil
	}
	rest := r.tree(no)
	if rest == nil {
		return nil
	}
	return append(first, rest...)
}

// terms are those by which a value that is returned decides.
func (r *orderReader) terms(v ssa.Value) []term {
	if c, ok := v.(*ssa.Call); ok && c.Call.StaticCallee() != nil && origin(c.Call.StaticCallee()) == "cmp.Or" {
		r.seen[c] = true
		return r.alternatives(c)
	}
	x, y, less := r.operands(v)
	if less == nil {
		return nil
	}
	if t := r.term(x, y, less); t != nil {
		return []term{*t}
	}
	return nil
}

// alternatives are the terms of cmp.Or.
func (r *orderReader) alternatives(c *ssa.Call) (list []term) {
	values, array := elements(c, c.Call.Args[0])
	for _, v := range values {
		t := r.terms(v)
		if t == nil {
			return nil
		}
		list = append(list, t...)
	}
	for _, in := range array {
		r.seen[in] = true
	}
	return list
}

// term is the comparison of two values, nil if these are not the same part of the
// elements.
func (r *orderReader) term(x, y ssa.Value, less func(x, y unsafe.Pointer) bool) *term {
	t := &term{path: r.value(x), less: less}
	first, slice := r.elem, r.from
	if less == nil || t.path == nil || !slices.Equal(t.path, r.value(y)) || !sameSlice(slice, r.from) {
		return nil
	}
	if r.some && !sameSlice(slice, r.o.slice) {
		return nil
	}
	r.some, r.o.slice, r.o.size = true, slice, r.size
	params := r.f.fn.Params
	switch i, j := params[len(params)-2], params[len(params)-1]; {
	case first == i && r.elem == j:
	case first == j && r.elem == i:
		t.descending = true
	default:
		return nil
	}
	return t
}

// operands are the two values that a function compares, with the comparison of their
// memory.
func (r *orderReader) operands(v ssa.Value) (x, y ssa.Value, less func(x, y unsafe.Pointer) bool) {
	switch v := v.(type) {
	case *ssa.BinOp:
		r.seen[v] = true
		switch {
		case v.Op == token.LSS:
			return v.X, v.Y, lessThan(kindOf(v.X.Type()), false)
		case v.Op == token.GTR:
			return v.Y, v.X, lessThan(kindOf(v.X.Type()), false)
		case v.Op == token.SUB && kindOf(v.Type()) == reflect.Int: // it may overflow
			return v.X, v.Y, func(x, y unsafe.Pointer) bool { return *(*int)(x)-*(*int)(y) < 0 }
		}
	case *ssa.Call:
		r.seen[v] = true
		if fn := v.Call.StaticCallee(); fn != nil && (fn.String() == "strings.Compare" || origin(fn) == "cmp.Compare") {
			return v.Call.Args[0], v.Call.Args[1], lessThan(kindOf(v.Call.Args[0].Type()), true)
		}
	}
	return nil, nil, nil
}

// value is the path to the memory that a value is loaded from, nil if there is none.
func (r *orderReader) value(v ssa.Value) []step {
	switch v := v.(type) {
	case *ssa.Parameter:
		r.elem, r.from = v, nil
		return []step{whole}
	case *ssa.Field:
		r.seen[v] = true
		return r.field(r.value(v.X), v.X.Type(), v.Field)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			r.seen[v] = true
			return r.memory(v.X)
		}
	}
	return nil
}

// memory is the path to the memory at an address, nil if there is none.
func (r *orderReader) memory(at ssa.Value) []step {
	switch at := at.(type) {
	case *ssa.FieldAddr:
		r.seen[at] = true
		return r.field(r.memory(at.X), at.X.Type().Underlying().(*types.Pointer).Elem(), at.Field)
	case *ssa.IndexAddr:
		r.seen[at] = true
		return r.element(at)
	case *ssa.Alloc: // of an argument
		store := r.stored(at)
		if store == nil {
			return nil
		}
		r.seen[at], r.seen[store] = true, true
		return r.value(store.Val)
	}
	if path := r.value(at); path != nil {
		return append(path, whole)
	}
	return nil
}

// element is the path to an element of a slice or of an array.
func (r *orderReader) element(at *ssa.IndexAddr) []step {
	t := r.f.program.types[at.Type()]
	if t == nil || t.Kind() != reflect.Pointer {
		return nil
	}
	size := uint64(t.Elem().Size())
	if c, ok := at.Index.(*ssa.Const); ok {
		return r.constant(at, c.Uint64(), size)
	}
	if !r.outside(at.X) {
		return nil
	}
	if kindOf(r.f.fn.Signature.Results().At(0).Type()) == reflect.Bool && slices.Contains(r.f.fn.Params, asParameter(at.Index)) {
		r.elem, r.from, r.size = at.Index, at.X, size
		return []step{whole}
	}
	path := r.value(at.Index)
	if path == nil || isFloat(kindOf(at.Index.Type())) {
		return nil
	}
	k := slices.IndexFunc(r.o.tables, func(x ssa.Value) bool { return sameSlice(x, at.X) })
	if k < 0 {
		k = len(r.o.tables)
		r.o.tables = append(r.o.tables, at.X)
	}
	return append(path, step{table: k, kind: kindOf(at.Index.Type()), size: size})
}

func asParameter(v ssa.Value) *ssa.Parameter { p, _ := v.(*ssa.Parameter); return p }

// constant is the path to element i of an array, whose bounds are checked already, or of a
// slice.
func (r *orderReader) constant(at *ssa.IndexAddr, i, size uint64) []step {
	if _, ok := at.X.Type().Underlying().(*types.Pointer); ok {
		path := r.memory(at.X)
		if path != nil {
			path[len(path)-1].offset += uintptr(i * size)
		}
		return path
	}
	path := r.value(at.X)
	if path == nil {
		return nil
	}
	return append(path, step{offset: uintptr(i * size), length: i + 1, table: -1})
}

// field is the path to a field of a struct.
func (r *orderReader) field(path []step, of types.Type, i int) []step {
	t := r.f.program.types[of]
	if path == nil || t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	path[len(path)-1].offset += t.Field(i).Offset
	return path
}

// stored is the store of an argument to a variable that nothing else writes, nil if there
// is none.
func (r *orderReader) stored(at *ssa.Alloc) (store *ssa.Store) {
	for _, in := range *at.Referrers() {
		s, ok := in.(*ssa.Store)
		if !ok {
			continue
		}
		if _, param := s.Val.(*ssa.Parameter); !param || s.Addr != at || store != nil {
			return nil
		}
		store = s
	}
	return store
}

// outside reports whether a value is a slice, and the receiver of a method, or the variable
// that it points to, or a variable outside of the function.
func (r *orderReader) outside(v ssa.Value) bool {
	if _, ok := v.Type().Underlying().(*types.Slice); !ok {
		return false
	}
	if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
		r.seen[load] = true
		switch load.X.(type) {
		case *ssa.FreeVar, *ssa.Global:
			return true
		}
		v = load.X
	}
	return r.f.fn.Signature.Recv() != nil && v == r.f.fn.Params[0]
}

// sameSlice reports whether two values are the same slice.
func sameSlice(x, y ssa.Value) bool {
	if x == y {
		return true
	}
	a, ok1 := x.(*ssa.UnOp)
	b, ok2 := y.(*ssa.UnOp)
	return ok1 && ok2 && a.X == b.X
}

// straight is the instructions of a function that does not branch, without those that
// stop it; nil if it branches.
func straight(fn *ssa.Function, host *Host) (list []ssa.Instruction) {
	for _, b := range fn.Blocks {
		instrs := b.Instrs
		if poll(b, host.FlagName) {
			instrs = instrs[:len(instrs)-3]
		} else if len(b.Preds) == 1 && poll(b.Preds[0], host.FlagName) && isStop(b, b.Preds[0].Succs[1]) {
			continue
		}
		for _, in := range instrs {
			switch in := in.(type) {
			case *ssa.Jump, *ssa.DebugRef:
				continue
			case *ssa.Call:
				if called := in.Call.StaticCallee(); called != nil && called.String() == host.Enter {
					continue
				}
			case *ssa.If:
				return nil
			}
			list = append(list, in)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if _, ok := list[len(list)-1].(*ssa.Return); !ok {
		return nil
	}
	return list
}
