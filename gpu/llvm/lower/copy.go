package lower

import (
	"fmt"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// maxUnrolled is how many bytes a copy or fill moves without a loop. A larger one, and one of
// a variable size, goes byte by byte, as LLVM's back end has it.
const maxUnrolled = 1 << 14

// amount is the number of bytes that memset and memcpy name, and whether they are few enough
// to be moved without a loop.
func amount(v *ir.Value) (n int64, few bool) {
	n, ok := v.Int()
	return n, ok && n >= 0 && n <= maxUnrolled
}

// each runs a statement for the bytes 0 to $2, or from $2 - 1 down to 0 where $3 holds. %%wi is
// the number of the byte, $0 and $1 are addresses.
const each = `{
	.reg .pred 	%%wp;
	.reg .b16 	%%wv;
	.reg .b64 	%%wi, %%wa, %%ws, %%wn;
	setp.eq.b64 %%wp, $2, 0;
	@%%wp bra done_%[1]s;
	mov.b64 %%wn, $2;
	selp.b64 %%ws, -1, 1, $3;
	add.s64 %%wi, $2, -1;
	selp.b64 %%wi, %%wi, 0, $3;
next_%[1]s:
	%[2]s
	add.s64 %%wi, %%wi, %%ws;
	add.s64 %%wn, %%wn, -1;
	setp.ne.b64 %%wp, %%wn, 0;
	@%%wp bra next_%[1]s;
done_%[1]s:
}`

// loop runs a statement for each of n bytes.
func (f *fn) loop(statement string, n *ir.Value, first, second, down operand) {
	f.uid++
	count := f.inRegister(f.widened(n, false, 64), machine.B64)
	f.statements(fmt.Sprintf(each, fmt.Sprintf("%d_%d", f.index, f.uid), statement), 0, f.inRegister(first, machine.B64), second, count, f.boolReg(down))
}

// words are the accesses of a run of bytes, as wide as the alignment allows.
func words(bytes int64, align int) (list []piece) {
	for at := int64(0); at < bytes; {
		size := int64(8)
		for size > 1 && (size > bytes-at || at%size != 0 || int64(align)%size != 0) {
			size /= 2
		}
		list = append(list, piece{ir.IntType(int(size) * 8), at})
		at += size
	}
	return list
}

// run is the access of a run of bytes.
func (f *fn) run(word string, v *ir.Value, volatile bool, align int) access {
	of := &ir.Value{Align: align}
	if volatile {
		of.Flags = ir.Volatile
	}
	return f.accessOf(word, of, v)
}

// fill lowers memset.
func (f *fn) fill(v *ir.Value) {
	to, by := v.Operands[1], v.Operands[2]
	n, few := amount(v.Operands[3])
	if !few {
		byte := f.pure(machine.B16, "cvt.u16.u32 $0, $1", f.inRegister(f.widened(by, false, 32), machine.B32))
		f.loop("add.s64 %wa, $0, %wi;\n\tst"+spaceNames[f.space(to)]+".b8 [%wa], $1;", v.Operands[3], f.pointer(to, f.space(to)), byte, number(0))
		return
	}
	a := f.run("st", to, false, max(1, f.alignOf(v, 0)))
	for list := words(n, a.align); len(list) > 0; {
		width := list[0].t.Bits
		one := f.repeated(by, width)
		count := group(list, a)
		parts := make([]operand, count)
		for i := range parts {
			parts[i] = one
		}
		f.storeGroup(a, list[:count], parts)
		list = list[count:]
	}
}

// repeated is a byte in every byte of a number.
func (f *fn) repeated(by *ir.Value, width int) operand {
	if n, ok := by.Int(); ok {
		bits := uint64(n&0xff) * 0x0101010101010101
		return f.literal(&ir.Value{Type: ir.IntType(width), Bits: bits})
	}
	wide := f.temporary(ir.IntType(width), f.widened(by, false, registerWidth(ir.IntType(width))))
	one := &ir.Value{Kind: ir.Instruction, Op: "mul", Type: wide.Type, Operands: []*ir.Value{wide, {Type: wide.Type, Bits: 0x0101010101010101}}, Block: f.block}
	if width == 8 {
		return f.one(wide)
	}
	return f.integer(one)
}

// copyMemory lowers memcpy and memmove: all loads come before the stores.
func (f *fn) copyMemory(v *ir.Value) {
	n, few := amount(v.Operands[3])
	if !few {
		f.copyLoop(v)
		return
	}
	to := f.run("st", v.Operands[1], false, max(1, f.alignOf(v, 0)))
	from := f.run("ld", v.Operands[2], false, max(1, f.alignOf(v, 1)))
	list := words(n, min(to.align, from.align))
	var parts []operand
	for left := list; len(left) > 0; {
		count := group(left, from)
		parts = append(parts, f.loadGroup(from, left[:count])...)
		left = left[count:]
	}
	for i := 0; i < len(list); {
		count := group(list[i:], to)
		f.storeGroup(to, list[i:i+count], parts[i:i+count])
		i += count
	}
}

// copyLoop copies byte by byte, memmove from the end where the destination lies behind the
// source.
func (f *fn) copyLoop(v *ir.Value) {
	to, from := v.Operands[1], v.Operands[2]
	down := number(0)
	if strings.HasPrefix(v.Callee(), "llvm.memmove") {
		down = f.pure(machine.Pred, "setp.gt.u64 $0, $1, $2", f.inRegister(f.pointer(to, generic), machine.B64), f.inRegister(f.pointer(from, generic), machine.B64))
	}
	load := "add.s64 %wa, $1, %wi;\n\tld" + spaceNames[f.space(from)] + ".b8 %wv, [%wa];\n\t"
	store := "add.s64 %wa, $0, %wi;\n\tst" + spaceNames[f.space(to)] + ".b8 [%wa], %wv;"
	f.loop(load+store, v.Operands[3], f.pointer(to, f.space(to)), f.inRegister(f.pointer(from, f.space(from)), machine.B64), down)
}

// alignOf is the alignment that a call names for an argument, 0 where it names none.
func (f *fn) alignOf(v *ir.Value, argument int) int {
	if argument < len(v.Indices) {
		return v.Indices[argument]
	}
	return 0
}
