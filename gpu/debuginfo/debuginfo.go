// Package debuginfo reads the debug information of PTX: the DWARF that compilers write in
// .section directives when they compile without optimisation. It gives the variables of
// each function with their scopes, types and places. Its main type is Info; a debugger on
// the emulator uses it. It executes nothing and must not import the emulator.
package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"

	"warpbook/gpu/ptx"
)

// Info is the debug information of a module, by function.
type Info struct {
	functions map[string]*Function
	variables []*Variable // outside of functions
}

// Variables are those outside of functions.
func (i *Info) Variables() []*Variable {
	if i == nil {
		return nil
	}
	return i.variables
}

// Function finds a function by its symbol; nil if nothing is known about it.
func (i *Info) Function(symbol string) *Function {
	if i == nil {
		return nil
	}
	return i.functions[symbol]
}

// Function is one of the module.
type Function struct {
	Name      string // in the source
	Variables []*Variable
}

// Variable is a variable or a parameter of a function.
type Variable struct {
	Name     string
	Type     dwarf.Type
	Symbol   string // of the variable in the text in which it lies, "" if that is not known
	Offset   int64  // there
	Param    int    // number of the parameter, -1 of other variables
	From, To int    // instructions of its scope
	Depth    int    // of the scope, 0 is the function's
}

// InScope are the variables that an instruction of the function sees: inner ones hide
// those of the same name.
func (f *Function) InScope(instruction int) (list []*Variable) {
	at := map[string]int{}
	for _, v := range f.Variables {
		if instruction < v.From || instruction >= v.To {
			continue
		}
		if i, ok := at[v.Name]; !ok {
			at[v.Name] = len(list)
			list = append(list, v)
		} else if v.Depth >= list[i].Depth {
			list[i] = v
		}
	}
	return list
}

// Addresses for DWARF: an instruction is its number in its function, whose first has the
// number of the function; a symbol is a range of its own.
const (
	functionBits = 32
	symbolBase   = 1 << 62
	symbolBits   = 32
)

// Read returns the information of a module, nil if it has none. Information that cannot
// be read is an error: the code runs without it.
func Read(m *ptx.Module) (*Info, error) {
	if m.Sections["debug_info"] == nil || m.Sections["debug_abbrev"] == nil {
		return nil, nil
	}
	r := &reader{info: &Info{functions: map[string]*Function{}}, module: m, addresses: map[string]uint64{}}
	r.place()
	bytes := func(name string) []byte { return m.Sections[name].Resolved(r.address) }
	data, err := dwarf.New(bytes("debug_abbrev"), nil, nil, bytes("debug_info"), nil, nil, nil, bytes("debug_str"))
	if err != nil {
		return nil, fmt.Errorf("debuginfo: %s: %w", m.Name, err)
	}
	r.data, r.entries = data, data.Reader()
	for {
		e, err := r.entries.Next()
		if err != nil {
			return nil, fmt.Errorf("debuginfo: %s: %w", m.Name, err)
		}
		if e == nil {
			return r.info, nil
		}
		switch e.Tag {
		case dwarf.TagSubprogram:
			err = r.function(e)
		case dwarf.TagVariable:
			err = r.global(e)
		}
		if err != nil {
			return nil, fmt.Errorf("debuginfo: %s: %w", m.Name, err)
		}
	}
}

// reader reads the entries of a module in their order.
type reader struct {
	info      *Info
	module    *ptx.Module
	addresses map[string]uint64
	symbols   []string // by number of their range
	data      *dwarf.Data
	entries   *dwarf.Reader
}

// place gives the labels of functions their addresses.
func (r *reader) place() {
	for n, f := range r.module.Functions {
		r.addresses[f.Name] = uint64(n+1) << functionBits
		for label, at := range f.Labels {
			r.addresses[label] = uint64(n+1)<<functionBits + uint64(at)
		}
	}
	for name := range r.module.Sections {
		r.addresses[name] = 0
	}
}

// address is that of a symbol; those of variables are made at first use.
func (r *reader) address(symbol string) uint64 {
	a, ok := r.addresses[symbol]
	if !ok {
		a = symbolBase + uint64(len(r.symbols))<<symbolBits
		r.symbols = append(r.symbols, symbol)
		r.addresses[symbol] = a
	}
	return a
}

// function reads a subprogram with its scopes.
func (r *reader) function(e *dwarf.Entry) error {
	from, to, ok := r.span(e)
	if !ok {
		if e.Children {
			r.entries.SkipChildren()
		}
		return nil
	}
	n := int(from>>functionBits) - 1
	if n < 0 || n >= len(r.module.Functions) {
		return fmt.Errorf("a function at address %#x", from)
	}
	f := &Function{}
	f.Name, _ = e.Val(dwarf.AttrName).(string)
	params := 0
	if e.Children {
		if err := r.scope(f, number(from), number(to), 0, &params); err != nil {
			return err
		}
	}
	r.info.functions[r.module.Functions[n].Name] = f
	return nil
}

// global reads a variable outside of functions, if it has a place.
func (r *reader) global(e *dwarf.Entry) error {
	v, err := r.variable(e)
	if err == nil && v.Symbol != "" && v.Name != "" && v.Type != nil {
		v.Param = -1
		r.info.variables = append(r.info.variables, v)
	}
	return err
}

func number(address uint64) int { return int(address & (1<<functionBits - 1)) }

// span are the addresses of the code of a function or a scope.
func (r *reader) span(e *dwarf.Entry) (from, to uint64, ok bool) {
	from, ok = e.Val(dwarf.AttrLowpc).(uint64)
	if !ok {
		return 0, 0, false
	}
	switch high := e.Val(dwarf.AttrHighpc).(type) {
	case uint64:
		return from, high, true
	case int64: // a length
		return from, from + uint64(high), true
	}
	return 0, 0, false
}

// scope reads the variables of a scope and of those in it, up to its end.
func (r *reader) scope(f *Function, from, to, depth int, params *int) error {
	for {
		e, err := r.entries.Next()
		if err != nil {
			return err
		}
		switch {
		case e == nil || e.Tag == 0:
			return nil
		case e.Tag == dwarf.TagVariable || e.Tag == dwarf.TagFormalParameter:
			v, err := r.variable(e)
			if err != nil {
				return err
			}
			if v.From, v.To, v.Depth, v.Param = from, to, depth, -1; e.Tag == dwarf.TagFormalParameter {
				v.Param = *params
				*params++
			}
			f.Variables = append(f.Variables, v)
			if e.Children {
				r.entries.SkipChildren()
			}
		case e.Tag == dwarf.TagLexDwarfBlock && e.Children:
			inner, end := from, to
			if low, high, ok := r.span(e); ok {
				inner, end = number(low), number(high)
			}
			if err := r.scope(f, inner, end, depth+1, params); err != nil {
				return err
			}
		case e.Children:
			r.entries.SkipChildren()
		}
	}
}

func (r *reader) variable(e *dwarf.Entry) (*Variable, error) {
	v := &Variable{}
	v.Name, _ = e.Val(dwarf.AttrName).(string)
	if at, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
		t, err := r.data.Type(at)
		if err != nil {
			return nil, err
		}
		v.Type = t
	}
	where, _ := e.Val(dwarf.AttrLocation).([]byte)
	v.Symbol, v.Offset = r.location(where)
	return v, nil
}

// The operations of DWARF with which clang describes places in memory.
const (
	opAddress = 0x03
	opPlus    = 0x23
)

// location is the place of a variable: the address of a symbol, and what is added to it.
func (r *reader) location(where []byte) (symbol string, offset int64) {
	if len(where) < 9 || where[0] != opAddress {
		return "", 0
	}
	at := binary.LittleEndian.Uint64(where[1:])
	n := (at - symbolBase) >> symbolBits
	if at < symbolBase || n >= uint64(len(r.symbols)) {
		return "", 0
	}
	offset = int64(at & (1<<symbolBits - 1))
	if rest := where[9:]; len(rest) > 1 && rest[0] == opPlus {
		x, _ := binary.Uvarint(rest[1:])
		offset += int64(x)
	} else if len(rest) > 0 {
		return "", 0
	}
	return r.symbols[n], offset
}
