package triangles

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// counted is the first vertex whose triangles are counted.
type counted int

// in is the argument at a size.
func (first counted) in(size ladder.Size) uint32 { return uint32(min(int(first), size[0])) }

// hasNone reports whether a graph has no triangles because of its size: nothing is launched.
func hasNone(size ladder.Size) bool { return size[0] == 0 || size[1] == 0 }

// resident launches eight blocks of 256 threads a multiprocessor, which stride over the
// edges, each a task of so many threads.
func (first counted) resident(threads int) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		if hasNone(size) {
			return ladder.Plan{}
		}
		return ladder.Plan{Steps: []ladder.Step{first.counting(entry, min(ladder.CeilDiv(size[1], 256/threads), 8*info.SMs), size)}}
	}
}

// perVertex launches at most so many blocks of 256 threads a multiprocessor, which stride
// over the vertices.
func (first counted) perVertex(perSM int) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		if hasNone(size) {
			return ladder.Plan{}
		}
		return ladder.Plan{Steps: []ladder.Step{first.counting(entry, blocks(size, info, perSM), size)}}
	}
}

func blocks(size ladder.Size, info gpu.Info, perSM int) int { return min(size[0], perSM*info.SMs) }

// counting is a launch of blocks of 256 threads that add to the count.
func (first counted) counting(entry string, blocks int, size ladder.Size, more ...any) ladder.Step {
	return ladder.Step{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: 256},
		Args: append([]any{"rows", "columns", "count", uint32(size[0]), first.in(size)}, more...), Zero: []string{"count"}}
}

// words is how many words of 32 bits have a bit for each vertex.
func words(size ladder.Size) int { return ladder.CeilDiv(size[0], 32) }

// bitmap gives each block a bitmap in global memory.
func (first counted) bitmap(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	if hasNone(size) {
		return ladder.Plan{}
	}
	all := blocks(size, info, 4)
	step := first.counting(entry, all, size, "bits", uint32(words(size)))
	step.Zero = append(step.Zero, "bits")
	return ladder.Plan{Scratch: []ladder.Tensor{{Name: "bits", Len: all * words(size), Type: gpu.Uint32}}, Steps: []ladder.Step{step}}
}

// mostShared is how many bytes of shared memory every device gives a block.
const mostShared = 48 << 10

// bitmapShared gives each block a bitmap in shared memory.
func (first counted) bitmapShared(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	if hasNone(size) {
		return ladder.Plan{}
	}
	step := first.counting(entry, blocks(size, info, 4), size, uint32(words(size)))
	step.Shared = 4 * words(size)
	return ladder.Plan{Steps: []ladder.Step{step}}
}

// tooMany refuses vertices whose bits do not fit shared memory.
func tooMany(size ladder.Size) error {
	if 4*words(size) <= mostShared {
		return nil
	}
	return fmt.Errorf("%w: bits of %d vertices do not fit 48 KiB of shared memory: expected at most %d vertices, or use triangles_packed",
		gpu.ErrUnsupported, size[0], 8*mostShared)
}

// maskedProduct computes the elements of the product, and adds them up.
func (first counted) maskedProduct(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	if hasNone(size) {
		return ladder.Plan{}
	}
	rows := ladder.Step{Entry: entry, Grid: gpu.Dim{X: blocks(size, info, 4)}, Block: gpu.Dim{X: 256},
		Args: []any{"rows", "columns", "product", uint32(size[0]), first.in(size)}}
	sum := ladder.Step{Entry: entry + "_2", Grid: gpu.Dim{X: min(ladder.CeilDiv(size[1], 256), 8*info.SMs)}, Block: gpu.Dim{X: 256},
		Args: []any{"rows", "product", "count", uint32(size[0]), first.in(size)}, Zero: []string{"count"}}
	return ladder.Plan{Scratch: []ladder.Tensor{{Name: "product", Len: size[1], Type: gpu.Uint32}}, Steps: []ladder.Step{rows, sum}}
}

// wedges counts the wedges before each vertex, and gives each warp an equal share.
func (first counted) wedges(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	if hasNone(size) {
		return ladder.Plan{}
	}
	n := uint32(size[0])
	parts := ladder.CeilDiv(size[0], 1024)
	step := func(suffix string, blocks, threads int, args ...any) ladder.Step {
		return ladder.Step{Entry: entry + suffix, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads}, Args: args}
	}
	last := step("_3", 8*info.SMs, 256, "rows", "columns", "count", "starts", "parts", n)
	last.Zero = []string{"count"}
	return ladder.Plan{
		Scratch: []ladder.Tensor{{Name: "starts", Len: size[0], Type: gpu.Uint64}, {Name: "parts", Len: parts + 1, Type: gpu.Uint64}},
		Steps: []ladder.Step{
			step("", parts, 1024, "rows", "starts", "parts", n, first.in(size)),
			step("_2", 1, 1024, "parts", uint32(parts)),
			last,
		},
	}
}

// drawn is how many edges a warp of triangles_packed takes at a time, in triangles.cu.
const drawn = 64 // = DRAWN

// packed makes words of the columns, whose pairs of uint32 are a uint64 here, and counts.
func (first counted) packed(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	if hasNone(size) {
		return ladder.Plan{}
	}
	draws := ladder.CeilDiv(size[1], drawn)
	pack := ladder.Step{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(size[0], 8)}, Block: gpu.Dim{X: 256},
		Args: []any{"rows", "columns", "packed", "span", "owner", uint32(size[0])}}
	count := ladder.Step{Entry: entry + "_2", Grid: gpu.Dim{X: min(ladder.CeilDiv(draws, 8), 6*info.SMs)}, Block: gpu.Dim{X: 256},
		Args: []any{"rows", "columns", "count", "packed", "span", "owner", "ticket", uint32(size[0]), first.in(size)}, Zero: []string{"count", "ticket"}}
	return ladder.Plan{
		Scratch: []ladder.Tensor{
			{Name: "packed", Len: size[1], Type: gpu.Uint64}, {Name: "span", Len: size[0], Type: gpu.Uint64},
			{Name: "owner", Len: draws, Type: gpu.Uint32}, {Name: "ticket", Len: 1, Type: gpu.Uint32},
		},
		Steps: []ladder.Step{pack, count},
	}
}

// unit is how many edges a warp of triangles_dense takes at a time, in dense.cu.
const unit = 32 // = UNIT

// mostHubs keeps the place of each bit of a hub's row within 2^32 bytes.
const mostHubs = 1 << 17

// hubs is the number of vertices whose rows are bits. These bits take about as much memory as
// the columns of the graph.
func hubs(size ladder.Size) int {
	return min(size[0], mostHubs, 8*int(math.Sqrt(float64(size[1]))))
}

// bitsBefore is how many words the rows of the hubs before v have: row v has a bit for each
// vertex of the blocks of 256 up to its own, so that it starts a sector.
func bitsBefore(v int) int {
	block := v / 256
	return 8 * (block + 1) * (v - 128*block)
}

// dense makes bits of the rows of hubs, and counts.
func (first counted) dense(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	if hasNone(size) {
		return ladder.Plan{}
	}
	units, hubs, owners := ladder.CeilDiv(size[1], unit), hubs(size), ladder.CeilDiv(size[0], 256)
	build := ladder.Step{Entry: entry, Grid: gpu.Dim{X: owners + ladder.CeilDiv(hubs, 8)}, Block: gpu.Dim{X: 256},
		Args: []any{"rows", "columns", "owner", "bits", "ticket", uint32(size[0]), uint32(hubs), uint32(owners)}}
	count := first.counting(entry+"_2", min(ladder.CeilDiv(units, 8), 4*info.SMs), size, "owner", "bits", "ticket", uint32(hubs))
	return ladder.Plan{
		Scratch: []ladder.Tensor{
			{Name: "owner", Len: units, Type: gpu.Uint64}, {Name: "bits", Len: bitsBefore(hubs), Type: gpu.Uint32},
			{Name: "ticket", Len: 1, Type: gpu.Uint32},
		},
		Steps: []ladder.Step{build, count},
	}
}
