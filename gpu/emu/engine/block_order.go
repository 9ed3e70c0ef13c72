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
