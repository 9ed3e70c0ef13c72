package races

import "math/bits"

// Mark is an access to a cell. Marks are never cleared: one from before the last barrier
// of the whole block is ignored.
type Mark struct {
	Epoch uint32 // time among the warps; 0 for none
	time  uint32 // time among the lanes
	Lanes uint32
	who   uint32 // warp and instruction
}

const pcBits = 27 // of who; the remaining bits are the warp's

// Warp is the number of the warp in its block.
func (k *Mark) Warp() uint32 { return k.who >> pcBits }

// PC is the number of the instruction.
func (k *Mark) PC() uint32 { return k.who & (1<<pcBits - 1) }

// Lane is the lowest lane.
func (k *Mark) Lane() int { return bits.TrailingZeros32(k.Lanes) }

// lasting are the last accesses of one kind to each cell.
type lasting struct {
	one   []Mark // by lanes of one warp
	other []Mark // by lanes of another warp
}

func newLasting(cells int) lasting { return lasting{make([]Mark, cells), make([]Mark, cells)} }

func (a lasting) forget() {
	clear(a.one)
	clear(a.other)
}
