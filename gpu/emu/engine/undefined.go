package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

// This file finds uses of values that a shuffle read from an inactive lane: one that had
// exited, or had taken another branch. Such a value is undefined, and many correct
// kernels compute with it and drop the result. So the emulator follows it through
// registers, and reports a fault only where it reaches memory, an address, a branch or
// another operation of the warp.
//
// A warp follows values only after such a read, and only until the last of them has been
// overwritten; until then it runs without vector instructions.

// undefined are the registers of a warp whose values come from such a read.
type undefined struct {
	shuffle *instr // the first such read
	lane    int
	from    int
	exited  bool              // whether that lane had exited
	slots   map[uint32]uint32 // lanes, by the slot of a register
	preds   map[uint32]uint32 // lanes, by the number of a predicate
}

// operand is the place of an instruction's operand.
type operand struct {
	at        uint32
	predicate bool
	double    bool
	def       bool
	guard     bool
}

// undefinedLanes notes the lanes of m that have read from lanes outside of m.
func (w *warp) undefinedLanes(in *instr, m uint32) {
	if !in.x.hasD || !w.block.checks.Has(gpu.CheckMasks) {
		return
	}
	b, c := lanes[uint32](w, in.b), lanes[uint32](w, in.c)
	var bad, lost uint32
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x)
		from, _ := simd.ShuffleSource(in.sub, uint32(l), b[l], c[l])
		if m>>from&1 == 0 {
			bad |= 1 << l
		} else if w.undefined != nil && w.undefined.slots[in.a]>>from&1 != 0 {
			lost |= 1 << l
		}
	}
	if bad != 0 && w.undefined == nil {
		l := lowest(bad)
		from, _ := simd.ShuffleSource(in.sub, uint32(l), b[l], c[l])
		w.undefined = &undefined{shuffle: in, lane: l, from: int(from), exited: w.first>>from&1 == 0 || w.alive>>from&1 == 0,
			slots: map[uint32]uint32{}, preds: map[uint32]uint32{}}
	}
	if u := w.undefined; u != nil {
		u.set(operand{at: in.d}, m, bad|lost)
	}
}

// set notes which lanes of m of an operand are undefined.
func (u *undefined) set(o operand, m, bad uint32) {
	values := u.slots
	if o.predicate {
		values = u.preds
	}
	if values[o.at] = values[o.at]&^m | bad; values[o.at] == 0 {
		delete(values, o.at)
	}
	if o.double {
		delete(u.slots, o.at+128) // the other half of its slot
	}
}

func (u *undefined) of(o operand) uint32 {
	if o.predicate {
		return u.preds[o.at]
	}
	return u.slots[o.at]
}

// notFollowed are the opcodes that use a value rather than pass it on.
var notFollowed = map[string]bool{"st": true, "ld": true, "ldu": true, "atom": true, "red": true, "bra": true, "brx": true, "bar": true,
	"barrier": true, "trap": true, "vote": true, "match": true, "redux": true, "mma": true, "wmma": true, "ldmatrix": true, "stmatrix": true, "movmatrix": true, "cp": true,
	"mbarrier": true, "elect": true, "tex": true, "tld4": true, "suld": true, "sust": true}

// follow checks an instruction before it runs in the lanes of m, of those in mask that
// reach it; it returns false after a fault.
func (w *warp) follow(pc int32, in *instr, mask, m uint32) bool {
	u := w.undefined
	if in.src == nil || in.src.Opcode == "shfl" {
		return true // a shuffle has its own check
	}
	operands := w.block.prog.operands[pc]
	uses := notFollowed[in.src.Opcode]
	var through uint32
	for i, o := range operands {
		if o.def {
			continue
		}
		lanes := m
		if o.guard {
			lanes = mask
		} else if in.src.Opcode == "selp" && !o.predicate {
			if taken := w.preds[in.x.p] ^ in.x.pflip; i == 1 {
				lanes &= taken
			} else {
				lanes &^= taken
			}
		}
		bad := u.of(o) & lanes
		if bad != 0 && !o.guard {
			bad &^= w.settled(in, operands, i)
		}
		if bad != 0 && (uses && !local(in) || o.guard) {
			return w.useOfUndefined(in, lowest(bad))
		}
		through |= bad
	}
	for _, o := range operands {
		if o.def {
			u.set(o, m, through&m)
		}
	}
	if len(u.slots) == 0 && len(u.preds) == 0 {
		w.undefined = nil
	}
	return true
}

// settled are the lanes in which another operand than number i settles the result of an and or
// an or: compilers make these of a choice between a value and 0.
func (w *warp) settled(in *instr, operands []operand, i int) (by uint32) {
	and := in.src.Opcode == "and"
	if !and && in.src.Opcode != "or" {
		return 0
	}
	for k, o := range operands {
		if k == i || o.def || o.guard {
			continue
		}
		for m := ^w.undefined.of(o); m != 0; m &= m - 1 {
			if l := lowest(m); w.valueSettles(o, l, and) {
				by |= 1 << l
			}
		}
	}
	return by
}

// valueSettles reports whether an operand of a lane is 0, for an and, or all ones, for an or.
func (w *warp) valueSettles(o operand, l int, and bool) bool {
	var v uint64
	switch {
	case o.predicate:
		v = -uint64(w.preds[o.at] >> l & 1)
	case o.double:
		v = lanes[uint64](w, o.at)[l]
	default:
		v = uint64(int64(lanes[int32](w, o.at)[l]))
	}
	return and && v == 0 || !and && ^v == 0
}

// runFollowing is runFragment for a warp that follows undefined values.
func (w *warp) runFollowing(f *fragment, limit int32) (ran int64) {
	mask := f.mask
	for w.follows() && f.pc < limit && ran < turnInstructions && f.waits < spinAfter {
		pc := f.pc
		in := &w.block.prog.code[pc]
		m := mask & (w.preds[in.guard] ^ in.flip)
		if w.undefined != nil && !w.follow(pc, in, mask, m) || w.unset != nil && !w.followUnset(pc, in, m) {
			return ran
		}
		if in.flow != warpSync && in.flow != groupSync || m == 0 {
			ran += w.count(f, pc, pc+1)
		}
		switch in.flow {
		case next, checked:
			if m != 0 {
				in.exec(w, in, m)
			}
			f.pc++
		case jump, branch:
			if in.flow == branch {
				w.block.cnt.Branches++
			}
			if in.leaves != stays {
				w.goesPast(in, m, mask)
			}
			if f.pc++; m == 0 {
				continue
			}
			if m != mask {
				w.split(f, in.target, m, f.pc)
				return ran
			}
			f.pc = in.target
		default:
			if !w.control(f, in, m) {
				return ran
			}
			f.pc++
		}
		if w.block.fault != nil || len(w.frags) > 1 || w.block.following != nil {
			break
		}
	}
	return ran
}

// local reports whether an instruction spills a register.
func local(in *instr) bool { return in.mem != nil && in.mem.space == ptx.Local }

// useOfUndefined reports a lane that uses such a value. A launch that goes on follows the
// values no further: it returns whether the launch does.
func (w *warp) useOfUndefined(in *instr, lane int) bool {
	u, prog := w.undefined, w.block.prog
	how := "does not take part in the shuffle"
	if u.exited {
		how = "has exited"
	}
	w.undefined = nil
	return w.undefinedUse(u.shuffle, u.lane, gpu.ErrMask, "lane %d reads the value of lane %d, which %s, and %s at %s uses the result (lane %d): let all lanes that are read from come to the shuffle, or leave its result out in the others",
		u.lane, u.from, how, in.src.Name(), prog.placeOf(in), lane)
}
