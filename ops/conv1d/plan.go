package conv1d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of conv1d.cu, conv1d_strips.cu and conv1d_toeplitz.cu.
const (
	threads     = 256    // = maxntid(conv1d_window)
	blockOut    = 2048   // = outputs_a_block: outputs of a block of conv1d_window and of conv1d_toeplitz
	operandTaps = 128    // = operand_taps: of conv1d_operands
	mostTaps    = 16_384 // = most_taps: 64 KiB of constant memory
	tileFloats  = 12_000 // of shared memory at most, 48 KB

	vectorTaps = 9   // = vector_taps - 3
	vectorOut  = 512 // of a block of conv1d_vector

	stripOut   = 32 * 28                  // = tile_outputs: outputs of a warp of conv1d_strips at a time
	stripBytes = 2 * 4 * (stripOut + 132) // = 2 * 4 * tile_elements: of its shared memory
	stripWarps = 24                       // = strip_warps: of a block, of which a multiprocessor has one

	partOut    = 1024                       // = part_outputs: outputs of a warp of conv1d_toeplitz_warps at a time
	partBytes  = 2 * 16 * (141 + 141/8 + 1) // = part_bytes: of its shared memory
	partBlocks = 3                          // of a multiprocessor
	partTaps   = 102
)

// toeplitz loses 2^-22 of each factor, after two numbers of 11 bits, and the product of the
// second ones. Tensor cores cut sums off: of 16 terms 10.5 u, less than one u a term; the
// first and the last of the steps have fewer terms, and the way back four roundings.
func (o Options) toeplitz(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return ladder.Plan{Depth: s[1] + 20, Round: 0x1.81p-21, Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(o.outputs(s), blockOut)}, Block: gpu.Dim{X: 128}, Args: []any{"x", "mask", "y", o.shape(s)},
	}}}
}

// toeplitzWarps launches as many blocks as are under way at once.
func (o Options) toeplitzWarps(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	parts := ladder.CeilDiv(o.outputs(s), partOut)
	blocks := min(ladder.CeilDiv(parts, 4), partBlocks*max(1, info.SMs))
	return ladder.Plan{Depth: s[1] + 20, Round: 0x1.81p-21, Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: 128}, Shared: 4 * partBytes, Args: []any{"x", "mask", "y", o.shape(s), uint32(parts)},
	}}}
}

func (o Options) partLimit(s ladder.Size) error {
	if s[1] > partTaps {
		return fmt.Errorf("%w: %d taps: expected at most %d, which seven steps hold; use conv1d_toeplitz", gpu.ErrUnsupported, s[1], partTaps)
	}
	return o.stepLimit(s)
}

// stepLimit refuses outputs and taps that are no neighbours.
func (o Options) stepLimit(ladder.Size) error {
	if o.Stride != 1 || o.Dilation != 1 {
		return fmt.Errorf("%w: stride %d and dilation %d: the matrix has neighbours at stride 1 and dilation 1 only; use conv1d_shared", gpu.ErrUnsupported, o.Stride, o.Dilation)
	}
	return nil
}

// shape is Shape of conv1d.cuh.
type shape struct {
	N, K, Outputs    uint32
	Before           int32
	Stride, Dilation uint32
	First, Step      int32
}

func (o Options) shape(s ladder.Size) shape {
	before, _ := o.padding(s[1])
	p := shape{uint32(s[0]), uint32(s[1]), uint32(o.outputs(s)), int32(before), uint32(o.Stride), uint32(o.Dilation), 0, 1}
	if o.Flip {
		p.First, p.Step = int32(s[1])-1, -1
	}
	return p
}

// launch runs an entry once, with so many outputs a block.
func (o Options) launch(entry string, s ladder.Size, outputs, shared int, args ...any) ladder.Plan {
	return ladder.Plan{Depth: s[1] + 1, Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(o.outputs(s), outputs)}, Block: gpu.Dim{X: threads}, Shared: shared, Args: args,
	}}}
}

// withTaps has the taps in constant memory, in the order of x.
func (o Options) withTaps(p ladder.Plan) ladder.Plan {
	p.Consts = []ladder.Const{{Variable: "conv1d_taps", Tensor: "mask", Reversed: o.Flip}}
	return p
}

func (o Options) global(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return o.launch(entry, s, threads, 0, "x", "mask", "y", o.shape(s))
}

func (o Options) constant(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return o.withTaps(o.launch(entry, s, threads, 0, "x", "y", o.shape(s)))
}

// shared takes as many taps a pass as its tile holds.
func (o Options) shared(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	taps := min(s[1], 1+(tileFloats-o.span(1))/o.Dilation)
	return o.withTaps(o.launch(entry, s, threads, 4*o.span(taps), "x", "y", o.shape(s), uint32(taps)))
}

// span is the number of elements of x that a block of conv1d_shared reads for so many taps.
func (o Options) span(taps int) int { return (threads-1)*o.Stride + o.spread(taps) + 1 }

func (o Options) window(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return o.withTaps(o.launch(entry, s, blockOut, 0, "x", "y", o.shape(s)))
}

func (o Options) sixteen(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return o.withTaps(o.launch(entry, s, 16*threads, 0, "x", "y", o.shape(s)))
}

// strips launches as many blocks as are under way at once, also where that leaves warps
// without a tile.
func (o Options) strips(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	tiles := ladder.CeilDiv(o.outputs(s), stripOut)
	return o.withTaps(ladder.Plan{Depth: s[1] + 1, Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: min(tiles, max(1, info.SMs))}, Block: gpu.Dim{X: 32 * stripWarps}, Shared: stripWarps * stripBytes, Args: []any{"x", "y", o.shape(s), uint32(tiles)},
	}}})
}

func (o Options) vector(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	p := o.launch(entry, s, vectorOut, 0, "x", "y", o.shape(s))
	p.Steps[0].Block = gpu.Dim{X: vectorOut / 4}
	return o.withTaps(p)
}

func constantLimit(s ladder.Size) error {
	if s[1] > mostTaps {
		return fmt.Errorf("%w: %d taps take %d bytes of constant memory: expected at most %d, which is %d bytes; use conv1d_global", gpu.ErrUnsupported, s[1], 4*s[1], mostTaps, 4*mostTaps)
	}
	return nil
}

func (o Options) tileLimit(s ladder.Size) error {
	if o.span(1) > tileFloats {
		return fmt.Errorf("%w: outputs of a block with stride %d span %d elements: expected at most %d in shared memory; use conv1d_constant", gpu.ErrUnsupported, o.Stride, o.span(1), tileFloats)
	}
	return constantLimit(s)
}

func (o Options) windowLimit(taps int) func(ladder.Size) error {
	return func(s ladder.Size) error {
		if o.Stride != 1 || o.Dilation != 1 {
			return fmt.Errorf("%w: stride %d and dilation %d: neighbours share a window at stride 1 and dilation 1 only; use conv1d_shared", gpu.ErrUnsupported, o.Stride, o.Dilation)
		}
		if s[1] > taps && taps < mostTaps {
			return fmt.Errorf("%w: %d taps: expected at most %d; use conv1d_window", gpu.ErrUnsupported, s[1], taps)
		}
		return constantLimit(s)
	}
}
