package ops

import (
	"math"

	"warpbook/gpu"
)

// auto picks a rung by size and launches it.
func (o GemmOptions) auto() Variant {
	return Variant{
		Name: "gemm_auto", Adds: "picks the rung and the shares of k that a table of measured costs predicts to be fastest",
		Source: "ours", Needs: ampere, Picks: true, Plan: o.autoPlan,
	}
}

// gemmCost predicts the time of a rung: a block takes perK for each of its
// steps along k, and the multiprocessor with the most blocks decides, because
// one block keeps its arithmetic nearly as busy as several do.
type gemmCost struct {
	rung          string
	rows, columns int     // of a tile
	fixed, perK   float64 // us
}

// gemmCosts are fitted to times on an H200 in November 2026, random data, graph
// replay: testdata/gemm_times.h200.json. Other GPUs are taken to be in
// proportion.
var gemmCosts = []gemmCost{
	{"gemm_sliced_k_16", 16, 32, 2.3, 0.0061},
	{"gemm_sliced_32", 32, 64, 3.8, 0.0118},
	{"gemm_sliced_64", 64, 64, 3.8, 0.0228},
	{"gemm_wide", wideTile, wideTile, 4, 0.084},
	splitCost,
	streamCost,
}

var (
	splitCost  = gemmCost{"gemm_split_k", 128, 128, 3, 0.088}
	streamCost = gemmCost{"gemm_stream_k", wideTile, wideTile, 8, 0.0815}
)

// Adding shares of k costs a launch and a way through the L2 cache.
const (
	sumLaunch  = 3.0    // us
	sumPerByte = 1.4e-7 // us
)

// time predicts microseconds for k cut into so many shares.
func (c gemmCost) time(s Size, shares, sms int) float64 {
	t := c.fixed + math.Ceil(c.tiles(s)*float64(shares)/float64(sms))*float64(shareOf(s[2], shares))*c.perK
	if shares > 1 {
		t += sumLaunch + sumPerByte*8*float64(shares)*float64(s[0])*float64(s[1])
	}
	return t
}

func (c gemmCost) tiles(s Size) float64 {
	return float64(ceilDiv(s[0], c.rows)) * float64(ceilDiv(s[1], c.columns))
}

// streamTime predicts microseconds for gemm_stream_k: all multiprocessors work
// to the end, and then add what blocks have left of tiles.
func streamTime(s Size, sms int) float64 {
	tiles := streamCost.tiles(s)
	blocks := min(2*float64(sms), tiles*float64(max(1, ceilDiv(s[2], wideDepth))))
	t := streamCost.fixed + max(tiles/float64(sms), tiles/blocks)*float64(s[2])*streamCost.perK
	if rest := math.Mod(tiles, blocks); rest > 0 {
		t += sumLaunch + sumPerByte*8*(blocks+rest)*wideTile*wideTile
	}
	return t
}

// shareOf is k cut into so many shares of a multiple of 16, so that vectors
// stay aligned.
func shareOf(k, shares int) int { return max(16, ceilDiv(ceilDiv(k, shares), 16)*16) }

// bestShares is the number of shares of k with the shortest predicted time.
func bestShares(s Size, sms int) int {
	best, shortest := 1, splitCost.time(s, 1, sms)
	for shares := 2; shares <= min(2*sms, s[2]/64); shares++ {
		if t := splitCost.time(s, shares, sms); t < shortest {
			best, shortest = shares, t
		}
	}
	return best
}

// pickRung is the rung with the shortest predicted time.
func (o GemmOptions) pickRung(s Size, sms int) string {
	var best string
	shortest := math.Inf(1)
	for _, c := range gemmCosts {
		t := c.time(s, 1, sms)
		switch c {
		case splitCost:
			t = c.time(s, bestShares(s, sms), sms)
		case streamCost:
			t = streamTime(s, sms)
		}
		if t < shortest {
			best, shortest = c.rung, t
		}
	}
	return best
}

func (o GemmOptions) autoPlan(_ string, s Size, info gpu.Info) Plan {
	name := o.pickRung(s, info.SMs)
	for _, v := range o.pipelineVariants() {
		if v.Name == name {
			return v.Plan(name, s, info)
		}
	}
	panic("ops: gemm_auto picks " + name + ", which is no rung")
}
