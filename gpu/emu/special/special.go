// Package special has the special registers of PTX: those of a lane, of a launch, of a block,
// and clocks. Package engine sets a slot for each that a program reads. The package knows
// shapes and places only, and must not import engine.
package special

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
)

// Launch is what the registers of a launch depend on.
type Launch struct {
	Grid, Block, Cluster gpu.Dim
	Threads              int // of a block
	SMs                  int
	Static, Dynamic      int    // bytes of shared memory
	Workspace            uint64 // of a cooperative launch: its address; else 0, and grid.sync() traps
}

// Block is a block of a launch.
type Block struct {
	*Launch
	At   gpu.Dim // in the grid
	Rank int     // in its cluster
}

// linear is the number of the block in its grid.
func (b *Block) linear() int { return b.At.X + b.Grid.X*(b.At.Y+b.Grid.Y*b.At.Z) }

const allLanes = 1<<32 - 1

// Lane are special registers whose value depends on the lane; they are set once
// per shape of block.
var Lane = map[string]func(thread gpu.Dim, warp, lane int) uint64{
	"%tid.x":       func(t gpu.Dim, _, _ int) uint64 { return uint64(t.X) },
	"%tid.y":       func(t gpu.Dim, _, _ int) uint64 { return uint64(t.Y) },
	"%tid.z":       func(t gpu.Dim, _, _ int) uint64 { return uint64(t.Z) },
	"%laneid":      func(_ gpu.Dim, _, l int) uint64 { return uint64(l) },
	"%warpid":      func(_ gpu.Dim, warp, _ int) uint64 { return uint64(warp) },
	"%lanemask_eq": func(_ gpu.Dim, _, l int) uint64 { return 1 << l },
	"%lanemask_lt": func(_ gpu.Dim, _, l int) uint64 { return 1<<l - 1 },
	"%lanemask_le": func(_ gpu.Dim, _, l int) uint64 { return 2<<l - 1 },
	"%lanemask_ge": func(_ gpu.Dim, _, l int) uint64 { return allLanes &^ (1<<l - 1) },
	"%lanemask_gt": func(_ gpu.Dim, _, l int) uint64 { return allLanes &^ (2<<l - 1) },
}

// OfLaunch are the same for all threads of a launch.
var OfLaunch = map[string]func(l *Launch) uint64{
	"%ntid.x":            func(l *Launch) uint64 { return uint64(l.Block.X) },
	"%ntid.y":            func(l *Launch) uint64 { return uint64(l.Block.Y) },
	"%ntid.z":            func(l *Launch) uint64 { return uint64(l.Block.Z) },
	"%nctaid.x":          func(l *Launch) uint64 { return uint64(l.Grid.X) },
	"%nctaid.y":          func(l *Launch) uint64 { return uint64(l.Grid.Y) },
	"%nctaid.z":          func(l *Launch) uint64 { return uint64(l.Grid.Z) },
	"%nwarpid":           func(l *Launch) uint64 { return uint64((l.Threads + 31) / 32) },
	"%nsmid":             func(l *Launch) uint64 { return uint64(l.SMs) },
	"%gridid":            func(l *Launch) uint64 { return 1 },
	"%envreg1":           func(l *Launch) uint64 { return l.Workspace >> 32 },
	"%envreg2":           func(l *Launch) uint64 { return l.Workspace & (1<<32 - 1) },
	"%dynamic_smem_size": func(l *Launch) uint64 { return uint64(l.Dynamic) },
	"%total_smem_size":   func(l *Launch) uint64 { return uint64(l.Static + l.Dynamic) },
	"WARP_SZ":            func(*Launch) uint64 { return 32 },
	// Memory reserved for the system is outside of any block's.
	"%reserved_smem_offset_begin": reservedShared, "%reserved_smem_offset_end": reservedShared,
	"%reserved_smem_offset_0": reservedShared, "%reserved_smem_offset_1": reservedShared,
	// In a launch without clusters each block is its own cluster.
	"%is_explicit_cluster": func(l *Launch) uint64 { return uint64(arith.Bit(l.Cluster.Size() > 1)) },
	"%cluster_nctarank":    func(l *Launch) uint64 { return uint64(l.Cluster.Size()) },
	"%cluster_nctaid.x":    func(l *Launch) uint64 { return uint64(l.Cluster.X) },
	"%cluster_nctaid.y":    func(l *Launch) uint64 { return uint64(l.Cluster.Y) },
	"%cluster_nctaid.z":    func(l *Launch) uint64 { return uint64(l.Cluster.Z) },
	"%nclusterid.x":        func(l *Launch) uint64 { return uint64(l.Grid.X / l.Cluster.X) },
	"%nclusterid.y":        func(l *Launch) uint64 { return uint64(l.Grid.Y / l.Cluster.Y) },
	"%nclusterid.z":        func(l *Launch) uint64 { return uint64(l.Grid.Z / l.Cluster.Z) },
}

func reservedShared(*Launch) uint64 { return 0xff000000 }

// OfBlock are the same for all threads of a block.
var OfBlock = map[string]func(b *Block) uint64{
	"%ctaid.x":         func(b *Block) uint64 { return uint64(b.At.X) },
	"%ctaid.y":         func(b *Block) uint64 { return uint64(b.At.Y) },
	"%ctaid.z":         func(b *Block) uint64 { return uint64(b.At.Z) },
	"%cluster_ctarank": func(b *Block) uint64 { return uint64(b.Rank) },
	"%cluster_ctaid.x": func(b *Block) uint64 { return uint64(b.At.X % b.Launch.Cluster.X) },
	"%cluster_ctaid.y": func(b *Block) uint64 { return uint64(b.At.Y % b.Launch.Cluster.Y) },
	"%cluster_ctaid.z": func(b *Block) uint64 { return uint64(b.At.Z % b.Launch.Cluster.Z) },
	"%clusterid.x":     func(b *Block) uint64 { return uint64(b.At.X / b.Launch.Cluster.X) },
	"%clusterid.y":     func(b *Block) uint64 { return uint64(b.At.Y / b.Launch.Cluster.Y) },
	"%clusterid.z":     func(b *Block) uint64 { return uint64(b.At.Z / b.Launch.Cluster.Z) },
	"%smid":            func(b *Block) uint64 { return uint64(b.linear() % b.Launch.SMs) },
}

// Clocks are special registers that each instruction reads again.
var Clocks = map[string]bool{"%clock": true, "%clock_hi": true, "%clock64": true, "%globaltimer": true,
	"%globaltimer_lo": true, "%globaltimer_hi": true}

// Known reports whether there is a special register of a name that is no clock.
func Known(name string) bool {
	return Lane[name] != nil || OfLaunch[name] != nil || OfBlock[name] != nil
}
