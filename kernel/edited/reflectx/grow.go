//go:build ignore && !llgo

package reflectx

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/goplus/reflectx/abi"
)

// A type can get methods after it was made. Its memory has room for more than one table
// of methods: a new table is written beside the one in use and then takes its place, so
// that goroutines which read the table see the old one or the new one.

// rooms are the places of the tables of each type, by *rtype.
var rooms sync.Map

// room is the memory of a type for tables of methods.
type room struct {
	offset uint32 // of the memory, from the uncommonType
	size   int    // in methods
}

// roomOf is the number of methods for which a type with n methods gets memory.
func roomOf(n int) int { return 2 * (n + 32) }

// keepRoom notes the room of a type and leaves n methods in its first table.
func keepRoom(t *rtype, n int) {
	u := t.Uncommon()
	rooms.Store(t, room{u.Moff, int(u.Mcount)})
	u.Mcount = uint16(n)
}

// WithRoom is a copy of a type without methods that can get some.
func WithRoom(typ reflect.Type) reflect.Type { return newMethodSet(typ, 0, 0) }

// Grow adds methods to a type that is made, except those that the type has. Undo takes
// them away again.
func (ctx *Context) Grow(typ reflect.Type, methods []Method) (undo func(), err error) {
	rt, prt := totype(typ), totype(PtrTo(typ))
	values, pointers := slices.Clone(rtypeMethods(rt)), slices.Clone(rtypeMethods(prt))
	for _, m := range methods {
		if slices.ContainsFunc(pointers, func(has method) bool { return rtype_nameOff(prt, has.Name).Name() == m.Name }) {
			continue
		}
		value, pointer := ctx.methodEntries(typ, m)
		pointers = append(pointers, pointer)
		if !m.Pointer {
			values = append(values, value)
		}
	}
	publish, err := place(rt, values)
	if err != nil {
		return nil, err
	}
	publishPointer, err := place(prt, pointers)
	if err != nil {
		return nil, err
	}
	undoValue, undoPointer := publish(), publishPointer()
	rt.TFlag |= tflagUserMethod
	prt.TFlag |= tflagUserMethod
	return func() { undoValue(); undoPointer() }, nil
}

// methodEntries are the entries of a new method of values, and of pointers.
func (ctx *Context) methodEntries(typ reflect.Type, m Method) (value, pointer method) {
	exported := methodIsExported(m.Name)
	nm := newNameEx(m.Name, "", exported, !exported)
	if !exported {
		setPkgPath(nm, m.PkgPath)
	}
	name := resolveReflectName(nm)
	mfn, inTyp, outTyp, mtyp, tfn, ptfn := createMethod(typ, PtrTo(typ), m, 0)
	info := abi.MethodInfo{
		Name: m.Name, Type: typ, Func: mfn, InTyp: inTyp, OutTyp: outTyp, InSize: inTypeSize(inTyp), OutSize: outTypeSize(outTyp),
		Variadic: m.Type.IsVariadic(), OnePtr: totype(typ).IsDirectIface(),
	}
	throughPointer := info
	throughPointer.Pointer, throughPointer.Func = true, ofPointer(mfn, typ, m)
	pifn, _ := ctx.registerMethod(&throughPointer)
	pointer = method{Name: name, Mtyp: mtyp, Ifn: resolveReflectText(pifn), Tfn: keepFunction(name, true, ptfn, pifn, info.OnePtr)}
	if m.Pointer {
		return value, pointer
	}
	ifn := pifn
	if info.OnePtr {
		ifn, _ = ctx.registerMethod(&info)
	}
	return method{Name: name, Mtyp: mtyp, Ifn: resolveReflectText(ifn), Tfn: keepFunction(name, false, tfn, ifn, info.OnePtr)}, pointer
}

// place writes a table of methods beside the one in use. Publish puts it into its place,
// and returns a function that puts the earlier one there again.
func place(t *rtype, table []method) (publish func() (undo func()), err error) {
	v, ok := rooms.Load(t)
	if !ok {
		return nil, fmt.Errorf("reflectx: %v has no room for methods", toType(t))
	}
	const size = uint32(unsafe.Sizeof(method{}))
	u, r, n := t.Uncommon(), v.(room), len(table)
	at := int((u.Moff - r.offset) / size)
	if n <= at {
		at = 0
	} else if at += int(u.Mcount); at+n > r.size {
		return nil, fmt.Errorf("reflectx: %v has no room for %d methods", toType(t), n)
	}
	offset, exported := r.offset+uint32(at)*size, 0
	to := unsafe.Slice((*method)(unsafe.Add(unsafe.Pointer(u), offset)), n)
	copy(to, table)
	sort.SliceStable(to, func(i, j int) bool {
		return rtype_nameOff(t, to[i].Name).Name() < rtype_nameOff(t, to[j].Name).Name()
	})
	for _, m := range to {
		if rtype_nameOff(t, m.Name).IsExported() {
			exported++
		}
	}
	return func() func() {
		counts := (*uint32)(unsafe.Pointer(&u.Mcount)) // Mcount and Xcount
		was, before := u.Moff, *counts
		atomic.StoreUint32(&u.Moff, offset)
		atomic.StoreUint32(counts, uint32(n)|uint32(exported)<<16)
		return func() {
			atomic.StoreUint32(counts, before)
			atomic.StoreUint32(&u.Moff, was)
		}
	}, nil
}
