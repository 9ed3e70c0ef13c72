package triangles

import "warpbook/ops/ladder"

func variants(first counted) []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "triangles_merge", Adds: "one thread for each edge merges the rows of both ends",
			Source: "ours", Plan: first.resident(1),
		},
		{
			Name: "triangles_search", Adds: "each vertex of the shorter row is searched in the longer one",
			Source: "ours", Plan: first.resident(1),
		},
		{
			Name: "triangles_search_warp", Adds: "one warp for each edge: its lanes share the searches",
			Source: "ours", Plan: first.resident(32),
		},
		{
			Name: "triangles_wedges", Adds: "every warp has an equal share of all wedges, whatever the rows are; a search each",
			Source: "ours, after WeTriC", Plan: first.wedges,
		},
		{
			Name: "triangles_bitmap", Adds: "one block for each vertex: the row is a bitmap of all vertices in global memory, and a wedge is a bit to look up",
			Source: "ours", Plan: first.bitmap,
		},
		{
			Name: "triangles_bitmap_shared", Adds: "the bitmap is in shared memory",
			Source: "ours, after TRUST", Plan: first.bitmapShared, Refuses: tooMany,
		},
		{
			Name: "triangles_masked_product", Adds: "the product L L where L has an element, with a hash table for each row; then a sum",
			Source: "ours", Plan: first.maskedProduct,
		},
		{
			Name: "triangles_hash", Adds: "no product is stored: the row is a hash table in shared memory, as long as it needs",
			Source: "ours, after TRUST", Plan: first.perVertex(4),
		},
		{
			Name: "triangles_packed", Adds: "rows are words of 32 bits with their places: a lookup is up to 32 wedges; one table per warp, 64 edges at a time",
			Source: "ours", Plan: first.packed,
		},
		{
			Name: "triangles_dense", Adds: "rows of hubs are bits in global memory, and a lane has a word of row u: a lookup is a load of the word of row v at its place",
			Source: "ours", Module: "dense", Plan: first.dense,
		},
	}
}
