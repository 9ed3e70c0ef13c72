// Package inspect shows a warp that a debugger has stopped on the emulator as its source
// has it: frames, variables by name, and expressions of C++ over them, for each lane. Its
// main type is View. The names are those of the debug information; without it there are the
// built-in variables, the arguments and shared memory. It changes nothing and runs nothing.
package inspect

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"debug/dwarf"

	"warpbook/gpu"
	"warpbook/gpu/debuginfo"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
	"warpbook/kernel/leaf/lazyregexp"
)

// View is what a lane sees at a stop. It is valid as long as the stop.
type View struct {
	Stop  *engine.Stop
	Lane  int
	Frame int // 0 is the innermost

	calls []engine.Call
	info  *debuginfo.Info
}

// New is the view of the first lane that executes the instruction, or of the lane of its
// fault.
func New(at *engine.Stop) *View {
	v := &View{Stop: at, calls: at.Calls(), info: infoOf(at.Module())}
	for v.Lane < 31 && at.Active()>>v.Lane&1 == 0 {
		v.Lane++
	}
	if f := at.Fault; f != nil && f.Thread != nil {
		for l := range 32 {
			if at.Thread(l) == *f.Thread {
				v.Lane = l
			}
		}
	}
	return v
}

// On is the view of another lane.
func (v *View) On(lane int) *View {
	w := *v
	w.Lane = lane
	return &w
}

// In is the view of another frame.
func (v *View) In(frame int) *View {
	w := *v
	w.Frame = frame
	return &w
}

// infos are the debug information of modules that were stopped in last, and the types of
// their dynamic shared memory.
var infos struct {
	sync.Mutex
	of       map[*ptx.Module]*debuginfo.Info       // guarded by Mutex
	elements map[*ptx.Module]map[string]dwarf.Type // guarded by Mutex
}

// dynamic is the declaration of dynamic shared memory, which compilers describe nowhere.
var dynamic = lazyregexp.New(`\bextern\s+__shared__\s+(?:__align__\s*\(\w+\)\s*)?((?:unsigned\s+|long\s+)*\w+)\s+(\w+)\s*\[\s*\]`)

// elementOf is the type of the elements of dynamic shared memory, as the source declares
// it; float where that is not known.
func (v *View) elementOf(name string) dwarf.Type {
	m := v.Stop.Module()
	infos.Lock()
	defer infos.Unlock()
	known, ok := infos.elements[m]
	if !ok {
		if len(infos.elements) >= mostInfos || infos.elements == nil {
			infos.elements = map[*ptx.Module]map[string]dwarf.Type{}
		}
		known = map[string]dwarf.Type{}
		for _, found := range dynamic().FindAllStringSubmatch(v.Stop.SourceText(), -1) {
			known[found[2]] = casts[strings.Join(strings.Fields(found[1]), " ")]
		}
		infos.elements[m] = known
	}
	if t := known[name]; t != nil {
		return t
	}
	return floatType
}

const mostInfos = 16

func infoOf(m *ptx.Module) *debuginfo.Info {
	infos.Lock()
	defer infos.Unlock()
	if i, ok := infos.of[m]; ok {
		return i
	}
	if len(infos.of) >= mostInfos || infos.of == nil {
		infos.of = map[*ptx.Module]*debuginfo.Info{}
	}
	i, _ := debuginfo.Read(m) // without it there are the names of the PTX
	infos.of[m] = i
	return i
}

// Frame is a function that has not returned, and the place that it is at.
type Frame struct {
	Name string
	File string
	Line int
}

// Frames are the functions of the stop, the innermost first.
func (v *View) Frames() (list []Frame) {
	for i, c := range v.calls {
		f := Frame{Name: ptx.Demangle(c.Function.Name)}
		if known := v.info.Function(c.Function.Name); known != nil && known.Name != "" && i < len(v.calls)-1 {
			f.Name = known.Name
		}
		f.File, f.Line = v.Stop.Module().Files[c.At.Source.File], c.At.Source.Line
		if i == 0 {
			f.File, f.Line = v.Stop.Place()
		}
		list = append(list, f)
	}
	return list
}

// Named is a variable.
type Named struct {
	Name  string
	Value Value
}

// Known reports whether the variables of the source are known.
func (v *View) Known() bool { return v.function() != nil }

func (v *View) function() *debuginfo.Function { return v.info.Function(v.calls[v.Frame].Function.Name) }

// Variables are those that the source has at the place, without those in shared memory and
// those outside of functions.
func (v *View) Variables() (list []Named) {
	v.variables(func(x *debuginfo.Variable) {
		if n, ok := v.named(x); ok && isLocal(n.Value.Address) && x.Param < 0 {
			list = append(list, n)
		}
	})
	return list
}

// Globals are the variables of the module.
func (v *View) Globals() (list []Named) {
	v.variables(func(x *debuginfo.Variable) {
		if n, ok := v.named(x); ok && x.Param < 0 && !isLocal(n.Value.Address) && !isShared(n.Value.Address) {
			list = append(list, n)
		}
	})
	return list
}

// Arguments are the parameters of the function.
func (v *View) Arguments() (list []Named) {
	v.variables(func(x *debuginfo.Variable) {
		if n, ok := v.named(x); ok && x.Param >= 0 {
			list = append(list, n)
		}
	})
	if list != nil || v.Frame < len(v.calls)-1 {
		return list
	}
	names := v.Stop.ParamNames()
	for i, a := range v.Stop.Arguments() {
		n := Named{fmt.Sprintf("arg%d", i), plain(a)}
		if i < len(names) && names[i] != "" {
			n.Name = names[i]
		}
		list = append(list, n)
	}
	return list
}

// Shared are the variables in shared memory.
func (v *View) Shared() (list []Named) {
	v.variables(func(x *debuginfo.Variable) {
		if n, ok := v.named(x); ok && isShared(n.Value.Address) {
			list = append(list, n)
		}
	})
	for _, s := range v.Stop.Shared() {
		bytes := len(s.Bytes)
		if bytes == 0 {
			bytes = v.Stop.SharedBytes() - int(s.At) // its length is that of the launch
		}
		if slices.ContainsFunc(list, func(n Named) bool { return n.Name == s.Name || n.Value.Address == sharedAddress+s.At }) || bytes < 4 {
			continue
		}
		t := v.elementOf(s.Name)
		list = append(list, Named{s.Name, Value{Type: arrayOf(t, bytes/int(t.Size())), Address: sharedAddress + s.At, Memory: true}})
	}
	return list
}

// variables calls f with the variables in scope, those outside of functions last.
func (v *View) variables(f func(*debuginfo.Variable)) {
	known := v.function()
	if known == nil {
		return
	}
	c := v.calls[v.Frame]
	at := slices.IndexFunc(c.Function.Code, func(in ptx.Instruction) bool { return in.Pos == c.At.Pos })
	hidden := map[string]bool{}
	for _, x := range known.InScope(at) {
		if x.Type != nil && x.Name != "" {
			hidden[x.Name] = true
			f(x)
		}
	}
	for _, x := range v.info.Variables() {
		if !hidden[x.Name] {
			f(x)
		}
	}
}

// named is a variable with its place; a parameter that has none is that of the launch.
func (v *View) named(x *debuginfo.Variable) (n Named, ok bool) {
	c := v.calls[v.Frame]
	if x.Symbol != "" {
		for _, symbol := range []string{c.Prefix + x.Symbol, x.Symbol} {
			if address, ok := v.Stop.Address(symbol); ok {
				address += uint64(x.Offset)
				return Named{x.Name, Value{v.sized(x.Type, address), address, true, nil}}, true
			}
		}
	}
	if args := v.Stop.Arguments(); x.Param >= 0 && x.Param < len(args) && v.Frame == len(v.calls)-1 {
		return Named{x.Name, Value{Type: x.Type, Data: args[x.Param].Bytes}}, true
	}
	return n, false
}

// sized is the type of a variable. An array without a length in shared memory has that of
// the launch.
func (v *View) sized(t dwarf.Type, address uint64) dwarf.Type {
	a, is := strip(t).(*dwarf.ArrayType)
	if !is || a.Count > 0 || !isShared(address) || a.Type.Size() <= 0 {
		return t
	}
	return arrayOf(a.Type, (v.Stop.SharedBytes()-int(address&mem.OffsetMask))/int(a.Type.Size()))
}

// plain is an argument whose type in the source is not known.
func plain(a engine.Argument) Value {
	var t dwarf.Type = &dwarf.StructType{CommonType: dwarf.CommonType{ByteSize: int64(len(a.Bytes))}, StructName: "struct"}
	switch {
	case a.Type == "f32":
		t = floatType
	case a.Type == "f64":
		t = doubleType
	case len(a.Bytes) == 8:
		t = pointerTo(floatType)
	case len(a.Bytes) == 4:
		t = intType
	}
	return Value{Type: t, Data: a.Bytes}
}

// Builtins are the built-in variables of the lane.
func (v *View) Builtins() []Named {
	s := v.Stop
	return []Named{
		{"threadIdx", dim(s.Thread(v.Lane))}, {"blockIdx", dim(s.Block())}, {"blockDim", dim(s.Size().Full())}, {"gridDim", dim(s.Grid().Full())},
		{"warp", integer(int64(s.Warp()))}, {"lane", integer(int64(v.Lane))},
	}
}

func dim(d gpu.Dim) Value {
	var data []byte
	for _, x := range []int{d.X, d.Y, d.Z} {
		data = binary.LittleEndian.AppendUint32(data, uint32(x))
	}
	return Value{Type: dim3Type, Data: data}
}

// lookup finds a name: of the source first, then a built-in one.
func (v *View) lookup(name string) (Value, bool) {
	for _, list := range [][]Named{v.Variables(), v.Arguments(), v.Shared(), v.Globals(), v.Builtins()} {
		for _, n := range list {
			if n.Name == name {
				return n.Value, true
			}
		}
	}
	if address, ok := v.Stop.Address(name); ok { // of the module, whose type is not known
		return Value{Type: arrayOf(floatType, 1<<20), Address: address, Memory: true}, true
	}
	return Value{}, false
}

// Names are those that an expression can use.
func (v *View) Names() (names []string) {
	for _, list := range [][]Named{v.Variables(), v.Arguments(), v.Shared(), v.Globals(), v.Builtins()} {
		for _, n := range list {
			names = append(names, n.Name)
		}
	}
	return names
}
