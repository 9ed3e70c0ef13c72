package lower

import (
	"cmp"
	"slices"
	"strings"

	"warpbook/gpu/llvm/ir"
)

// A neighbour is a load or store of a number at a constant offset from a pointer.
type neighbour struct {
	v      *ir.Value
	root   *ir.Value
	offset int64
	t      *ir.Type
}

// mergeAccesses finds the loads and stores of a block that are neighbours in memory, and
// that one instruction of up to 16 bytes can do: the first load loads for all, the last
// store stores for all.
func (f *fn) mergeAccesses(b *ir.Block) {
	f.groups = map[*ir.Value][]neighbour{}
	var loads, stores []neighbour
	for _, v := range b.Values {
		load, store := f.neighbourOf(v, "load"), f.neighbourOf(v, "store")
		switch {
		case load.v != nil:
			loads = append(loads, load)
		case store.v != nil && len(stores) > 0 && stores[0].root != store.root:
			f.groupStores(stores)
			stores = nil
		}
		if mayWrite(v) {
			f.groupLoads(loads)
			loads = nil
		}
		if store.v == nil && (mayWrite(v) || v.Op == "load") {
			f.groupStores(stores)
			stores = nil
		}
		if store.v != nil {
			stores = append(stores, store)
		}
	}
	f.groupLoads(loads)
	f.groupStores(stores)
}

// neighbourOf describes a plain load or store of one number.
func (f *fn) neighbourOf(v *ir.Value, op string) neighbour {
	if v.Op != op || v.Order != "" || v.Has(ir.Volatile) {
		return neighbour{}
	}
	t, pointer := v.Type, v.Operands[0]
	if op == "store" {
		t, pointer = v.Operands[0].Type, v.Operands[1]
	}
	if t.IsAggregate() || t.IsBool() || t.Kind == ir.Vector && !packed(t) || memoryWidth(t) > 64 || memoryWidth(t) != t.Width() {
		return neighbour{}
	}
	n := neighbour{v: v, root: pointer, t: t}
	for n.root.Kind == ir.Instruction && n.root.Op == "getelementptr" {
		offset, ok := constantOffset(n.root)
		if !ok {
			break
		}
		n.root, n.offset = n.root.Operands[0], n.offset+offset
	}
	if f.space(pointer) == param {
		return neighbour{}
	}
	return n
}

// mayWrite reports whether an instruction may write memory, or orders accesses to it.
func mayWrite(v *ir.Value) bool {
	switch v.Op {
	case "store", "atomicrmw", "cmpxchg", "fence":
		return true
	case "call":
		if v.Operands[0].Kind == ir.Assembly {
			return v.Operands[0].Asm.Effects || strings.Contains(v.Operands[0].Asm.Constraints, "~{memory}")
		}
		name, intrinsic := strings.CutPrefix(v.Callee(), "llvm.")
		if nvvm, ok := strings.CutPrefix(name, "nvvm."); ok {
			word, _, _ := strings.Cut(nvvm, ".")
			return statements[nvvm] != "" && !slices.Contains([]string{"vote", "match", "activemask"}, word)
		}
		base, _ := typeSuffix(name)
		return !intrinsic || memoryForms[base] != nil
	}
	return false
}

func (f *fn) groupLoads(list []neighbour) {
	f.group(list, func(members []neighbour) *ir.Value {
		return slices.MinFunc(members, func(a, b neighbour) int { return cmp.Compare(a.v.Line, b.v.Line) }).v
	})
}

func (f *fn) groupStores(list []neighbour) {
	f.group(list, func(members []neighbour) *ir.Value {
		return slices.MaxFunc(members, func(a, b neighbour) int { return cmp.Compare(a.v.Line, b.v.Line) }).v
	})
}

// group joins members of a list that follow each other in memory; leader chooses the one
// whose place the instruction takes.
func (f *fn) group(list []neighbour, leader func([]neighbour) *ir.Value) {
	if len(list) < 2 {
		return
	}
	order := map[*ir.Value]int{} // of roots
	for _, n := range list {
		if _, ok := order[n.root]; !ok {
			order[n.root] = len(order)
		}
	}
	slices.SortStableFunc(list, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(order[a.root], order[b.root]), cmp.Compare(a.offset, b.offset))
	})
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.root == b.root && a.offset+int64(a.t.Size()) > b.offset && a.v.Op == "store" {
			return // the order of overlapping stores matters
		}
	}
	for len(list) > 0 {
		n := together(list)
		if n > 1 {
			members := slices.Clone(list[:n])
			for _, m := range members {
				f.merged[m.v] = true
			}
			f.groups[leader(members)] = members
		}
		list = list[n:]
	}
}

// together is how many members at the start of a list one instruction can access.
func together(list []neighbour) int {
	first := list[0]
	size := first.t.Size()
	if n := withGaps(list); n > 0 {
		return n
	}
	for _, total := range []int{16, 8, 4, 2} {
		n := total / size
		if n < 2 || n > len(list) || first.v.Align < total {
			continue
		}
		fits := true
		for i, m := range list[:n] {
			fits = fits && m.root == first.root && m.t.Size() == size && m.offset == first.offset+int64(i*size)
		}
		if fits {
			return n
		}
	}
	return 1
}

// withGaps is how many loads at the start of a list lie in 16 bytes that the first and the
// last of them span, 0 for none. The bytes between are loaded too: the alignment of the
// first says that they are of the same variable.
func withGaps(list []neighbour) int {
	first := list[0]
	size := int64(first.t.Size())
	if first.v.Op != "load" || first.v.Align < 16 || size < 4 {
		return 0
	}
	for n, m := range list {
		at := m.offset - first.offset
		if m.root != first.root || int64(m.t.Size()) != size || at%size != 0 || at >= 16 {
			return 0
		}
		if at == 16-size && n > 0 {
			return n + 1
		}
	}
	return 0
}

// spread are the accesses of a group, and how many members share one of them: more than
// four of 8 or 16 bits lie in numbers of 32 bits.
func spread(members []neighbour) (pieces []piece, per int) {
	first, last := members[0], members[len(members)-1]
	size := int64(first.t.Size())
	slots := (last.offset-first.offset)/size + 1
	per = 1
	if slots > 4 {
		per = int(4 / size)
	}
	for i := int64(0); i < slots; i += int64(per) {
		pieces = append(pieces, piece{ir.IntType(int(size) * 8 * per), i * size})
	}
	return pieces, per
}

// groupAccess is the access of a group.
func (f *fn) groupAccess(word string, first neighbour, pointer *ir.Value) access {
	a := f.accessWord(word, first.v, pointer)
	a.base, a.offset = f.address(first.root)
	a.offset += first.offset
	return a
}

// loadMembers loads the members of a group.
func (f *fn) loadMembers(members []neighbour) {
	first := members[0]
	a := f.groupAccess("ld", first, first.v.Operands[0])
	pieces, per := spread(members)
	var parts []operand
	for left := pieces; len(left) > 0; {
		n := group(left, a)
		parts = append(parts, f.loadGroup(a, left[:n])...)
		left = left[n:]
	}
	shared := make([]*ir.Type, per)
	for i := range shared {
		shared[i] = ir.IntType(first.t.Size() * 8)
	}
	for _, m := range members {
		i := int(m.offset-first.offset) / m.t.Size()
		o := parts[i/per]
		if per > 1 {
			o = f.splitBits(o, shared)[i%per]
		}
		f.set(m.v, o)
	}
}

// storeMembers stores the members of a group.
func (f *fn) storeMembers(members []neighbour) {
	first := members[0]
	a := f.groupAccess("st", first, first.v.Operands[1])
	pieces, per := spread(members)
	parts := make([]operand, 0, len(pieces))
	for i := 0; i < len(members); i += per {
		o := f.inRegister(f.one(members[i].v.Operands[0]), f.class(members[i].t))
		if per > 1 {
			var list []operand
			var types []*ir.Type
			for _, m := range members[i : i+per] {
				list, types = append(list, f.one(m.v.Operands[0])), append(types, m.t)
			}
			o = f.joinBits(list, types)
		}
		parts = append(parts, o)
	}
	for i := 0; i < len(pieces); {
		n := group(pieces[i:], a)
		f.storeGroup(a, pieces[i:i+n], parts[i:i+n])
		i += n
	}
}
