package engine

import (
	"fmt"
	"math"
	"path"

	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// Text is the instruction, and Module the text that it stands in.
func (s *Stop) Text() *ptx.Instruction { return s.in.src }

func (s *Stop) Module() *ptx.Module { return s.warp.block.prog.text }

// Kernel is the entry as the text has it.
func (s *Stop) Kernel() *ptx.Function { return s.warp.block.prog.fn }

// Of is the place of a lane of the same block at the same time, false if it has exited.
func (s *Stop) Of(warp, lane int) (*Stop, bool) {
	b := s.warp.block
	if warp < 0 || warp >= len(b.warps) {
		return nil, false
	}
	w := b.warps[warp]
	if w == s.warp && s.mask>>lane&1 == 1 {
		return s, true
	}
	for i := range w.frags {
		if f := &w.frags[i]; f.mask>>lane&1 == 1 {
			pc := f.pc
			if f.state == atBarrier {
				pc--
			}
			return &Stop{warp: w, mask: f.mask, in: &b.prog.code[pc], pc: pc, time: s.time}, true
		}
	}
	return nil, false
}

// LineText is the text of a line of the source, "" where it is not known.
func (s *Stop) LineText(file string, line int) string {
	if l := s.warp.block.launch; l.source != nil && l.source.Line != nil {
		return l.source.Line(fmt.Sprintf("%s:%d", path.Base(file), line))
	}
	return ""
}

// SourceText is the source of the launch, "" where it is not known.
func (s *Stop) SourceText() string {
	if l := s.warp.block.launch; l.source != nil {
		return l.source.Text
	}
	return ""
}

// Valid reports whether it is a stop, and not the zero value.
func (s *Stop) Valid() bool { return s.warp != nil }

// Executing are the active lanes that the guard of the instruction lets through.
func (s *Stop) Executing() uint32 { return s.mask & (s.warp.preds[s.in.guard] ^ s.in.flip) }

// Exits reports whether the executing lanes end with the instruction.
func (s *Stop) Exits() bool { return s.in.flow == leave }

// Call is a function that is being executed: the kernel, or one whose code stands in its
// caller's.
type Call struct {
	Function *ptx.Function
	Prefix   string           // of the names of its variables
	At       *ptx.Instruction // that is executed, or the call of the function before
}

// Calls are the functions that are being executed, the innermost first.
func (s *Stop) Calls() (list []Call) {
	p := s.warp.block.prog
	at := s.in.src
	n := p.indexOf(at)
	for _, in := range p.inlined.Inlined { // inner ones stand first
		if n < 0 || n < in.From || n >= in.To {
			continue
		}
		list = append(list, Call{in.Function, in.Prefix, at})
		at = &p.inlined.Code[in.From-1]
	}
	return append(list, Call{p.fn, "", at})
}

// indexOf is the number of an instruction of the program's text.
func (p *Program) indexOf(in *ptx.Instruction) int {
	p.indexing.Do(func() {
		p.indices = make(map[*ptx.Instruction]int, len(p.inlined.Code))
		for i := range p.inlined.Code {
			p.indices[&p.inlined.Code[i]] = i
		}
	})
	if i, ok := p.indices[in]; ok {
		return i
	}
	return -1
}

// Address is the generic address of a variable of the text, by its symbol: of a thread, of
// the block, or of the module.
func (s *Stop) Address(symbol string) (address uint64, ok bool) {
	p := s.warp.block.prog
	if at, ok := p.locals[symbol]; ok {
		return mem.LocalWindow<<mem.WindowBits | at, true
	}
	for _, v := range p.shared {
		if v.symbol == symbol {
			return mem.SharedWindow<<mem.WindowBits | v.at, true
		}
	}
	v, ok := p.symbols[symbol]
	return v.Address, ok
}

// Read returns bytes at a generic address as a lane sees them, fewer where the memory
// ends, and whether all of them were written. Nothing may change them.
func (s *Stop) Read(lane int, address uint64, n int) (data []byte, written bool) {
	c, at, end := s.contents(lane, address)
	if c == nil || at >= end || n <= 0 {
		return nil, false
	}
	n = int(min(uint64(n), end-at))
	if c.Whole.Load() {
		return c.Data[at:][:n], true
	}
	_, written = c.Written.FirstUnset(int(at), n)
	return c.Data[at:][:n], written
}

// contents are the memory at a generic address as a lane sees it, the offset there, and
// the end of what the lane may read.
func (s *Stop) contents(lane int, address uint64) (c *mem.Contents, at, end uint64) {
	b := s.warp.block
	space, base := spaceOf(address)
	at = address - base
	switch space {
	case ptx.Shared:
		c = b.shared
	case ptx.Local:
		if frame := uint64(b.prog.localBytes); s.warp.local != nil && at < frame {
			return s.warp.local, uint64(lane)*frame + at, uint64(lane)*frame + uint64(b.prog.localUsed)
		}
		return nil, 0, 0
	case ptx.Parameter:
		c = b.launch.paramContents
	default:
		table := b.launch.engine.memory.Allocations()
		if id := address >> mem.WindowBits; id < uint64(len(table)) && table[id] != nil {
			c = table[id].Contents.Load()
		}
		at = address & mem.OffsetMask
	}
	if c == nil {
		return nil, 0, 0
	}
	return c, at, uint64(len(c.Data))
}

// Buffer is the name of the buffer at an address of global memory, and the offset in it.
func (s *Stop) Buffer(address uint64) (name string, offset uint64, ok bool) {
	table := s.warp.block.launch.engine.memory.Allocations()
	if id := address >> mem.WindowBits; id >= mem.FirstID && id < uint64(len(table)) && table[id] != nil {
		return table[id].Name(), address & mem.OffsetMask, true
	}
	return "", 0, false
}

// Access is what a lane is about to read or write.
type Access struct {
	Lane    int
	Address uint64 // generic
	Bytes   int
	Reads   bool
	Writes  bool
}

// Private reports whether the memory belongs to one thread.
func (a Access) Private() bool {
	space, _ := spaceOf(a.Address)
	return space == ptx.Local || space == ptx.Parameter
}

// Accesses are those of the instruction, if it is a load, a store or an atomic. Copies
// of the copy engine and products of matrices are not among them.
func (s *Stop) Accesses() (list []Access) {
	a := s.in.mem
	if a == nil {
		return nil
	}
	window := map[ptx.Space]uint64{ptx.Shared: mem.SharedWindow, ptx.Local: mem.LocalWindow, ptx.Parameter: mem.ParamWindow}[a.space] << mem.WindowBits
	for m := s.Executing(); m != 0; m &= m - 1 {
		l := lowest(m)
		var at uint64
		if a.wideAddr {
			at = lanes[uint64](s.warp, s.in.a)[l] + a.offset
		} else {
			at = uint64(lanes[uint32](s.warp, s.in.a)[l] + uint32(a.offset))
		}
		list = append(list, Access{l, at + window, int(a.size), a.kind != store, a.kind != load})
	}
	return list
}

// Atomic reports whether the instruction reads and writes memory at once.
func (s *Stop) Atomic() bool { return s.in.mem != nil && s.in.mem.kind == update }

// MadeNaN are the lanes in which the instruction has made a NaN. It is called after the
// instruction, on a copy of the stop before it.
func (s *Stop) MadeNaN() (list uint32) {
	kind := s.result()
	if kind != "f32" && kind != "f64" {
		return 0
	}
	for _, o := range s.Operands() {
		for m := s.mask; m != 0 && o.Destination && !o.Predicate; m &= m - 1 {
			l := lowest(m)
			x := math.Float64frombits(o.Lanes[l])
			if kind == "f32" {
				x = float64(math.Float32frombits(uint32(o.Lanes[l])))
			}
			if math.IsNaN(x) {
				list |= 1 << l
			}
		}
	}
	return list
}

// result is the type of the result of an arithmetic instruction, "" of another one.
func (s *Stop) result() string {
	src := s.in.src
	if src == nil || s.in.mem != nil || s.in.flow == branch || len(src.Modifiers) == 0 {
		return ""
	}
	n := len(src.Modifiers) - 1
	if src.Opcode == "cvt" && n > 0 {
		n-- // the last is that of the source
	}
	return src.Modifiers[n]
}
