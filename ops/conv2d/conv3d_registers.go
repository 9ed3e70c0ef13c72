package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of conv3d_registers.cu.
const (
	segmentPlaces   = 8
	stripChannels   = 32          // = channels
	stripStages     = 3           // = stages
	stripPitch      = 36          // = pitch_w
	mostSegments    = threads / 4 // of a block: four threads have a segment
	stripBytes      = 48 << 10
	vectorsAThread  = 2
	stripFilterSide = 3
)

// strips is Strips of conv3d_registers.cu.
type strips struct{ Segments, Rows, Across, Down uint32 }

// stripPlan is a cut into strips with the threads and bytes of its blocks.
type stripPlan struct {
	strips
	threads, shared int
}

// registersRung has strips of y in registers.
type registersRung struct{ Options }

// strips cuts rows of y into segments of 8 places, and takes as many rows a block as cost
// the fewest warps in all: the most of these.
func (o registersRung) strips(s ladder.Size) (best stripPlan, found bool) {
	x, least := o.of(s), 0
	all := ladder.CeilDiv(x.ow, segmentPlaces)
	across := ladder.CeilDiv(all, mostSegments)
	segments := ladder.CeilDiv(all, across)
	for rows := 1; rows <= min(x.oh, mostSegments/segments); rows++ {
		p := stripPlan{strips: strips{uint32(segments), uint32(rows), uint32(across), uint32(ladder.CeilDiv(x.oh, rows))}, threads: ladder.CeilDiv(4*segments*rows, 32) * 32}
		pitch, height := segments*segmentPlaces+8, rows+x.r-1
		p.shared = stripStages * 4 * (height*pitch + x.r*stripFilterSide*stripPitch)
		if p.shared > stripBytes || height*pitch/4 > vectorsAThread*p.threads {
			continue
		}
		if cost := int(p.Down) * p.threads; !found || cost <= least {
			best, least, found = p, cost, true
		}
	}
	return best, found
}

// refuses rejects layers that conv3d_registers does not cut.
func (o registersRung) refuses(s ladder.Size) error {
	x := o.of(s)
	if x.s != stripFilterSide || o.Stride != 1 || o.Dilation != 1 || o.Groups != 1 {
		return fmt.Errorf("%w: filters of %d x %d x %d, stride %d, dilation %d, %d groups: expected a width of %d and 1 of the others; use conv3d_implicit",
			gpu.ErrUnsupported, x.t, x.r, x.s, o.Stride, o.Dilation, o.Groups, stripFilterSide)
	}
	if _, ok := o.strips(s); !ok {
		return fmt.Errorf("%w: filters of %d x %d x %d: three planes with a halo are beyond %d bytes of shared memory, or %d vectors of 16 bytes per thread; use conv3d_implicit", gpu.ErrUnsupported, x.t, x.r, x.s, stripBytes, vectorsAThread)
	}
	return nil
}

func (o registersRung) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	x := o.of(s)
	p, _ := o.strips(s)
	return ladder.Plan{Depth: o.roundings(s), Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: x.n * x.od * int(p.Across*p.Down), Y: ladder.CeilDiv(x.k, stripChannels)}, Block: gpu.Dim{X: p.threads}, Shared: p.shared,
		Args: append(o.operands("x"), o.shape(s), p.strips),
	}}}
}
