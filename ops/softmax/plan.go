package softmax

import (
	"math/bits"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Threads of a block whose warps or threads have rows of their own.
const rowThreads = 256

// Roundings on the longest way of an element to the sum of its row. Adding one is 1;
// a sum that is rescaled takes 4 for the factor, 1 for the product and 1 for the sum.
const (
	added    = 1
	rescaled = 6
)

// twoPassRoundings are those of threads that know the maximum before they add.
func twoPassRoundings(columns, threads int) int {
	return added * (ladder.CeilDiv(columns, threads) + levels(threads))
}

// onlineRoundings are those of threads that keep a running maximum, and rescale once
// more to that of all. They are no fewer than those of a row in registers.
func onlineRoundings(columns, threads int) int {
	return rescaled*(ladder.CeilDiv(columns, threads)+1) + added*levels(threads)
}

// levels of a tree over so many threads, the one across a block's warps included.
func levels(threads int) int { return bits.Len(uint(threads)) }

// launch is one step with a grid of so many blocks.
func launch(entry string, s ladder.Size, blocks, threads, depth int, mask []string) ladder.Plan {
	args := []any{"x"}
	for _, name := range mask {
		args = append(args, name)
	}
	return ladder.Plan{Depth: depth, Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads},
		Args: append(args, "y", uint32(s[0]), uint32(s[1])),
	}}}
}

// threadARow launches a thread for each row.
func threadARow(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 || s[1] == 0 {
		return ladder.Plan{}
	}
	return launch(entry, s, ladder.CeilDiv(s[0], rowThreads), rowThreads, twoPassRoundings(s[1], 1), nil)
}

// warpARow launches a warp for each row.
func warpARow(roundings func(columns, threads int) int, mask ...string) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 || s[1] == 0 {
			return ladder.Plan{}
		}
		return launch(entry, s, ladder.CeilDiv(s[0], rowThreads/32), rowThreads, roundings(s[1], 32), mask)
	}
}

// Columns that fit the registers of a block: 64 or 512 threads with four vectors of four
// each, and 1024 with two.
const (
	smallThreads  = 64
	smallColumns  = smallThreads * 4 * 4
	middleThreads = 512
	bigThreads    = 1024
	bigColumns    = bigThreads * 2 * 4
)

var (
	blockARow         = blocks(bigThreads)
	blockARowOf512    = blocks(middleThreads)
	blockARowMasked   = blocks(bigThreads, "mask")
	clusterARow       = clusters()
	clusterARowMasked = clusters("mask")
)

// lastModule is softmax_last.cu.
const lastModule = "softmax_last"

// blocks launches a block of so many threads for each row: the small one where a row fits it.
func blocks(threads int, mask ...string) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		switch {
		case s[0] == 0 || s[1] == 0:
			return ladder.Plan{}
		case s[1] <= smallColumns:
			return launch(entry+"_of_64", s, s[0], smallThreads, onlineRoundings(s[1], smallThreads), mask)
		}
		return launch(entry, s, s[0], threads, onlineRoundings(s[1], threads), mask)
	}
}

// best launches another rung of the operator: a cluster for a row that a block's registers
// do not hold, where the device has clusters, and else a block. The plain form has more
// rungs to choose from.
func best(operator string, mask ...string) ladder.Planner {
	return func(_ string, s ladder.Size, info gpu.Info) ladder.Plan {
		if p, ok := bestPlain(s, info); ok && operator == "softmax" {
			return p
		}
		if s[1] <= bigColumns || info.Compute.Major < 9 {
			return blocks(bigThreads, mask...)(operator+"_block", s, info)
		}
		p := clusters(mask...)(operator+"_cluster", s, info)
		p.Module = clusterModule
		return p
	}
}

// bestPlain is the plan of a rung that only the plain form has, where measurements on an H200
// found it the fastest. From Ampere on, rows of 1025 to 8192 columns take softmax_evict_last. Longer rows, if
// there are at least 128, take softmax_block up to 16384 columns, which reads them twice, and
// softmax_cluster_shared up to 98304. All others are left to softmax_auto.
func bestPlain(s ladder.Size, info gpu.Info) (p ladder.Plan, ok bool) {
	switch {
	case s[1] > smallColumns && s[1] <= bigColumns && !ladder.Older(info.Compute, ladder.Ampere):
		p = blockARowOf512("softmax_evict_last", s, info)
		p.Module = lastModule
	case info.Compute.Major < 9 || s[0] < 128 || s[1] <= bigColumns || s[1] > 98304:
		return p, false
	case s[1] <= 2*bigColumns:
		p = blockARow("softmax_block", s, info)
	case s[1]%4 == 0:
		p = clusterShared("softmax_cluster_shared", s, info)
		p.Module = clusterModule
	default:
		return p, false
	}
	return p, true
}

// Constants of softmax_cluster.cu.
const (
	clusterModule  = "softmax_cluster"
	clusterBlocks  = 8   // = cluster_blocks
	clusterThreads = 256 // = cluster_threads
)

// clusters launches a cluster for each row. Its blocks rescale their sums once more.
func clusters(mask ...string) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 || s[1] == 0 {
			return ladder.Plan{}
		}
		depth := onlineRoundings(s[1], clusterBlocks*clusterThreads) + rescaled*clusterBlocks + 2*rescaled
		return launch(entry, s, s[0]*clusterBlocks, clusterThreads, depth, mask)
	}
}

// Constants of softmax_cluster_shared in softmax_cluster.cu: each thread has 16 vectors of four in registers, and as many in
// shared memory.
const (
	sharedThreads = 128                                    // = small_threads
	sharedBytes   = sharedThreads * 16 * 16                // = small_threads * shared_vectors * 16
	sharedColumns = clusterBlocks * sharedThreads * 32 * 4 // = cluster_blocks * small_threads * (register_vectors + shared_vectors) * 4
)

// clusterShared launches a cluster for each row, whose blocks have part of it in shared memory.
func clusterShared(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 || s[1] == 0 {
		return ladder.Plan{}
	}
	depth := onlineRoundings(s[1], clusterBlocks*sharedThreads) + rescaled*clusterBlocks + 2*rescaled
	if s[1] == sharedColumns {
		entry += "_of_131072"
	}
	p := launch(entry, s, s[0]*clusterBlocks, sharedThreads, depth, nil)
	p.Steps[0].Shared = sharedBytes
	return p
}
