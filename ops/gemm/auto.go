package gemm

import (
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// auto picks a rung by size and launches it.
func (o Options) auto() ladder.Variant {
	return ladder.Variant{
		Name: "gemm_auto", Adds: "picks the rung and the shares of k that a table of measured costs predicts to be fastest",
		Source: "ours", Needs: ladder.Ampere, Picks: true, Plan: o.autoPlan,
	}
}

// gemmCost predicts the time of a rung: a block takes perK for each of its
// steps along k, and the multiprocessor with the most blocks decides, because
// one block keeps its arithmetic nearly as busy as several do.
type cost struct {
	rung          string
	rows, columns int     // of a tile
	fixed, perK   float64 // us
	alone         float64 // us for each k, where a multiprocessor has one block; 0 for perK
	edge          float64 // how many times as long steps take where tiles reach past an edge
}

// gemmCosts are fitted to times on an H200 in November 2026, random data, graph
// replay: measured/gemm_times.h200.json. Other GPUs are taken to be in
// proportion.
var costs = []cost{
	{"gemm_sliced_k_16", 16, 32, 2.3, 0.0061, 0, 1.05},
	{"gemm_sliced_32", 32, 64, 3.8, 0.0118, 0.014, 1.3},
	{"gemm_sliced_64", 64, 64, 3.8, 0.0228, 0, 1.3},
	{"gemm_wide", wideTile, wideTile, 4, 0.084, 0, 1.3},
	splitCost,
}

var splitCost = cost{"gemm_split_k", 128, 128, 3, 0.088, 0, 1.2}

// streamCosts are the costs of rungs whose blocks share the tiles of the last round.
var streamCosts = []struct {
	cost
	stream
	mapped bool // the copy engine loads A and B
}{
	{cost{"gemm_stream_k", wideTile, wideTile, 4.5, 0.0815, 0, 1.05}, wideStream, false},
	{cost{"gemm_stream_k_64", 64, 64, 5.5, 0.02375, 0, 1.25}, smallStream, false},
	{cost{"gemm_specialized", 128, 256, 7, 0.154, 0, 1}, specializedStream, true},
}

// Adding shares of k costs a launch and a way through the L2 cache, the longer
// where blocks leave theirs at the same time.
const (
	sumLaunch     = 3.0    // us
	sumPerByte    = 1.4e-7 // us
	streamPerByte = 2.4e-7 // us
)

// time predicts microseconds for k cut into so many shares.
func (c cost) time(s ladder.Size, shares, sms int) float64 {
	t := c.fixed + c.slower(s)*max(math.Ceil(c.tiles(s)*float64(shares)/float64(sms))*c.perK, c.alone)*float64(shareOf(s[2], shares))
	if shares > 1 {
		t += sumLaunch + sumPerByte*8*float64(shares)*float64(s[0])*float64(s[1])
	}
	return t
}

func (c cost) tiles(s ladder.Size) float64 {
	return float64(ladder.CeilDiv(s[0], c.rows)) * float64(ladder.CeilDiv(s[1], c.columns))
}

// slower is edge where tiles reach past one, else 1.
func (c cost) slower(s ladder.Size) float64 {
	if s[0]%c.rows != 0 || s[1]%c.columns != 0 {
		return c.edge
	}
	return 1
}

// streamTime predicts microseconds for a rung whose blocks share the tiles of the last
// round: all multiprocessors work to the end, and then add the blocks' parts of tiles.
func (c cost) streamTime(s ladder.Size, cut stream, sms int) float64 {
	tiles := c.tiles(s)
	blocks, _, rest := cut.share(s, sms)
	if rest == 0 { // blocks that have one tile less wait for the others
		tiles = math.Ceil(tiles/float64(blocks)) * float64(blocks)
	}
	t := c.fixed + c.slower(s)*max(tiles/float64(sms), tiles/float64(blocks))*float64(s[2])*c.perK
	if rest > 0 {
		t += sumLaunch + streamPerByte*8*float64((blocks+rest)*c.rows*c.columns)
	}
	return t
}

// shareOf is k cut into so many shares of a multiple of 16, so that vectors
// stay aligned.
func shareOf(k, shares int) int { return max(16, ladder.CeilDiv(ladder.CeilDiv(k, shares), 16)*16) }

// bestShares is the number of shares of k with the shortest predicted time.
func bestShares(s ladder.Size, sms int) int {
	best, shortest := 1, splitCost.time(s, 1, sms)
	for shares := 2; shares <= min(2*sms, s[2]/64); shares++ {
		if t := splitCost.time(s, shares, sms); t < shortest {
			best, shortest = shares, t
		}
	}
	return best
}

// pickRung is the rung with the shortest predicted time; of those for the copy
// engine only where it takes A and B.
func (o Options) pickRung(s ladder.Size, sms int, mapped bool) string {
	var best string
	shortest := math.Inf(1)
	consider := func(rung string, t float64) {
		if t < shortest {
			best, shortest = rung, t
		}
	}
	for _, c := range costs {
		shares := 1
		if c == splitCost {
			shares = bestShares(s, sms)
		}
		consider(c.rung, c.time(s, shares, sms))
	}
	for _, c := range streamCosts {
		if mapped || !c.mapped {
			consider(c.rung, c.streamTime(s, c.stream, sms))
		}
	}
	if mapped {
		_, t := bestCluster(s, sms)
		consider(clusterCost.rung, t)
	}
	return best
}

// autoPlan is the plan of the rung that is picked, with another one for matrices
// that start where the copy engine takes none.
func (o Options) autoPlan(_ string, s ladder.Size, info gpu.Info) ladder.Plan {
	mapped := info.Compute == hopper && !info.Emulated && o.copyEngineRefuses("gemm_auto", 4)(s) == nil
	p := o.planOf(o.pickRung(s, info.SMs, mapped), s, info)
	if mapped {
		p.Unaligned = func() ladder.Plan { return o.planOf(o.pickRung(s, info.SMs, false), s, info) }
	}
	return p
}

// planOf is the plan of a rung that is picked.
func (o Options) planOf(name string, s ladder.Size, info gpu.Info) ladder.Plan {
	for _, v := range o.pipelineVariants() {
		if v.Name == name {
			p := v.Plan(name, s, info)
			p.Module = v.Module
			return p
		}
	}
	panic("ops: gemm_auto picks " + name + ", which is no rung")
}
