package emu

import "math/bits"

// order knows what happens before what among up to 32 parties that meet: the
// lanes of a warp, or the warps of a block. Time is the number of meetings.
type order struct {
	now  uint32
	all  uint32 // what was done before this time is before whatever any of them does now
	some bool   // some have met since all did

	// seen[i][j] is the same of i and j alone: what j did before this time is
	// before what i does now. It is of use while some is true.
	seen [32][32]uint32
}

// meetAll is a meeting of all parties.
func (o *order) meetAll() {
	o.now++
	o.all, o.some = o.now, false
}

// meet is a meeting of the parties in m. Each has then seen what any of them
// had seen.
func (o *order) meet(m uint32) {
	o.now++
	o.join(m, o.now, m)
}

// join lets the parties in learn see what those in come had done by now, and
// what these had seen.
func (o *order) join(come, now, learn uint32) {
	if !o.some {
		o.some = true
		o.seen = [32][32]uint32{}
	}
	var joint [32]uint32
	for x := come; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		for j, t := range o.seen[i] {
			joint[j] = max(joint[j], t)
		}
	}
	for x := come; x != 0; x &= x - 1 {
		joint[bits.TrailingZeros32(x)] = now
	}
	for x := learn; x != 0; x &= x - 1 {
		i := bits.TrailingZeros32(x)
		for j, t := range joint {
			o.seen[i][j] = max(o.seen[i][j], t)
		}
	}
}

// before reports whether what j did at a time is before what i does now.
func (o *order) before(j, time, i uint32) bool {
	return time < o.all || o.some && time < o.seen[i][j]
}
