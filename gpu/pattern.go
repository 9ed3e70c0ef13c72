package gpu

import "math/bits"

// Pattern is the set of addresses of one request of a warp: a memory
// instruction that at least one lane runs. Its methods are the formulas by
// which the emulator counts. NVIDIA documents them for 32-bit accesses alone;
// the file gpu/emu/testdata/patterns.h200.json holds what its profiler counted
// for 620 patterns of all widths on an H200, which they equal without exception.
type Pattern struct {
	Mask    uint32     // lanes that take part
	Bytes   int        // a lane: 1, 2, 4, 8 or 16; addresses are multiples of it
	Write   bool       // a store or an atomic
	Address [32]uint64 // of each lane, in bytes

	// To is where a cp.async.cg, which goes past the L1 cache, puts what it
	// reads: addresses in shared memory. It is nil for any other request.
	To *[32]uint64
}

// Sectors counts the distinct 32-byte sectors and 128-byte lines that a
// request to global memory touches. Of a copy past the L1 cache it counts, as an
// H200 does, the pairs of a line and a 32-byte sector of shared memory that
// takes bytes of it (gpu/emu/testdata/copies.h200.json).
func (p *Pattern) Sectors() (sectors, lines int) {
	if p.To != nil {
		_, lines = p.sectorSet()
		return p.copied(), lines
	}
	last := ^uint64(0)
	for m := p.Mask; m != 0; m &= m - 1 {
		s := p.Address[bits.TrailingZeros32(m)&31] >> 5
		if s == last {
			continue
		}
		if s < last && last != ^uint64(0) {
			return p.sectorSet()
		}
		if sectors++; last == ^uint64(0) || s>>2 != last>>2 {
			lines++
		}
		last = s
	}
	return sectors, lines
}

// sectorSet counts them when the addresses do not ascend.
func (p *Pattern) sectorSet() (sectors, lines int) {
	var seen [32]uint64
	for m := p.Mask; m != 0; m &= m - 1 {
		s := p.Address[bits.TrailingZeros32(m)&31] >> 5
		newSector, newLine := true, true
		for _, t := range seen[:sectors] {
			newSector = newSector && t != s
			newLine = newLine && t>>2 != s>>2
		}
		if newSector {
			seen[sectors] = s
			sectors++
		}
		if newLine {
			lines++
		}
	}
	return sectors, lines
}

// copied counts the pairs of a sector that is written and a line that is read.
// Where lanes write to the same address, one of them does.
func (p *Pattern) copied() (pairs int) {
	type pair struct{ to, from uint64 }
	var seen [32]pair
	for m := p.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		x, again := pair{p.To[l] >> 5, p.Address[l] >> 7}, false
		for n := m & (m - 1); n != 0 && !again; n &= n - 1 {
			again = p.To[bits.TrailingZeros32(n)&31] == p.To[l]
		}
		for _, y := range seen[:pairs] {
			again = again || x == y
		}
		if !again {
			seen[pairs] = x
			pairs++
		}
	}
	return pairs
}

// Wavefronts counts the passes over the 32 banks of shared memory that a
// request takes, and the groups of lanes that it is served in: one pass a
// group is free of conflicts. The bank of a word is its address / 4 mod 32; the
// passes of a group are the largest number, over the banks, of distinct words
// asked of one bank.
func (p *Pattern) Wavefronts() (wavefronts, groups int) {
	for _, g := range p.groups() {
		if g != 0 {
			groups++
			wavefronts += p.passes(g)
		}
	}
	return wavefronts, groups
}

// Groups are the lanes that shared memory serves together: all of them where
// each asks for up to 32 bits, half a warp for 64 bits, a quarter for 128 bits.
// When every active lane of a load has the address of its neighbour (lane xor
// 1), or every one that of its second neighbour (lane xor 2), groups merge two
// by two; those of stores never do.
func (p *Pattern) Groups() (lanes []uint32) {
	for _, g := range p.groups() {
		if g != 0 {
			lanes = append(lanes, g)
		}
	}
	return lanes
}

func (p *Pattern) groups() (groups [4]uint32) {
	span := 32
	if p.Bytes > 4 {
		span = 32 * 4 / p.Bytes
		if !p.Write && (p.shared(1) || p.shared(2)) {
			span = min(2*span, 32)
		}
	}
	for i := 0; i*span < 32; i++ {
		groups[i] = p.Mask >> (i * span) & uint32(1<<span-1) << (i * span)
	}
	return groups
}

// shared reports whether every two active lanes at the distance have the same
// address.
func (p *Pattern) shared(distance int) bool {
	for m := p.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		if p.Mask>>(l^distance)&1 != 0 && p.Address[l] != p.Address[(l^distance)&31] {
			return false
		}
	}
	return true
}

// passes is the largest number of distinct words that a group asks of a bank.
func (p *Pattern) passes(group uint32) int {
	var word [32]uint64 // first word asked of each bank
	var used uint32
	for m := group; m != 0; m &= m - 1 {
		first := p.Address[bits.TrailingZeros32(m)&31] >> 2
		for n := first; n <= first+uint64(p.Bytes-1)>>2; n++ {
			b := n & 31
			if used>>b&1 == 0 {
				used |= 1 << b
				word[b] = n
			} else if word[b] != n {
				return p.conflicted(group)
			}
		}
	}
	return 1
}

// conflicted counts the words of each bank when some bank has several. A group asks for at
// most 64 words; those of a bank are a list, because most calls have few.
func (p *Pattern) conflicted(group uint32) (most int) {
	var words [64]uint64
	var next [64]uint8         // word of the same bank, from 1
	var first, count [32]uint8 // word of a bank, from 1, and number of its words
	known := uint8(0)
	for m := group; m != 0; m &= m - 1 {
		from := p.Address[bits.TrailingZeros32(m)&31] >> 2
	words:
		for a := from; a <= from+uint64(p.Bytes-1)>>2; a++ {
			b := a & 31
			for w := first[b]; w > 0; w = next[w-1] {
				if words[w-1] == a {
					continue words
				}
			}
			words[known], next[known] = a, first[b]
			known++
			first[b] = known
			count[b]++
			most = max(most, int(count[b]))
		}
	}
	return most
}
