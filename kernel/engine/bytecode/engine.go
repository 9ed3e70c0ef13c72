package bytecode

import (
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// The engine library does not export the fields that the executor reads and writes.
// These types have the same fields at the same offsets; check compares them when the
// program starts.

// frame is ixgo.Frame: a call that is interpreted.
type frame struct {
	interp  unsafe.Pointer
	caller  *frame
	callee  *frame
	pfn     *function
	_defer  unsafe.Pointer
	_panic  unsafe.Pointer
	block   *ssa.BasicBlock
	stack   []any // results, parameters, free variables, all other values and constants
	ipc     int   // of the next instruction, -1 when the call has ended
	pred    int
	deferid uint64
	outside bool   // code outside of the interpreter has called the function
	by      *frame // that has deferred this call

	recorder interface{ List(*ixgo.Frame) } // puts deferred calls that it has recorded into _defer
}

// unwinder are methods that the edited library adds to frames.
type unwinder interface {
	Panic(v any) any              // what the panic statement that the frame has come to panics with
	Unwinding(v any) any          // is called with a panic that has come to the frame, and returns the one that goes on
	Panics(v any)                 // notes that the frame panics
	Panicking() (any, bool)       // the value with which it still does
	RunDeferred()                 // makes the deferred calls in the list; it returns, whatever they do
	Recover(fn *ssa.Function) any // the result of recover in a function that the frame has deferred
}

func (fr *frame) unwinder() unwinder {
	return any((*ixgo.Frame)(unsafe.Pointer(fr))).(unwinder)
}

// function is a compiled function of the engine: one closure an instruction.
type function struct {
	Interp    unsafe.Pointer
	Fn        *ssa.Function
	Main      *ssa.BasicBlock
	_         unsafe.Pointer
	_         ssa.Instruction
	index     map[ssa.Value]uint32 // place of a value in the stack, in the low 24 bits
	_         map[ssa.Instruction][]uint32
	Instrs    []func(*ixgo.Frame)
	Recover   []func(*ixgo.Frame)
	Blocks    []int
	stack     []any // initial stack of a frame
	ssaInstrs []ssa.Instruction
	_         int
	nres      int
	narg      int
}

// Offsets of fields of ixgo.Interp.
var funcsAt, typesAt, methodsAt uintptr

// errMachine says that the executor does not support this processor: it needs words of
// 64 bits and little-endian order.
var errMachine = errors.New("bytecode: a processor of 64 bits is needed, with the low byte first")

// check reports whether the engine library has the layout that this package knows.
func check() error {
	if one := uint16(1); unsafe.Sizeof(uintptr(0)) != 8 || *(*uint8)(unsafe.Pointer(&one)) != 1 {
		return errMachine
	}
	if err := errMachine; (*table)((*eface)(unsafe.Pointer(&err)).typ).typ != typeWord(reflect.TypeOf(errMachine)) {
		return fmt.Errorf("bytecode: the table of an interface with methods is not as Go 1.26 has it")
	}
	real := reflect.TypeFor[ixgo.Frame]()
	if err := sameFields(reflect.TypeFor[frame](), real); err != nil {
		return err
	}
	pfn, ok := real.FieldByName("pfn")
	if !ok || pfn.Type.Kind() != reflect.Pointer {
		return fmt.Errorf("bytecode: ixgo.Frame has no pointer pfn")
	}
	if err := sameFields(reflect.TypeFor[function](), pfn.Type.Elem()); err != nil {
		return err
	}
	interp := reflect.TypeFor[ixgo.Interp]()
	funcs, ok := interp.FieldByName("funcs")
	if !ok || funcs.Type != reflect.MapOf(reflect.TypeFor[*ssa.Function](), pfn.Type) {
		return fmt.Errorf("bytecode: ixgo.Interp has no map funcs of functions")
	}
	preload, ok := interp.FieldByName("preloadTypes")
	if !ok || preload.Type != reflect.TypeFor[map[types.Type]reflect.Type]() {
		return fmt.Errorf("bytecode: ixgo.Interp has no map preloadTypes of types")
	}
	methods, ok := interp.FieldByName("msets")
	if !ok || methods.Type != reflect.TypeFor[map[reflect.Type]map[string]*ssa.Function]() {
		return fmt.Errorf("bytecode: ixgo.Interp has no map msets of methods")
	}
	funcsAt, typesAt, methodsAt = funcs.Offset, preload.Offset, methods.Offset
	return nil
}

// sameFields compares the fields of a type of this package with those of the engine's.
func sameFields(ours, theirs reflect.Type) error {
	for i := range ours.NumField() {
		f := ours.Field(i)
		if f.Name == "_" { // only its size matters, which the next field shows
			continue
		}
		g, ok := theirs.FieldByName(f.Name)
		if !ok || g.Offset != f.Offset || g.Type.Kind() != f.Type.Kind() && f.Type.Kind() != reflect.UnsafePointer {
			return fmt.Errorf("bytecode: %v.%s is not as ixgo v1.1.1 has it", theirs, f.Name)
		}
	}
	return nil
}

// functions are the functions of an interpreter.
func functions(in *ixgo.Interp) map[*ssa.Function]*function {
	return *(*map[*ssa.Function]*function)(unsafe.Add(unsafe.Pointer(in), funcsAt))
}

// reflectTypes are the types of an interpreter.
func reflectTypes(in *ixgo.Interp) map[types.Type]reflect.Type {
	return *(*map[types.Type]reflect.Type)(unsafe.Add(unsafe.Pointer(in), typesAt))
}

// methodsOf are the methods that an interpreter calls for values of a type.
func methodsOf(interp unsafe.Pointer, t reflect.Type) map[string]*ssa.Function {
	return (*(*map[reflect.Type]map[string]*ssa.Function)(unsafe.Add(interp, methodsAt)))[t]
}

// at is the place of a value in the stack of a frame.
func (f *function) at(v ssa.Value) (int, bool) {
	i, ok := f.index[v]
	return int(i & 0xffffff), ok
}

func asFrame(fr *ixgo.Frame) *frame { return (*frame)(unsafe.Pointer(fr)) }
