package engine

// BlockOrder is the order in which the blocks of a grid start. CUDA guarantees none, and
// a GPU mostly starts them in the order of their numbers. A kernel whose blocks wait for
// each other must end in every order.
type BlockOrder int32

// The orders. Except for the first, a block that waits for one with a lower number may
// occupy the place that this one needs.
const (
	InOrder    BlockOrder = iota // from the first to the last
	Backwards                    // from the last to the first
	FromMiddle                   // from the middle to the first, and then from the last back to the middle
)

// OrderBlocks sets the order in which the blocks of later launches start.
func (e *Engine) OrderBlocks(order BlockOrder) { e.order.Store(int32(order)) }

// ordered is the number of the block that starts n-th. It is also the position of the
// block with the number n: every order is its own inverse.
func (l *Launch) ordered(n int64) int64 {
	switch l.order {
	case Backwards:
		return l.total - 1 - n
	case FromMiddle:
		return (l.total/2 - n + l.total) % l.total
	}
	return n
}
