package engine

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// This file is clusters: blocks that run at the same time, synchronise at a barrier of
// their own and access each other's shared memory. All blocks of a cluster run on one
// worker, in turns.

// cluster is the state that the blocks of a cluster share. In a launch without clusters
// each block is its own cluster.
type cluster struct {
	blocks  []*block
	at      gpu.Dim // index in the grid of clusters
	arrived int     // threads at the barrier
	phase   uint32  // of the barrier
}

// An address in the shared memory of another block of the cluster has the rank of that
// block, plus 1, above this bit.
const rankBit = 24

// addressIn is a shared address, generic or not, in the block of a rank.
func addressIn(address uint64, rank int) uint64 {
	return address&^(0xff<<rankBit) | uint64(rank+1)<<rankBit
}

// blockOf is the block of an offset in shared memory, and the offset in that block; nil
// if the cluster has no such block.
func (b *block) blockOf(offset uint64) (*block, uint64) {
	rank := offset >> rankBit & 0xff
	if offset>>32 != 0 || rank == 0 {
		return b, offset
	}
	if int(rank) > b.clusterSize() {
		return nil, offset
	}
	if b.cluster == nil {
		return b, offset & (1<<rankBit - 1)
	}
	return b.cluster.blocks[rank-1], offset & (1<<rankBit - 1)
}

func (b *block) clusterSize() int {
	if b.cluster == nil {
		return 1
	}
	return len(b.cluster.blocks)
}

// rank is the number of the block in its cluster.
func (b *block) rank() int {
	if b.cluster != nil {
		for i, other := range b.cluster.blocks {
			if other == b {
				return i
			}
		}
	}
	return 0
}

// checkCluster rejects a launch without the clusters that its entry needs.
func (p *Program) checkCluster(l gpu.Launch) error {
	if slices.Contains(p.fn.Clusters, "explicitcluster") && p.attributes.Cluster == (gpu.Dim{}) && l.Cluster == (gpu.Dim{}) {
		return fmt.Errorf("emu: launch %s: %w: no cluster, which .explicitcluster needs: give its shape as Launch.Cluster, or by __cluster_dims__", p.name, gpu.ErrShape)
	}
	return nil
}

// clusterRank is the place of a rank in its cluster.
func (l *Launch) clusterRank(rank int) gpu.Dim {
	c := l.cluster
	return gpu.Dim{X: rank % c.X, Y: rank / c.X % c.Y, Z: rank / (c.X * c.Y)}
}

// clusterPlace is the index of a cluster in the grid of clusters.
func (l *Launch) clusterPlace(n int64) gpu.Dim {
	x, y := int64(l.grid.X/l.cluster.X), int64(l.grid.Y/l.cluster.Y)
	return gpu.Dim{X: int(n % x), Y: int(n / x % y), Z: int(n / (x * y))}
}

// workClusters runs clusters until there are none left or one has failed.
func (l *Launch) workClusters(b *block) {
	patterns := b.newPatternTable()
	c := &cluster{blocks: []*block{b}}
	for len(c.blocks) < l.cluster.Size() {
		c.blocks = append(c.blocks, l.another()...)
	}
	for _, b := range c.blocks {
		b.patterns, b.cluster = patterns, c
	}
	defer func() {
		for _, b := range c.blocks {
			b.cluster = nil
			if b != c.blocks[0] {
				b.patterns = nil
			}
		}
	}()
	for {
		l.left.Add(int64(l.cluster.Size()))
		n := l.next.Add(1) - 1
		if n >= l.clusters() || l.interrupted() || !l.runCluster(c, n) {
			return
		}
	}
}

// clusters is the number of clusters.
func (l *Launch) clusters() int64 { return l.total / int64(l.cluster.Size()) }

// runCluster runs one cluster to its end; it reports false after a fault.
func (l *Launch) runCluster(c *cluster, n int64) bool {
	c.at, c.arrived, c.phase = l.clusterPlace(n), 0, 0
	for rank, b := range c.blocks {
		in := l.clusterRank(rank)
		b.start(gpu.Dim{X: c.at.X*l.cluster.X + in.X, Y: c.at.Y*l.cluster.Y + in.Y, Z: c.at.Z*l.cluster.Z + in.Z})
		if b.following != nil {
			b.following.begin(b, n, rank == 0)
		}
	}
	if int64(c.blocks[0].linear()) > l.firstAt.Load() {
		return false
	}
	for live := true; live; {
		live = false
		progress := false
		for _, b := range c.blocks {
			if b.live == 0 {
				continue
			}
			live = true
			b.stuck = false
			b.run()
			if b.watch.IsQuiet() && b.fault == nil {
				if l.hangs(b) {
					return false
				}
				b.fault = l.check(b)
			}
			if b.fault != nil {
				l.fail(int64(b.linear()), b.fault)
				return false
			}
			if b.live > 0 {
				b.waits()
			} else {
				l.left.Add(-1)
			}
			progress = progress || !b.stuck
		}
		if live && !progress {
			b := c.blocks[0]
			for _, other := range c.blocks {
				if other.live > 0 {
					b = other
					break
				}
			}
			b.stall()
			l.fail(int64(b.linear()), b.fault)
			return false
		}
	}
	return true
}

// clusterOf is the cluster of a block, a new one in a launch without clusters.
func (b *block) clusterOf() *cluster {
	if b.cluster == nil {
		b.cluster = &cluster{blocks: []*block{b}}
	}
	return b.cluster
}

// arriveCluster makes lanes arrive at the barrier of the cluster.
func (w *warp) arriveCluster(in *instr, m uint32) {
	c := w.block.clusterOf()
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x)
		if w.clusterArrived>>l&1 != 0 && w.clusterPhase[l] == c.phase {
			w.fail(in, l, gpu.ErrBarrier, "it arrives twice at the barrier of the cluster: barrier.cluster.wait comes between")
			return
		}
		w.clusterPhase[l] = c.phase
	}
	w.clusterArrived |= m
	w.block.cnt.Barriers++
	c.arrived += popcount(m)
	c.complete()
}

// complete starts another phase if all threads that have not exited have arrived.
func (c *cluster) complete() {
	live := 0
	for _, b := range c.blocks {
		live += b.live
	}
	if c.arrived == 0 || c.arrived < live {
		return
	}
	c.arrived = 0
	c.phase++
	if g := c.blocks[0].global; g != nil {
		var numbers []int32
		for _, b := range c.blocks {
			numbers = append(numbers, b.number())
		}
		g.Meet(numbers)
	}
	for _, b := range c.blocks {
		b.visits.forget()
		if b.races != nil {
			b.visits.since = b.races.Warps.Now + 1
		}
		for _, o := range b.order { // the barrier orders every access before it before every access after it
			if o != nil {
				o.Warps.MeetAll()
			}
		}
		for _, w := range b.warps {
			w.meet(w.alive)
		}
	}
}

// clusterWait is a wait at the barrier of the cluster.
type clusterWait struct{}

func (clusterWait) wait(w *warp, f *fragment, in *instr, m uint32) bool {
	c := w.block.clusterOf()
	if missing := m &^ w.clusterArrived; missing != 0 {
		w.fail(in, lowest(missing), gpu.ErrBarrier, "it waits at the barrier of the cluster without barrier.cluster.arrive before")
		return false
	}
	if w.clusterPhase[lowest(m)] != c.phase {
		w.clusterArrived &^= m
		w.count(f, f.pc, f.pc+1)
		return true
	}
	f.state = atGroup
	return false
}

func (clusterWait) met(w *warp, f *fragment, _ *instr) bool {
	return w.clusterPhase[lowest(f.mask)] != w.block.clusterOf().phase
}

// accessCluster runs an access to shared memory of which some lanes may reach
// another block of the cluster.
func (w *warp) accessCluster(in *instr, m uint32) {
	for m != 0 {
		to, _ := w.block.blockOf(w.addr[lowest(m)])
		var group uint32
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			if b, offset := w.block.blockOf(w.addr[l]); b == to {
				group |= 1 << l
				if to != nil {
					w.addr[l] = offset
				}
			}
		}
		m &^= group
		switch {
		case to == nil:
			w.fail(in, lowest(group), gpu.ErrSpace, "shared address %#x is in no block of the cluster", w.addr[lowest(group)])
		case to != w.block && !w.block.launch.races.visit(w, in, to, group):
		default:
			w.transfer(in, place{space: ptx.Shared, contents: to.shared, remote: to != w.block}, group)
		}
		if w.block.fault != nil {
			return
		}
	}
}

// visit is the last access of another block to a word of shared memory.
type visit struct {
	in     *instr
	warp   *warp
	lane   int
	writes bool
}

// visits are the accesses of other blocks to the shared memory of a block since the last
// barrier of the cluster.
type visits struct {
	words map[uint64]visit // by offset / 4
	last  map[*block]visit // of each block
	since uint32           // own accesses before this time are known to the others
}

func (v *visits) forget() { clear(v.words); clear(v.last) }
