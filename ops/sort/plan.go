package sort

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of merge.cuh, radix.cuh, onesweep.cuh, onesweep_wide.cuh and onesweep_early.cuh:
// keys of a tile, threads with 8 or 16 each.
const (
	mergeTile = 2048 // = merge_tile
	radixTile = 2048 // = radix_tile
	sweepTile = 4096 // = sweep_tile

	wideThreads = 512              // = wide_threads
	wideTile    = 16 * wideThreads // = wide_tile

	earlyThreads = 384 // = early_threads
	earlyBytes   = 96  // of keys and values that a thread has in registers
	largeBytes   = 128
)

// layout holds the data that all plans of a ladder share.
type layout struct {
	key   gpu.Type
	pairs bool
}

// scratch is a second buffer of keys, and of values, to which every other pass writes.
func (l layout) scratch(n int) []ladder.Tensor {
	all := []ladder.Tensor{{Name: "keys_2", Len: n, Type: l.key}}
	if l.pairs {
		all = append(all, ladder.Tensor{Name: "values_2", Len: n, Type: gpu.Uint32})
	}
	return all
}

// buffers are the arguments of a pass: its source and its destination. The last pass writes
// the outputs; no pass writes the inputs.
func (l layout) buffers(pass, passes int) []any {
	at := func(input, output, scratch string) []any {
		to := []string{output, scratch}
		from := to[(passes-pass)%2]
		if pass == 0 {
			from = input
		}
		return []any{from, to[(passes-1-pass)%2]}
	}
	args := at("keys", "sorted", "keys_2")
	if l.pairs {
		args = append(args, at("values", "moved", "values_2")...)
	}
	return args
}

// blocks is a launch of blocks of 256 threads.
func blocks(entry string, n int, args ...any) ladder.Step {
	return ladder.Step{Entry: entry, Grid: gpu.Dim{X: n}, Block: gpu.Dim{X: 256}, Args: args}
}

// oneTile launches one block.
func (l layout) oneTile(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 {
		return ladder.Plan{}
	}
	return ladder.Plan{Steps: []ladder.Step{blocks(entry, 1, append(l.buffers(0, 1), uint32(s[0]))...)}}
}

// tooLong rejects more keys than one block sorts.
func tooLong(s ladder.Size) error {
	if s[0] <= mergeTile {
		return nil
	}
	return fmt.Errorf("ops: sort: %d keys: %w: one block sorts at most %d, use another rung", s[0], gpu.ErrUnsupported, mergeTile)
}

// merges sorts tiles, and then merges pairs of runs until there is one. A launch has as
// many blocks as grid says for a width of runs.
func (l layout) merges(grid func(n, width int) int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		passes := 1
		for width := mergeTile; width < n; width *= 2 {
			passes++
		}
		p := ladder.Plan{Steps: []ladder.Step{blocks(entry, ladder.CeilDiv(n, mergeTile), append(l.buffers(0, passes), uint32(n))...)}}
		if passes > 1 {
			p.Scratch = l.scratch(n)
		}
		for pass, width := 1, mergeTile; width < n; pass, width = pass+1, 2*width {
			p.Steps = append(p.Steps, blocks(entry+"_2", grid(n, width), append(l.buffers(pass, passes), uint32(n), uint32(width))...))
		}
		return p
	}
}

// merger is a sort of large tiles: so many keys a thread, in blocks of mergeThreads that
// merge and in blocks of one, two or four times as many that sort a tile. Static shared
// memory of 48 KB holds the smallest tile; the others need 66 and 132 KB of dynamic memory.
type merger struct {
	layout
	items int
	ways  int // runs that a pass merges
}

// Constants of tile.cuh, and the shared memory that every GPU gives a block.
const (
	mergeThreads = 256 // = merge_threads
	leastShared  = 48 << 10
)

// large is the merger of a layout.
func (l layout) large(ways int) merger {
	if l.pairs {
		return merger{l, 17, ways}
	}
	return merger{l, 33, ways}
}

// passes merge runs of so many keys into one.
func (m merger) passes(n, width int) (passes int) {
	for ; width < n; width *= m.ways {
		passes++
	}
	return passes
}

// shared is the dynamic shared memory of a block that sorts a tile.
func (m merger) shared(threads int) int {
	bytes := m.key.Bytes()
	if m.pairs {
		bytes += 4
	}
	return threads * m.items * bytes
}

// threads are those of a block that sorts a tile: of the tiles that the device has the
// shared memory for, and of which each multiprocessor gets one, the smallest that needs
// the fewest passes. Several small blocks share a multiprocessor, and some load while
// others sort.
func (m merger) threads(n int, info gpu.Info) int {
	best := mergeThreads
	for threads := 2 * mergeThreads; threads <= 4*mergeThreads; threads *= 2 {
		fits := m.shared(threads) <= max(info.SharedPerBlockMax, leastShared) && n >= threads*m.items*info.SMs
		if fits && m.passes(n, threads*m.items) < m.passes(n, best*m.items) {
			best = threads
		}
	}
	return best
}

// plan sorts tiles, and then merges runs, two or four at a time, until there is one. A
// pass of four first finds where the tiles of its result begin.
func (m merger) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	n := s[0]
	if n == 0 {
		return ladder.Plan{}
	}
	threads := m.threads(n, info)
	width := threads * m.items
	passes := 1 + m.passes(n, width)
	tile := mergeThreads * m.items
	tiles := ladder.CeilDiv(n, tile)
	p := ladder.Plan{Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, width)}, Block: gpu.Dim{X: threads},
		Shared: m.shared(threads), Args: append(m.buffers(0, passes), uint32(n))}}}
	if passes > 1 {
		p.Scratch = m.scratch(n)
	}
	if passes > 1 && m.ways == 4 {
		p.Scratch = append(p.Scratch, ladder.Tensor{Name: "splits", Len: 4 * tiles, Type: gpu.Uint32})
	}
	for pass := 1; pass < passes; pass, width = pass+1, width*m.ways {
		args := m.buffers(pass, passes)
		if m.ways == 2 {
			p.Steps = append(p.Steps, blocks(entry+"_2", tiles, append(args, uint32(n), uint32(width))...))
			continue
		}
		p.Steps = append(p.Steps,
			blocks(entry+"_2", ladder.CeilDiv(tiles, 8), args[0], "splits", uint32(n), uint32(width), uint32(tiles)),
			blocks(entry+"_3", tiles, append(args, "splits", uint32(n), uint32(width))...))
	}
	return p
}

// network is the plan of network_merge.cuh. A block sorts a tile, `own` keys a thread; of the
// numbers of threads, the smallest with the fewest passes is taken. A block of mergeThreads
// merges `ways` runs into a tile of mergeOwn keys a thread. A thread merges `items` keys, a few
// more than mergeOwn, so the last threads of a block have no keys. Each run is followed by
// `items` sentinels. Either a launch before finds the splits, or each block finds its own.
type network struct {
	layout
	threads                             []int
	own                                 int
	ways, mergeThreads, mergeOwn, items int
	splits                              bool
}

func (m network) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	n := s[0]
	if n == 0 {
		return ladder.Plan{}
	}
	merges, threads := merger{ways: m.ways}, m.threads[0]
	for _, more := range m.threads[1:] {
		if merges.passes(n, more*m.own) < merges.passes(n, threads*m.own) {
			threads = more
		}
	}
	width, tile := threads*m.own, m.mergeThreads*m.mergeOwn
	passes, tiles := 1+merges.passes(n, width), ladder.CeilDiv(n, tile)
	// Runs of a warp have 33 sentinels each; a part of a run loses up to six words to its alignment.
	sortShared, mergeShared := 4*(width+threads/32*33), 4*(tile+m.ways*(m.items+6))
	p := ladder.Plan{Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, width)}, Block: gpu.Dim{X: threads},
		Shared: sortShared, Args: append(m.buffers(0, passes), uint32(n))}}}
	if passes > 1 {
		p.Scratch = m.scratch(n)
	}
	if passes > 1 && m.splits {
		p.Scratch = append(p.Scratch, ladder.Tensor{Name: "splits", Len: m.ways * tiles, Type: gpu.Uint32})
	}
	for pass := 1; pass < passes; pass, width = pass+1, width*m.ways {
		args, last := m.buffers(pass, passes), "_2"
		if m.splits {
			p.Steps = append(p.Steps, blocks(entry+"_2", ladder.CeilDiv(tiles, 8), args[0], "splits", uint32(n), uint32(width), uint32(tiles)))
			args, last = append(args, "splits"), "_3"
		}
		p.Steps = append(p.Steps, ladder.Step{Entry: entry + last, Grid: gpu.Dim{X: tiles}, Block: gpu.Dim{X: m.mergeThreads}, Shared: mergeShared, Args: append(args, uint32(n), uint32(width))})
	}
	return p
}

// networkMost is the most keys for which tiles of network_few are faster than those of a radix sort.
const networkMost = 1 << 21

// tooManyForNetwork rejects more keys than that.
func tooManyForNetwork(s ladder.Size) error {
	if s[0] <= networkMost {
		return nil
	}
	return fmt.Errorf("ops: sort: %d keys: %w: sort_network_few is for at most %d, use sort_onesweep_early", s[0], gpu.ErrUnsupported, networkMost)
}

// aThread has a thread for each pair of runs, aTile a block for each tile of the result.
func aThread(n, width int) int { return ladder.CeilDiv(ladder.CeilDiv(n, 2*width), 256) }
func aTile(n, _ int) int       { return ladder.CeilDiv(n, mergeTile) }

// digits is three launches for each digit of so many bits: count, scan, scatter.
func (l layout) digits(bits int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles, passes := ladder.CeilDiv(n, radixTile), 8*l.key.Bytes()/bits
		counts := tiles << bits
		p := ladder.Plan{Scratch: append(l.scratch(n), ladder.Tensor{Name: "counts", Len: counts, Type: gpu.Uint32})}
		for pass := range passes {
			args, shift := l.buffers(pass, passes), uint32(pass*bits)
			p.Steps = append(p.Steps,
				blocks(entry, tiles, args[0], "counts", uint32(n), shift),
				blocks(entry+"_2", 1, "counts", uint32(counts)),
				blocks(entry+"_3", tiles, append(args, "counts", uint32(n), shift)...))
		}
		return p
	}
}

// sweeps first counts all digits, and then has one launch for each digit of 8 bits, whose
// blocks of so many threads have a tile each, and bytes of dynamic shared memory.
func (l layout) sweeps(count func(entry string, n int, info gpu.Info) ladder.Step, threads, tile, shared int) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles, passes := ladder.CeilDiv(n, tile), l.key.Bytes()
		p := ladder.Plan{Scratch: append(l.scratch(n), ladder.Tensor{Name: "histogram", Len: 256 * passes, Type: gpu.Uint32},
			ladder.Tensor{Name: "status", Len: 256 * tiles, Type: gpu.Uint32}, ladder.Tensor{Name: "ticket", Len: 1, Type: gpu.Uint32})}
		first := count(entry, n, info)
		first.Zero = []string{"histogram"}
		p.Steps = []ladder.Step{first, blocks(entry+"_2", passes, "histogram")}
		for pass := range passes {
			p.Steps = append(p.Steps, ladder.Step{Entry: entry + "_3", Grid: gpu.Dim{X: tiles}, Block: gpu.Dim{X: threads}, Shared: shared, Zero: []string{"status", "ticket"},
				Args: append(l.buffers(pass, passes), "histogram", "status", "ticket", uint32(n), uint32(8*pass), uint32(pass))})
		}
		return p
	}
}

func (l layout) onesweep() ladder.Planner { return l.sweeps(countAll, 256, sweepTile, 0) }

// countAll has at most eight blocks a multiprocessor count.
func countAll(entry string, n int, info gpu.Info) ladder.Step {
	return blocks(entry, min(ladder.CeilDiv(n, sweepTile), 8*max(info.SMs, 1)), "keys", "histogram", uint32(n))
}

// Threads of blocks of onesweep_wide.cuh that count, and keys that one of them counts in a turn.
const (
	columnThreads = 1024
	columnTurn    = columnThreads * 8
)

// countColumns has one block a multiprocessor count. A counter has 32 copies, 128 KB in all
// for keys of 4 bytes, or half or a quarter where a block cannot have that much.
func (l layout) countColumns(entry string, n int, info gpu.Info) ladder.Step {
	columns, bytes := 32, 4*256*l.key.Bytes()
	for columns > 8 && columns*bytes > info.SharedPerBlockMax {
		columns /= 2
	}
	return ladder.Step{Entry: entry, Grid: gpu.Dim{X: min(ladder.CeilDiv(n, columnTurn), max(info.SMs, 1))}, Block: gpu.Dim{X: columnThreads},
		Shared: columns * bytes, Args: []any{"keys", "histogram", uint32(n), uint32(columns)}}
}

// early is the plan of tiles that publish their counts early, with so many bytes of keys and
// values a thread. Dynamic shared memory holds these, and two words for each digit of a warp.
func (l layout) early(perThread int) ladder.Planner {
	bytes := l.key.Bytes()
	if l.pairs {
		bytes += 4
	}
	tile := perThread / bytes * earlyThreads
	return l.sweeps(l.countColumns, earlyThreads, tile, tile*bytes+earlyThreads/32*256*2*4)
}
