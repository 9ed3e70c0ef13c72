package engine

import "slices"

// policyForm lowers createpolicy. The emulator has no cache, and no instruction reads
// the policy.
func policyForm(lo *lowering) error {
	if err := lo.operands(1, 4); err != nil {
		return err
	}
	in := &lo.op.in
	in.kinds = string(rune(widthOf("b64")))
	in.exec = func(w *warp, in *instr, m uint32) {
		for y := m; y != 0; y &= y - 1 {
			w.setLane(in, lowest(y)&31, 0)
		}
	}
	return lo.def(&in.d, 0, widthOf("b64"))
}

// hinted is the number of operands after a memory instruction's own: a cache policy, if
// a modifier announces one.
func (lo *lowering) hinted() int {
	if slices.Contains(lo.op.in.src.Modifiers, "L2::cache_hint") {
		return 1
	}
	return 0
}
