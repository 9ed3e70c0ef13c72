package gemm

import (
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// A tile of gemm_cluster.cu, and the shared memory of a block: two steps of A as the
// copy engine loads them, the sums from other blocks, two steps of A and B for each
// of two warpgroups, and barriers.
const (
	clusterTile  = 128
	clusterBytes = 2*128*32*4 + 128*128*4 + 2*2*32*(128+4+128)*4 + 256
)

// clusters are the entries of gemm_cluster.cu: how many blocks share a tile, and how
// many such clusters run at once on an H200, by its occupancy calculator. A cluster
// lies within one of the GPU's groups of 16 or 18 multiprocessors, so that larger ones
// leave some idle.
var clusters = []cluster{{2, "", 66}, {3, "_of_3", 39}, {4, "_of_4", 30}}

type cluster struct {
	blocks int
	entry  string // suffix after the rung's name
	atOnce int    // on 132 multiprocessors
}

// clusterCost is that of one block a tile, fitted to the same run as gemmCosts.
var clusterCost = cost{"gemm_cluster", clusterTile, clusterTile, 4, 0.082, 0, 1}

// sendCost is the time that each block of a cluster adds to a tile.
const sendCost = 0.6 // us

// clusterTime predicts microseconds with clusters that run in rounds.
func (c cost) clusterTime(s ladder.Size, of cluster, sms int) float64 {
	rounds := math.Ceil(c.tiles(s) * 132 / float64(of.atOnce*sms))
	steps := ladder.CeilDiv(ladder.CeilDiv(s[2], 32), of.blocks) * 32
	return rounds * (c.fixed + sendCost*float64(of.blocks) + c.perK*float64(steps))
}

// bestCluster is the cluster with the shortest predicted time.
func bestCluster(s ladder.Size, sms int) (cluster, float64) {
	best, shortest := clusters[0], math.Inf(1)
	for _, of := range clusters {
		if t := clusterCost.clusterTime(s, of, sms); t < shortest {
			best, shortest = of, t
		}
	}
	return best, shortest
}

// clustered launches a cluster a tile, as large as is predicted to be fastest.
func (o Options) clustered(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	p := o.staged(clusterTile, clusterTile, copiedThreads, clusterBytes)(entry, s, info)
	if len(p.Steps) == 0 {
		return p
	}
	of, _ := bestCluster(s, info.SMs)
	p.Steps[0].Entry += of.entry
	p.Steps[0].Grid.X *= of.blocks
	p.Depth += of.blocks
	return p
}
