package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/cformat"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// This file is printf and assert, which compilers turn into calls of two functions that
// no module defines.

// reader reads memory for one lane, with all checks.
type reader struct {
	w     *warp
	lane  int
	parts *[4]*instr // by the logarithm of their size
}

// readers are the accesses of builtins: generic, and not counted.
func (lo *lowering) readers() *[4]*instr {
	var parts [4]*instr
	for k := range parts {
		parts[k] = lo.part(load, ptx.Generic, 1<<k)
		parts[k].mem.uncounted = true
	}
	return &parts
}

// read is 1<<k bytes at a generic address; ok is false after a fault.
func (r reader) read(k int, address uint64) (v uint64, ok bool) {
	part := r.parts[k]
	r.w.addr[r.lane] = address
	r.w.runPart(part, 1<<r.lane)
	return r.w.scratch(part, 0)[r.lane], r.w.block.fault == nil
}

// text reads a string.
func (r reader) text(address uint64) (string, bool) {
	var s []byte
	for len(s) < cformat.MostString {
		c, ok := r.read(0, address+uint64(len(s)))
		if !ok || c == 0 {
			return string(s), ok
		}
		s = append(s, byte(c))
	}
	return string(s), true
}

// argument reads a variable of the call, which lies in the lane's own frame.
func (r reader) argument(base func(w *warp, m uint32), k int) (uint64, bool) {
	base(r.w, 1<<r.lane)
	return r.read(k, mem.LocalWindow<<mem.WindowBits+r.w.addr[r.lane])
}

// format is printf of the arguments at an address: each stands at a multiple of its own
// size. n is the number of arguments.
func (r reader) format(format, values uint64) (text string, n int, ok bool) {
	f, ok := r.text(format)
	text = cformat.Printf(f, func(k int) (v uint64) {
		size := uint64(1) << k
		at := (values + size - 1) &^ (size - 1)
		if ok {
			v, ok = r.read(k, at)
		}
		values = at + size
		n++
		return v
	}, func(at uint64) (s string) {
		if ok {
			s, ok = r.text(at)
		}
		return s
	})
	return text, n, ok
}

// printfForm lowers a call of vprintf: the format, and where its arguments lie.
func printfForm(lo *lowering) error {
	if err := lo.operands(3, 3); err != nil {
		return err
	}
	format, _, err1 := lo.addressPart(1)
	values, _, err2 := lo.addressPart(2)
	result, _, err3 := lo.addressPart(0)
	if err := first(err1, err2, err3); err != nil {
		return err
	}
	parts, count := lo.readers(), lo.part(store, ptx.Local, 4)
	count.mem.uncounted = true
	lo.op.in.flow = checked
	lo.op.in.exec = func(w *warp, _ *instr, m uint32) {
		eachLane(m, func(l int) {
			r := reader{w, l, parts}
			f, ok := r.argument(format, 3)
			v, ok2 := r.argument(values, 3)
			if !ok || !ok2 {
				return
			}
			text, n, ok := r.format(f, v)
			if !ok {
				return
			}
			w.block.text = w.block.launch.printed.add(w.block.text, text)
			result(w, 1<<l)
			w.scratch(count, 0)[l] = uint64(n)
			w.runPart(count, 1<<l)
		})
	}
	return nil
}

// assertForm lowers a call of __assertfail: message, file, line, function and
// the size of their characters.
func assertForm(lo *lowering) error {
	if err := lo.operands(5, 5); err != nil {
		return err
	}
	var bases [4]func(w *warp, m uint32)
	for i := range bases {
		base, _, err := lo.addressPart(i)
		if err != nil {
			return err
		}
		bases[i] = base
	}
	parts := lo.readers()
	lo.op.in.flow = checked
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		r := reader{w, lowest(m), parts}
		var words [3]string
		for n, i := range []int{0, 1, 3} {
			if at, ok := r.argument(bases[i], 3); ok && at != 0 {
				words[n], _ = r.text(at)
			}
		}
		line, _ := r.argument(bases[2], 2)
		w.fail(in, r.lane, gpu.ErrTrap, "assertion %s failed in %s at %s:%d", words[0], words[2], words[1], line)
	}
	return nil
}
