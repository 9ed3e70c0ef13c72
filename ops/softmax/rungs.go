package softmax

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// variants are the ladder of Operator.
var variants = []ladder.Variant{
	{Name: "softmax_three_passes", Adds: "one thread for each row, three passes over it: maximum, sum, outputs", Source: "ours", Plan: threadARow},
	{Name: "softmax_warp", Adds: "one warp for each row: lanes read neighbours", Source: "ours", Plan: warpARow(twoPassRoundings)},
	{Name: "softmax_online", Adds: "maximum and sum in one pass: x is read twice", Source: "ours", Plan: warpARow(onlineRoundings)},
	{Name: "softmax_registers", Adds: "rows of up to 1024 columns stay in the warp's registers: x is read once, 16 bytes per access", Source: "ours", Plan: warpARow(onlineRoundings)},
	{Name: "softmax_block", Adds: "one block for each row: up to 8192 columns stay in registers", Source: "ours", Plan: blockARow},
	{Name: "softmax_block_512", Adds: "512 threads with four vectors each in place of 1024 with two: three blocks share a multiprocessor", Source: "ours", Plan: blockARowOf512},
	{Name: "softmax_evict_last", Adds: "loads tell L2 to evict their lines last", Source: "ours", Module: lastModule, Needs: ladder.Ampere, Plan: blockARowOf512},
	{Name: "softmax_cluster", Adds: "a cluster of eight blocks for each row, joined by distributed shared memory: up to 131072 columns stay in registers",
		Source: "ours", Module: clusterModule, Needs: gpu.Compute{Major: 9}, Plan: clusterARow},
	{Name: "softmax_cluster_shared", Adds: "half of a row in shared memory: four blocks of 128 threads share a multiprocessor",
		Source: "ours", Module: clusterModule, Needs: gpu.Compute{Major: 9}, Plan: clusterShared},
	{Name: "softmax_auto", Adds: "the rung of this length: a block while its registers hold the row, then a cluster where there is one", Source: "ours", Picks: true, Plan: best("softmax")},
}

// logVariants are those of Log.
var logVariants = []ladder.Variant{
	{Name: "log_softmax_online", Adds: "one warp for each row, two passes", Source: "ours", Plan: warpARow(onlineRoundings)},
	{Name: "log_softmax_block", Adds: "one block for each row: up to 8192 columns stay in registers", Source: "ours", Plan: blockARow},
	{Name: "log_softmax_cluster", Adds: "a cluster of eight blocks for each row: up to 131072 columns stay in registers",
		Source: "ours", Module: clusterModule, Needs: gpu.Compute{Major: 9}, Plan: clusterARow},
	{Name: "log_softmax_auto", Adds: "the rung of this length: a block while its registers hold the row, then a cluster where there is one", Source: "ours", Picks: true, Plan: best("log_softmax")},
}

// maskedVariants are those of Masked.
var maskedVariants = []ladder.Variant{
	{Name: "masked_softmax_online", Adds: "one warp for each row, two passes", Source: "ours", Plan: warpARow(onlineRoundings, "mask")},
	{Name: "masked_softmax_block", Adds: "one block for each row: up to 8192 columns stay in registers", Source: "ours", Plan: blockARowMasked},
	{Name: "masked_softmax_cluster", Adds: "a cluster of eight blocks for each row: up to 131072 columns stay in registers",
		Source: "ours", Module: clusterModule, Needs: gpu.Compute{Major: 9}, Plan: clusterARowMasked},
	{Name: "masked_softmax_auto", Adds: "the rung of this length: a block while its registers hold the row, then a cluster where there is one", Source: "ours", Picks: true, Plan: best("masked_softmax", "mask")},
}
