package emu

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/gputest"
)

// driverClusters are the clusters of 1 to 16 blocks that the driver of an H200 (580.159.04)
// said it holds at once, by the blocks that an SM holds: TestClustersOfModel of gpu/cuda
// prints them.
var driverClusters = map[int][16]int{
	1: {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7},
	2: {264, 132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14},
	4: {528, 264, 163, 124, 94, 79, 69, 62, 51, 44, 37, 37, 30, 30, 28, 28},
	8: {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58},
}

// TestGroups checks that the groups of each GPU with clusters have its SMs, in pairs, and
// that those of the H200 hold the clusters that its driver gave.
func TestGroups(t *testing.T) {
	for _, p := range profiles {
		sms := 0
		for _, n := range p.groups {
			if sms += n; n < 2 || n > 18 || n%2 != 0 {
				t.Errorf("%s: a group of %d SMs, expected 2 to 18 in pairs", p.name, n)
			}
		}
		if want := p.sms; sms != want && p.cc.Major >= 9 || p.groups != nil && p.cc.Major < 9 {
			t.Errorf("%s: groups of %d SMs, expected %d", p.name, sms, want)
		}
	}
	d, e := loadEntry(t, gputest.EmptyEntry, "empty")
	for perSM, held := range driverClusters {
		for i, want := range held {
			l := gpu.Launch{Entry: e, Block: gpu.Dim{X: 32}, Shared: d.info.SharedPerSM/perSM - 1<<10, Cluster: gpu.Dim{X: i + 1}, LargeCluster: true}
			if got, err := d.Clusters(l); err != nil || got != want {
				t.Errorf("%d clusters of %d blocks, %d an SM, %v, expected %d as measured", got, i+1, perSM, err, want)
			}
		}
	}
}

// TestClustersOfGroups counts clusters by placing them one by one.
func TestClustersOfGroups(t *testing.T) {
	info := gpu.Info{Groups: []int{18, 16, 14, 2}}
	for perSM := range 33 {
		for blocks := 1; blocks <= 16; blocks++ {
			places, want := slices.Clone(info.Groups), 0
			for i := range places {
				if places[i] < blocks {
					continue
				}
				for places[i] *= perSM; places[i] >= blocks; places[i] -= blocks {
					want++
				}
			}
			if got := info.Clusters(blocks, perSM); got != want {
				t.Errorf("%d clusters of %d blocks, %d an SM, expected %d", got, blocks, perSM, want)
			}
		}
	}
	if got := (gpu.Info{SMs: 10}).Clusters(2, 4); got != 0 {
		t.Errorf("%d clusters in unknown groups, expected 0", got)
	}
}

// TestClusterTooLarge asks for clusters that fit in no group: small groups stand for a GPU,
// or a part of one, with fewer SMs.
func TestClusterTooLarge(t *testing.T) {
	d, e := loadEntry(t, gputest.EmptyEntry, "empty")
	d.info.Groups = []int{10, 6}
	full := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 12}, Block: gpu.Dim{X: 64}, Shared: 200 << 10, Cluster: gpu.Dim{X: 12}, LargeCluster: true}
	for what, err := range map[string]error{"a launch": d.Launch(full), "a question": func() error { _, err := d.Clusters(full); return err }()} {
		const says = "no cluster (12,1,1) of blocks of 64 threads and 204800 bytes of shared memory fits in a group of SMs of NVIDIA H200, expected at most 10 blocks per cluster"
		if !errors.Is(err, gpu.ErrShape) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %q in one line", what, err, says)
		}
	}
	if most, err := d.LargestCluster(full); most != 10 || err != nil {
		t.Errorf("at most %d blocks, %v, expected 10", most, err)
	}
	full.Shared = 100 << 10 // two blocks an SM, and still 10 SMs
	if n, err := d.Clusters(full); n != 0 || !errors.Is(err, gpu.ErrShape) {
		t.Errorf("%d clusters of 12 blocks, %v, expected none", n, err)
	}
	full.Cluster, full.Grid = gpu.Dim{X: 9}, gpu.Dim{X: 9}
	if n, err := d.Clusters(full); n != 2 || err != nil {
		t.Errorf("%d clusters of 9 blocks, %v, expected 2 in 20 places", n, err)
	}
	if err := d.Launch(full); err != nil {
		t.Error(err)
	}
}

// TestNoEightGroups checks that no 8 groups of at most 18 SMs each have 132 SMs and hold the
// clusters of 2, 3 and 4 that the driver of the H200 gave.
func TestNoEightGroups(t *testing.T) {
	var try func(groups []int)
	try = func(groups []int) {
		info := gpu.Info{Groups: groups}
		if len(groups) == 8 {
			if info.Clusters(1, 1) == 132 && info.Clusters(2, 1) == 66 && info.Clusters(3, 1) == 39 && info.Clusters(4, 1) == 30 {
				t.Errorf("groups %v hold what the H200 holds", groups)
			}
			return
		}
		for n := groups[len(groups)-1]; n >= 1; n-- {
			try(append(slices.Clone(groups), n))
		}
	}
	for n := 1; n <= 18; n++ {
		try([]int{n})
	}
}
