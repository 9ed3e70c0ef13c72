package engine

import (
	"fmt"
	"math/bits"
	"strings"
)

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
	const most = 4 // ranges that are listed
	return fmt.Sprintf("%d threads (%s)", len(r), r.list(most))
}

// list formats at most this many ranges.
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
