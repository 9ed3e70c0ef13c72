package emu

import "warpbook/gpu/emu/engine"

// BlockOrder is the order in which the blocks of a grid start. CUDA guarantees none, and
// a GPU mostly starts them in the order of their numbers. A kernel whose blocks wait for
// each other must end in every order.
type BlockOrder = engine.BlockOrder

// The orders. Except for the first, a block that waits for one with a lower number may
// occupy the place that this one needs.
const (
	InOrder    = engine.InOrder    // from the first to the last
	Backwards  = engine.Backwards  // from the last to the first
	FromMiddle = engine.FromMiddle // from the middle to the first, and then from the last back to the middle
)

// OrderBlocks sets the order in which the blocks of later launches start; the default is
// InOrder. Clusters always start in the order of their numbers.
func (d *Device) OrderBlocks(order BlockOrder) { d.engine.OrderBlocks(order) }
