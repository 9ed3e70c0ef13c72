package engine

import "warpbook/gpu/ptx"

// flight is a product under way that has a register.
type flight struct {
	group  int // of products, from 1; 0 for none
	src    *ptx.Instruction
	sum    bool // it writes the register
	copied bool // a move has copied the register here
}

// productState is the state of a warp's products beside their groups.
type productState struct {
	done    int      // groups that a wait has waited for
	flights []flight // of the registers that are watched
	began   bool     // wgmma.fence has run
	fenced  bool     // since the last wait
	touched bool     // a register of a product was written since the last wgmma.fence
	reads   []productRead
}

func (s *productState) reset() {
	clear(s.flights)
	*s = productState{flights: s.flights, reads: s.reads[:0]}
}

// productRead is 16 bytes of shared memory that a product reads.
type productRead struct {
	group int
	pc    int32 // of the product
	at    uint64
	time  uint32 // when the product began
}

// groupEnd is the first wait of a warpgroup for a group of products.
type groupEnd struct {
	warp int
	time uint32
}
