package engine

import (
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/names"
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
	f := b.prog.newFault(in, kind, detail)
	f.Block = &at
	return f
}

func (p *Program) newFault(in *instr, kind error, detail string) *gpu.Fault {
	f := &gpu.Fault{Kind: kind, Entry: p.name, Detail: detail}
	if in != nil && in.src != nil {
		f.Instruction = in.src.Name()
		f.File, f.Line = p.file, in.src.Pos.Line
		f.Source = p.sourceOrCall(in)
	}
	return f
}

// thread is the index in its block of the thread with the linear number n.
func (b *block) thread(n int) gpu.Dim { return b.launch.thread(n) }

func (l *Launch) thread(n int) gpu.Dim {
	d := l.block
	return gpu.Dim{X: n % d.X, Y: n / d.X % d.Y, Z: n / (d.X * d.Y)}
}

// source is the place in the CUDA source of an instruction.
func (p *Program) source(in *instr) string { return p.place(p.near(in.src).Source) }

// near is the instruction whose line stands for another one: itself, or, if the compiler
// gave it line 0, as for code that belongs to several lines, the next one, an earlier
// one, or the branch that leads to it.
func (p *Program) near(src *ptx.Instruction) *ptx.Instruction {
	if src.Source.Line != 0 {
		return src
	}
	at := slices.IndexFunc(p.fn.Code, func(in ptx.Instruction) bool { return in.Pos == src.Pos })
	for i := at + 1; at >= 0 && i < len(p.fn.Code) && p.labelAt(i) == ""; i++ {
		if next := &p.fn.Code[i]; next.Source.Line != 0 {
			return next
		}
	}
	for ; at > 0; at-- {
		if label := p.labelAt(at); label != "" {
			at = slices.IndexFunc(p.fn.Code, func(in ptx.Instruction) bool {
				return in.Opcode == "bra" && in.Operands[0].Symbol == label && in.Source.Line != 0
			})
			if at < 0 {
				break
			}
			return &p.fn.Code[at]
		}
		if before := &p.fn.Code[at-1]; before.Source.Line != 0 {
			return before
		}
	}
	return src
}

// labelAt is a label of the instruction with a number, or "".
func (p *Program) labelAt(at int) string {
	for label, to := range p.fn.Labels {
		if to == at {
			return label
		}
	}
	return ""
}

// sourceOrCall adds the place of the call to code from another file, such as a
// header of CUDA.
func (p *Program) sourceOrCall(in *instr) string {
	at, src := p.source(in), p.near(in.src)
	if call := p.place(src.Inlined); call != "" && src.Inlined.File != src.Source.File {
		at += ", called at " + call
	}
	return at
}

// placeOf is the line of an instruction: in the CUDA source, if there is one, then
// in the PTX.
func (p *Program) placeOf(in *instr) string {
	line := fmt.Sprintf("line %d", in.src.Pos.Line)
	if at := p.sourceOrCall(in); at != "" {
		return fmt.Sprintf("%s (%s of the PTX)", at, line)
	}
	return line
}

func (p *Program) place(s ptx.Source) string {
	name := p.files[s.File]
	if name == "" || s.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(name), s.Line)
}

// stall is the fault of a block in which no thread can continue.
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
			if first == nil || f.state == atBarrier && first.flow != blockSync || first.flow == warpSync && first.src.Opcode == "bar" && in.flow == warpSync {
				first = in
			}
		}
	}
	if barrier == 0 {
		kind = gpu.ErrMask
	}
	var text []string
	for _, in := range order {
		at := b.prog.sourceOrCall(in)
		if at == "" {
			at = b.prog.placeOf(in)
		}
		text = append(text, fmt.Sprintf("%s wait at %s (%s)", b.threadsAt(in), in.src.Name(), at))
	}
	if left := b.launch.threads - waiting; left > 0 {
		text = append(text, fmt.Sprintf("%s have exited", b.exited()))
	}
	b.fault = b.newFault(first, kind, strings.Join(text, ", "))
}

// threadsAt lists the threads that wait at an instruction.
func (b *block) threadsAt(in *instr) string {
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

// names are those of the launch's source.
func (l *Launch) names() names.Source {
	s := names.Source{Files: l.prog.files, Code: l.prog.inlined.Code}
	if l.source != nil {
		s.Line = l.source.Line
	}
	return s
}

// sharedPlace names an offset in shared memory.
func (l *Launch) sharedPlace(offset uint64) string {
	v := l.prog.sharedAt(offset)
	if v == nil {
		return fmt.Sprintf("shared address %#x", offset)
	}
	place := fmt.Sprintf("byte %d of shared variable %s", offset-v.at, v.name)
	if element := l.names().Element(v.name, v.bytes, int64(offset-v.at)); element != "" {
		return fmt.Sprintf("%s (%s)", element, place)
	}
	return place
}

// sharedAt is the shared variable at an offset; nil if there is none.
func (p *Program) sharedAt(offset uint64) *sharedVariable {
	for i := range p.shared {
		if v := &p.shared[i]; offset >= v.at && offset < v.at+v.bytes {
			return v
		}
	}
	return nil
}

// unwrittenVariable is the variable that an instruction reads before it was written, "" in
// doubt.
func (l *Launch) unwrittenVariable(in *instr) string {
	at := l.prog.near(in.src).Source
	if in.src.Inlined.Line != 0 && in.src.Inlined.File != at.File { // of a header that the line calls
		at = in.src.Inlined
	}
	return l.names().Unwritten(at)
}

// badOffset is the fault of a lane whose offset does not fit its place.
func (w *warp) badOffset(in *instr, p place, lane int) {
	offset, size := w.addr[lane], in.mem.size
	var length uint64
	if p.contents != nil {
		length = uint64(len(p.contents.Data))
	}
	if p.space == ptx.Shared {
		w.badShared(in, p, lane, length)
		return
	}
	switch {
	case p.holds(offset, size):
		w.misaligned(in, p, lane)
	case p.space == ptx.Global && offset > mem.OffsetMask/2:
		w.before(in, uint64(p.allocation.ID), lane)
	case p.space == ptx.Global:
		w.failAt(in, lane, p.allocation.Address()+offset, "%d bytes at address %#x end %d bytes past %s (%d bytes)%s",
			size, p.allocation.Address()+offset, offset+size-length, p.allocation.Name(), length, w.block.launch.argument(p.allocation))
	default:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%d bytes at %s address %#x end %d bytes past its %d bytes",
			size, spaceNames[p.space], offset, offset+size-length, length)
	}
}

// badShared is badOffset in shared memory, with its size in bytes.
func (w *warp) badShared(in *instr, p place, lane int, length uint64) {
	address, prog := w.addr[lane], w.block.prog
	offset, size := int64(address), int64(in.mem.size)
	if offset > 1<<31 && offset < 1<<32 {
		offset -= 1 << 32 // a 32-bit address below zero
	}
	start, end, name, element := int64(0), int64(length), "shared memory", ""
	if v := prog.variableOf(in.mem); v != nil {
		element = w.block.launch.names().Element(v.name, v.bytes, offset-int64(v.at))
		start, end, name = int64(v.at), int64(min(v.at+v.bytes, length)), "shared variable "+v.name
	}
	place := fmt.Sprintf("%d bytes at byte %d of %s (%d bytes)", size, offset-start, name, end-start)
	if element != "" {
		place = fmt.Sprintf("%d bytes at %s, byte %d of %s (%d bytes),", size, element, offset-start, name, end-start)
	}
	switch fits := p.holds(address, in.mem.size); {
	case fits && in.mem.variable != nil && (offset < start || offset+size > end):
		w.fail(in, lane, gpu.ErrOutOfBounds, "%s lie in %s", place, w.block.launch.sharedPlace(address))
	case fits:
		w.misaligned(in, p, lane)
	case offset > mem.OffsetMask || offset < -1<<31:
		w.fail(in, lane, gpu.ErrSpace, "address %#x is not in shared memory%s", address, w.block.launch.nameOf(address))
	case length == 0:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%d bytes at shared address %#x, and the launch gave no shared memory, expected its bytes in Launch.Shared", size, address)
	case offset < start:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%s start %d bytes before it", place, start-offset)
	default:
		w.fail(in, lane, gpu.ErrOutOfBounds, "%s end %d bytes past it", place, offset+size-end)
	}
}

// variableOf is the shared variable that an access must stay in, nil if several are
// possible.
func (p *Program) variableOf(mem *access) *sharedVariable {
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
		where = w.block.launch.sharedPlace(w.addr[lane])
	}
	w.fail(in, lane, gpu.ErrMisaligned, "%s, expected a multiple of %d", where, in.mem.size)
}

var spaceNames = map[ptx.Space]string{
	ptx.Shared: "shared", ptx.Local: "local", ptx.Parameter: "param", ptx.Global: "global", ptx.Const: "const",
}

// before is the fault of an address below the start of an allocation: it lies at the end
// of the window of the previous allocation number.
func (w *warp) before(in *instr, id uint64, lane int) {
	address := id<<mem.WindowBits + w.addr[lane]
	table := w.block.launch.engine.memory.Allocations()
	name := "the next buffer"
	if next := id + 1; next < uint64(len(table)) {
		name = w.block.launch.named(table[next])
	}
	w.failAt(in, lane, address, "address %#x is %d bytes before %s", address, mem.OffsetMask+1-w.addr[lane], name)
}

// where names an offset of a place.
func (p place) where(offset uint64) string {
	if p.space == ptx.Global {
		return fmt.Sprintf("address %#x is byte %d of %s", p.allocation.Address()+offset, offset, p.allocation.Name())
	}
	return fmt.Sprintf("%s address %#x", spaceNames[p.space], offset)
}

// unwritten is the fault of a load of bytes that were never written.
func (w *warp) unwritten(in *instr, p place, lane int) {
	if w.block.launch.known(in) {
		return
	}
	offset := w.addr[lane]
	if p.space == ptx.Local {
		offset -= uint64(lane) * uint64(w.block.prog.localBytes)
	}
	where := p.where(offset)
	if name := w.block.launch.unwrittenVariable(in); p.space == ptx.Local && name != "" {
		where = fmt.Sprintf("%s, at %s", name, where)
	}
	if p.allocation != nil {
		where += w.block.launch.argument(p.allocation)
	}
	if p.space == ptx.Shared {
		where = w.block.launch.sharedPlace(offset)
	}
	if from := w.block.filling(p, offset, in.mem.size); from != nil {
		w.undefinedUse(in, lane, gpu.ErrUninitialized, "%s, which cp.async at %s fills: its thread has not waited for it", where, w.block.prog.placeOf(from))
	} else if c := w.block.fillingBulk(offset, in.mem.size); c != nil && p.space == ptx.Shared {
		from := &w.block.prog.code[c.PC]
		w.undefinedUse(in, lane, gpu.ErrUninitialized, "%s, which %s at %s fills: its bytes have not arrived; expect them at its mbarrier, and wait for the phase that counts them", where, from.src.Name(), w.block.prog.placeOf(from))
	} else {
		w.undefinedUse(in, lane, gpu.ErrUninitialized, "%s, of which not all %d bytes were written: write it first, or set it to 0", where, in.mem.size)
	}
	if w.block.launch.goOn {
		return
	}
	if p.space == ptx.Shared && w.block.races == nil {
		w.searchFrom(in, lane)
	}
	if b := w.block; p.space == ptx.Shared && b.races != nil {
		if b.pending == nil {
			b.pending, b.patience = b.fault, b.cnt.WarpInstructions+patience
		}
		b.fault = nil
	}
}

// searchFrom starts the search for races at a read of shared memory that nothing has
// written, in a launch without it: if another thread writes the bytes and no barrier
// stands between, the fault says so.
func (w *warp) searchFrom(in *instr, lane int) {
	b := w.block
	if in.mem.kind != load || in != &b.prog.code[in.mem.pc] || b.cluster != nil {
		return
	}
	b.lookForRaces(true)
	b.races.Start()
	b.searching = true
	b.launch.races.shared(w, in, 1<<lane)
}

// writtenLater adds the write that a read of unwritten shared memory should have waited for.
func (b *block) writtenLater(in *instr, thread gpu.Dim, remedy string) {
	const unknown = ": write it first, or set it to 0"
	if p := b.pending; p != nil && in.mem.kind != load && strings.HasSuffix(p.Detail, unknown) {
		p.Detail = fmt.Sprintf("%s: thread (%d,%d,%d) writes it later with %s at %s, and no barrier stands between: put %s",
			strings.TrimSuffix(p.Detail, unknown), thread.X, thread.Y, thread.Z, in.src.Name(), b.prog.placeOf(in), remedy)
	}
}

// patience is the number of instructions that a block may run after it has read
// unwritten shared memory, to wait for the write.
const patience = 1 << 20

// strayed is the fault of a lane whose address starts from one buffer and lies in
// the window of another.
func (w *warp) strayed(in *instr, from *mem.Allocation, id uint64, lane int) {
	l := w.block.launch
	address := id<<mem.WindowBits + w.addr[lane]
	distance, side := int64(address-from.Address()), "past the start of"
	if distance < 0 {
		distance, side = -distance, "before"
	}
	where := "in no buffer"
	if table := l.engine.memory.Allocations(); id >= mem.FirstID && id < uint64(len(table)) && w.addr[lane] < uint64(table[id].Bytes) {
		where = fmt.Sprintf("byte %d of %s", w.addr[lane], l.named(table[id]))
	} else if side == "before" && uint64(distance) <= mem.OffsetMask/2 {
		w.before(in, uint64(from.ID-1), lane)
		return
	}
	w.failAt(in, lane, address, "address %#x is %s, %d bytes %s %s (%d bytes), from which the pointer started: keep its index in the buffer",
		address, where, distance, side, l.named(from), from.Bytes)
}

// named is the name of an allocation, and the launch argument that it is.
func (l *Launch) named(a *mem.Allocation) string { return a.Name() + l.argument(a) }

// argument describes the launch argument that an allocation is, if it is one.
func (l *Launch) argument(a *mem.Allocation) string {
	for i, b := range l.buffers {
		if b == nil || b != a {
			continue
		}
		name := l.prog.params[i].Name
		if l.source != nil && i < len(l.source.Params) && l.source.Params[i] != "" {
			name = l.source.Params[i]
		}
		if strings.HasSuffix(name, fmt.Sprintf("_param_%d", i)) { // the compiler made up this name
			return fmt.Sprintf(", argument %d", i)
		}
		return fmt.Sprintf(", argument %d, %s", i, name)
	}
	return ""
}

// noContents is the fault of lanes whose address is in no live allocation.
func (w *warp) noContents(in *instr, p place, id uint64, m uint32) {
	lane := lowest(m)
	table := w.block.launch.engine.memory.Allocations()
	before := w.addr[lane] > mem.OffsetMask/2 && id+1 >= mem.FirstID && id+1 < uint64(len(table))
	check := gpu.CheckBounds
	if p.allocation != nil && !before {
		check = gpu.CheckFreed
	}
	if w.dropUnless(check, in, m) {
		return
	}
	address := id<<mem.WindowBits + w.addr[lane]
	switch {
	case before:
		w.before(in, id, lane)
	case p.allocation != nil:
		w.fail(in, lane, gpu.ErrFreed, "address %#x is byte %d of %s (%d bytes), which was freed%s",
			address, w.addr[lane], p.allocation.Name(), p.allocation.Bytes, w.block.launch.argument(p.allocation))
	case id == mem.NullWindow:
		w.fail(in, lane, gpu.ErrOutOfBounds, "address %#x is in no buffer: a null pointer, or an offset without one", address)
	case id <= mem.ParamWindow:
		space, _ := spaceOf(address)
		w.fail(in, lane, gpu.ErrSpace, "address %#x is in %s memory", address, spaceNames[space])
	default:
		w.failAt(in, lane, address, "address %#x is in no buffer", address)
	}
}

// nameOf adds the memory that a global address points to.
func (l *Launch) nameOf(address uint64) string {
	table := l.engine.memory.Allocations()
	if id := address >> mem.WindowBits; id >= mem.FirstID && id < uint64(len(table)) {
		return " but in " + l.named(table[id])
	}
	return ""
}

// failAt is fail for an access to a global address.
func (w *warp) failAt(in *instr, lane int, address uint64, format string, args ...any) {
	w.fail(in, lane, gpu.ErrOutOfBounds, "%s%s", fmt.Sprintf(format, args...), w.block.launch.explain.overflowed(w, in, lane, address))
}
