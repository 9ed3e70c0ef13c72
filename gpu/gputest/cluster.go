package gputest

import (
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// EmptyEntry is a module with the kernel "empty", for tests of occupancy: the launch
// alone decides how many blocks fit.
const EmptyEntry = `.version 7.8
.target sm_90
.address_size 64
.visible .entry empty()
{
	ret;
}
`

// neighbours has one thread a block. It reads the number of the next block of its cluster
// from that block's shared memory and writes it with its rank and the size of the cluster.
const neighbours = `.version 8.0
.target sm_90
.address_size 64
.visible .entry neighbours(.param .u64 out)
{
	.reg .b32 %r<16>;
	.reg .b64 %d<3>;
	.shared .align 4 .b8 number[4];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ctaid.y;
	mov.u32 %r2, %ctaid.z;
	mov.u32 %r3, %nctaid.x;
	mov.u32 %r4, %nctaid.y;
	mad.lo.u32 %r5, %r2, %r4, %r1;
	mad.lo.u32 %r5, %r5, %r3, %r0;
	mov.u32 %r6, number;
	st.shared.u32 [%r6], %r5;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	mov.u32 %r7, %cluster_ctarank;
	mov.u32 %r8, %cluster_nctarank;
	add.u32 %r9, %r7, 1;
	rem.u32 %r9, %r9, %r8;
	mapa.shared::cluster.u32 %r10, %r6, %r9;
	ld.shared::cluster.u32 %r11, [%r10];
	ld.param.u64 %d0, [out];
	mul.wide.u32 %d1, %r5, 12;
	add.u64 %d0, %d0, %d1;
	st.global.u32 [%d0], %r11;
	st.global.u32 [%d0+4], %r7;
	st.global.u32 [%d0+8], %r8;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	ret;
}
`

// neighboursWith is the entry with directives.
func (s *suite) neighboursWith(directives string) gpu.Entry {
	s.Helper()
	m, err := s.device.Load("neighbours.ptx", strings.Replace(neighbours, "out)\n", "out)\n"+directives+"\n", 1))
	s.ok(err)
	e, err := m.Entry("neighbours")
	s.ok(err)
	return e
}

// hasClusters reports whether the GPU has clusters. If not, it checks that launches with
// clusters are refused.
func (s *suite) hasClusters() bool {
	s.Helper()
	if s.device.Info().Compute.Major >= 9 {
		return true
	}
	x, y := s.alloc(gpu.Float32, 4, s.floats(4)), s.alloc(gpu.Float32, 4, s.floats(4))
	l := s.scale(x, y, 1, 4)
	l.Grid, l.Cluster = gpu.Dim{X: 2}, gpu.Dim{X: 2}
	s.refused(l, gpu.ErrUnsupported, "a cluster on a GPU without clusters", "scale", "expected sm_90 or later")
	_, err := s.device.Clusters(l)
	s.is(err, gpu.ErrUnsupported, "clusters at once on a GPU without clusters")
	_, err = s.device.LargestCluster(l)
	s.is(err, gpu.ErrUnsupported, "the largest cluster on a GPU without clusters")
	return false
}

// clusterRank is the place of a block in its cluster and the number of the next block there.
func clusterRank(at, grid, cluster gpu.Dim) (rank, next int) {
	in := gpu.Dim{X: at.X % cluster.X, Y: at.Y % cluster.Y, Z: at.Z % cluster.Z}
	rank = (in.Z*cluster.Y+in.Y)*cluster.X + in.X
	to := (rank + 1) % cluster.Size()
	x, y, z := at.X-in.X+to%cluster.X, at.Y-in.Y+to/cluster.X%cluster.Y, at.Z-in.Z+to/(cluster.X*cluster.Y)
	return rank, (z*grid.Y+y)*grid.X + x
}

// isNeighbours checks what the entry has written in a launch.
func (s *suite) isNeighbours(out gpu.Buffer, grid, cluster gpu.Dim, what string) {
	s.Helper()
	got := make([]uint32, out.Len())
	s.ok(out.Download(got))
	for i := range grid.Size() {
		at := gpu.Dim{X: i % grid.X, Y: i / grid.X % grid.Y, Z: i / (grid.X * grid.Y)}
		rank, next := clusterRank(at, grid, cluster)
		if want := []uint32{uint32(next), uint32(rank), uint32(cluster.Size())}; !slices.Equal(got[3*i:3*i+3], want) {
			s.Fatalf("%s, grid %v, clusters %v: block %v has %d, expected the next block, rank and size %d (seed %d)", what, grid, cluster, at, got[3*i:3*i+3], want, seed)
		}
	}
}

// testClusters launches clusters of every shape that a launch can give, at once and in a
// graph, and those that an entry was compiled for.
func testClusters(t *testing.T, s *suite) {
	if !s.hasClusters() {
		return
	}
	plain, explicit := s.neighboursWith(""), s.neighboursWith(".explicitcluster")
	compiled := s.neighboursWith(".explicitcluster\n.reqnctapercluster 2, 2, 1")
	const most = 8
	launch := func(e gpu.Entry, given, cluster gpu.Dim, what string) {
		grid := gpu.Dim{X: cluster.X * (1 + s.random.IntN(3)), Y: cluster.Y * (1 + s.random.IntN(3)), Z: cluster.Z * (1 + s.random.IntN(2))}
		poison := make([]uint32, 3*grid.Size())
		for i := range poison {
			poison[i] = s.random.Uint32() | 1<<31
		}
		out := s.alloc(gpu.Uint32, len(poison), poison)
		l := gpu.Launch{Entry: e, Grid: grid, Block: gpu.Dim{X: 1}, Cluster: given, Args: []any{out}}
		s.ok(s.run(l))
		s.isNeighbours(out, grid, cluster, what)
		s.ok(out.Upload(poison))
		g := s.captured(s.device, func() { s.ok(s.device.Launch(l)) })
		s.ok(g.Launch(s.device))
		s.ok(s.device.Sync())
		s.isNeighbours(out, grid, cluster, what+", in a graph")
		s.ok(g.Close())
		s.ok(out.Free())
	}
	for x := 1; x <= most; x++ {
		for y := 1; x*y <= most; y++ {
			for z := 1; x*y*z <= most; z++ {
				c := gpu.Dim{X: x, Y: y, Z: z}
				launch(plain, c, c, "an entry for any launch")
				launch(explicit, c, c, "an entry for launches with clusters")
			}
		}
	}
	one := gpu.Dim{X: 1, Y: 1, Z: 1}
	launch(plain, gpu.Dim{}, one, "no clusters")
	launch(plain, gpu.Dim{X: 2}, gpu.Dim{X: 2, Y: 1, Z: 1}, "a shape with zeros")
	launch(compiled, gpu.Dim{}, gpu.Dim{X: 2, Y: 2, Z: 1}, "compiled clusters")
	launch(compiled, gpu.Dim{X: 2, Y: 2}, gpu.Dim{X: 2, Y: 2, Z: 1}, "compiled clusters, given again")
	s.launchesLargest(plain)
}

// launchesLargest launches the largest cluster, which may have more than 8 blocks.
func (s *suite) launchesLargest(e gpu.Entry) {
	l := gpu.Launch{Entry: e, Block: gpu.Dim{X: 1}, LargeCluster: true}
	most, err := s.device.LargestCluster(l)
	s.ok(err)
	cluster := gpu.Dim{X: most, Y: 1, Z: 1}
	grid := gpu.Dim{X: 3 * most, Y: 1, Z: 1}
	out := s.alloc(gpu.Uint32, 3*grid.X, make([]uint32, 3*grid.X))
	l.Grid, l.Cluster, l.Args = grid, cluster, []any{out}
	s.ok(s.run(l))
	s.isNeighbours(out, grid, cluster, "the largest cluster")
}

// testClusterOccupancy checks how many clusters are held at once, over every size, and with
// blocks of which an SM holds many, few and one.
func testClusterOccupancy(t *testing.T, s *suite) {
	if !s.hasClusters() {
		return
	}
	info, e := s.device.Info(), s.neighboursWith("")
	for _, block := range []struct{ threads, shared int }{{1, 0}, {256, 0}, {1024, 0}, {1024, 100 << 10}, {32, info.SharedPerBlockMax/2 - 2048}, {32, info.SharedPerBlockMax - 1024}} {
		l := gpu.Launch{Entry: e, Block: gpu.Dim{X: block.threads}, Shared: block.shared}
		perSM, err := s.device.Occupancy(l)
		s.ok(err)
		portable, err := s.device.LargestCluster(l)
		s.ok(err)
		l.LargeCluster = true
		largest, err := s.device.LargestCluster(l)
		s.ok(err)
		if portable != 8 || largest < portable || largest > 16 {
			t.Errorf("%+v: the largest cluster has %d blocks, and %d with LargeCluster, expected 8, and 8 to 16", block, portable, largest)
		}
		for last, n := info.SMs*perSM, 1; n <= largest; n++ {
			l.Cluster, l.LargeCluster = gpu.Dim{X: n}, n > 8
			clusters, err := s.device.Clusters(l)
			s.ok(err)
			if clusters < 1 || clusters*n > info.SMs*perSM || clusters > last {
				t.Errorf("%+v: %d clusters of %d blocks, expected at least 1, at most %d blocks in all and at most the %d clusters of one block less", block, clusters, n, info.SMs*perSM, last)
			}
			turned, err := s.device.Clusters(gpu.Launch{Entry: e, Block: l.Block, Shared: l.Shared, Cluster: gpu.Dim{X: 1, Y: 1, Z: n}, LargeCluster: l.LargeCluster})
			s.ok(err)
			if turned != clusters {
				t.Errorf("%+v: %d clusters (1,1,%d), expected %d as of (%d,1,1)", block, turned, n, clusters, n)
			}
			last = clusters
		}
	}
	_, err := s.device.Clusters(gpu.Launch{Entry: s.neighboursWith(".reqnctapercluster 2, 2, 1"), Block: gpu.Dim{X: 1}})
	s.ok(err)
}

// testClusterErrors checks clusters that no GPU runs.
func testClusterErrors(t *testing.T, s *suite) {
	if !s.hasClusters() {
		return
	}
	out := s.alloc(gpu.Uint32, 3*64, make([]uint32, 3*64))
	for _, c := range []struct {
		directives    string
		grid, cluster gpu.Dim
		says          string
	}{
		{"", gpu.Dim{X: 9}, gpu.Dim{X: 9}, "expected at most 8 blocks"},
		{"", gpu.Dim{X: 4, Y: 4}, gpu.Dim{X: 4, Y: 4}, "expected at most 8 blocks"},
		{"", gpu.Dim{X: 4, Y: 4}, gpu.Dim{X: 4, Y: -2}, "expected at least 1"},
		{"", gpu.Dim{X: 4, Y: 4}, gpu.Dim{Y: 2}, "expected at least 1"},
		{"", gpu.Dim{X: 6, Y: 3}, gpu.Dim{X: 3, Y: 2}, "expected multiples of the cluster (3,2,1)"},
		{".reqnctapercluster 2, 1, 1", gpu.Dim{X: 3}, gpu.Dim{}, "expected multiples of the cluster (2,1,1)"},
		{".reqnctapercluster 2, 1, 1", gpu.Dim{X: 4}, gpu.Dim{X: 4}, "expected (2,1,1) as .reqnctapercluster says"},
	} {
		l := gpu.Launch{Entry: s.neighboursWith(c.directives), Grid: c.grid, Block: gpu.Dim{X: 1}, Cluster: c.cluster, Args: []any{out}}
		s.refused(l, gpu.ErrShape, c.says, "neighbours", c.says)
	}
	s.neverHeld(out)
}

// neverHeld checks questions about clusters, and launches, that no GPU answers with one.
func (s *suite) neverHeld(out gpu.Buffer) {
	s.Helper()
	info, e := s.device.Info(), s.neighboursWith("")
	for _, c := range []struct {
		cluster gpu.Dim
		large   bool
		threads int
		shared  int
		says    string
	}{
		{gpu.Dim{X: 9}, false, 1, 0, "expected at most 8 blocks, or 16 with LargeCluster"},
		{gpu.Dim{X: 17}, true, 1, 0, "expected at most 16 blocks"},
		{gpu.Dim{X: 3, Y: 3, Z: 2}, true, 1, 0, "expected at most 16 blocks"},
		{gpu.Dim{X: 2, Y: -1}, true, 1, 0, "expected at least 1"},
		{gpu.Dim{X: 2}, false, 1025, 0, "expected at most"},
		{gpu.Dim{X: 2}, false, 32, info.SharedPerBlockMax, "of shared memory, expected at most"},
	} {
		l := gpu.Launch{Entry: e, Grid: c.cluster, Block: gpu.Dim{X: c.threads}, Shared: c.shared, Cluster: c.cluster, LargeCluster: c.large, Args: []any{out}}
		s.refused(l, gpu.ErrShape, c.says, "neighbours", c.says)
		_, err := s.device.Clusters(l)
		s.is(err, gpu.ErrShape, "clusters at once: "+c.says)
		if err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n")) {
			s.Errorf("clusters at once: %q, expected %q in one line", err, c.says)
		}
	}
	_, err := s.device.Clusters(gpu.Launch{Entry: s.neighboursWith(".reqnctapercluster 2, 1, 1"), Block: gpu.Dim{X: 1}, Cluster: gpu.Dim{X: 4}})
	s.is(err, gpu.ErrShape, "clusters of another shape than the compiled one")
	_, err = s.device.Clusters(gpu.Launch{Block: gpu.Dim{X: 1}})
	s.is(err, gpu.ErrArgument, "clusters of no entry")
}
