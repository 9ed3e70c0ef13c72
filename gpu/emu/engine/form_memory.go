package engine

import (
	"strings"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// cacheWords are modifiers of memory instructions that the emulator ignores.
var cacheWords = []string{"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "level", "unified",
	"evict_last", "evict_normal", "evict_first"}

// spaces are the names of spaces in modifiers.
var spaces = map[string]ptx.Space{
	"global": ptx.Global, "shared": ptx.Shared, "shared::cta": ptx.Shared, "shared::cluster": ptx.Shared, "local": ptx.Local,
	"const": ptx.Const, "param": ptx.Parameter, "param::entry": ptx.Parameter, "param::func": ptx.Parameter,
}

// accessOf reads the modifiers that all memory instructions share.
func (lo *lowering) accessOf(w *words) (*access, ptx.Type) {
	w.drop(cacheWords...)
	mem := &access{count: 1}
	order := w.take("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")
	mem.strong, mem.releases = order != "", order == "release" || order == "acq_rel"
	scope := w.take("cta", "cluster", "gpu", "sys")
	mem.wide = scope == "gpu" || scope == "sys"
	for name, space := range spaces {
		if w.has(name) {
			mem.space = space
		}
	}
	t := w.last()
	return mem, t
}

func loadForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	mem, t := lo.accessOf(&w)
	if err := lo.dataForm(mem, &w, t); err != nil {
		return err
	}
	if mem.space == ptx.Parameter {
		if done, err := lo.loadParameter(mem, t); done || err != nil {
			return err
		}
	}
	return first(lo.data(mem, 0, t, true), lo.address(mem, 1))
}

func storeForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	mem, t := lo.accessOf(&w)
	mem.kind = store
	if err := lo.dataForm(mem, &w, t); err != nil {
		return err
	}
	if mem.space == ptx.Const {
		return lo.malformed("constant memory cannot be written")
	}
	return first(lo.address(mem, 0), lo.data(mem, 1, t, false))
}

// dataForm sets up ld and st.
func (lo *lowering) dataForm(mem *access, w *words, t ptx.Type) error {
	switch w.take("v2", "v4") {
	case "v2":
		mem.count = 2
	case "v4":
		mem.count = 4
	}
	if len(*w) > 0 {
		return lo.unsupported("modifier %s", w.rest())
	}
	mem.bytes = uint64(t.Bytes())
	if mem.bytes == 0 || mem.bytes > 8 || t == "pred" {
		return lo.unsupported("type .%s in memory", t)
	}
	mem.size = mem.bytes * uint64(mem.count)
	if mem.size > 16 {
		return lo.unsupported("%d bytes per lane", mem.size)
	}
	mem.signed = t[0] == 's'
	in := &lo.op.in
	in.mem, in.flow, in.exec, mem.plain = mem, checked, runAccess, true
	n := 2 + lo.hinted()
	return lo.operands(n, n)
}

// data binds the registers of ld or st, which may be wider than the type.
func (lo *lowering) data(mem *access, i int, t ptx.Type, def bool) error {
	elems := []ptx.Operand{lo.operand(i)}
	if elems[0].Kind == ptx.VectorOperand {
		elems = elems[0].Elems
	}
	if len(elems) != mem.count {
		return lo.malformed("operand %d has %d components, expected %d", i+1, len(elems), mem.count)
	}
	mem.keep = all
	for k, e := range elems {
		if e.Kind == ptx.IgnoreOperand && def {
			mem.skip[k] = true
			continue
		}
		of := t
		if t.Bytes() == 1 {
			of = "b16"
		}
		if e.Kind == ptx.RegisterOperand {
			r := lo.fn.Registers[e.Reg]
			if r.Type == "pred" || r.Type.Bytes() < t.Bytes() {
				return lo.malformed("operand %d, %s, is .%s, expected at least .%s", i+1, r.Name, r.Type, t)
			}
			of = ptx.Type(bitsOf(r.Type))
		} else if def {
			return lo.malformed("operand %d is no register", i+1)
		}
		mem.wideData = widthOf(of) == double
		mem.keep = widthOf(of).mask()
		if def {
			if err := lo.defOperand(&mem.regs[k], e, "the destination", widthOf(of)); err != nil {
				return err
			}
			continue
		}
		if err := lo.useOperand(&mem.regs[k], e, "the source", of); err != nil {
			return err
		}
	}
	return nil
}

// bitsOf is the untyped type of the same size.
func bitsOf(t ptx.Type) string {
	return map[int]string{2: "b16", 4: "b32", 8: "b64"}[t.Bytes()]
}

// address binds the address operand i.
func (lo *lowering) address(mem *access, i int) error {
	o := lo.operand(i)
	if o.Kind != ptx.AddressOperand {
		return lo.malformed("operand %d is no address, expected [register + offset] or [variable]", i+1)
	}
	in := &lo.op.in
	mem.offset = uint64(o.Offset)
	switch {
	case o.Reg >= 0:
		r := lo.fn.Registers[o.Reg]
		w := widthOf(r.Type)
		mem.wideAddr = w == double
		if w != word && w != double {
			return lo.malformed("the address %s is .%s, expected 32 or 64 bits", r.Name, r.Type)
		}
		return lo.bindRegister(&in.a, o.Reg, "the address", w, false)
	case o.Symbol != "":
		s, ok := lo.symbols[o.Symbol]
		if !ok {
			return lo.unsupported("the address of %s", o.Symbol)
		}
		mem.offset += s.Address
		if mem.space == ptx.Generic {
			mem.space = s.Space
		} else if mem.space == ptx.Parameter {
			mem.space = s.Space // a parameter of a call lies in local memory
			mem.uncounted = s.Space == ptx.Local
		} else if s.Space != mem.space {
			return lo.malformed("%s is not in the instruction's space", o.Symbol)
		}
	}
	mem.wideAddr = true
	lo.bind(&in.a, value{kind: constantValue, width: double}, false)
	return nil
}

// loadParameter turns a load of a parameter of the entry, by its name, into a
// copy of a preset.
func (lo *lowering) loadParameter(mem *access, t ptx.Type) (bool, error) {
	o, d := lo.operand(1), lo.operand(0)
	s, ok := lo.symbols[o.Symbol]
	if o.Kind != ptx.AddressOperand || !ok || s.Space != ptx.Parameter || mem.count > 1 || d.Kind != ptx.RegisterOperand {
		return false, nil
	}
	at := s.at + int(o.Offset)
	if at < 0 || at+t.Bytes() > lo.prog.paramBytes {
		return true, lo.malformed("bytes %d to %d of the parameters, expected at most %d", at, at+t.Bytes(), lo.prog.paramBytes)
	}
	w := widthOf(lo.fn.Registers[d.Reg].Type)
	if w == predicate || w.bytes() < t.Bytes() {
		return true, lo.malformed("the destination is of %v, expected at least .%s", w, t)
	}
	in := &lo.op.in
	*in = instr{src: in.src, guard: in.guard, flip: in.flip}
	in.move(w)
	lo.op.move = true
	if err := lo.def(&in.d, 0, w); err != nil {
		return true, err
	}
	lo.bind(&in.a, value{kind: parameterValue, bits: uint64(at), bytes: t.Bytes(), signed: strings.HasPrefix(string(t), "s"), width: w}, false)
	return true, nil
}

// atomForm lowers atom and red.
func atomForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	mem, t := lo.accessOf(&w)
	mem.kind, mem.strong = update, true
	w.take("noftz")
	name := ""
	if len(w) == 1 {
		name = w[0]
	}
	row, ok := arith.Atoms[name+"."+string(t)]
	if !ok || mem.space == ptx.Local || mem.space == ptx.Const || mem.space == ptx.Parameter {
		return lo.unsupported("no such form of %s", lo.op.in.src.Opcode)
	}
	mem.atom = row
	mem.bytes = uint64(t.Bytes())
	mem.size = mem.bytes
	mem.wideData = mem.bytes == 8
	mem.keep = widthOf(t).mask()
	in := &lo.op.in
	in.mem, in.flow, in.exec = mem, checked, runAccess
	i := 0
	if lo.op.in.src.Opcode == "atom" {
		i = 1
	}
	sources := 1
	if name == "cas" {
		sources = 2
	}
	if err := lo.operands(i+1+sources, i+1+sources); err != nil {
		return err
	}
	return first(lo.atomDestination(mem, i, t), lo.address(mem, i), lo.use(&in.b, i+1, t), lo.atomSwap(i+2, sources, t))
}

func (lo *lowering) atomDestination(mem *access, i int, t ptx.Type) error {
	if mem.skip[0] = i == 0 || lo.operand(0).Kind == ptx.IgnoreOperand; mem.skip[0] {
		return nil
	}
	return lo.def(&mem.regs[0], 0, widthOf(t))
}

func (lo *lowering) atomSwap(i, sources int, t ptx.Type) error {
	if sources < 2 {
		return nil
	}
	return lo.use(&lo.op.in.c, i, t)
}
