package histogram

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// threads are those of a block of the notes' rungs.
const threads = 256

// oneElement launches a thread for each element.
func oneElement(bins int) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		return launch(entry, size[0], bins, ladder.CeilDiv(size[0], threads), threads, 0)
	}
}

// gridStride launches at most eight blocks a multiprocessor, which stride over x, with
// so many bytes of counters a block.
func gridStride(bins, bytes int) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		return launch(entry, size[0], bins, min(ladder.CeilDiv(size[0], 4*threads), 8*info.SMs), threads, bytes)
	}
}

// perLane launches at most so many blocks of 1024 threads a multiprocessor, with 32
// counters a bin: a block clears and adds these up, which pays from 65536 elements on.
func perLane(bins, perSM int) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		return launch(entry, size[0], bins, min(ladder.CeilDiv(size[0], 65536), perSM*info.SMs), 1024, 128*bins)
	}
}

// many launches at most one block of 1024 threads a multiprocessor, a multiple of so
// many, each with so many bytes of counters, which pay from 262144 elements on.
func many(bins, multiple, bytes int) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		clusters := max(1, min(ladder.CeilDiv(size[0], 1<<18), info.SMs)/multiple)
		return launch(entry, size[0], bins, clusters*multiple, 1024, bytes)
	}
}

// tooMany rejects bins that do not fit the given KiB of shared memory, with the given
// bytes a bin.
func tooMany(bins, bytes, room int) func(ladder.Size) error {
	if bins*bytes <= room<<10 {
		return nil
	}
	return func(ladder.Size) error {
		return fmt.Errorf("%w: %d bins of %d bytes do not fit %d KiB of shared memory: expected at most %d bins, or use histogram_cluster", gpu.ErrUnsupported, bins, bytes, room, room<<10/bytes)
	}
}

func launch(entry string, n, bins, blocks, threads, shared int) ladder.Plan {
	if n == 0 {
		return ladder.Plan{}
	}
	return ladder.Plan{Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads}, Shared: shared,
		Args: []any{"x", "counts", "dropped", uint32(n), uint32(bins)}, Zero: []string{"counts", "dropped"},
	}}}
}
