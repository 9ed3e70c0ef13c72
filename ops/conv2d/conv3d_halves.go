package conv2d

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_90a -release 12.0 conv3d_halves.cu

// Constants of conv3d_halves.cu and of conv2d_boxes.cuh.
const (
	pairsColumns  = 120
	pairsChannels = 32            // = product_channels: of x in a row of 128 bytes, and of y in the rows of a product
	pairBytes     = 64 * rowBytes // = pair_bytes
)

// fp16x2Rung has both numbers of a factor in the rows of one product.
type fp16x2Rung struct{ boxed }

// cutFor cuts volumes as boxCut does for one block of channels of y, whose filters lie
// in shared memory beside the boxes.
func (o fp16x2Rung) cutFor(s ladder.Size) (c cut, shared int, ok bool) {
	one := slices.Clone(s)
	one[5] = min(s[5], pairsChannels)
	if c, ok = o.boxCut(one, pairsColumns, 4, 1); !ok { // a channel has two numbers of 2 bytes
		return c, 0, false
	}
	c.K, c.XStages = uint32(o.of(s).k), 2
	shared = int(c.XStages*c.XBytes) + o.filterPairs(s)*pairBytes
	return c, shared, shared <= hopperBytes
}

// filterPairs are the pairs of taps of a block of channels of y.
func (o fp16x2Rung) filterPairs(s ladder.Size) int {
	x := o.of(s)
	return ladder.CeilDiv(ladder.CeilDiv(x.c, pairsChannels)*x.taps(), 2)
}

// refuses rejects layers whose filters leave no room for boxes.
func (o fp16x2Rung) refuses(s ladder.Size) error {
	x := o.of(s)
	switch _, _, ok := o.cutFor(s); {
	case o.Groups != 1 || o.Stride != 1:
		return fmt.Errorf("%w: %d groups, stride %d: expected 1 of each, use %s", gpu.ErrUnsupported, o.Groups, o.Stride, o.family+"_implicit")
	case !ok:
		return fmt.Errorf("%w: filters of %d channels by %d x %d x %d with dilation %d: they and two boxes of pixels with a halo are beyond %d bytes of shared memory; use %s",
			gpu.ErrUnsupported, x.c, x.t, x.r, x.s, o.Dilation, hopperBytes, o.family+"_bf16x3")
	}
	return nil
}

// plan launches the split of x and w, and the products. Numbers lose 2^-22 of their value
// each. A step of 16 channels cuts off 10.5 u, as in splitRung; a plane of x under its taps has
// so many steps, and then its sums are added to float32 sums. Sums of second numbers count
// 2^-11. Numbers that lie too far apart are added as float32.
func (o fp16x2Rung) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	x := o.of(s)
	c, shared, _ := o.cutFor(s)
	chunks, blocks, pairs := int(c.Chunks), ladder.CeilDiv(x.k, pairsChannels), o.filterPairs(s)
	steps := 11*x.r*x.s*ladder.CeilDiv(min(x.c, pairsChannels), 16) + 2*chunks*x.t + 4 + tensorRoundings
	p := ladder.Plan{Depth: max(o.roundings(s), steps), Round: 0x1.81p-21}
	split := o.splitBoxes(&p, s, blocks*pairs*pairBytes, blocks, chunks*x.taps()*pairsChannels*4)
	mapX := gpu.TensorMap{Shape: []int{64 * chunks, x.w, x.h, x.d, x.n}, Box: []int{64, int(c.Pitch), int(c.XBox / rowBytes / c.Pitch), 1, 1}}
	mapW := gpu.TensorMap{Shape: []int{64, 64, blocks * pairs}, Box: []int{64, 64, 1}}
	rounds := ladder.CeilDiv(int(c.Tiles)*blocks, max(1, info.SMs))
	split.Entry = entry
	if filters := chunks * x.taps(); filters%2 == 1 && info.Emulated {
		// The second half of the last pair is copied and never multiplied: no matter on a GPU,
		// and a read of memory that nothing wrote on the emulator.
		split.Zero = []string{"numbers of w"}
	}
	p.Steps = []ladder.Step{split, {
		Entry: entry + "_2", Grid: gpu.Dim{X: ladder.CeilDiv(int(c.Tiles), max(1, rounds)), Y: blocks}, Block: gpu.Dim{X: hopperThreads}, Shared: shared,
		Args: []any{numbers("numbers of x", mapX), numbers("numbers of w", mapW), "x", "w", o.operands("x")[2], "y", "misfits of x", "misfits of w", c, o.shape(s)},
	}}
	return p
}

// splitBoxes is the launch that splits x and w for boxes of 32 channels, with its scratch: so
// many bytes for the numbers of w, of which each of some blocks has so many vectors.
func (o boxed) splitBoxes(p *ladder.Plan, s ladder.Size, bytes, blocks, vectors int) ladder.Step {
	x := o.of(s)
	pixels, chunks := x.n*x.d*x.h*x.w, ladder.CeilDiv(x.c, pairsChannels)
	ofX, ofW := ladder.CeilDiv(pixels, splitPixels)*chunks, ladder.CeilDiv(vectors, threads)
	p.Scratch = append(p.Scratch,
		ladder.Tensor{Name: "numbers of x", Len: pixels * chunks * 64, Type: gpu.Float16},
		ladder.Tensor{Name: "numbers of w", Len: bytes / 2, Type: gpu.Float16},
		ladder.Tensor{Name: "misfits of x", Len: ofX, Type: gpu.Uint32},
		ladder.Tensor{Name: "misfits of w", Len: blocks * ofW * threads / 32, Type: gpu.Uint32},
	)
	return ladder.Step{Grid: gpu.Dim{X: ofX + blocks*ofW}, Block: gpu.Dim{X: threads},
		Args: []any{"x", "w", "numbers of x", "numbers of w", "misfits of x", "misfits of w", o.shape(s), uint32(ofX)}}
}

// numbers is a map of float16 numbers in rows of 128 bytes.
func numbers(name string, m gpu.TensorMap) ladder.Argument {
	return func(memory func(string) gpu.Buffer) (any, error) {
		m := m
		m.Buffer, m.Swizzle = memory(name), rowBytes
		return m, nil
	}
}
