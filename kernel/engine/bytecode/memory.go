package bytecode

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// load lowers *x.
func (l *lowering) load(in *ssa.UnOp) {
	if v, ok := l.variables[in.X]; ok {
		l.emit(ins{op: moves[classOf(in.Type())], a: l.reg(in), b: v})
		return
	}
	if classOf(in.Type()) == record {
		if t := l.types[in.Type()]; t != nil && isRecord(t) {
			if l.settled[in.X] {
				l.emit(ins{op: opMovP, a: l.reg(in), b: l.reg(in.X)})
				return
			}
			l.checked(ins{op: opLoadR, a: l.reg(in), b: l.reg(in.X), imm: l.typeOf(t)}, in)
			return
		}
	}
	if classOf(in.Type()) == dynamic && classOf(in.X.Type()) == pointer {
		l.checked(ins{op: opLoadI, a: l.reg(in), b: l.reg(in.X), imm: int64(truth(hasMethods(in.Type())))}, in)
		return
	}
	o := loadOp(in.Type())
	if o == opInvalid || classOf(in.X.Type()) != pointer {
		l.byEngine(in)
		return
	}
	if x, ok := in.X.(*ssa.IndexAddr); ok && l.skip[x] {
		l.checked(ins{op: o - opLoad8 + opIndex8, a: l.reg(in), b: l.reg(x.X), c: l.reg(x.Index)}, x)
		return
	}
	base, offset, failing := l.address(in.X, in)
	l.checked(ins{op: o, a: l.reg(in), b: base, imm: offset}, failing)
}

func (l *lowering) store(in *ssa.Store) {
	if _, ok := l.indexes[in]; !ok { // to a blank field
		return
	}
	if v, ok := l.variables[in.Addr]; ok {
		l.emit(ins{op: moves[classOf(in.Val.Type())], a: v, b: l.reg(in.Val)})
		return
	}
	if x := l.fused[in]; x != nil {
		l.checked(ins{op: setOp(in.Val.Type()), a: l.reg(x.X), b: l.reg(x.Index), c: l.reg(in.Val)}, x)
		return
	}
	if l.spills[in] {
		l.emit(ins{op: opMovP, a: l.reg(in.Addr), b: l.reg(in.Val)})
		return
	}
	if classOf(in.Val.Type()) == record {
		if t := l.types[in.Val.Type()]; t != nil && isRecord(t) && types.Identical(in.Val.Type(), in.Addr.Type().Underlying().(*types.Pointer).Elem()) {
			l.checked(ins{op: opStoreR, a: l.reg(in.Addr), b: l.reg(in.Val), imm: l.typeOf(t)}, in)
			return
		}
	}
	if classOf(in.Val.Type()) == dynamic && classOf(in.Addr.Type()) == pointer {
		t := l.types[in.Addr.Type().Underlying().(*types.Pointer).Elem()]
		switch {
		case !types.Identical(in.Val.Type(), in.Addr.Type().Underlying().(*types.Pointer).Elem()) || t == nil || t.Kind() != reflect.Interface:
			l.byEngine(in)
		case t.NumMethod() == 0:
			l.checked(ins{op: opStoreE, a: l.reg(in.Addr), b: l.reg(in.Val)}, in)
		default:
			l.checked(ins{op: opStoreI, a: l.reg(in.Addr), b: l.reg(in.Val), imm: l.typeOf(t)}, in)
		}
		return
	}
	o := storeOp(in.Val.Type())
	if o == opInvalid || classOf(in.Addr.Type()) != pointer {
		l.byEngine(in)
		return
	}
	base, offset, failing := l.address(in.Addr, in)
	l.checked(ins{op: o, a: base, b: l.reg(in.Val), imm: offset}, failing)
}

// address is the address of an access, and the check that fails if it is nil.
func (l *lowering) address(x ssa.Value, in ssa.Instruction) (base int, offset int64, failing ssa.Instruction) {
	if f, ok := x.(*ssa.FieldAddr); ok && l.fields[f] {
		return l.reg(f.X), l.offset(f), f
	}
	return l.reg(x), 0, in
}

// offset is the offset of a field.
func (l *lowering) offset(f *ssa.FieldAddr) int64 {
	t := l.f.program.types[f.X.Type()]
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("the engine does not know the struct of %v", f))
	}
	return int64(t.Elem().Field(f.Field).Offset)
}

func (l *lowering) fieldAddr(in *ssa.FieldAddr) {
	if l.fields[in] {
		return
	}
	if classOf(in.X.Type()) != pointer {
		l.byEngine(in)
		return
	}
	l.checked(ins{op: opFieldAddr, a: l.reg(in), b: l.reg(in.X), imm: l.offset(in)}, in)
}

// field lowers x.f of a struct that is in no variable.
func (l *lowering) field(in *ssa.Field) {
	t, o := l.types[in.X.Type()], loadOp(in.Type())
	if classOf(in.X.Type()) != record || t == nil || !isRecord(t) {
		l.byEngine(in)
		return
	}
	if classOf(in.Type()) == record {
		o = opFieldAddr // the memory of a record never changes
	} else if classOf(in.Type()) == dynamic {
		at := l.fresh(pointer)
		l.checked(ins{op: opFieldAddr, a: at, b: l.reg(in.X), imm: int64(t.Field(in.Field).Offset)}, in)
		l.checked(ins{op: opLoadI, a: l.reg(in), b: at, imm: int64(truth(hasMethods(in.Type())))}, in)
		return
	} else if o == opInvalid {
		l.byEngine(in)
		return
	}
	l.checked(ins{op: o, a: l.reg(in), b: l.reg(in.X), imm: int64(t.Field(in.Field).Offset)}, in)
}

// planSpill plans a variable that holds a parameter and is only read: it is the memory of
// the record.
func (l *lowering) planSpill(in *ssa.Alloc) {
	var spill *ssa.Store
	for _, r := range *in.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if _, param := r.Val.(*ssa.Parameter); !param || spill != nil || r.Addr != in || classOf(r.Val.Type()) != record || r.Block().Index != 0 {
				return
			}
			spill = r
		case *ssa.FieldAddr:
			if !onlyRead(r) {
				return
			}
		case *ssa.UnOp, *ssa.DebugRef:
		default:
			return
		}
	}
	if spill == nil || in.Heap || in.Block().Index != 0 || l.recovers(in) {
		return
	}
	for _, x := range in.Block().Instrs { // nothing reads it before
		if x == spill {
			break
		}
		if x != in && slices.Contains(*in.Referrers(), x) {
			return
		}
	}
	l.skip[in], l.spills[spill] = true, true
	l.settled[in] = l.f.probed == nil
}

// planSettled plans a variable that is written only in the block of its declaration, and
// not after it is read there: its memory is the record that each load gets. A debugger may
// assign a variable at a stop.
func (l *lowering) planSettled(in *ssa.Alloc) {
	if in.Heap || l.f.probed != nil || l.types[in.Type()] == nil || l.recovers(in) || classOf(in.Type().Underlying().(*types.Pointer).Elem()) != record {
		return
	}
	written, read := map[ssa.Instruction]bool{}, map[ssa.Instruction]bool{}
	if !l.uses(in, in.Block(), written, read) {
		return
	}
	loaded := false
	for _, x := range in.Block().Instrs {
		loaded = loaded || read[x]
		if written[x] && loaded {
			return
		}
	}
	l.settled[in] = true
}

// uses notes the instructions that write and read the memory at an address, and reports
// whether these are all its uses and all that write are in one block.
func (l *lowering) uses(at ssa.Value, b *ssa.BasicBlock, written, read map[ssa.Instruction]bool) bool {
	for _, r := range *at.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.Store:
			if r.Addr != at || r.Val == at || r.Block() != b {
				return false
			}
			written[r] = true
		case *ssa.UnOp:
			read[r] = true
		case *ssa.FieldAddr:
			if !l.uses(r, b, written, read) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// onlyRead reports whether the address of a field is only used to read it.
func onlyRead(at *ssa.FieldAddr) bool {
	for _, r := range *at.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.FieldAddr:
			if !onlyRead(r) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (l *lowering) indexAddr(in *ssa.IndexAddr) {
	t := l.f.program.types[in.Type()]
	if t == nil || t.Kind() != reflect.Pointer || classOf(in.Index.Type()) != number {
		l.byEngine(in)
		return
	}
	size := int64(t.Elem().Size())
	out := ins{op: opIndexAddr, a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Index), imm: size}
	if classOf(in.X.Type()) == pointer {
		array, ok := in.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		if !ok || size != int64(int32(size)) || array.Len() != int64(int32(array.Len())) {
			l.byEngine(in)
			return
		}
		out.op, out.imm = opArrayAddr, pack(int32(size), int32(array.Len()))
	}
	l.checked(out, in)
}

// index lowers s[i] of a string.
func (l *lowering) index(in *ssa.Index) {
	if classOf(in.X.Type()) != header || kindOf(in.X.Type()) != reflect.String {
		l.byEngine(in)
		return
	}
	l.checked(ins{op: opIndex8, a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Index)}, in)
}

func (l *lowering) slice(in *ssa.Slice) {
	s := slicing{lo: -1, hi: -1, max: -1, size: 1}
	switch classOf(in.X.Type()) {
	case header:
		s.text = kindOf(in.X.Type()) == reflect.String
	case pointer:
		array, ok := in.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		if !ok {
			l.byEngine(in)
			return
		}
		s.array, s.length = true, uint64(array.Len())
	default:
		l.byEngine(in)
		return
	}
	if !s.text {
		t := l.f.program.types[in.Type()]
		if t == nil || t.Kind() != reflect.Slice {
			l.byEngine(in)
			return
		}
		s.size = uint64(t.Elem().Size())
	}
	out := ins{op: opSlice, a: l.reg(in), b: l.reg(in.X), imm: int64(len(l.slices))}
	for _, bound := range []struct {
		at *int
		v  ssa.Value
	}{{&s.lo, in.Low}, {&s.hi, in.High}, {&s.max, in.Max}} {
		if bound.v != nil {
			*bound.at = l.reg(bound.v)
			out.uses = append(out.uses, *bound.at)
		}
	}
	l.slices = append(l.slices, s)
	l.checked(out, in)
}
