package emu

// BlockOrder is the order in which the blocks of a grid start. CUDA promises none, and
// a GPU mostly starts them in the order of their numbers. A kernel whose blocks wait for
// each other has to end in every order.
type BlockOrder int32

// The orders. Each but the first is one in which a block that waits for one with a lower
// number may take its room.
const (
	InOrder    BlockOrder = iota // from the first to the last
	Backwards                    // from the last to the first
	FromMiddle                   // from the middle to the first, and then from the last back to the middle
)

// OrderBlocks says in which order the blocks of the launches to come start; InOrder as
// at first. Clusters always start in the order of their numbers.
func (d *Device) OrderBlocks(order BlockOrder) { d.order.Store(int32(order)) }

// ordered is the number of the block that starts as the n-th. It is also the place in
// the order of the block with the number n: every order is its own inverse.
func (l *launch) ordered(n int64) int64 {
	switch l.order {
	case Backwards:
		return l.total - 1 - n
	case FromMiddle:
		return (l.total/2 - n + l.total) % l.total
	}
	return n
}
