package emu

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/flow"
	"warpbook/gpu/ptx"
)

// module is loaded PTX: its variables have memory, its entries are lowered at their
// first use.
type module struct {
	dev     *Device
	text    *ptx.Module
	symbols map[string]engine.Symbol // of variables in global and constant memory, and of functions
	globals map[string]*buffer
	closed  atomic.Bool

	mu        sync.Mutex
	entries   map[string]*entry      // guarded by mu
	registers func(entry string) int // of a thread, 0 where they are not known; guarded by mu
}

// CountRegisters gives entries that are asked for later a function that knows their registers
// a thread, which PTX does not show; 0 where it does not. See engine.Program.CountRegisters.
func (m *module) CountRegisters(count func(entry string) int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.registers = count
}

func (d *Device) newModule(text *ptx.Module) (gpu.Module, error) {
	m := &module{dev: d, text: text, symbols: map[string]engine.Symbol{}, globals: map[string]*buffer{}, entries: map[string]*entry{}}
	for _, v := range text.Variables {
		if v.Space != ptx.Global && v.Space != ptx.Const {
			continue
		}
		if v.Extern {
			return nil, fmt.Errorf("emu: load %s:%d: %w: %s is defined in another module", text.Name, v.Pos.Line, gpu.ErrUnsupported, v.Name)
		}
		a, err := d.mem.Alloc(int64(v.Bytes()), "variable "+v.Name)
		if err != nil {
			m.free()
			return nil, err
		}
		a.Fixed.Store(true)
		a.Constant = v.Space == ptx.Const
		m.symbols[v.Name] = engine.Symbol{Space: v.Space, Address: a.Address()}
		m.globals[v.Name] = &buffer{dev: d, memory: a, typ: gpu.Uint8, n: v.Bytes(), fixed: true}
	}
	for name, at := range flow.Addresses(text) {
		m.symbols[name] = engine.Symbol{Space: ptx.Global, Address: at}
	}
	if err := m.initialise(); err != nil {
		m.free()
		return nil, err
	}
	return m, nil
}

// initialise writes the variables' initial contents: zeros if the text gives none.
func (m *module) initialise() error {
	for _, v := range m.text.Variables {
		b := m.globals[v.Name]
		if b == nil {
			continue
		}
		data, c, err := b.bytes()
		if err != nil {
			return err
		}
		clear(data)
		copy(data, v.Init)
		for _, r := range v.Relocs {
			s, ok := m.symbols[r.Symbol]
			if !ok || r.Offset+r.Bytes > len(data) {
				// The address of a texture: entries that use the variable are rejected.
				delete(m.symbols, v.Name)
				continue
			}
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], (s.Address+uint64(r.Addend))>>r.Shift)
			copy(data[r.Offset:], word[:r.Bytes])
		}
		c.Wrote(0, len(data))
	}
	return nil
}

// Entries lists the entries in the order of the text.
func (m *module) Entries() []string {
	var names []string
	for _, f := range m.text.Functions {
		if f.Entry {
			names = append(names, f.Name)
		}
	}
	return names
}

// Entry finds an entry and lowers it; an instruction that is not supported is an error
// here.
func (m *module) Entry(name string) (gpu.Entry, error) {
	if m.closed.Load() {
		return nil, fmt.Errorf("emu: entry %s: %w: module %s was closed", name, gpu.ErrClosed, m.text.Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[name]; e != nil {
		return e, nil
	}
	f := m.text.Entry(name)
	if f == nil {
		return nil, fmt.Errorf("emu: entry %s of %s: %w, %s", name, m.text.Name, gpu.ErrNotFound, gpu.Nearest(name, m.Entries()))
	}
	p, err := m.dev.engine.Lower(engine.Module{Text: m.text, Symbols: m.symbols}, f)
	if err != nil {
		return nil, err
	}
	if count := m.registers; count != nil {
		p.CountRegisters(func() int { return count(name) })
	}
	e := &entry{module: m, program: p}
	m.entries[name] = e
	return e, nil
}

// Global is the memory of a variable.
func (m *module) Global(name string) (gpu.Buffer, error) {
	if m.closed.Load() {
		return nil, fmt.Errorf("emu: global %s: %w: module %s was closed", name, gpu.ErrClosed, m.text.Name)
	}
	if b, ok := m.globals[name]; ok {
		return b, nil
	}
	var names []string
	for n := range m.globals {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("emu: global %s of %s: %w, %s", name, m.text.Name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// Close frees the variables.
func (m *module) Close() error {
	if m.closed.Swap(true) {
		return fmt.Errorf("emu: close module %s: %w: it was closed before", m.text.Name, gpu.ErrClosed)
	}
	m.free()
	return nil
}

func (m *module) free() {
	for _, b := range m.globals {
		m.dev.mem.Free(b.memory)
	}
}

// entry is a program that can be launched.
type entry struct {
	module  *module
	program *engine.Program
}

func (e *entry) Name() string { return e.program.Name() }

func (e *entry) Attributes() gpu.Attributes { return e.program.Attributes() }

func (e *entry) Params() []gpu.Param { return e.program.Params() }
