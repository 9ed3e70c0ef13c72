package concat

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

var variants = []ladder.Variant{
	{
		Name: "concat_copies", Adds: "a launch for each part, which copies it to its place in each row",
		Source: "ours", Plan: copies,
	},
	{
		Name: "concat_index_map", Adds: "one launch: each element of y finds its part and its place there",
		Source: "ours", Plan: indexMap,
	},
	{
		Name: "concat_offset_table", Adds: "a table says where tiles begin: no division of 64 bits for each element",
		Source: "ours", Plan: tiles,
	},
	{
		Name: "concat_vector", Adds: "stores of 16 bytes, and loads where four neighbours are aligned",
		Source: "ours", Plan: tiles,
	},
	{
		Name: "concat_reciprocal", Adds: "no table: a product in place of the division; a thread for each vector, in blocks of 128",
		Source: "ours", Plan: reciprocal(128),
	},
	{
		Name: "concat_evict_last", Adds: "loads tell L2 to evict their lines last; blocks of 256",
		Source: "ours", Module: "concat_last", Needs: ladder.Ampere, Plan: reciprocal(256),
	},
	{
		Name: "concat_bulk", Adds: "the copy engine moves pieces of rows through shared memory",
		Source: "ours", Module: "concat_bulk", Needs: gpu.Compute{Major: 9}, Plan: bulk,
	},
}
