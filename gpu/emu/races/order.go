package races

import "math/bits"

// Order records the happens-before relation of up to 32 parties that meet: the lanes of
// a warp, or the warps of a block. Time is the number of meetings.
type Order struct {
	Now  uint32 // the time
	All  uint32 // accesses before this time are ordered before all current accesses of all parties
	Some bool   // some have met since all did

	// seen[i][j] is the same for the pair i, j: accesses of j before this time are
	// ordered before current accesses of i. It is used while Some is true.
	seen [32][32]uint32
}

// MeetAll is a meeting of all parties.
func (o *Order) MeetAll() {
	o.Now++
	o.All, o.Some = o.Now, false
}

// Meet is a meeting of the parties in m. Each then knows the times that any of them
// knew.
func (o *Order) Meet(m uint32) {
	o.Now++
	o.Join(m, o.Now, m)
}

// Join gives the parties in learn the current times of those in come, and the times that
// these know.
func (o *Order) Join(come, now, learn uint32) {
	if !o.Some {
		o.Some = true
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

// Learn gives a party the times that were published for the others.
func (o *Order) Learn(i int, times *[32]uint32) {
	if !o.Some {
		o.Some = true
		o.seen = [32][32]uint32{}
	}
	for j, t := range times {
		o.seen[i][j] = max(o.seen[i][j], t)
	}
}

// teach adds the times that a party knows to published ones.
func (o *Order) teach(i int, times *[32]uint32) {
	for j := range times {
		known := o.All
		if o.Some {
			known = max(known, o.seen[i][j])
		}
		times[j] = max(times[j], known)
	}
}

// Before reports whether an access of j at a time is before i's current ones.
func (o *Order) Before(j, time, i uint32) bool {
	return time < o.All || o.Some && time < o.seen[i][j]
}
