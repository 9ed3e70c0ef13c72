package bytecode

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// class is the representation of a value while a function runs.
type class uint8

const (
	boxed   class = iota // as an interface in the engine's frame
	number               // 64 bits in a register: integers sign- or zero-extended, floats as their bits
	pointer              // a pointer, map, channel or function value, in a pointer register
	record               // a small struct or array: a pointer, in a pointer register, to memory that never changes
	header               // slice or string: its pointer in a pointer register, length and capacity in two others
	dynamic              // interface: the type and the data of an any, in two pointer registers
)

func classOf(t types.Type) class {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch info := u.Info(); {
		case info&types.IsString != 0:
			return header
		case info&(types.IsBoolean|types.IsInteger|types.IsFloat) != 0:
			return number
		}
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return pointer
	case *types.Slice:
		return header
	case *types.Struct, *types.Array:
		if !pointerShaped(u) && sizes.Sizeof(u) <= maxRecord {
			return record
		}
	case *types.Interface:
		return dynamic
	}
	return boxed
}

// maxRecord is the largest size of a record in bytes: each load of one makes a copy.
const maxRecord = 128

var zeroRecord [maxRecord]byte

var sizes = types.SizesFor("gc", "amd64")

// pointerShaped reports whether an interface may hold a struct or an array as its second
// word itself, and not in memory: its size is that of a pointer, and it has one.
func pointerShaped(t types.Type) bool {
	return sizes.Sizeof(t) == sizes.Sizeof(types.Typ[types.UnsafePointer]) && holdsPointer(t)
}

func holdsPointer(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if holdsPointer(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return holdsPointer(u.Elem())
	}
	return false
}

// elem is the type of the variable at an address.
func elem(at ssa.Value) types.Type { return at.Type().Underlying().(*types.Pointer).Elem() }

// moves copy a value of each class.
var moves = [...]op{number: opMov, pointer: opMovP, record: opMovP, header: opMovH, dynamic: opMovI}

// kindOf is the kind of a value in registers.
func kindOf(t types.Type) reflect.Kind {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicKinds[u.Kind()]
	case *types.Slice:
		return reflect.Slice
	case *types.Pointer:
		return reflect.Pointer
	case *types.Map:
		return reflect.Map
	case *types.Chan:
		return reflect.Chan
	case *types.Signature:
		return reflect.Func
	case *types.Struct:
		return reflect.Struct
	case *types.Array:
		return reflect.Array
	case *types.Interface:
		return reflect.Interface
	}
	return reflect.Invalid
}

var basicKinds = map[types.BasicKind]reflect.Kind{
	types.Bool: reflect.Bool, types.UntypedBool: reflect.Bool,
	types.Int: reflect.Int, types.UntypedInt: reflect.Int, types.Int8: reflect.Int8, types.Int16: reflect.Int16,
	types.Int32: reflect.Int32, types.UntypedRune: reflect.Int32, types.Int64: reflect.Int64,
	types.Uint: reflect.Uint, types.Uint8: reflect.Uint8, types.Uint16: reflect.Uint16, types.Uint32: reflect.Uint32,
	types.Uint64: reflect.Uint64, types.Uintptr: reflect.Uintptr,
	types.Float32: reflect.Float32, types.Float64: reflect.Float64, types.UntypedFloat: reflect.Float64,
	types.String: reflect.String, types.UntypedString: reflect.String,
}

func isFloat(k reflect.Kind) bool  { return k == reflect.Float32 || k == reflect.Float64 }
func isSigned(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Int64 }

// bitsOf is the size of a number in bits.
func bitsOf(k reflect.Kind) int {
	switch k {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return 8
	case reflect.Int16, reflect.Uint16:
		return 16
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 32
	}
	return 64
}

// isStatic reports whether a value is in the initial stack of each frame.
func isStatic(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Const, *ssa.Global, *ssa.Function, *ssa.Builtin:
		return true
	}
	return false
}

// eface is an interface without methods.
type eface struct {
	typ  unsafe.Pointer
	data unsafe.Pointer
}

// table is the beginning of the first word of an interface with methods.
type table struct {
	_   unsafe.Pointer
	typ unsafe.Pointer
}

// sliceHeader is the memory of a slice; without its last word, that of a string.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap uint64
}

// typeWord is the first word of an interface that holds a value of type t.
func typeWord(t reflect.Type) unsafe.Pointer {
	return (*eface)(unsafe.Pointer(&t)).data
}

// slot is the place of a value: registers, the stack of a frame, or both.
type slot struct {
	reg   int
	at    int
	class class
	kind  reflect.Kind
	typ   unsafe.Pointer // of the interface
}

// box stores the value of registers in the stack of a frame.
func (s *slot) box(r *registers, p *pointers, stack []any) {
	e := eface{typ: s.typ}
	switch s.class {
	case number:
		e.data = numberData(r[s.reg])
	case pointer, record:
		e.data = p[s.reg]
	case header:
		if s.kind == reflect.String {
			h := new(string)
			*h = unsafe.String((*byte)(p[s.reg]), int(r[s.reg]))
			e.data = unsafe.Pointer(h)
		} else {
			e.data = unsafe.Pointer(&sliceHeader{p[s.reg], r[s.reg], r[s.reg+1]})
		}
	case dynamic:
		e = eface{p[s.reg], p[s.reg+1]}
	default:
		return
	}
	stack[s.at] = *(*any)(unsafe.Pointer(&e))
}

// numberData is the data of an interface that holds a number. Small ones take no memory;
// on a little-endian machine the low bytes are the value.
func numberData(x uint64) unsafe.Pointer {
	v := any(x)
	return (*eface)(unsafe.Pointer(&v)).data
}

// unbox loads a value into registers. A nil interface is a zero value.
func (s *slot) unbox(r *registers, p *pointers, v any) {
	if s.class == dynamic {
		e := (*eface)(unsafe.Pointer(&v))
		p[s.reg], p[s.reg+1] = e.typ, e.data
		return
	}
	data := (*eface)(unsafe.Pointer(&v)).data
	if v == nil {
		data = unsafe.Pointer(&zeroHeader)
		switch s.class {
		case pointer:
			data = nil
		case record:
			data = unsafe.Pointer(&zeroRecord)
		}
	}
	switch s.class {
	case number:
		k := s.kind
		if v != nil {
			if k = reflect.TypeOf(v).Kind(); !isNumber(k) {
				panic(fmt.Sprintf("bytecode: a value is %T, expected a number", v))
			}
		}
		r[s.reg] = load(k, data)
	case pointer, record:
		p[s.reg] = data
	case header:
		if s.kind == reflect.String {
			h := *(*string)(data)
			p[s.reg], r[s.reg], r[s.reg+1] = unsafe.Pointer(unsafe.StringData(h)), uint64(len(h)), uint64(len(h))
		} else {
			h := (*sliceHeader)(data)
			p[s.reg], r[s.reg], r[s.reg+1] = h.data, h.len, h.cap
		}
	}
}

var zeroHeader sliceHeader

// load reads a number from memory.
func load(k reflect.Kind, at unsafe.Pointer) uint64 {
	switch k {
	case reflect.Bool, reflect.Uint8:
		return uint64(*(*uint8)(at))
	case reflect.Int8:
		return uint64(*(*int8)(at))
	case reflect.Uint16:
		return uint64(*(*uint16)(at))
	case reflect.Int16:
		return uint64(*(*int16)(at))
	case reflect.Uint32, reflect.Float32:
		return uint64(*(*uint32)(at))
	case reflect.Int32:
		return uint64(*(*int32)(at))
	}
	return *(*uint64)(at)
}

// store writes a number to memory.
func store(k reflect.Kind, at unsafe.Pointer, x uint64) {
	switch bitsOf(k) {
	case 8:
		*(*uint8)(at) = uint8(x)
	case 16:
		*(*uint16)(at) = uint16(x)
	case 32:
		*(*uint32)(at) = uint32(x)
	default:
		*(*uint64)(at) = x
	}
}

func isRecord(t reflect.Type) bool {
	return (t.Kind() == reflect.Struct || t.Kind() == reflect.Array) && t.Size() <= maxRecord && inMemory(t)
}

// inMemory reports whether an interface holds a value of a type in memory.
func inMemory(t reflect.Type) bool {
	zero := reflect.Zero(t).Interface()
	return (*eface)(unsafe.Pointer(&zero)).data != nil
}

func isPointer(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Map || k == reflect.Chan || k == reflect.Func
}

func isNumber(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Float64 }

// loadOp reads a value of a type from memory, opInvalid if the type does not fit a
// register.
func loadOp(t types.Type) op {
	switch classOf(t) {
	case number:
		switch k := kindOf(t); k {
		case reflect.Int8:
			return opLoadS8
		case reflect.Int16:
			return opLoadS16
		case reflect.Int32:
			return opLoadS32
		default:
			return map[int]op{8: opLoad8, 16: opLoad16, 32: opLoad32, 64: opLoad64}[bitsOf(k)]
		}
	case pointer:
		return opLoadP
	case header:
		if kindOf(t) == reflect.String {
			return opLoadT
		}
		return opLoadH
	}
	return opInvalid
}

// storeOp writes a value of a type to memory.
func storeOp(t types.Type) op {
	switch classOf(t) {
	case number:
		return map[int]op{8: opStore8, 16: opStore16, 32: opStore32, 64: opStore64}[bitsOf(kindOf(t))]
	case pointer:
		return opStoreP
	case header:
		if kindOf(t) == reflect.String {
			return opStoreT
		}
		return opStoreH
	}
	return opInvalid
}

// setOp writes an element of a slice.
func setOp(t types.Type) op {
	if o := storeOp(t); o >= opStore8 && o <= opStoreP {
		return o - opStore8 + opSet8
	}
	return opInvalid
}
