package transpose

import "warpbook/ops/ladder"

// Figures of rungs of our own are of one H200, 23 November 2026, graphs of runs,
// in us at 4096 x 4096 and 16384 x 16384. The limit, copy_tile64, takes 34.1 and 509.
var variants = []ladder.Variant{
	{
		Name: "transpose_coalesced_read", Adds: "a warp reads 32 neighbours of a row and writes them to 32 rows",
		Source: "002", Plan: tiles(oneElement),
		Published: ladder.Published("002 transpose1", "latency"),
	},
	{
		Name: "transpose_coalesced_write", Adds: "a warp reads from 32 rows and writes 32 neighbours of a row",
		Source: "002", Plan: tiles(alongRows),
		Published: ladder.Published("002 transpose2", "latency"),
	},
	{
		Name: "transpose_shared", Adds: "a tile goes through shared memory: both global accesses are coalesced, its columns lie in one bank",
		Source: "002", Plan: tiles(oneElement),
		Published: ladder.Published("002 transpose shared", "latency"),
	},
	{
		Name: "transpose_padded", Adds: "a row of the tile is one float longer: its columns lie in 32 banks",
		Source: "002", Plan: tiles(oneElement),
		Published: ladder.Published("002 transpose padded", "latency"),
	},
	{
		Name: "transpose_four_rows", Adds: "a thread moves four rows of the tile: four loads are in flight",
		Source: "ours", Plan: tiles(fourRows),
	},
	{
		Name: "transpose_tile64", Adds: "tiles of 64 x 64 and accesses of 16 bytes: a thread exchanges 4 x 4 floats in registers",
		Source: "ours", Plan: tiles(tile64),
	},
	{
		// 34.2 and 533; torch.compile 35.4 and 518, cublasSgeam 37.9 and 539. Tiles of 32 x 64, 64 x 32, 64 x 128 and 128 x 64 take
		// 588, 566, 541 and 540; loads by the copy engine with its own swizzle 34.1 and 539.
		Name: "transpose_swizzle", Adds: "vectors of the tile change places by their row: no bank conflicts",
		Source: "ours", Plan: tiles(tile64),
	},
}
