package emu

import (
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// fail records the first fault of the block; lane is the one at fault, or -1.
func (w *warp) fail(in *instr, lane int, kind error, format string, args ...any) {
	if w.block.fault != nil {
		return
	}
	f := w.block.newFault(in, kind, fmt.Sprintf(format, args...))
	if lane >= 0 {
		d := w.block.thread(w.index*32 + lane)
		f.Thread = &d
	}
	w.block.fault = f
}

func (b *block) newFault(in *instr, kind error, detail string) *gpu.Fault {
	at := b.at
	f := &gpu.Fault{Kind: kind, Entry: b.prog.name, Detail: detail, Block: &at}
	if in != nil && in.src != nil {
		f.Instruction = in.src.Name()
		f.File, f.Line = b.prog.file, in.src.Pos.Line
		f.Source = b.prog.sourceOrCall(in)
	}
	return f
}

// thread is the index in its block of the thread with the linear number n.
func (b *block) thread(n int) gpu.Dim {
	d := b.launch.block
	return gpu.Dim{X: n % d.X, Y: n / d.X % d.Y, Z: n / (d.X * d.Y)}
}

// source is the place in the CUDA source that an instruction came from.
func (p *program) source(in *instr) string { return p.place(in.src.Source) }

// sourceOrCall adds the place of the call to code from another file, such as a
// header of CUDA.
func (p *program) sourceOrCall(in *instr) string {
	at := p.source(in)
	if call := p.place(in.src.Inlined); call != "" && in.src.Inlined.File != in.src.Source.File {
		at += ", called at " + call
	}
	return at
}

func (p *program) place(s ptx.Source) string {
	name := p.files[s.File]
	if name == "" || s.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(name), s.Line)
}

// stall is the fault of a block none of whose threads can go on.
func (b *block) stall() {
	var first *instr
	var kind = gpu.ErrBarrier
	places := map[*instr]int{}
	var order []*instr
	waiting, barrier := 0, 0
	for _, w := range b.warps {
		for _, f := range w.frags {
			in := &b.prog.code[f.pc]
			if f.state == atBarrier {
				in = &b.prog.code[f.pc-1]
				barrier++
			}
			if places[in] == 0 {
				order = append(order, in)
			}
			places[in] += bits.OnesCount32(f.mask)
			waiting += bits.OnesCount32(f.mask)
			if first == nil || f.state == atBarrier && first.flow != blockSync {
				first = in
			}
		}
	}
	if barrier == 0 {
		kind = gpu.ErrMask
	}
	var text []string
	for _, in := range order {
		text = append(text, fmt.Sprintf("%s wait at %s (line %d)", b.who(in), in.src.Name(), in.src.Pos.Line))
	}
	if left := b.launch.threads - waiting; left > 0 {
		text = append(text, fmt.Sprintf("%s have exited", b.exited()))
	}
	b.fault = b.newFault(first, kind, strings.Join(text, ", "))
}

// who names the threads that wait at an instruction.
func (b *block) who(in *instr) string {
	var set ranges
	for _, w := range b.warps {
		for _, f := range w.frags {
			at := &b.prog.code[f.pc]
			if f.state == atBarrier {
				at = &b.prog.code[f.pc-1]
			}
			if at == in {
				set.add(w.index*32, f.mask)
			}
		}
	}
	return set.String()
}

// exited names the threads that have exited.
func (b *block) exited() string {
	var set ranges
	for _, w := range b.warps {
		set.add(w.index*32, w.first&^w.alive)
	}
	return set.String()
}

// ranges is a set of thread numbers, written as "threads 0-31, 40".
type ranges map[int]bool

func (r *ranges) add(base int, mask uint32) {
	if *r == nil {
		*r = ranges{}
	}
	for ; mask != 0; mask &= mask - 1 {
		(*r)[base+bits.TrailingZeros32(mask)] = true
	}
}

func (r ranges) String() string {
	const most = 4 // ranges that are written out
	return fmt.Sprintf("%d threads (%s)", len(r), r.list(most))
}

// list writes out at most so many ranges.
func (r ranges) list(most int) string {
	var parts []string
	for n := 0; n < 1024; n++ {
		if !r[n] {
			continue
		}
		from := n
		for r[n+1] {
			n++
		}
		part := fmt.Sprint(from)
		if n > from {
			part = fmt.Sprintf("%d-%d", from, n)
		}
		parts = append(parts, part)
	}
	if len(parts) > most {
		parts = append(parts[:most], "...")
	}
	return strings.Join(parts, ", ")
}

// badOffset is the fault of a lane whose offset does not fit its place.
func (w *warp) badOffset(in *instr, p place, lane int) {
	offset, size := w.addr[lane], in.mem.size
	var length uint64
	if p.contents != nil {
		length = uint64(len(p.contents.data))
	}
	if p.space == ptx.Shared {
		w.badShared(in, p, lane, length)
		return
	}
	switch {
	case p.holds(offset, size):
		w.misaligned(in, p, lane)
	case p.space == ptx.Global && offset > offsetMask/2:
		w.before(in, uint64(p.allocation.id), lane)
	case p.space == ptx.Global:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%d bytes at address %#x end %d bytes past %s (%d bytes)",
			size, p.allocation.address()+offset, offset+size-length, p.allocation.name(), length)
	default:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%d bytes at %s address %#x end %d bytes past its %d bytes",
			size, spaceNames[p.space], offset, offset+size-length, length)
	}
}

// badShared is badOffset in shared memory, of so many bytes.
func (w *warp) badShared(in *instr, p place, lane int, length uint64) {
	address, prog := w.addr[lane], w.block.prog
	offset, size := int64(address), int64(in.mem.size)
	if offset > 1<<31 && offset < 1<<32 {
		offset -= 1 << 32 // a 32-bit address below zero
	}
	start, end, name := int64(0), int64(length), "shared memory"
	if v := prog.variableOf(in.mem); v != nil {
		start, end, name = int64(v.at), int64(min(v.at+v.bytes, length)), "shared variable "+v.name
	}
	place := fmt.Sprintf("%d bytes at byte %d of %s (%d bytes)", size, offset-start, name, end-start)
	switch fits := p.holds(address, in.mem.size); {
	case fits && in.mem.variable != nil && (offset < start || offset+size > end):
		w.fail(in, lane, gpu.ErrOutOfBounds, "%s lie in %s", place, strings.TrimPrefix(prog.sharedPlace(address), "shared variable "))
	case fits:
		w.misaligned(in, p, lane)
	case offset > offsetMask || offset < -1<<31:
		w.fail(in, lane, gpu.ErrSpace, "address %#x is not in shared memory%s", address, w.block.launch.nameOf(address))
	case length == 0:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%d bytes at shared address %#x, and the launch gave no shared memory, expected its bytes in Launch.Shared", size, address)
	case offset < start:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%s start %d bytes before it", place, start-offset)
	default:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%s end %d bytes past it", place, offset+size-end)
	}
}

// variableOf is the shared variable that an access must stay in; nil if there
// are several and it cannot be told.
func (p *program) variableOf(mem *access) *sharedVariable {
	if mem.variable == nil && len(p.shared) == 1 {
		return &p.shared[0]
	}
	return mem.variable
}

// misaligned is the fault of a lane whose address is no multiple of the size of
// its access.
func (w *warp) misaligned(in *instr, p place, lane int) {
	where := p.where(w.addr[lane])
	if p.space == ptx.Shared {
		where = w.block.prog.sharedPlace(w.addr[lane])
	}
	w.fail(in, lane, gpu.ErrMisaligned, "%s, expected a multiple of %d", where, in.mem.size)
}

var spaceNames = map[ptx.Space]string{
	ptx.Shared: "shared", ptx.Local: "local", ptx.Parameter: "param", ptx.Global: "global", ptx.Const: "const",
}

// sharedPlace names an offset in shared memory.
func (p *program) sharedPlace(offset uint64) string {
	for _, v := range p.shared {
		if offset >= v.at && offset < v.at+v.bytes {
			return fmt.Sprintf("byte %d of shared variable %s", offset-v.at, v.name)
		}
	}
	return fmt.Sprintf("shared address %#x", offset)
}

// before is the fault of an address below the start of an allocation: it lies
// at the end of the window, of that number, of the one before.
func (w *warp) before(in *instr, id uint64, lane int) {
	address := id<<windowBits + w.addr[lane]
	table := *w.block.launch.dev.mem.table.Load()
	name := "the next buffer"
	if next := id + 1; next < uint64(len(table)) {
		name = table[next].name()
	}
	w.fail(in, lane, gpu.ErrOutOfBounds, "address %#x is %d bytes before %s", address, offsetMask+1-w.addr[lane], name)
}

// where names an offset of a place.
func (p place) where(offset uint64) string {
	if p.space == ptx.Global {
		return fmt.Sprintf("address %#x is byte %d of %s", p.allocation.address()+offset, offset, p.allocation.name())
	}
	return fmt.Sprintf("%s address %#x", spaceNames[p.space], offset)
}

// unwritten is the fault of a load of bytes that nothing wrote.
func (w *warp) unwritten(in *instr, p place, lane int) {
	offset := w.addr[lane]
	if p.space == ptx.Local {
		offset -= uint64(lane) * uint64(w.block.prog.localBytes)
	}
	where := p.where(offset)
	if p.space == ptx.Shared {
		where = w.block.prog.sharedPlace(offset)
	}
	if c := w.block.filling(p, offset, in.mem.size); c != nil {
		w.fail(in, lane, gpu.ErrUninitialized, "%s, which cp.async of line %d fills: its thread has not waited for it", where, c.in.src.Pos.Line)
	} else {
		w.fail(in, lane, gpu.ErrUninitialized, "%s, of which not all %d bytes were written", where, in.mem.size)
	}
	if b := w.block; p.space == ptx.Shared && b.races != nil {
		if b.pending == nil {
			b.pending, b.patience = b.fault, b.cnt.WarpInstructions+patience
		}
		b.fault = nil
	}
}

// patience is how many instructions a block may run after it has read shared
// memory that was not written, for the write to come.
const patience = 1 << 20

// noContents is the fault of lanes whose address is in no live allocation.
func (w *warp) noContents(in *instr, p place, id uint64, m uint32) {
	lane := lowest(m)
	table := *w.block.launch.dev.mem.table.Load()
	before := w.addr[lane] > offsetMask/2 && id+1 >= firstID && id+1 < uint64(len(table))
	check := gpu.CheckBounds
	if p.allocation != nil && !before {
		check = gpu.CheckFreed
	}
	if w.dropUnless(check, in, m) {
		return
	}
	address := id<<windowBits + w.addr[lane]
	switch {
	case before:
		w.before(in, id, lane)
	case p.allocation != nil:
		w.fail(in, lane, gpu.ErrFreed, "address %#x is byte %d of %s (%d bytes), which was freed",
			address, w.addr[lane], p.allocation.name(), p.allocation.bytes)
	case id == nullWindow:
		w.fail(in, lane, gpu.ErrOutOfBounds, "address %#x is in no buffer: a null pointer, or an offset without one", address)
	case id <= paramWindow:
		space, _ := spaceOf(address)
		w.fail(in, lane, gpu.ErrSpace, "address %#x is in %s memory", address, spaceNames[space])
	default:
		w.fail(in, lane, gpu.ErrOutOfBounds, "address %#x is in no buffer", address)
	}
}

// nameOf adds what a global address points to.
func (l *launch) nameOf(address uint64) string {
	table := *l.dev.mem.table.Load()
	if id := address >> windowBits; id >= firstID && id < uint64(len(table)) {
		return " but in " + table[id].name()
	}
	return ""
}

// overrun is the fault of a block that ran more instructions than the limit:
// it says where each warp stands.
func (b *block) overrun() *gpu.Fault {
	var at *instr
	var order []string
	warps := map[string]ranges{}
	for _, w := range b.warps {
		var places []string
		for _, f := range w.frags {
			pc, how := f.pc, "at"
			if f.state == atBarrier {
				pc, how = f.pc-1, "waits at"
			}
			in := b.prog.instruction(pc)
			if at == nil && f.state == running {
				at = in
			}
			places = append(places, fmt.Sprintf("%s line %d", how, in.src.Pos.Line))
		}
		slices.Sort(places)
		text := strings.Join(slices.Compact(places), " and ")
		if text == "" {
			text = "has exited"
		}
		if warps[text] == nil {
			order, warps[text] = append(order, text), ranges{}
		}
		warps[text][w.index] = true
	}
	for i, text := range order {
		order[i] = fmt.Sprintf("warp %s %s", warps[text].list(32), text)
	}
	return b.newFault(at, gpu.ErrStepLimit, fmt.Sprintf("%d instructions of its warps; %s",
		b.cnt.WarpInstructions-b.steps, strings.Join(order, "; ")))
}

// instruction is the one at pc, or behind what the emulator has put there.
func (p *program) instruction(pc int32) *instr {
	for int(pc)+1 < len(p.code) && p.code[pc].src == nil {
		pc++
	}
	return &p.code[pc]
}
